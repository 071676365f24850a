//! The treatments as a table for spreadsheets.

use super::document::RatioPart;
use super::{Document, ReportError};
use crate::analysis::Shown;

/// One line per treatment, with a header; numbers in full.
///
/// # Errors
/// When a line cannot be written.
pub fn csv(document: &Document) -> Result<String, ReportError> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let mut header: Vec<String> = document.factors.iter().map(|f| f.name.clone()).collect();
    header.extend(
        [
            "engine",
            "response_time_ms_mean",
            "low",
            "high",
            "replicates",
            "ratio",
            "ratio_low",
            "ratio_high",
            "verdict",
            "best_of_three_ms",
            "cpu_seconds_per_request",
            "cores_used",
            "requests_per_second",
            "requests",
            "failures",
        ]
        .map(str::to_owned),
    );
    writer.write_record(&header)?;
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    for treatment in &document.treatments {
        let levels = document.factors.iter().map(|factor| {
            treatment.levels.get(&factor.name).map(ToString::to_string).unwrap_or_default()
        });
        let mut row: Vec<String> = levels.collect();
        let estimate = treatment.estimate;
        let ratio = treatment.ratio.as_ref().map(|ratio| ratio.estimate);
        row.extend([
            treatment.engine.clone(),
            number(estimate.map(|e| e.value)),
            number(estimate.and_then(|e| e.low)),
            number(estimate.and_then(|e| e.high)),
            estimate.map(|e| e.replicates.to_string()).unwrap_or_default(),
            number(ratio.map(|e| e.value)),
            number(ratio.and_then(|e| e.low)),
            number(ratio.and_then(|e| e.high)),
            verdict(treatment.ratio.as_ref()),
            number(treatment.best_of_three),
            number(treatment.cpu_seconds_per_request),
            number(treatment.cores_used),
            number(treatment.requests_per_second),
            treatment.requests.to_string(),
            treatment.failures.to_string(),
        ]);
        writer.write_record(&row)?;
    }
    let bytes = writer.into_inner().map_err(|error| ::csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Corrected for all verdicts of the experiment, unlike the interval.
fn verdict(ratio: Option<&RatioPart>) -> String {
    match ratio.map(|ratio| ratio.verdict) {
        None => "",
        Some(Shown::Faster) => "faster",
        Some(Shown::Slower) => "slower",
        Some(Shown::Undecided) => "undecided",
    }
    .to_owned()
}
