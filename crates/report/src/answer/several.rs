//! The headline of three engines and more: the lines that cross, which engine is the fastest where, and the
//! ranks at one level.

use notation::counted;
use plan::Levels;

use super::course::crosses;
use super::sentence::{Assertion, EnginePair, Sentence};
use super::two::COURSES_MAX;
use super::wording::Wording;
use super::{peaks, place, ranking};
use crate::analysis::{Analysis, Sweep, axis_noun};

/// Crossings that are named; more are counted.
const CROSSINGS_MAX: usize = 3;

pub(super) fn sentences(
    wording: &Wording<'_>,
    analysis: &Analysis,
    primary: &[&Sweep],
) -> Vec<Sentence> {
    let mut said: Vec<Sentence> = crossings(wording, analysis).into_iter().collect();
    let groups = groups(primary);
    if groups.len() <= COURSES_MAX {
        let named = |levels: &&Levels| {
            let said = peaks::at(wording, analysis, levels)?;
            Some(said.after(&prefix(wording, levels, groups.len())).capital().then("."))
        };
        said.extend(groups.iter().filter_map(named));
    }
    said.extend(fastest(wording, &groups));
    let left_out = primary.iter().filter_map(|sweep| {
        let said = wording.left_out(sweep)?;
        Some(said.after(&format!("{}: ", wording.subject(sweep))))
    });
    said.extend(left_out.map(|one| one.capital().then(".")));
    match ranking::at_widest(wording) {
        Some(ranks) => said.extend(ranks),
        // Fewer than three can be ranked.
        None => {
            let size = wording.dearest_of(primary, None);
            let size = size.map(|(sweep, one)| {
                wording.size(sweep, &one, &place::others(wording.plan, &sweep.levels))
            });
            said.extend(size.map(|one| one.capital().then(".")));
        }
    }
    if let Some(first) = said.first_mut() {
        let failures = wording.all_failures();
        if !failures.is_empty() {
            first.text.truncate(first.text.trim_end_matches('.').len());
            *first = std::mem::take(first).then(failures).then(".");
        }
    }
    said
}

/// The sets of levels beside the swept factor.
fn groups<'s>(primary: &[&'s Sweep]) -> Vec<&'s Levels> {
    let mut groups: Vec<&Levels> = Vec::new();
    for sweep in primary {
        if !groups.contains(&&sweep.levels) {
            groups.push(&sweep.levels);
        }
    }
    groups
}

/// `reads: `, where there is more than one set of levels.
fn prefix(wording: &Wording<'_>, levels: &Levels, groups: usize) -> String {
    match (groups, name(wording, levels)) {
        (..=1, _) => String::new(),
        (_, name) => format!("{name}: "),
    }
}

fn name(wording: &Wording<'_>, levels: &Levels) -> String {
    match place::others(wording.plan, levels) {
        others if others.is_empty() => "base".to_owned(),
        others => others,
    }
}

/// `reads: SQLite and PostgreSQL 18 cross between 100 kB and 1 MB; ...`, of every pair.
fn crossings(wording: &Wording<'_>, analysis: &Analysis) -> Option<Sentence> {
    let together = analysis.sweeps.iter().filter(|sweep| sweep.request.is_none());
    let crossed: Vec<&Sweep> = together.filter(|sweep| crosses(sweep)).collect();
    let told = crossed.iter().take(CROSSINGS_MAX).filter_map(|sweep| {
        let others = place::others(wording.plan, &sweep.levels);
        let subject = if others.is_empty() { others } else { format!("{others}: ") };
        let crossing = wording.crossing(sweep)?.after(&subject);
        Some(match crossed.len() {
            1 => Sentence::joined(
                [Some(crossing), wording.faster(sweep)].into_iter().flatten(),
                "; ",
            ),
            _ => crossing,
        })
    });
    let said = Sentence::joined(told, "; ");
    let more = match crossed.len().saturating_sub(CROSSINGS_MAX) {
        0 => String::new(),
        more => format!("; {} below", counted(more, "more crossing")),
    };
    (!said.is_empty()).then(|| said.then(more).capital().then("."))
}

/// Engines of which none is shown slower than another, at some levels of a sweep.
#[derive(PartialEq)]
struct Leaders {
    among: Vec<String>,
    /// Every comparison there is an equality.
    are_equal: bool,
}

/// `PostgreSQL 18 is shown fastest at every period measured, a week to a year`, for every set of
/// levels.
fn fastest(wording: &Wording<'_>, groups: &[&Levels]) -> Vec<Sentence> {
    let mut courses: Vec<(Sentence, Vec<&Levels>)> = Vec::new();
    for levels in groups {
        let (said, _) = fastest_at(wording, levels);
        match courses.iter_mut().find(|(one, _)| one.text == said.text) {
            Some((one, of)) => {
                one.assertions.extend(said.assertions);
                of.push(levels);
            }
            None => courses.push((said, vec![levels])),
        }
    }
    if courses.len() > COURSES_MAX {
        return vec![counts(wording, groups)];
    }
    courses.sort_by_key(|(_, of)| of.first().is_none_or(|levels| !fastest_at(wording, levels).1));
    let all = groups.len();
    let told = courses.into_iter().filter(|(said, _)| !said.is_empty()).map(|(said, of)| {
        let names: Vec<String> = of.iter().map(|levels| name(wording, levels)).collect();
        let factors: Vec<&String> = of.iter().flat_map(|levels| levels.keys().take(2)).collect();
        let subject = match (all, names.len()) {
            (..=1, _) => String::new(),
            (_, many) if many < all || all <= COURSES_MAX => format!("{}: ", place::listed(&names)),
            _ => match factors.as_slice() {
                [factor, next, ..] if factor == next => format!("every {}: ", axis_noun(factor)),
                _ => format!("all {all} sets of levels: "),
            },
        };
        said.after(&subject)
    });
    let told = Sentence::joined(told, "; ");
    if told.is_empty() { Vec::new() } else { vec![told.capital().then(".")] }
}

/// The cells of a set of levels, with what is shown of the fastest there.
fn leaders(wording: &Wording<'_>, levels: &Levels) -> Vec<(Levels, Leaders)> {
    let axis = wording.plan.swept().map(|(name, _)| name);
    let is_here = |cell: &Levels| {
        cell.iter()
            .all(|(name, level)| Some(name.as_str()) == axis || levels.get(name) == Some(level))
    };
    let cells = wording.verdicts.cells().into_iter().filter(is_here);
    let mut found: Vec<(Levels, Leaders)> = cells
        .filter_map(|cell| {
            let measured = wording.verdicts.measured(&cell);
            let engines: Vec<&str> = measured.into_iter().map(|(engine, _)| engine).collect();
            let shown = wording.verdicts.shown(&engines, &cell);
            let is_slower = |engine: &&str| shown.iter().any(|(_, slower)| slower == engine);
            let in_plan = wording.plan.engines.iter().map(engine::EngineSpec::label);
            let leads = |label: &String| {
                engines.iter().any(|one| one == label) && !is_slower(&label.as_str())
            };
            let among: Vec<String> = in_plan.filter(leads).collect();
            let are_equal = among.len() == engines.len() && wording.verdicts.are_equal(&cell);
            (engines.len() > 1).then_some((cell, Leaders { among, are_equal }))
        })
        .collect();
    let position = |cell: &Levels| {
        let level = axis.and_then(|axis| cell.get(axis)?.number());
        level.unwrap_or_default()
    };
    found.sort_by(|(x, _), (y, _)| position(x).total_cmp(&position(y)));
    found
}

/// The sentence on one set of levels, and whether one engine leads somewhere in it.
fn fastest_at(wording: &Wording<'_>, levels: &Levels) -> (Sentence, bool) {
    let found = leaders(wording, levels);
    let axis = wording.plan.swept().map(|(name, _)| name);
    let level = |cell: &Levels| axis.and_then(|axis| cell.get(axis)?.number());
    let all: Vec<f64> = found.iter().filter_map(|(cell, _)| level(cell)).collect();
    let mut parts: Vec<(Sentence, bool)> = Vec::new();
    for stretch in found.chunk_by(|(_, one), (_, next)| one == next) {
        let Some((_, leaders)) = stretch.first() else { continue };
        let at: Vec<f64> = stretch.iter().filter_map(|(cell, _)| level(cell)).collect();
        let place = match axis {
            Some(axis) => format!(" {}", place::among(wording.plan, axis, &at, &all)),
            None => String::new(),
        };
        let cells: Vec<Levels> = stretch.iter().map(|(cell, _)| cell.clone()).collect();
        parts.push((leaders_in_words(wording, leaders, &place, cells), leaders.among.len() == 1));
    }
    // Where one leads comes first.
    parts.sort_by_key(|(_, leads)| !leads);
    let leads = parts.first().is_some_and(|(_, leads)| *leads);
    (Sentence::joined(parts.into_iter().map(|(said, _)| said), "; "), leads)
}

fn leaders_in_words(
    wording: &Wording<'_>,
    leaders: &Leaders,
    place: &str,
    cells: Vec<Levels>,
) -> Sentence {
    let names: Vec<&str> = leaders.among.iter().map(|label| wording.names.get(label)).collect();
    let all = cells.iter().map(|cell| wording.verdicts.measured(cell).len()).max();
    let words = match names.as_slice() {
        [only] => format!("{only} is shown fastest{place}"),
        _ if leaders.are_equal => {
            let within = wording.plan.equivalent_within;
            let words = format!("all that were compared are equal within {within}{place}");
            return equal_pairs(wording, leaders, &cells)
                .into_iter()
                .fold(Sentence::plain(words), Sentence::also);
        }
        few if Some(few.len()) < all && few.len() <= COURSES_MAX => {
            format!("the fastest is {}{place}", few.join(" or "))
        }
        some if Some(some.len()) < all => {
            format!("the fastest is one of {}{place}", counted(some.len(), "engine"))
        }
        _ => format!("no engine is shown slower than another{place}"),
    };
    let among = leaders.among.clone();
    Sentence::stating(words, Assertion::Fastest { among, at: cells })
}

/// The comparisons among equal engines.
fn equal_pairs(wording: &Wording<'_>, leaders: &Leaders, cells: &[Levels]) -> Vec<Assertion> {
    let mut pairs = Vec::new();
    for (index, a) in leaders.among.iter().enumerate() {
        for b in leaders.among.iter().skip(index + 1) {
            let is_compared = |cell: &&Levels| wording.verdicts.between(a, b, cell).is_some();
            let at: Vec<Levels> = cells.iter().filter(is_compared).cloned().collect();
            if !at.is_empty() {
                let pair = EnginePair { a: a.clone(), b: b.clone(), request: None };
                pairs.push(Assertion::Equal { pair, at });
            }
        }
    }
    pairs
}

/// `PostgreSQL 18 is shown fastest in 10 of 12 sets of levels, none in 2`.
fn counts(wording: &Wording<'_>, groups: &[&Levels]) -> Sentence {
    let all: Vec<(Levels, Leaders)> =
        groups.iter().flat_map(|levels| leaders(wording, levels)).collect();
    let mut counts: Vec<(Option<&String>, usize)> = Vec::new();
    for (_, leaders) in &all {
        let leader = leaders.among.first().filter(|_| leaders.among.len() == 1);
        match counts.iter_mut().find(|(one, _)| *one == leader) {
            Some((_, count)) => *count += 1,
            None => counts.push((leader, 1)),
        }
    }
    counts.sort_by_key(|(leader, count)| (leader.is_none(), std::cmp::Reverse(*count)));
    let of = all.len();
    let told = counts.iter().enumerate().map(|(index, (leader, count))| {
        let name = leader.map_or("none", |label| wording.names.get(label));
        let words = match index {
            0 => format!("{name} is shown fastest in {count} of {of} sets of levels"),
            _ => format!("{name} in {count}"),
        };
        let engine = leader.cloned();
        Sentence::stating(words, Assertion::FastestCount { engine, count: *count, of })
    });
    Sentence::joined(told, ", ").capital().then(".")
}
