//! Ranks of three engines and more: the range that the shown comparisons allow.

use plan::Levels;
use serde::Serialize;
use stats::crossing::Side;

use super::names::capital;
use super::wording::{Wording, label};
use super::{place, size};
use crate::analysis::{Shown, Sweep, Treatment};

/// The ranks that an engine may have, 1 being the fastest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Rank {
    pub engine: String,
    pub rank_low: usize,
    pub rank_high: usize,
}

/// The ranks at one set of levels.
pub(super) struct Ranking {
    pub levels: Levels,
    /// In the order of the estimates, the fastest first.
    pub ranks: Vec<Rank>,
    /// Pairs shown: the faster engine, the slower one.
    shown: Vec<(String, String)>,
    /// Whether all that were compared there are equal within the plan's margin.
    all_equal: bool,
}

/// At the levels of the first comparisons where engines differ most; none below three engines that
/// have a value there.
pub(super) fn of(wording: &Wording<'_>, together: &[&Sweep]) -> Option<Ranking> {
    let first = together.first()?;
    let group: Vec<&&Sweep> =
        together.iter().filter(|sweep| sweep.levels == first.levels).collect();
    let at = |level: f64| ranks_at(wording, &group, level);
    let spread = |ranking: &Ranking| {
        let values =
            ranking.ranks.iter().filter_map(|rank| wording.estimate(&rank.engine, &ranking.levels));
        let logs: Vec<f64> = values.map(f64::ln).collect();
        let ends = logs
            .iter()
            .copied()
            .max_by(f64::total_cmp)
            .zip(logs.iter().copied().min_by(f64::total_cmp));
        ends.map_or(0.0, |(high, low)| high - low)
    };
    // The higher level of two that differ by less than a twentieth.
    let steps = |ranking: &Ranking| (spread(ranking) * 20.0).round();
    let rankings = first.results.iter().filter_map(|result| at(result.level));
    rankings.max_by(|x, y| {
        let counts = |of: &Ranking| (of.ranks.len(), of.shown.len());
        counts(x).cmp(&counts(y)).then(steps(x).total_cmp(&steps(y)))
    })
}

fn ranks_at(wording: &Wording<'_>, group: &[&&Sweep], level: f64) -> Option<Ranking> {
    let levels = wording.levels_at(group.first()?, level);
    let mut engines: Vec<(&str, f64)> = Vec::new();
    for engine in wording.plan.engines.iter().map(engine::EngineSpec::label) {
        let found: Option<&Treatment> = wording
            .treatments
            .iter()
            .find(|one| one.engine == engine && one.levels == levels && one.standing.is_judged());
        if let Some((treatment, estimate)) = found.and_then(|one| Some((one, one.estimate?))) {
            engines.push((&treatment.engine, wording.plan.response().cost(estimate.value)));
        }
    }
    if engines.len() < 3 {
        return None;
    }
    engines.sort_by(|x, y| x.1.total_cmp(&y.1));
    let shown = closure(group, level);
    let count =
        |of: &dyn Fn(&(String, String)) -> bool| shown.iter().filter(|pair| of(pair)).count();
    let ranks = engines.iter().map(|(engine, _)| Rank {
        engine: (*engine).to_owned(),
        rank_low: 1 + count(&|(_, slower)| slower == engine),
        rank_high: engines.len() - count(&|(faster, _)| faster == engine),
    });
    let ranks: Vec<Rank> = ranks.collect();
    let all_equal = group.iter().all(|sweep| {
        let mut here = sweep.results.iter().filter(|one| one.level == level);
        here.next().is_some_and(|one| one.shown() == Shown::Equal)
    });
    Some(Ranking { ranks, levels, shown, all_equal })
}

/// The pairs shown at a level, and those that follow from them.
fn closure(group: &[&&Sweep], level: f64) -> Vec<(String, String)> {
    let mut shown: Vec<(String, String)> = group
        .iter()
        .filter_map(|sweep| {
            let one = sweep.results.iter().find(|one| one.level == level)?;
            let side = one.sign.faster()?;
            let other = if side == Side::A { Side::B } else { Side::A };
            Some((label(sweep, side).to_owned(), label(sweep, other).to_owned()))
        })
        .collect();
    loop {
        let follow = shown.iter().flat_map(|(fastest, middle)| {
            let below = shown.iter().filter(move |(faster, _)| faster == middle);
            below.map(move |(_, slowest)| (fastest.clone(), slowest.clone()))
        });
        let new: Vec<_> = follow.filter(|pair| !shown.contains(pair)).collect();
        if new.is_empty() {
            return shown;
        }
        for pair in new {
            if !shown.contains(&pair) {
                shown.push(pair);
            }
        }
    }
}

impl Ranking {
    /// `At 8 clients: PostgreSQL 18 rank 1 (12,300), SQLite rank 2 to 3 (9,600: 22% slower), ...`, and
    /// how certain that is.
    pub(super) fn sentences(&self, wording: &Wording<'_>) -> Vec<String> {
        let best = self.ranks.first();
        let best =
            best.and_then(|best| Some((best, wording.estimate(&best.engine, &self.levels)?)));
        let Some((best, best_value)) = best else { return Vec::new() };
        let response = wording.plan.response();
        let all = self.ranks.len();
        let is_open = self.ranks.iter().all(|one| (one.rank_low, one.rank_high) == (1, all));
        let words = self.ranks.iter().enumerate().map(|(index, rank)| {
            let name = wording.names.get(&rank.engine);
            let measured = wording.estimate(&rank.engine, &self.levels);
            let value = measured.map(|value| size::value(response, value)).unwrap_or_default();
            let unit = response.label().to_lowercase();
            let with_unit = match index == 0 && !response.lower_is_better() {
                true => format!("{value} {unit}"),
                false => value,
            };
            if is_open {
                return format!("{name} {with_unit}");
            }
            let ranks = match rank.rank_low == rank.rank_high {
                true => format!("rank {}", rank.rank_low),
                false => format!("rank {} to {}", rank.rank_low, rank.rank_high),
            };
            let by_best = measured.map(|value| size::difference(response, value / best_value));
            let against = match by_best.filter(|_| index > 0) {
                None => with_unit,
                Some(difference) if self.is_shown(&best.engine, &rank.engine) => {
                    format!("{with_unit}: {difference}")
                }
                Some(_) => {
                    let best = wording.names.get(&best.engine);
                    format!("{with_unit}: not told apart from {best}")
                }
            };
            format!("{name} {ranks} ({against})")
        });
        let words: Vec<String> = words.collect();
        let at = place::others(wording.plan, &self.levels);
        let said = words.join(", ");
        if is_open {
            let at = if at.is_empty() { at } else { format!(" at {at}") };
            let first = wording.plan.engines.first().map(engine::EngineSpec::label);
            if let Some(first) = first.filter(|_| self.all_equal) {
                let (first, within) = (wording.names.get(&first), wording.plan.equivalent_within);
                return vec![format!("The others equal {first} within {within}{at}: {said}.")];
            }
            let lead = format!("No engine is told apart from another{at}: {said}.");
            return vec![lead, format!("Each may have any rank from 1 to {all} (95% together).")];
        }
        let said = if at.is_empty() { capital(&said) } else { format!("At {at}: {said}") };
        vec![format!("{said}."), "These ranks hold together with 95%.".to_owned()]
    }

    fn is_shown(&self, faster: &str, slower: &str) -> bool {
        self.shown.iter().any(|(x, y)| x == faster && y == slower)
    }
}
