//! Which level to measure next, so that a bracket closes around the crossing.

use super::{Crossing, Scale};

/// The next level to measure inside a bracket, or None when it is narrow enough, holds no further
/// level of the grid, or there is no bracket to close.
///
/// `measured` are the levels measured so far, in any order; those inside the bracket showed
/// neither side. The two outermost gaps can move an end of the bracket, so the wider of them (on
/// the axis's scale) is halved, until its ends differ by at most `width` (0.15: by 15% of the
/// lower). `integer` keeps to whole levels.
pub fn next_level(
    crossing: &Crossing,
    measured: &[f64],
    scale: Scale,
    width: f64,
    integer: bool,
) -> Option<f64> {
    let Crossing::Bracketed { last, first, .. } = *crossing else {
        return None;
    };
    let span = measured.iter().fold((last, first), |(low, high), x| (low.min(*x), high.max(*x)));
    let mut inside: Vec<f64> =
        measured.iter().copied().filter(|x| *x > last && *x < first).collect();
    inside.sort_by(f64::total_cmp);
    let (after_last, before_first) =
        (inside.first().copied().unwrap_or(first), inside.last().copied().unwrap_or(last));
    let size = |(low, high): (f64, f64)| match scale {
        Scale::Linear => high - low,
        Scale::Log => (high / low).ln(),
    };
    let gaps = [(last, after_last), (before_first, first)];
    gaps.into_iter()
        .filter(|gap| difference(*gap, span) > width)
        .filter_map(|gap| Some((gap, middle(gap, scale, integer)?)))
        .max_by(|(a, _), (b, _)| size(*a).total_cmp(&size(*b)))
        .map(|(_, middle)| middle)
}

/// By how much the ends differ, relative to the one nearer to zero. A hundredth of the measured
/// span stands in for it where it is smaller than that: no bracket around 0 would ever end.
fn difference((low, high): (f64, f64), (lowest, highest): (f64, f64)) -> f64 {
    (high - low) / low.abs().min(high.abs()).max((highest - lowest) / 100.0)
}

/// The middle of a gap on the axis's scale; None where nothing lies between its ends.
fn middle((low, high): (f64, f64), scale: Scale, integer: bool) -> Option<f64> {
    let exact = match scale {
        Scale::Linear => low + (high - low) / 2.0,
        Scale::Log => (low.ln() + (high.ln() - low.ln()) / 2.0).exp(),
    };
    if !integer {
        return (exact > low && exact < high).then_some(exact);
    }
    let (lowest, highest) = (low.floor() + 1.0, high.ceil() - 1.0);
    (lowest <= highest).then(|| exact.round().clamp(lowest, highest))
}
