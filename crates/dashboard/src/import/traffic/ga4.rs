//! Answers of the Google Analytics 4 Data API, saved as files: one report (`runReport`), several
//! (`batchRunReports`), or a list of either. Headers name the columns, all values are texts.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Zoned;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::columns::{DateRanges, OtherColumns};
use super::gather::{CellFault, Gather, RowCells};
use super::totals_row::compare_total;
use super::{COLUMNS, ImportTraffic, stop_before_the_first_day};
use crate::import::input::InputFile;
use crate::import::table::find_columns;
use crate::import::{Error, quote};
use crate::query::Day;
use crate::rollup::CommandWork;

/// A report, or an answer with several.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ga4Document<'a> {
    #[serde(borrow, default)]
    reports: Option<Vec<Ga4Document<'a>>>,
    #[serde(borrow, default)]
    dimension_headers: Option<Vec<Header<'a>>>,
    #[serde(borrow, default)]
    metric_headers: Vec<Header<'a>>,
    #[serde(borrow, default)]
    rows: Vec<Ga4Row<'a>>,
    /// Totals over all rows, if they were asked for.
    #[serde(borrow, default)]
    totals: Vec<Ga4Row<'a>>,
    /// Rows of the report on all its pages.
    #[serde(default)]
    row_count: u64,
    #[serde(default)]
    metadata: ReportMetadata,
}

/// Completeness of a report by its own words.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ReportMetadata {
    sampling_metadatas: Vec<IgnoredAny>,
    data_loss_from_other_row: bool,
    subject_to_thresholding: bool,
    time_zone: String,
}

impl ReportMetadata {
    /// The date of this moment where the report's days end; otherwise that its time zone is unknown.
    fn today(&self, now: &Zoned) -> Result<Day, String> {
        if self.time_zone.is_empty() {
            return Ok(Day::of(now));
        }
        let zone = TimeZone::get(&self.time_zone).map_err(|_| {
            format!(
                "the report's time zone {} is unknown here; its days are taken to end as this \
                 machine's do",
                quote::name(&self.time_zone)
            )
        })?;
        Ok(Day::of(&now.with_time_zone(zone)))
    }

    /// Why rows or page views may be missing.
    fn losses(&self) -> Vec<&'static str> {
        let losses = [
            (!self.sampling_metadatas.is_empty(), "it was made from a sample (samplingMetadatas)"),
            (self.data_loss_from_other_row, "rows were joined as (other) (dataLossFromOtherRow)"),
            (self.subject_to_thresholding, "rare rows may be withheld (subjectToThresholding)"),
        ];
        losses.into_iter().filter_map(|(is_said, loss)| is_said.then_some(loss)).collect()
    }
}

#[derive(Debug, Deserialize)]
struct Header<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ga4Row<'a> {
    #[serde(borrow, default)]
    dimension_values: Vec<Ga4Value<'a>>,
    #[serde(borrow, default)]
    metric_values: Vec<Ga4Value<'a>>,
}

#[derive(Debug, Deserialize)]
struct Ga4Value<'a> {
    #[serde(borrow, default)]
    value: Cow<'a, str>,
}

impl<'a> Ga4Document<'a> {
    /// Of its dimensions, then of its metrics.
    fn headers(&self) -> impl Iterator<Item = &Header<'a>> {
        self.dimension_headers.iter().flatten().chain(&self.metric_headers)
    }
}

/// The most keys that are named of a document that is not a report.
const KEYS_SHOWN: usize = 5;

/// Whether a file begins as a JSON document does.
pub(super) fn is_json(input: &InputFile) -> Result<bool, Error> {
    let start = input.start()?;
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start).trim_ascii_start();
    Ok(start.starts_with(b"{") || start.starts_with(b"["))
}

/// Gathers all rows of a file; what it has where it has none.
pub(super) fn read(
    input: &InputFile,
    wish: &ImportTraffic,
    gather: &mut Gather<'_>,
    work: CommandWork<'_>,
) -> Result<&'static str, Error> {
    let (path, text) = (input.name.as_path(), input.text()?);
    let text = text.trim_start();
    let documents: Vec<Ga4Document<'_>> = if text.starts_with('[') {
        serde_json::from_str(text)
    } else {
        serde_json::from_str(text).map(|document| vec![document])
    }
    .map_err(|error| {
        no_report(
            path,
            &format!("it cannot be read as one ({})", quote::message(&error.to_string())),
        )
    })?;
    let mut reports = Vec::new();
    flatten(&documents, &mut reports).map_err(|()| no_report(path, &keys_of(text)))?;
    let (mut rows, mut ranges) = (0, DateRanges::default());
    let mut pageviews = Vec::new();
    for report in &reports {
        stop_before_the_first_day(work)?;
        let before = gather.pageviews();
        rows = read_report(path, rows, report, wish, &mut ranges, gather)?;
        pageviews.push(gather.pageviews() - before);
        match report.metadata.today(&wish.now) {
            Ok(day) => gather.take_today(day),
            Err(note) => gather.note(note),
        }
        let losses = report.metadata.losses();
        if !losses.is_empty() {
            gather.note_short_file(&format!("the report says that {}", losses.join(", ")));
        }
    }
    for pages in pages_of_one(&reports) {
        let found = pages.iter().filter_map(|page| pageviews.get(*page)).sum();
        let total = pages.first().and_then(|page| total_pageviews(reports.get(*page)?));
        compare_total(path, total, found, gather)?;
    }
    gather.add_pages(|pages, file| pages.add(file, &reports));
    work.progress.inc(text.len() as u64);
    Ok(if reports.is_empty() { "an empty list of reports" } else { "reports without rows" })
}

/// Fails where something is neither a report nor an answer with several.
fn flatten<'d, 'a>(
    documents: &'d [Ga4Document<'a>],
    reports: &mut Vec<&'d Ga4Document<'a>>,
) -> Result<(), ()> {
    for document in documents {
        match (&document.reports, &document.dimension_headers) {
            (None, None) => return Err(()),
            (Some(several), _) => flatten(several, reports)?,
            (None, Some(_)) => reports.push(document),
        }
    }
    Ok(())
}

fn no_report(path: &Path, found: &str) -> Error {
    let problem = format!(
        "it is not an answer of Google Analytics' Data API: {found}; expected are dimensionHeaders, \
         metricHeaders and rows (runReport), reports (batchRunReports), or a list of these"
    );
    Error::file(path, problem)
}

/// A description of a JSON document that is not a report: the message of a refusal, or its keys.
fn keys_of(text: &str) -> String {
    let Ok(document) = serde_json::from_str::<serde_json::Value>(text) else {
        return "no JSON".to_owned();
    };
    let object = match &document {
        serde_json::Value::Array(list) => list.iter().find_map(serde_json::Value::as_object),
        other => other.as_object(),
    };
    let Some(object) = object else { return "it holds no object".to_owned() };
    let refusal = object.get("error").and_then(|error| error.get("message").or(Some(error)));
    if let Some(message) = refusal.and_then(serde_json::Value::as_str) {
        return format!("it is a refusal, \"{}\"", quote::message(message));
    }
    let keys: Vec<&str> = object.keys().map(String::as_str).take(KEYS_SHOWN).collect();
    match keys.as_slice() {
        [] => "it is an object without keys".to_owned(),
        keys => format!("it is an object with the keys {}", quote::list(keys.iter().copied())),
    }
}

/// Rows of reports by their headers and by the number of rows that they say they have on all their
/// pages. Several reports may be alike in both, but if they are whole they hold a multiple of it.
#[derive(Debug, Default)]
pub(super) struct ReportPages(BTreeMap<(Vec<String>, u64), HeldRows>);

/// The rows of a report's pages that files hold.
#[derive(Debug, Default)]
pub(super) struct HeldRows {
    pub rows: u64,
    /// The places of the files.
    pub files: BTreeSet<usize>,
}

impl ReportPages {
    fn add(&mut self, file: usize, reports: &[&Ga4Document<'_>]) {
        for report in reports.iter().filter(|report| report.row_count > 0) {
            let names = report.headers().map(|header| header.name.to_string()).collect();
            let held = self.0.entry((names, report.row_count)).or_default();
            held.rows += report.rows.len() as u64;
            held.files.insert(file);
        }
    }

    /// Reports of which pages are missing: all their rows, and those that are there.
    pub fn incomplete(self) -> impl Iterator<Item = (u64, HeldRows)> {
        let held = self.0.into_iter().map(|((_, complete), held)| (complete, held));
        held.filter(|(complete, held)| held.rows == 0 || held.rows % complete != 0)
    }
}

/// The places of reports that are the pages of one, and all of them.
fn pages_of_one(reports: &[&Ga4Document<'_>]) -> Vec<Vec<usize>> {
    let mut pages: BTreeMap<(Vec<&str>, u64), Vec<usize>> = BTreeMap::new();
    for (place, report) in reports.iter().enumerate() {
        let names = report.headers().map(|header| &*header.name).collect();
        pages.entry((names, report.row_count)).or_default().push(place);
    }
    let is_whole = |(count, pages): (u64, Vec<usize>)| {
        let held: usize =
            pages.iter().filter_map(|page| reports.get(*page)).map(|page| page.rows.len()).sum();
        (held as u64 == count).then_some(pages)
    };
    pages.into_iter().filter_map(|((_, count), pages)| is_whole((count, pages))).collect()
}

/// The page views that a report's own total says, of one that has a single total.
fn total_pageviews(report: &Ga4Document<'_>) -> Option<u64> {
    let [total] = report.totals.as_slice() else { return None };
    let views = |header: &Header<'_>| header.name == "screenPageViews";
    let place = report.metric_headers.iter().position(views)?;
    total.metric_values.get(place)?.value.parse().ok()
}

/// Gathers the rows of one report, which are counted from `before` on; how many there are then.
fn read_report(
    path: &Path,
    before: u64,
    report: &Ga4Document<'_>,
    wish: &ImportTraffic,
    ranges: &mut DateRanges,
    gather: &mut Gather<'_>,
) -> Result<u64, Error> {
    let header: Vec<String> = report.headers().map(|header| header.name.to_string()).collect();
    let columns = find_columns(path, &header, &COLUMNS, &wish.mapping)?;
    let metrics = report.metric_headers.len();
    let dimensions = header.len() - metrics;
    // Metrics beside them count something else.
    let others = (0..dimensions).filter(|place| !columns.contains(&Some(*place)));
    let others = OtherColumns::find(path, &header, others, &wish.adds_up)?;
    for (number, row) in (before + 1..).zip(&report.rows) {
        let place = || format!("row {number}");
        if (row.dimension_values.len(), row.metric_values.len()) != (dimensions, metrics) {
            let problem = format!(
                "it has {} dimensions and {} metrics, the headers name {dimensions} and {metrics}",
                row.dimension_values.len(),
                row.metric_values.len()
            );
            return Err(Error::Row { path: path.to_owned(), place: place(), problem });
        }
        let value = |column: usize| -> &str {
            let values = row.dimension_values.get(column);
            let values = values.or_else(|| row.metric_values.get(column - dimensions));
            values.map_or("", |value| &value.value)
        };
        let mut cells: RowCells<'_> = [""; COLUMNS.len()];
        for (cell, column) in cells.iter_mut().zip(columns) {
            *cell = column.map_or("", value);
        }
        let fault = |column: usize, problem: String| {
            let column = header.get(column).map(|column| quote::name(column)).unwrap_or_default();
            Error::Cell { path: path.to_owned(), place: place(), column, problem }
        };
        if let Some(range) = others.date_range {
            ranges.take(cells[0], value(range)).map_err(|problem| fault(range, problem))?;
        }
        let dividing = others.dividing.iter().map(|other| value(*other).as_bytes());
        gather.add(&cells, dividing, number).map_err(|CellFault { column, problem }| {
            fault(columns.get(column).copied().flatten().unwrap_or(0), problem)
        })?;
    }
    Ok(before + report.rows.len() as u64)
}
