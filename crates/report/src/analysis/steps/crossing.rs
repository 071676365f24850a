//! The distances at which the engines at their best change places, row by row.

use stats::crossing::{AxisScale, Crossing, LevelResult, Side, find};

use super::{RowKey, StepAnalysis};

/// A row for which another engine is faster up to a distance, and the first engine beyond it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowCrossing {
    /// The number of the other engine.
    pub other: usize,
    pub row: RowKey,
    /// By interpolation, ms.
    pub about_ms: f64,
    /// The last distance at which the other engine is shown faster, the first at which the first is.
    pub between_ms: (f64, f64),
}

/// Of the rows that decide; `distances` are those of one plan, the nearest first.
pub fn row_crossings(distances: &[StepAnalysis]) -> Vec<RowCrossing> {
    let Some(nearest) = distances.first() else { return Vec::new() };
    let others = nearest.against.iter().map(|against| against.other);
    let rows =
        others.flat_map(|other| nearest.deciding_rows().into_iter().map(move |row| (other, row)));
    let crossing = |(other, row): (usize, RowKey)| {
        let levels: Vec<LevelResult> =
            distances.iter().filter_map(|one| level(one, other, row)).collect();
        find(&levels, AxisScale::Linear).into_iter().find_map(|crossing| match crossing {
            // The first engine is side A of the comparison at their best.
            Crossing::Bracketed { last, first, faster_before: Side::B, .. } => {
                let about_ms = interpolated(&levels, (last, first))?;
                Some(RowCrossing { other, row, about_ms, between_ms: (last, first) })
            }
            _ => None,
        })
    };
    rows.filter_map(crossing).collect()
}

/// The distance at which both take the same time: the other engine's, by that of the first, which has no
/// distance, is a straight line.
fn interpolated(levels: &[LevelResult], (last, first): (f64, f64)) -> Option<f64> {
    let theirs = |ms: f64| {
        let at = levels.iter().find(|one| one.level == ms)?;
        Some(1.0 / at.ratio.value)
    };
    let (near, far) = (theirs(last)?, theirs(first)?);
    let share = (1.0 - near) / (far - near);
    share.is_finite().then(|| last + share.clamp(0.0, 1.0) * (first - last))
}

fn level(at: &StepAnalysis, other: usize, row: RowKey) -> Option<LevelResult> {
    let against = at.against.iter().find(|against| against.other == other)?;
    let best = against.best.iter().find(|best| best.row == row)?;
    Some(LevelResult { level: at.delay_ms?, ..best.compared.level_result() })
}
