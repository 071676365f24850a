//! Verdict of all rows together: corrected over all of them, since each is a chance to be wrong.

use stats::crossing::{Sign, signs};
use stats::{RatioComparison as Ratio, equivalence, holm, unpaired_equivalence};

use super::treatments::RawRow;
use super::{Design, Regression, Row, Verdict, Wishes};
use crate::analysis::{CONFIDENCE_LEVEL, digits};
use plan::counted;

/// Two families, each corrected by itself: differences, and equivalences where they were asked for.
/// Where both are shown, the difference lies within the share that the user calls the same, and
/// "equivalent" is said.
pub(super) fn judge(raw: Vec<RawRow>, design: Design, wishes: Wishes) -> Vec<Row> {
    if design == Design::TooFewSittings {
        let open = wishes.fail_on_regression.map(|_| Regression::Undecided);
        return raw.into_iter().map(|raw| Row { regression: open, ..raw.row }).collect();
    }
    let ratios: Vec<Ratio> =
        raw.iter().map(|raw| Ratio { ratio: raw.row.ratio, p_value: raw.row.p_value }).collect();
    let signs = signs(&ratios, 0, CONFIDENCE_LEVEL);
    let same = equivalent(&raw, design, wishes.equivalent_within);
    let judged = raw.into_iter().zip(signs).zip(same);
    judged
        .map(|((RawRow { mut row, .. }, sign), same)| {
            row.verdict = Some(match sign {
                _ if same => Verdict::Equivalent,
                Sign::AFaster => Verdict::Faster,
                Sign::BFaster => Verdict::Slower,
                Sign::Undecided => Verdict::Undecided,
            });
            row.regression =
                wishes.fail_on_regression.map(|share| regression(&row, sign, 1.0 + share));
            row
        })
        .collect()
}

fn equivalent(raw: &[RawRow], design: Design, margin: Option<f64>) -> Vec<bool> {
    let Some(margin) = margin else { return vec![false; raw.len()] };
    let test = if design == Design::Interleaved { equivalence } else { unpaired_equivalence };
    let p_value = |raw: &RawRow| test(&raw.b, &raw.a, margin).map_or(1.0, |shown| shown.p_value);
    let p_values: Vec<f64> = raw.iter().map(p_value).collect();
    holm(&p_values).into_iter().map(|p| p <= 1.0 - CONFIDENCE_LEVEL).collect()
}

/// `sign` is corrected over all rows and the interval is not: both must be beyond the bound.
fn regression(row: &Row, sign: Sign, bound: f64) -> Regression {
    match (row.ratio.low, row.ratio.high) {
        (Some(low), _) if low > bound && sign == Sign::BFaster => Regression::Yes,
        (_, Some(high)) if high <= bound && row.p_value.is_some() => Regression::No,
        _ => Regression::Undecided,
    }
}

pub(super) fn headline(rows: &[Row], design: Design, wishes: Wishes) -> String {
    let count = |wanted: Verdict| rows.iter().filter(|row| row.verdict == Some(wanted)).count();
    let of = counted(rows.len(), "treatment");
    if rows.is_empty() {
        return "No treatment could be compared.".to_owned();
    }
    if design == Design::TooFewSittings {
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
    let regressions = rows.iter().filter(|row| row.regression == Some(Regression::Yes)).count();
    if let (Some(share), true) = (wishes.fail_on_regression, regressions > 0) {
        let percent = share * 100.0;
        let largest = largest(rows).map(|largest| format!(" The largest: {largest}."));
        return format!(
            "B is slower by more than {percent}% in {regressions} of {of}.{}",
            largest.unwrap_or_default()
        );
    }
    let counts = [
        (Verdict::Faster, "faster"),
        (Verdict::Slower, "slower"),
        (Verdict::Equivalent, "equivalent"),
        (Verdict::Undecided, "undecided"),
    ]
    .map(|(verdict, word)| (count(verdict), word));
    let said = counts.iter().filter(|(count, _)| *count > 0);
    let said: Vec<String> = said.map(|(count, word)| format!("{word} in {count}")).collect();
    let largest = largest(rows).map(|largest| format!(" The largest difference shown: {largest}."));
    format!("Of {of} B is {}.{}", said.join(", "), largest.unwrap_or_default())
}

/// `sqlite at 1 client, year takes B 1.21 of A's time (940 ms against 776 ms; 95%: 1.18 to 1.24)`.
fn largest(rows: &[Row]) -> Option<String> {
    let shown = |row: &&Row| matches!(row.verdict, Some(Verdict::Faster | Verdict::Slower));
    let size = |row: &Row| row.ratio.value.ln().abs();
    let row = rows.iter().filter(shown).max_by(|x, y| size(x).total_cmp(&size(y)))?;
    let interval = row
        .ratio
        .low
        .zip(row.ratio.high)
        .map(|(low, high)| format!("; 95%: {} to {}", digits(low), digits(high)));
    Some(format!(
        "{} of A's time with {}{} ({} ms against {} ms{})",
        digits(row.ratio.value),
        row.engine_b,
        if row.place.is_empty() { String::new() } else { format!(" at {}", row.place) },
        digits(row.b_response_time_ms),
        digits(row.a_response_time_ms),
        interval.unwrap_or_default()
    ))
}
