//! Ranks of three engines and more: the range that the shown comparisons allow.

use plan::Levels;
use serde::Serialize;

use super::sentence::{Assertion, Sentence};
use super::wording::{Wording, speed_of};
use super::{place, size};
use crate::analysis::Shown;

/// The ranks that an engine may have, 1 being the fastest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Rank {
    pub engine: String,
    pub rank_low: usize,
    pub rank_high: usize,
}

/// The ranks at one set of levels, in the order of the estimates, the fastest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Ranking {
    pub levels: Levels,
    pub ranks: Vec<Rank>,
}

/// At every set of levels at which three engines and more have a value.
pub(super) fn everywhere(wording: &Wording<'_>) -> Vec<Ranking> {
    let cells = wording.verdicts.cells().into_iter();
    let ranks = cells.filter_map(|levels| {
        let ranks = wording.verdicts.ranks(&levels)?;
        Some(Ranking { levels, ranks })
    });
    ranks.collect()
}

/// The sentences about the ranks where engines differ most.
pub(super) fn at_widest(wording: &Wording<'_>) -> Option<Vec<Sentence>> {
    let is_saturated = |ranking: &Ranking| {
        ranking.ranks.iter().any(|rank| {
            wording.treatment(&rank.engine, &ranking.levels).is_some_and(|one| one.saturated)
        })
    };
    let rankings = everywhere(wording).into_iter().filter(|one| !is_saturated(one));
    let shown = |one: &Ranking| {
        let all = one.ranks.len();
        one.ranks.iter().map(|rank| all - 1 - (rank.rank_high - rank.rank_low)).sum::<usize>()
    };
    // The higher level of two that differ by less than a twentieth.
    let steps = |one: &Ranking| (spread(wording, one) * 20.0).round();
    let widest = rankings.max_by(|x, y| {
        let counts = |of: &Ranking| (of.ranks.len(), shown(of));
        counts(x).cmp(&counts(y)).then(steps(x).total_cmp(&steps(y)))
    });
    Some(sentences(wording, &widest?))
}

/// By how much the slowest differs from the fastest, as a logarithm.
fn spread(wording: &Wording<'_>, ranking: &Ranking) -> f64 {
    let values =
        ranking.ranks.iter().filter_map(|rank| wording.estimate(&rank.engine, &ranking.levels));
    let logs: Vec<f64> = values.map(f64::ln).collect();
    let high = logs.iter().copied().max_by(f64::total_cmp);
    let low = logs.iter().copied().min_by(f64::total_cmp);
    high.zip(low).map_or(0.0, |(high, low)| high - low)
}

/// `At 8 clients: PostgreSQL 18 rank 1 (12,300), SQLite rank 2 to 3 (9,600; PostgreSQL 18 1.28 times
/// the throughput), ...`, and how certain that is.
fn sentences(wording: &Wording<'_>, ranking: &Ranking) -> Vec<Sentence> {
    let all = ranking.ranks.len();
    let is_open = ranking.ranks.iter().all(|one| (one.rank_low, one.rank_high) == (1, all));
    let words = ranking.ranks.iter().enumerate().map(|(index, rank)| {
        let name = wording.names.get(&rank.engine);
        let value = value(wording, ranking, rank, index == 0);
        let ranks = match rank.rank_low == rank.rank_high {
            _ if is_open => return format!("{name} {value}"),
            true => format!("rank {}", rank.rank_low),
            false => format!("rank {} to {}", rank.rank_low, rank.rank_high),
        };
        match against_best(wording, ranking, rank).filter(|_| index > 0) {
            Some(against) => format!("{name} {ranks} ({value}; {against})"),
            None => format!("{name} {ranks} ({value})"),
        }
    });
    let words = words.collect::<Vec<_>>().join(", ");
    let at = place::others(wording.plan, &ranking.levels);
    let at = if at.is_empty() { at } else { format!("at {at}: ") };
    let ranked = Assertion::Ranked { ranks: ranking.ranks.clone(), at: ranking.levels.clone() };
    let words = match is_open {
        true => format!("{at}{words}; each may have any rank from 1 to {all}"),
        false => format!("{at}{words}"),
    };
    vec![Sentence::stating(words, ranked).capital().then("."), certainty(wording).into()]
}

/// `12,300 transactions per second`, the unit with the first of them.
fn value(wording: &Wording<'_>, ranking: &Ranking, rank: &Rank, first: bool) -> String {
    let response = wording.plan.response();
    let measured = wording.estimate(&rank.engine, &ranking.levels);
    let value = measured.map(|value| size::value(response, value)).unwrap_or_default();
    match first && !response.lower_is_better() {
        true => format!("{value} {}", response.label().to_lowercase()),
        false => value,
    }
}

/// The result of an engine against the one of the best estimate.
fn against_best(wording: &Wording<'_>, ranking: &Ranking, rank: &Rank) -> Option<String> {
    let (best, levels) = (&ranking.ranks.first()?.engine, &ranking.levels);
    let name = wording.names.get(best);
    let response = wording.plan.response();
    let engines: Vec<&str> = ranking.ranks.iter().map(|one| one.engine.as_str()).collect();
    let shown = wording.verdicts.shown(&engines, levels);
    let is_shown = shown.contains(&(best.clone(), rank.engine.clone()));
    let measured = wording.verdicts.between(best, &rank.engine, levels);
    let [fast, slow] = [best, &rank.engine].map(|engine| wording.estimate(engine, levels));
    let (fast, slow) = (response.cost(fast?), response.cost(slow?));
    // Of a pair that has no verdict of its own the estimates are all there is.
    let speed = measured.map_or(slow / fast, |(one, side)| speed_of(side, one).value);
    let times = size::times(response, speed);
    Some(match measured.map(|(one, _)| one.shown()) {
        Some(Shown::Equal) => {
            let within = wording.plan.equivalent_within;
            let besides = if is_shown { format!(", {times}") } else { String::new() };
            format!("equal to {name} within {within}{besides}")
        }
        _ if is_shown => format!("{name} {times}"),
        Some(_) => format!("no difference from {name} shown"),
        None if wording.verdicts.is_compared(best, &rank.engine, levels) => {
            format!("not ranked against {name}")
        }
        None => format!("not compared with {name}"),
    })
}

fn certainty(wording: &Wording<'_>) -> String {
    let first = wording.plan.engines.first().map(engine::EngineSpec::label).unwrap_or_default();
    match wording.verdicts.other_pairs().are_compared {
        true => format!(
            "The comparisons with {} hold together with 95%, and so do those of the other pairs.",
            wording.names.get(&first)
        ),
        false => "These ranks hold together with 95%.".to_owned(),
    }
}
