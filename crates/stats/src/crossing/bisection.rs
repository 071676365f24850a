//! Bisection of a bracket: the next level to measure, so that the bracket closes around the
//! crossing.

use super::{AxisScale, Crossing};

/// How many levels bisection may add to one sweep. A gap of a factor of four is within 15% after
/// four levels if each is clear, and undecided levels in the middle leave two gaps to close. The
/// number is part of the correction for several verdicts, so it is fixed before anything is
/// measured and not too generous.
pub const MOST_LEVELS_MORE: usize = 8;

/// The next level to measure inside a bracket, or None when it is narrow enough, holds no further
/// level of the grid, or there is no bracket to close.
///
/// `measured` are the levels measured so far, in any order; those inside the bracket showed
/// neither side. Only a level in one of the two outermost gaps can move an end, so the wider of
/// them (on the axis's scale) is halved, until the bracket's ends differ by at most `width` (0.15:
/// by 15% of the lower one) or, around levels that showed neither side, each gap's ends by half of
/// that: then the blocks are too few, not the levels. `integer` keeps to whole levels.
pub fn next_level(
    crossing: &Crossing,
    measured: &[f64],
    scale: AxisScale,
    width: f64,
    integer: bool,
) -> Option<f64> {
    let Crossing::Bracketed { last, first, .. } = *crossing else {
        return None;
    };
    let span = measured.iter().fold((last, first), |(low, high), x| (low.min(*x), high.max(*x)));
    if difference((last, first), span) <= width {
        return None;
    }
    let inside = || measured.iter().copied().filter(|level| *level > last && *level < first);
    let lowest_inside = inside().fold(first, f64::min);
    let highest_inside = inside().fold(last, f64::max);
    let size = |(low, high): (f64, f64)| match scale {
        AxisScale::Linear => high - low,
        AxisScale::Log => (high / low).ln(),
    };
    [(last, lowest_inside), (highest_inside, first)]
        .into_iter()
        .filter(|gap| difference(*gap, span) > width / 2.0)
        .filter_map(|gap| Some((gap, middle(gap, scale, integer)?)))
        .max_by(|(a, _), (b, _)| size(*a).total_cmp(&size(*b)))
        .map(|(_, middle)| middle)
}

/// By how much the ends differ, relative to the one nearer to zero. A hundredth of the measured
/// span replaces it where it is smaller than that: no bracket around 0 would ever end.
fn difference((low, high): (f64, f64), (lowest, highest): (f64, f64)) -> f64 {
    (high - low) / low.abs().min(high.abs()).max((highest - lowest) / 100.0)
}

/// The middle of a gap on the axis's scale; None where nothing lies between its ends.
fn middle((low, high): (f64, f64), scale: AxisScale, integer: bool) -> Option<f64> {
    let exact = match scale {
        AxisScale::Linear => low + (high - low) / 2.0,
        AxisScale::Log => (low.ln() + (high.ln() - low.ln()) / 2.0).exp(),
    };
    if !integer {
        return (exact > low && exact < high).then_some(exact);
    }
    let (lowest, highest) = (low.floor() + 1.0, high.ceil() - 1.0);
    (lowest <= highest).then(|| exact.round().clamp(lowest, highest))
}

#[cfg(test)]
mod tests {
    use super::super::Side;
    use super::*;

    fn bracket(last: f64, first: f64) -> Crossing {
        let about = (last + first) / 2.0;
        Crossing::Bracketed { last, first, faster_before: Side::A, faster_after: Side::B, about }
    }

    #[test]
    fn the_middle_depends_on_the_scale() {
        let measured = [10.0, 1_000.0];
        let next = |scale| next_level(&bracket(10.0, 1_000.0), &measured, scale, 0.15, false);
        assert!((next(AxisScale::Log).unwrap() - 100.0).abs() < 1e-9);
        assert_eq!(next(AxisScale::Linear), Some(505.0));
    }

    #[test]
    fn it_stops_at_the_width_wanted() {
        let next = |first| next_level(&bracket(100.0, first), &[], AxisScale::Log, 0.15, true);
        assert_eq!(next(115.0), None);
        assert_eq!(next(116.0), Some(108.0));
    }

    #[test]
    fn a_grid_of_whole_numbers_ends_at_neighbours() {
        let next = |last, first| next_level(&bracket(last, first), &[], AxisScale::Log, 0.15, true);
        assert_eq!(next(2.0, 3.0), None);
        assert_eq!(next(2.0, 4.0), Some(3.0));
        assert_eq!(next(1.0, 4.0), Some(2.0));
    }

    #[test]
    fn beside_undecided_levels_the_wider_outer_gap_is_halved() {
        let measured = [10.0, 40.0, 50.0, 100.0];
        let next = next_level(&bracket(10.0, 100.0), &measured, AxisScale::Linear, 0.15, false);
        assert_eq!(next, Some(75.0));
        // Both outer gaps are narrow: more levels would not move an end by much, more blocks may.
        let closed = [100.0, 107.0, 150.0, 160.0];
        let next = next_level(&bracket(100.0, 160.0), &closed, AxisScale::Linear, 0.15, false);
        assert_eq!(next, None);
    }

    #[test]
    fn a_bracket_from_zero_ends_too() {
        let (mut first, mut steps) = (100.0, 0);
        while let Some(level) =
            next_level(&bracket(0.0, first), &[0.0, 100.0], AxisScale::Linear, 0.15, false)
        {
            first = level;
            steps += 1;
        }
        assert_eq!(steps, 10);
    }

    #[test]
    fn only_a_bracket_can_be_closed() {
        let elsewhere = Crossing::NotInRange { faster: Side::A };
        assert_eq!(next_level(&elsewhere, &[1.0, 2.0], AxisScale::Log, 0.15, false), None);
    }
}
