//! Laws that hold for any data: what the formulas promise, tried on what nobody would write down.
#![expect(clippy::unwrap_used, reason = "tests")]

use proptest::collection::vec;
use proptest::prelude::*;
use stats::crossing::{
    AxisScale, Crossing, LevelResult, Side, Sign, classify, find, next_level, signs,
};
use stats::{
    Estimate, best_of, equivalence, holm, mean_estimate, percentile_supported, quantile,
    ratio_comparison,
};

fn times() -> impl Strategy<Value = Vec<f64>> {
    vec(1e-3..1e6_f64, 1..25)
}

/// Times of two engines in the same blocks.
fn pairs() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    vec((1e-3..1e6_f64, 1e-3..1e6_f64), 1..25).prop_map(|pairs| pairs.into_iter().unzip())
}

/// Distinct levels with the times of both engines in seven blocks each; steep enough that all
/// three signs occur.
fn sweep() -> impl Strategy<Value = Vec<(f64, Vec<f64>, Vec<f64>)>> {
    let level = (-2.0..2.0_f64, vec(0.9..1.1_f64, 7), vec(0.9..1.1_f64, 7));
    vec(level, 1..9).prop_map(|levels| {
        let place = |(index, (effect, a, b)): (usize, (f64, Vec<f64>, Vec<f64>))| {
            let slowed = a.iter().map(|time| time * (effect.powi(3) / 8.0).exp()).collect();
            (7.0 * 1.7_f64.powi(index as i32), slowed, b)
        };
        levels.into_iter().enumerate().map(place).collect()
    })
}

fn results(sweep: &[(f64, Vec<f64>, Vec<f64>)]) -> Vec<LevelResult> {
    let compared =
        sweep.iter().map(|(level, a, b)| (*level, ratio_comparison(a, b, 0.95).unwrap())).collect();
    classify(&[compared], 0.95).remove(0)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

fn contains_its_value(estimate: &Estimate) -> bool {
    estimate.low.is_none_or(|low| low <= estimate.value)
        && estimate.high.is_none_or(|high| high >= estimate.value)
}

proptest! {
    #![proptest_config(testing::cases(256))]

    #[test]
    fn an_interval_contains_its_value(values in times(), (a, b) in pairs(), level in 0.5..0.999) {
        prop_assert!(contains_its_value(&mean_estimate(&values, level).unwrap()));
        prop_assert!(contains_its_value(&ratio_comparison(&a, &b, level).unwrap().ratio));
    }

    #[test]
    fn more_confidence_is_a_wider_interval(values in vec(1.0..2.0_f64, 5..25)) {
        let width = |level| {
            let estimate = mean_estimate(&values, level).unwrap();
            estimate.high.unwrap() - estimate.low.unwrap()
        };
        prop_assert!(width(0.99) >= width(0.95) && width(0.95) >= width(0.9));
    }

    #[test]
    fn the_unit_does_not_matter(values in times(), (a, b) in pairs(), unit in 1e-3..1e3_f64) {
        let scale = |values: &[f64]| values.iter().map(|x| x * unit).collect::<Vec<_>>();
        let (plain, scaled) =
            (mean_estimate(&values, 0.95).unwrap(), mean_estimate(&scale(&values), 0.95).unwrap());
        prop_assert!(close(plain.value * unit, scaled.value));
        let magnitude = plain.value.abs() * unit;
        for (before, after) in [(plain.low, scaled.low), (plain.high, scaled.high)] {
            let differ = (before.unwrap_or(0.0) * unit - after.unwrap_or(0.0)).abs();
            prop_assert!(differ <= 1e-9 * magnitude.max(after.unwrap_or(0.0).abs()));
        }
        let ratio = ratio_comparison(&a, &b, 0.95).unwrap().ratio.value;
        let same = ratio_comparison(&scale(&a), &scale(&b), 0.95).unwrap().ratio.value;
        prop_assert!(close(ratio, same));
    }

    #[test]
    fn a_to_b_and_b_to_a_say_the_same((a, b) in pairs()) {
        let forth = ratio_comparison(&a, &b, 0.95).unwrap();
        let back = ratio_comparison(&b, &a, 0.95).unwrap();
        prop_assert!(close(forth.ratio.value * back.ratio.value, 1.0));
        if let (Some(low), Some(high)) = (forth.ratio.low, back.ratio.high) {
            prop_assert!(close(low * high, 1.0));
        }
        if let (Some(p), Some(q)) = (forth.p_value, back.p_value) {
            prop_assert!((p - q).abs() < 1e-9);
        }
        let (forth, back) = (equivalence(&a, &b, 0.1), equivalence(&b, &a, 0.1));
        prop_assert_eq!(forth.is_some(), back.is_some());
        if let (Some(forth), Some(back)) = (forth, back) {
            prop_assert!((forth.p_value - back.p_value).abs() < 1e-9);
        }
    }

    #[test]
    fn p_is_under_5_percent_exactly_where_the_interval_excludes_1((a, b) in pairs()) {
        let comparison = ratio_comparison(&a, &b, 0.95).unwrap();
        if let Some(p) = comparison.p_value {
            let ratio = comparison.ratio;
            let excluded = ratio.low.unwrap() > 1.0 || ratio.high.unwrap() < 1.0;
            prop_assert!((p - 0.05).abs() < 1e-9 || (p < 0.05) == excluded);
        }
    }

    #[test]
    fn holm_raises_every_p_in_order_and_never_beats_bonferroni(
        p_values in vec(0.0..1.0_f64, 0..30),
    ) {
        let adjusted = holm(&p_values);
        prop_assert_eq!(adjusted.len(), p_values.len());
        for (i, p) in p_values.iter().enumerate() {
            prop_assert!(adjusted[i] >= *p && adjusted[i] <= 1.0);
            prop_assert!(adjusted[i] <= (p * p_values.len() as f64).min(1.0));
            for (j, q) in p_values.iter().enumerate() {
                prop_assert!(p > q || adjusted[i] <= adjusted[j]);
            }
        }
    }

    #[test]
    fn quantiles_rise_from_the_smallest_to_the_largest(mut values in times(), p in 0.0..1.0_f64) {
        values.sort_by(f64::total_cmp);
        let at = |p| quantile(&values, p).unwrap();
        prop_assert_eq!((at(0.0), at(1.0)), (values[0], values[values.len() - 1]));
        prop_assert!(at(p / 2.0) <= at(p) * (1.0 + 1e-12));
    }

    #[test]
    fn a_supported_percentile_leaves_ten_beyond_it(
        p in 0.0..0.9999_f64, count in 1..100_000_usize,
    ) {
        let beyond = count as f64 * (1.0 - p);
        let supported = percentile_supported(p, count);
        prop_assert!((beyond - 10.0).abs() < 1e-6 || supported == (beyond > 10.0));
    }

    #[test]
    fn the_best_of_three_is_one_of_the_three(values in times()) {
        match best_of(&values, 3) {
            Some(best) => prop_assert!(values[..3].contains(&best)
                && values[..3].iter().all(|value| best <= *value)),
            None => prop_assert!(values.len() < 3),
        }
    }

    #[test]
    fn a_sign_is_never_shown_against_its_own_interval(sweep in sweep()) {
        for result in results(&sweep) {
            match result.sign {
                Sign::AFaster => prop_assert!(result.ratio.high.unwrap() < 1.0),
                Sign::BFaster => prop_assert!(result.ratio.low.unwrap() > 1.0),
                Sign::Undecided => {}
            }
        }
    }

    #[test]
    fn fewer_verdicts_show_at_least_as_much(sweep in sweep()) {
        let compare = |(_, a, b): &(f64, Vec<f64>, Vec<f64>)| ratio_comparison(a, b, 0.95).unwrap();
        let comparisons: Vec<_> = sweep.iter().map(compare).collect();
        for (together, comparison) in signs(&comparisons, 0, 0.95).iter().zip(&comparisons) {
            let alone = signs(std::slice::from_ref(comparison), 0, 0.95)[0];
            prop_assert!(*together == Sign::Undecided || *together == alone);
        }
    }

    #[test]
    fn a_bracket_has_measured_ends_of_opposite_shown_signs(sweep in sweep()) {
        let results = results(&sweep);
        let side_at = |level: f64| {
            results.iter().find(|result| result.level == level).and_then(|r| r.sign.faster())
        };
        for crossing in find(&results, AxisScale::Log) {
            if let Crossing::Bracketed { last, first, faster_before, faster_after, about } =
                crossing
            {
                prop_assert!(last < first && (last..=first).contains(&about));
                prop_assert_eq!(side_at(last), Some(faster_before));
                prop_assert_eq!(side_at(first), Some(faster_after));
                prop_assert_ne!(faster_before, faster_after);
                let inside = |result: &&LevelResult| result.level > last && result.level < first;
                prop_assert!(results.iter().filter(inside).all(|r| r.sign == Sign::Undecided));
            }
        }
    }

    #[test]
    fn every_undecided_level_is_accounted_for(sweep in sweep()) {
        let results = results(&sweep);
        let crossings = find(&results, AxisScale::Log);
        for undecided in results.iter().filter(|result| result.sign == Sign::Undecided) {
            let covers = |crossing: &Crossing| match *crossing {
                Crossing::Bracketed { last, first, .. } => {
                    (last..=first).contains(&undecided.level)
                }
                Crossing::Inconclusive { between, .. } => between
                    .is_none_or(|(low, high)| (low..=high).contains(&undecided.level)),
                Crossing::NotInRange { .. } => false,
            };
            prop_assert_eq!(crossings.iter().filter(|crossing| covers(crossing)).count(), 1);
        }
        let one_side = |side| results.iter().all(|result| result.sign.faster() == Some(side));
        let everywhere = one_side(Side::A) || one_side(Side::B);
        let not_in_range = matches!(crossings[..], [Crossing::NotInRange { .. }]);
        prop_assert_eq!(everywhere, not_in_range);
    }

    #[test]
    fn swapping_the_engines_swaps_the_sides_and_moves_nothing(sweep in sweep()) {
        let swapped: Vec<_> =
            sweep.iter().map(|(level, a, b)| (*level, b.clone(), a.clone())).collect();
        let crossings = |sweep| find(&results(sweep), AxisScale::Log);
        let (forth, back) = (crossings(&sweep), crossings(&swapped));
        prop_assert_eq!(forth.len(), back.len());
        for (forth, back) in forth.iter().zip(&back) {
            match (*forth, *back) {
                (
                    Crossing::Bracketed { last, first, faster_before, about, .. },
                    Crossing::Bracketed { last: l, first: f, faster_after, about: a, .. },
                ) => {
                    prop_assert_eq!((last, first, faster_before), (l, f, faster_after));
                    prop_assert!(close(about, a));
                }
                (Crossing::NotInRange { faster: a }, Crossing::NotInRange { faster: b }) => {
                    prop_assert_ne!(a, b);
                }
                (
                    Crossing::Inconclusive { between: a, .. },
                    Crossing::Inconclusive { between: b, .. },
                ) => prop_assert_eq!(a, b),
                _ => prop_assert!(false, "{:?} against {:?}", forth, back),
            }
        }
    }

    /// Bisection of a noiseless sign change: always strictly inside an unmeasured gap, and soon
    /// over, with the change still inside and the ends within 15% or neighbours on the grid.
    #[test]
    fn bisection_closes_in_on_the_change(
        low in 1.0..50.0_f64, factor in 1.2..200.0_f64, share in 0.01..0.99_f64,
        integer: bool, log: bool,
    ) {
        let round = |x: f64| if integer { x.round() } else { x };
        let scale = if log { AxisScale::Log } else { AxisScale::Linear };
        let (mut last, mut first) = (round(low), round(low * factor).max(round(low) + 1.0));
        let change = last + share * (first - last);
        let mut measured = vec![last, first];
        for _ in 0..40 {
            let bracket = Crossing::Bracketed {
                last, first, faster_before: Side::A, faster_after: Side::B, about: change,
            };
            let Some(level) = next_level(&bracket, &measured, scale, 0.15, integer) else {
                let neighbours = integer && first - last <= 1.0;
                prop_assert!(first / last <= 1.15 + 1e-9 || neighbours, "{last} {first}");
                return Ok(());
            };
            prop_assert!(level > last && level < first && !measured.contains(&level));
            prop_assert!(!integer || level.fract() == 0.0);
            measured.push(level);
            if level < change { last = level } else { first = level }
        }
        prop_assert!(false, "no end: {last} {first}");
    }
}
