//! The words of a comparison: its headline, and a sentence for each row.

use notation::{counted, digits};
use plan::ResponseVariable;
use serde::Serialize;

use super::{ComparisonOptions, Regression, Row, SideDesign, Verdict};
use crate::answer::size;

/// The answer in words.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct ComparisonSummary {
    /// All of it, with its size.
    pub headline: String,
    /// One for each row, in their order.
    pub sentences: Vec<String>,
}

impl ComparisonSummary {
    pub(super) fn of(rows: &[Row], design: SideDesign, wishes: ComparisonOptions) -> Self {
        let sentences: Vec<String> = rows.iter().map(|row| sentence(row, wishes)).collect();
        Self { headline: headline(rows, &sentences, design, wishes), sentences }
    }
}

fn headline(
    rows: &[Row],
    sentences: &[String],
    design: SideDesign,
    wishes: ComparisonOptions,
) -> String {
    if rows.is_empty() {
        return "No treatment could be compared.".to_owned();
    }
    if design == SideDesign::TooFewSittings {
        return "Ratios and no verdict: how much this machine changes from one sitting to the next \
                is unknown. --rerun measures both sides block by block in one sitting; three runs \
                or more per side (A1,A2,A3 B1,B2,B3) have a verdict too."
            .to_owned();
    }
    if rows.iter().all(|row| row.p_value.is_none()) {
        let blocks = rows.iter().map(|row| row.ratio.replicates).max().unwrap_or(0);
        let blocks = counted(blocks, "block");
        return format!("Ratios and no verdict after {blocks}: at least 5 are needed.");
    }
    if let [only] = sentences {
        return only.clone();
    }
    let of = counted(rows.len(), "treatment");
    let largest = largest(rows).and_then(|index| sentences.get(index));
    let regressions = rows.iter().filter(|row| row.regression == Some(Regression::Yes)).count();
    if let (Some(share), true) = (wishes.fail_on_regression, regressions > 0) {
        let percent = share * 100.0;
        let largest = largest.map(|largest| format!(" The largest: {largest}"));
        let largest = largest.unwrap_or_default();
        return format!("B is slower by more than {percent}% in {regressions} of {of}.{largest}");
    }
    let count = |wanted: Verdict| rows.iter().filter(|row| row.verdict == Some(wanted)).count();
    let counts = [
        (Verdict::Faster, "faster"),
        (Verdict::Slower, "slower"),
        (Verdict::Equivalent, "equal"),
        (Verdict::Undecided, "undecided"),
    ]
    .map(|(verdict, word)| (count(verdict), word));
    let said = counts.iter().filter(|(count, _)| *count > 0);
    let said: Vec<String> = said.map(|(count, word)| format!("{word} in {count}")).collect();
    let largest = largest.map(|largest| format!(" The largest difference shown: {largest}"));
    format!("Of {of} B is {}.{}", said.join(", "), largest.unwrap_or_default())
}

/// The row with the largest difference among those that show one.
fn largest(rows: &[Row]) -> Option<usize> {
    let size = |row: &Row| row.ratio.value.ln().abs();
    let shown = rows.iter().enumerate().filter(|(_, row)| {
        row.regression == Some(Regression::Yes)
            || matches!(row.verdict, Some(Verdict::Faster | Verdict::Slower))
    });
    let largest = shown.max_by(|(_, x), (_, y)| size(x).total_cmp(&size(y)));
    largest.map(|(index, _)| index)
}

/// `With sqlite at 1 client, year, B takes 1.21 of A's time (940 ms against 776 ms; 95%: 1.18 to
/// 1.24): it is slower.`
fn sentence(row: &Row, wishes: ComparisonOptions) -> String {
    let response = ResponseVariable::ResponseTimeMsMean;
    let engine = match row.engine_a == row.engine_b {
        true => row.engine_b.clone(),
        false => format!("{} against {}", row.engine_b, row.engine_a),
    };
    let place = if row.place.is_empty() { String::new() } else { format!(" at {}", row.place) };
    let interval = size::interval(&row.ratio).map(|interval| format!("; 95%: {interval}"));
    let size = format!(
        "With {engine}{place}, B takes {} of A's time ({}{})",
        digits(row.ratio.value),
        size::against(response, (row.b_response_time_ms, row.a_response_time_ms)),
        interval.unwrap_or_default()
    );
    let percent = |share: Option<f64>| share.unwrap_or_default() * 100.0;
    let shown = match (row.verdict, row.regression) {
        (_, Some(Regression::Yes)) => {
            format!(": it is slower by more than {}%", percent(wishes.fail_on_regression))
        }
        (Some(Verdict::Faster), _) => ": it is faster".to_owned(),
        (Some(Verdict::Slower), _) => ": it is slower".to_owned(),
        (Some(Verdict::Equivalent), _) => {
            format!(": both are equal within {}%", percent(wishes.equivalent_within))
        }
        (Some(Verdict::Undecided), _) => ": undecided".to_owned(),
        (None, _) => String::new(),
    };
    format!("{size}{shown}.")
}
