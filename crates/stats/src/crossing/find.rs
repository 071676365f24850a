//! Evaluation of signs along the axis: brackets, stretches without a verdict, or a single sign.

use super::more_blocks::more_blocks;
use super::{AxisScale, Crossing, LevelResult, Side};

/// Every crossing that the measured levels show, from the lowest level to the highest; levels
/// may come in any order. There may be several, and inconclusive stretches beside them. Empty
/// only if there are no levels.
///
/// Lines that cross twice between two neighbouring levels leave no trace there.
pub fn find(levels: &[LevelResult], scale: AxisScale) -> Vec<Crossing> {
    let mut sorted = levels.to_vec();
    sorted.sort_by(|a, b| a.level.total_cmp(&b.level));
    let shown: Vec<(usize, Side)> = sorted
        .iter()
        .enumerate()
        .filter_map(|(index, result)| Some((index, result.sign.faster()?)))
        .collect();
    let (Some(&(lowest, first_side)), Some(&(highest, _))) = (shown.first(), shown.last()) else {
        let nothing =
            Crossing::Inconclusive { more_blocks: more_blocks(&sorted, None), between: None };
        return if sorted.is_empty() { Vec::new() } else { vec![nothing] };
    };
    if shown.len() == sorted.len() && shown.iter().all(|(_, side)| *side == first_side) {
        return vec![Crossing::NotInRange { faster: first_side }];
    }
    let mut crossings = Vec::new();
    if lowest > 0 {
        crossings.push(inconclusive(&sorted[..=lowest], first_side));
    }
    for pair in shown.windows(2) {
        let [(left, before), (right, after)] = [pair[0], pair[1]];
        if before != after {
            crossings.push(bracketed(&sorted[left..=right], before, after, scale));
        } else if right > left + 1 {
            crossings.push(inconclusive(&sorted[left..=right], before));
        }
    }
    if let Some((_, side)) = shown.last()
        && highest + 1 < sorted.len()
    {
        crossings.push(inconclusive(&sorted[highest..], *side));
    }
    crossings
}

fn inconclusive(stretch: &[LevelResult], shown: Side) -> Crossing {
    let between = stretch.first().zip(stretch.last()).map(|(low, high)| (low.level, high.level));
    Crossing::Inconclusive { more_blocks: more_blocks(stretch, Some(shown)), between }
}

fn bracketed(stretch: &[LevelResult], before: Side, after: Side, scale: AxisScale) -> Crossing {
    let (last, first) = (stretch[0].level, stretch[stretch.len() - 1].level);
    let about = interpolated(stretch, scale).clamp(last, first);
    Crossing::Bracketed { last, first, faster_before: before, faster_after: after, about }
}

/// Where the logarithm of the ratio is zero on the straight line between the first two
/// neighbours whose estimates lie on both sides of one.
fn interpolated(stretch: &[LevelResult], scale: AxisScale) -> f64 {
    let position = |result: &LevelResult| match scale {
        AxisScale::Linear => result.level,
        AxisScale::Log => result.level.ln(),
    };
    let height = |result: &LevelResult| result.ratio.value.ln();
    let rising = stretch.first().is_some_and(|result| height(result) < 0.0);
    let beyond = |result: &LevelResult| (height(result) >= 0.0) == rising;
    let right = stretch.iter().skip(1).position(beyond).map_or(stretch.len() - 1, |i| i + 1);
    let (left, right) = (&stretch[right - 1], &stretch[right]);
    let share = height(left) / (height(left) - height(right));
    let middle = position(left) + share * (position(right) - position(left));
    match scale {
        AxisScale::Linear => middle,
        AxisScale::Log => middle.exp(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sign::{AFaster, BFaster, Undecided};
    use super::super::tests::level;
    use super::*;

    fn stretch(crossing: &Crossing) -> Option<(f64, f64)> {
        match *crossing {
            Crossing::Inconclusive { between, .. } => between,
            Crossing::Bracketed { last, first, .. } => Some((last, first)),
            Crossing::NotInRange { .. } => None,
        }
    }

    #[test]
    fn a_bracket_is_between_the_last_and_the_first_of_two_signs() {
        let levels = [
            level(365.0, 1.6, BFaster),
            level(7.0, 0.5, AFaster),
            level(120.0, 0.99, Undecided),
            level(31.0, 0.8, AFaster),
        ];
        let [Crossing::Bracketed { last, first, faster_before, faster_after, about }] =
            find(&levels, AxisScale::Log)[..]
        else {
            panic!("one bracket expected");
        };
        assert_eq!((last, first), (31.0, 365.0));
        assert_eq!((faster_before, faster_after), (Side::A, Side::B));
        assert!((120.0..140.0).contains(&about), "{about}");
    }

    #[test]
    fn the_point_between_is_interpolated_on_the_axis_scale() {
        let levels = [level(10.0, 0.5, AFaster), level(1_000.0, 2.0, BFaster)];
        let about = |scale| match find(&levels, scale)[..] {
            [Crossing::Bracketed { about, .. }] => about,
            _ => panic!("one bracket expected"),
        };
        assert!((about(AxisScale::Log) - 100.0).abs() < 1e-9);
        assert!((about(AxisScale::Linear) - 505.0).abs() < 1e-9);
    }

    #[test]
    fn lines_may_cross_twice() {
        let levels = [
            level(1.0, 0.5, AFaster),
            level(2.0, 2.0, BFaster),
            level(3.0, 1.5, BFaster),
            level(4.0, 0.5, AFaster),
        ];
        let stretches: Vec<_> = find(&levels, AxisScale::Linear).iter().map(stretch).collect();
        assert_eq!(stretches, [Some((1.0, 2.0)), Some((3.0, 4.0))]);
    }

    #[test]
    fn not_in_range_needs_every_level() {
        let mut levels = vec![level(1.0, 0.5, AFaster), level(2.0, 0.6, AFaster)];
        assert_eq!(find(&levels, AxisScale::Log), [Crossing::NotInRange { faster: Side::A }]);
        levels.push(level(4.0, 0.97, Undecided));
        levels.push(level(8.0, 0.98, Undecided));
        let [crossing @ Crossing::Inconclusive { .. }] = &find(&levels, AxisScale::Log)[..] else {
            panic!("inconclusive expected");
        };
        assert_eq!(stretch(crossing), Some((2.0, 8.0)));
    }

    #[test]
    fn what_touches_one_is_no_crossing() {
        let levels = [
            level(1.0, 0.98, Undecided),
            level(2.0, 0.7, AFaster),
            level(3.0, 0.99, Undecided),
            level(4.0, 0.7, AFaster),
        ];
        let stretches: Vec<_> = find(&levels, AxisScale::Linear).iter().map(stretch).collect();
        assert_eq!(stretches, [Some((1.0, 2.0)), Some((2.0, 4.0))]);
    }

    #[test]
    fn where_nothing_is_shown_nothing_is_named() {
        let levels = [level(1.0, 0.98, Undecided), level(2.0, 1.01, Undecided)];
        let found = find(&levels, AxisScale::Linear);
        assert!(matches!(found[..], [Crossing::Inconclusive { between: None, .. }]));
        assert_eq!(find(&[], AxisScale::Linear), []);
    }
}
