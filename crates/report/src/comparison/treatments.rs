//! The treatments that both sides hold, with the ratio that their design supports.

use std::collections::BTreeSet;

use stats::{
    RatioComparison as Ratio, WELCH_MIN_REPLICATES, ratio_comparison, unpaired_ratio_comparison,
};

use super::{Row, SideDesign};
use crate::analysis::{CONFIDENCE_LEVEL, Treatment, analyse, level_label};
use plan::Levels;
use record::Finished;

/// A row before its verdict, with the values that it rests on.
pub(super) struct RawRow {
    pub row: Row,
    pub a: Vec<f64>,
    pub b: Vec<f64>,
}

/// How the two sides came about.
pub(super) fn design(a: &[Finished], b: &[Finished]) -> SideDesign {
    if let ([a], [b]) = (a, b)
        && a.run.interleaved_with.as_ref() == Some(&b.run.id)
        && b.run.interleaved_with.as_ref() == Some(&a.run.id)
    {
        return SideDesign::Interleaved;
    }
    match a.len().min(b.len()) {
        sittings if sittings >= WELCH_MIN_REPLICATES => SideDesign::SeveralSittings,
        _ => SideDesign::TooFewSittings,
    }
}

/// One row for each pair of engines and cell that every run of both sides holds; a treatment that
/// is in several cells, since a factor does not act on its engine, is one row. Beside them the
/// names of those that failed somewhere: their times are not of the work asked for.
pub(super) fn rows(
    a: &[Finished],
    b: &[Finished],
    engines: &[(String, String)],
    design: SideDesign,
) -> (Vec<RawRow>, Vec<String>) {
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    let Some(first) = a.first() else { return (rows, left_out) };
    let treatments = |runs: &[Finished]| -> Vec<Vec<Treatment>> {
        let of = |run: &Finished| {
            analyse(&plan::Design::of(&run.plan), &run.cells(), &run.trials).treatments
        };
        runs.iter().map(of).collect()
    };
    let (of_a, of_b) = (treatments(a), treatments(b));
    let mut seen = BTreeSet::new();
    for (engine_a, engine_b) in engines {
        for levels in first.cells() {
            let (on_a, on_b) = (find(&of_a, engine_a, &levels), find(&of_b, engine_b, &levels));
            let (Some(on_a), Some(on_b)) = (on_a, on_b) else { continue };
            let measured_at = |side: &[&Treatment]| side.first().map(|one| one.measured_at.clone());
            if !seen.insert((engine_a, measured_at(&on_a), measured_at(&on_b))) {
                continue;
            }
            let words = levels.iter().map(|(name, level)| level_label(&first.plan, name, level));
            let place = words.collect::<Vec<_>>().join(", ");
            let is_usable = |t: &&Treatment| t.standing.is_judged() && !t.time_blocks.is_empty();
            let usable = on_a.iter().chain(&on_b).all(is_usable);
            let ratio = usable.then(|| ratio(&on_a, &on_b, design)).flatten();
            let Some((a, b, ratio)) = ratio else {
                left_out.push(match place.is_empty() {
                    true => engine_b.clone(),
                    false => format!("{engine_b}, {place}"),
                });
                continue;
            };
            let row = Row {
                engine_a: engine_a.clone(),
                engine_b: engine_b.clone(),
                place,
                levels,
                a_response_time_ms: geometric_mean(&a),
                b_response_time_ms: geometric_mean(&b),
                ratio: ratio.ratio,
                p_value: ratio.p_value,
                verdict: None,
                regression: None,
            };
            rows.push(RawRow { row, a, b });
        }
    }
    (rows, left_out)
}

/// The treatment of each run of a side, if all of them hold it.
fn find<'t>(of: &'t [Vec<Treatment>], engine: &str, levels: &Levels) -> Option<Vec<&'t Treatment>> {
    let same = |t: &&Treatment| t.engine == engine && t.levels == *levels;
    of.iter().map(|all| all.iter().find(same)).collect()
}

/// The values of both sides and the ratio of B to A.
fn ratio(
    a: &[&Treatment],
    b: &[&Treatment],
    design: SideDesign,
) -> Option<(Vec<f64>, Vec<f64>, Ratio)> {
    if let (SideDesign::Interleaved, [a], [b]) = (design, a, b) {
        let of_b = |block: usize| b.time_blocks.iter().find(|(other, _)| *other == block);
        let pairs = a.time_blocks.iter().filter_map(|(block, a)| Some((*a, of_b(*block)?.1)));
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let ratio = ratio_comparison(&b, &a, CONFIDENCE_LEVEL)?;
        return Some((a, b, ratio));
    }
    // One value for each sitting: what happens within it says nothing about the next.
    let sitting = |treatment: &Treatment| {
        let values: Vec<f64> = treatment.time_blocks.iter().map(|(_, value)| *value).collect();
        geometric_mean(&values)
    };
    let a: Vec<f64> = a.iter().copied().map(sitting).collect();
    let b: Vec<f64> = b.iter().copied().map(sitting).collect();
    let ratio = unpaired_ratio_comparison(&b, &a, CONFIDENCE_LEVEL)?;
    Some((a, b, ratio))
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len().max(1) as f64).exp()
}
