//! Peaks of two engines against each other: one is above the other where it is shown to be above it at
//! every number of clients.

use std::collections::BTreeSet;

use plan::{Design, Level, Levels};
use stats::{RatioComparison, holm};

use super::super::pairs::{Family, OtherPairs, pairs};
use super::super::{CONFIDENCE_LEVEL, Treatment};
use super::{ByClients, CLIENTS, PeakComparison, Scaling, by_clients, compared};

/// The pairs that have verdicts, at each set of the other levels: corrected together (Holm), and each
/// for the numbers of clients of which the higher peak was chosen (Bonferroni). That a is above b at
/// each of b's numbers of clients needs no further correction, since all must hold.
pub(super) fn compare(
    design: &Design<'_>,
    groups: &BTreeSet<Levels>,
    scaling: &[Scaling],
    treatments: &[Treatment],
) -> Vec<PeakComparison> {
    let mut families = vec![Family::Primary];
    families.extend(OtherPairs::of(design).are_compared.then_some(Family::OtherPairs));
    let mut found = Vec::new();
    for group in groups {
        let pairs = families.iter().flat_map(|family| pairs(design, group, *family));
        for [one, other] in pairs {
            let of = |label: &str| {
                scaling.iter().find(|one| one.engine == label && one.levels == *group)
            };
            let (Some(x), Some(y)) = (of(&one.label()), of(&other.label())) else { continue };
            let is_higher = x.peak.throughput.value >= y.peak.throughput.value;
            let (a, b) = if is_higher { (x, y) } else { (y, x) };
            found.extend(pair(a, b, treatments));
        }
    }
    let p_values: Vec<f64> = found.iter().map(|(_, p)| *p).collect();
    let corrected = holm(&p_values);
    let judged = found
        .into_iter()
        .zip(corrected)
        .map(|((one, _), p)| PeakComparison { is_above: p <= 1.0 - CONFIDENCE_LEVEL, ..one });
    judged.collect()
}

/// Two engines with the p-value before the correction for all pairs.
fn pair(a: &Scaling, b: &Scaling, treatments: &[Treatment]) -> Option<(PeakComparison, f64)> {
    let of = |one: &Scaling| by_clients(treatments.iter(), &one.engine, &one.levels);
    let (of_a, of_b): (ByClients<'_>, ByClients<'_>) = (of(a), of(b));
    let peak = of_a.get(&Level::Number(a.peak.clients))?;
    let at_peaks = compared(peak, of_b.get(&Level::Number(b.peak.clients))?)?;
    let everywhere = of_b.values().map(|blocks| compared(peak, blocks));
    let everywhere: Option<Vec<RatioComparison>> = everywhere.collect();
    let is_above = |one: &RatioComparison| one.ratio.value > 1.0;
    let is_judged = treatments.iter().any(|one| {
        one.engine == a.engine
            && super::has_levels_of(&one.levels, &a.levels)
            && one.levels.get(CLIENTS) == Some(&Level::Number(a.peak.clients))
            && one.standing.is_judged()
    });
    let p = match everywhere {
        Some(all) if is_judged && all.iter().all(is_above) => {
            let largest = all.iter().map(|one| one.p_value.unwrap_or(1.0)).fold(0.0, f64::max);
            (largest * of_a.len() as f64).min(1.0)
        }
        _ => 1.0,
    };
    let comparison = PeakComparison {
        a: a.engine.clone(),
        b: b.engine.clone(),
        levels: a.levels.clone(),
        ratio: at_peaks.ratio,
        is_above: false,
    };
    Some((comparison, p))
}
