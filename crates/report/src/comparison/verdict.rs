//! Verdict of all rows together: corrected over all of them, since each is a chance to be wrong.

use stats::crossing::{Sign, signs};
use stats::{RatioComparison as Ratio, equivalence, holm, unpaired_equivalence};

use super::treatments::RawRow;
use super::{ComparisonOptions, Regression, Row, SideDesign, Verdict};
use crate::analysis::CONFIDENCE_LEVEL;

/// Two families, each corrected by itself: differences, and equivalences where they were asked for.
/// Where both are shown, the difference lies within the share that the user calls the same, and
/// "equivalent" is said.
pub(super) fn judge(raw: Vec<RawRow>, design: SideDesign, wishes: ComparisonOptions) -> Vec<Row> {
    if design == SideDesign::TooFewSittings {
        let open = wishes.fail_on_regression.map(|_| Regression::Undecided);
        return raw.into_iter().map(|raw| Row { regression: open, ..raw.row }).collect();
    }
    let ratios: Vec<Ratio> =
        raw.iter().map(|raw| Ratio { ratio: raw.row.ratio, p_value: raw.row.p_value }).collect();
    let signs = signs(&ratios, 0, CONFIDENCE_LEVEL);
    let same = equivalent(&raw, design, wishes.equivalent_within);
    let judged = raw.into_iter().zip(ratios.iter().zip(signs)).zip(same);
    judged
        .map(|((RawRow { mut row, .. }, (ratio, sign)), same)| {
            row.verdict = Some(match sign {
                _ if same => Verdict::Equivalent,
                Sign::AFaster => Verdict::Faster,
                Sign::BFaster => Verdict::Slower,
                Sign::Undecided => Verdict::Undecided,
            });
            row.regression =
                wishes.fail_on_regression.map(|share| Regression::of(ratio, sign, share));
            row
        })
        .collect()
}

fn equivalent(raw: &[RawRow], design: SideDesign, margin: Option<f64>) -> Vec<bool> {
    let Some(margin) = margin else { return vec![false; raw.len()] };
    let test = if design == SideDesign::Interleaved { equivalence } else { unpaired_equivalence };
    let p_value = |raw: &RawRow| test(&raw.b, &raw.a, margin).map_or(1.0, |shown| shown.p_value);
    let p_values: Vec<f64> = raw.iter().map(p_value).collect();
    holm(&p_values).into_iter().map(|p| p <= 1.0 - CONFIDENCE_LEVEL).collect()
}
