//! Throughput over the number of clients: where each engine peaks, how it scales from one client,
//! what becomes of it beyond its peak, and each engine against the one before it in the plan.

mod peaks;

use std::collections::{BTreeMap, BTreeSet};

use stats::{Estimate, RatioComparison, geometric_mean_estimate, holm, ratio_comparison};

use super::pairs::Family;
use super::planned::{has_levels_of, with_bisection};
use super::sweep::{RawSweep, judged};
use super::{CONFIDENCE_LEVEL, Sweep, Treatment};
use engine::EngineSpec;
use plan::Design;
use plan::Level;
use plan::Levels;

/// The factor over which throughput scales.
pub const CLIENTS: &str = "clients";

/// Loads beyond the peak at which degradation is reported, in multiples of the peak's clients.
const BEYOND: [f64; 2] = [4.0, 16.0];

/// Throughput over the clients.
#[derive(Clone, Debug)]
pub struct Throughput {
    /// One for each engine and set of the other levels.
    pub scaling: Vec<Scaling>,
    /// Each engine against the one before it of its kind: `a` is the later one. Corrected together.
    pub steps: Vec<Sweep>,
    /// The peaks of the pairs that are compared, the higher one first. Corrected together.
    pub peaks: Vec<PeakComparison>,
}

/// The most that one engine does over all numbers of clients, against that of another.
#[derive(Clone, Debug)]
pub struct PeakComparison {
    /// The engine with the larger mean at its peak.
    pub a: String,
    pub b: String,
    pub levels: Levels,
    /// The throughput of a by that of b, each at its peak, paired by block.
    pub ratio: Estimate,
    /// Whether a's peak is shown to be above b's, wherever that is.
    pub is_above: bool,
}

/// One engine over the clients.
#[derive(Clone, Debug)]
pub struct Scaling {
    pub engine: String,
    pub levels: Levels,
    pub peak: Peak,
    pub one_client: Option<Estimate>,
    /// Numbers of clients, and the throughput at each by that at one, paired by block.
    pub over_one: Vec<(f64, Estimate)>,
    pub beyond: Vec<Beyond>,
}

/// Where an engine is fastest.
#[derive(Clone, Debug)]
pub struct Peak {
    /// The number of clients with the largest mean.
    pub clients: f64,
    pub throughput: Estimate,
    /// Every number of clients that is not shown to be below it: the peak is one of them.
    pub candidates: Vec<f64>,
}

/// Throughput at a multiple of the peak's clients.
#[derive(Clone, Copy, Debug)]
pub struct Beyond {
    pub times: f64,
    /// The number of clients measured.
    pub clients: f64,
    /// Throughput there by that at the peak, paired by block.
    pub ratio: Estimate,
}

/// Blocks by the number of clients.
type ByClients<'t> = BTreeMap<Level, &'t [(usize, f64)]>;

/// None where the response is not a rate, or the number of clients is not varied.
pub(super) fn of(
    design: &Design<'_>,
    cells: &[Levels],
    treatments: &[Treatment],
) -> Option<Throughput> {
    if design.response().lower_is_better() || !design.factors.contains_key(CLIENTS) {
        return None;
    }
    let without = |cell: &Levels| {
        let mut others = cell.clone();
        others.remove(CLIENTS);
        others
    };
    let groups: BTreeSet<Levels> = cells.iter().map(without).collect();
    let mut scaling = Vec::new();
    for group in &groups {
        for engine in &design.engines {
            let label = engine.label();
            let measured = by_clients(treatments.iter(), &label, group);
            scaling.extend(scaling_of(&label, group, &measured));
        }
    }
    let peaks = peaks::compare(design, &groups, &scaling, treatments);
    Some(Throughput { scaling, steps: steps(design, cells, &groups, treatments), peaks })
}

/// Failed transactions are not the work asked for, but throughput counts the right ones: the curve
/// of an engine holds such a treatment, as the article's pictures do.
fn by_clients<'t>(
    treatments: impl Iterator<Item = &'t Treatment>,
    engine: &str,
    group: &Levels,
) -> ByClients<'t> {
    let same = |treatment: &&Treatment| {
        treatment.engine == engine
            && !treatment.blocks.is_empty()
            && has_levels_of(&treatment.levels, group)
    };
    let measured = treatments.filter(same);
    measured.filter_map(|t| Some((t.levels.get(CLIENTS)?.clone(), t.blocks.as_slice()))).collect()
}

fn scaling_of(engine: &str, group: &Levels, measured: &ByClients<'_>) -> Option<Scaling> {
    let mean = |blocks: &[(usize, f64)]| {
        blocks.iter().map(|(_, value)| value).sum::<f64>() / blocks.len() as f64
    };
    let (best, blocks) = measured.iter().max_by(|(_, a), (_, b)| mean(a).total_cmp(&mean(b)))?;
    let clients = best.number()?;
    let values: Vec<f64> = blocks.iter().map(|(_, value)| *value).collect();
    let throughput = geometric_mean_estimate(&values, CONFIDENCE_LEVEL)?;
    let one = measured.get(&Level::Number(1.0));
    let over_one = one.into_iter().flat_map(|one| {
        measured.iter().filter_map(move |(level, blocks)| {
            Some((level.number()?, compared(blocks, one)?.ratio))
        })
    });
    let beyond = BEYOND.iter().filter_map(|times| {
        let level = Level::Number(clients * times);
        let ratio = compared(measured.get(&level)?, blocks)?.ratio;
        Some(Beyond { times: *times, clients: clients * times, ratio })
    });
    Some(Scaling {
        engine: engine.to_owned(),
        levels: group.clone(),
        peak: Peak { clients, throughput, candidates: candidates(measured, best, blocks) },
        one_client: one.and_then(|blocks| {
            let values: Vec<f64> = blocks.iter().map(|(_, value)| *value).collect();
            geometric_mean_estimate(&values, CONFIDENCE_LEVEL)
        }),
        over_one: over_one.collect(),
        beyond: beyond.collect(),
    })
}

/// The levels that are not shown below the best one, by Holm over all of this engine's. The best is
/// the best of what was seen, so the set errs on the side of leaving one out by chance, not often:
/// METHOD.md, section 7.
fn candidates(measured: &ByClients<'_>, best: &Level, of_best: &[(usize, f64)]) -> Vec<f64> {
    let others: Vec<(&Level, Option<RatioComparison>)> = measured
        .iter()
        .filter(|(level, _)| *level != best)
        .map(|(level, blocks)| (level, compared(blocks, of_best)))
        .collect();
    let p_values: Vec<f64> = others
        .iter()
        .map(|(_, comparison)| comparison.and_then(|found| found.p_value).unwrap_or(1.0))
        .collect();
    let corrected = holm(&p_values);
    let open = others.iter().zip(corrected).filter(|((_, comparison), p)| {
        let below = comparison.is_some_and(|found| found.ratio.value < 1.0);
        !(below && *p <= 1.0 - CONFIDENCE_LEVEL)
    });
    let open = open.map(|((level, _), _)| *level);
    let all: BTreeSet<&Level> = open.chain([best]).collect();
    all.into_iter().filter_map(Level::number).collect()
}

/// `a` by `b`, paired by block.
fn compared(a: &[(usize, f64)], b: &[(usize, f64)]) -> Option<RatioComparison> {
    let of_b: BTreeMap<usize, f64> = b.iter().copied().collect();
    let pairs = a.iter().filter_map(|(block, value)| Some((*value, *of_b.get(block)?)));
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.unzip();
    ratio_comparison(&a, &b, CONFIDENCE_LEVEL)
}

/// Each engine after the nearest earlier one of its kind: releases in the order of the plan. These
/// are verdicts, which treatments with more failures than are tolerated do not get.
fn steps(
    design: &Design<'_>,
    cells: &[Levels],
    groups: &BTreeSet<Levels>,
    treatments: &[Treatment],
) -> Vec<Sweep> {
    let plan = design.plan();
    let pairs = plan.engines.iter().enumerate().filter_map(|(index, engine)| {
        let mut before = plan.engines.iter().take(index).rev();
        Some((engine, before.find(|one| one.source.kind() == engine.source.kind())?))
    });
    let pairs: Vec<(&EngineSpec, &EngineSpec)> = pairs.collect();
    // Where a factor acts on neither engine, its levels are one comparison.
    let measured = |(later, earlier): (&EngineSpec, &EngineSpec), levels: &Levels| {
        let of = |engine: &EngineSpec| (engine.label(), design.canonical_levels(engine, levels));
        (of(later), of(earlier))
    };
    let (mut family, mut seen) = (Vec::new(), BTreeSet::new());
    for group in groups {
        let of_group = cells.iter().filter(|cell| has_levels_of(cell, group));
        let levels: BTreeSet<&Level> = of_group.filter_map(|cell| cell.get(CLIENTS)).collect();
        for (later, earlier) in pairs.iter().filter(|pair| seen.insert(measured(**pair, group))) {
            let axis = plan.factors.get(CLIENTS).cloned();
            let names = (later.label(), earlier.label());
            let mut sweep = RawSweep::new(Family::Steps, group.clone(), None, names, axis);
            for level in &levels {
                let of = |engine: &EngineSpec| {
                    let label = engine.label();
                    treatments.iter().find(|one| {
                        one.engine == label
                            && has_levels_of(&one.levels, group)
                            && one.levels.get(CLIENTS) == Some(level)
                    })
                };
                let clients = level.number().unwrap_or_default();
                sweep.add(plan.response(), clients, (of(later), of(earlier)));
            }
            family.push(sweep);
        }
    }
    let all =
        pairs.iter().flat_map(|pair| plan.cells().into_iter().map(|cell| measured(*pair, &cell)));
    let planned = with_bisection(plan, all.collect::<BTreeSet<_>>().len());
    judged(plan, family, planned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(values: [f64; 5]) -> Vec<(usize, f64)> {
        values.into_iter().enumerate().map(|(block, value)| (block + 1, value)).collect()
    }

    #[test]
    fn the_peak_is_every_client_count_not_shown_below_the_best() {
        let [one, two, four, eight, thirty_two] = [
            blocks([500.0, 510.0, 490.0, 505.0, 495.0]),
            blocks([3_000.0, 3_100.0, 2_950.0, 3_050.0, 3_000.0]),
            blocks([3_010.0, 3_020.0, 3_000.0, 2_990.0, 3_060.0]),
            blocks([2_500.0, 2_520.0, 2_490.0, 2_480.0, 2_510.0]),
            blocks([1_500.0, 1_520.0, 1_490.0, 1_480.0, 1_510.0]),
        ];
        let measured = ByClients::from([
            (Level::Number(1.0), one.as_slice()),
            (Level::Number(2.0), two.as_slice()),
            (Level::Number(4.0), four.as_slice()),
            (Level::Number(8.0), eight.as_slice()),
            (Level::Number(32.0), thirty_two.as_slice()),
        ]);
        let found = scaling_of("postgres:18", &Levels::new(), &measured).unwrap();
        assert_eq!(found.peak.clients, 2.0);
        assert_eq!(found.peak.candidates, [2.0, 4.0]);
        assert!((found.one_client.unwrap().value - 500.0).abs() < 0.1);
        let scaled: Vec<f64> = found.over_one.iter().map(|(clients, _)| *clients).collect();
        assert_eq!(scaled, [1.0, 2.0, 4.0, 8.0, 32.0]);
        assert!((found.over_one[1].1.value - 6.04).abs() < 0.01, "{:?}", found.over_one[1]);
        let beyond: Vec<(f64, f64)> = found.beyond.iter().map(|b| (b.times, b.clients)).collect();
        assert_eq!(beyond, [(4.0, 8.0), (16.0, 32.0)]);
        assert!((found.beyond[1].ratio.value - 0.496).abs() < 0.01, "{:?}", found.beyond[1]);
    }
}
