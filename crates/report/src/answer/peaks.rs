//! The most that each engine does over all numbers of clients, against each other.

use plan::Levels;

use super::sentence::{Assertion, Sentence};
use super::wording::Wording;
use super::{names, place, size};
use crate::analysis::{Analysis, CLIENTS, PeakComparison, Scaling};

/// `SQLite's best is 16.1 times PostgreSQL 18's (80,400 transactions per second at 64 clients against
/// 5,000 at 8 clients; 95%: 15.8 to 16.4)`, at the levels of a sweep over clients; none of another.
pub(super) fn at(wording: &Wording<'_>, analysis: &Analysis, levels: &Levels) -> Option<Sentence> {
    if wording.plan.swept()?.0 != CLIENTS {
        return None;
    }
    let throughput = analysis.throughput.as_ref()?;
    let here = throughput.scaling.iter().filter(|one| one.levels == *levels);
    let mut engines: Vec<&Scaling> = here.collect();
    engines.sort_by(|x, y| y.peak.throughput.value.total_cmp(&x.peak.throughput.value));
    let (best, others) = engines.split_first()?;
    let compared = |other: &Scaling| {
        throughput
            .peaks
            .iter()
            .find(|one| one.levels == *levels && one.a == best.engine && one.b == other.engine)
    };
    let (mut above, mut open) = (Vec::new(), Vec::new());
    for other in others {
        match compared(other) {
            Some(one) if one.is_above => above.push((*other, one)),
            Some(_) => open.push(*other),
            None => {}
        }
    }
    let unit = wording.plan.response().label().to_lowercase();
    let value = format!("{} {unit} {}", value(wording, best), clients(wording, best));
    let shown: Vec<Sentence> = above
        .iter()
        .enumerate()
        .map(|(index, (other, one))| {
            let best = if index == 0 { format!("{value} against ") } else { String::new() };
            shown(wording, other, one, &best)
        })
        .collect();
    let open: Vec<Sentence> = open
        .iter()
        .enumerate()
        .map(|(index, other)| {
            let not = if index == 0 { "not shown to be above " } else { "" };
            let words = format!(
                "{not}{} ({} {})",
                names::possessive(wording.names.get(&other.engine)),
                self::value(wording, other),
                clients(wording, other)
            );
            let (a, b) = (best.engine.clone(), other.engine.clone());
            Sentence::stating(words, Assertion::BestOpen { a, b, at: levels.clone() })
        })
        .collect();
    let name = names::of(wording.names.get(&best.engine), "best");
    let lead = match shown.is_empty() {
        true => format!("{name} ({value}) is "),
        false => format!("{name} is "),
    };
    let parts = [shown, open].map(Sentence::listed).into_iter().filter(|part| !part.is_empty());
    let said = Sentence::joined(parts, ", and ");
    (!said.is_empty()).then(|| said.after(&lead).united())
}

/// `16.1 times PostgreSQL 18's (80,400 transactions per second at 64 clients against 5,000 at 8 clients;
/// 95%: 15.8 to 16.4)`.
fn shown(wording: &Wording<'_>, other: &Scaling, one: &PeakComparison, best: &str) -> Sentence {
    let interval = size::interval(&one.ratio).map(|interval| format!("; 95%: {interval}"));
    let interval = interval.unwrap_or_default();
    let words = format!(
        "{} times {} ({best}{} {}{interval})",
        size::share(one.ratio.value),
        names::possessive(wording.names.get(&other.engine)),
        value(wording, other),
        clients(wording, other)
    );
    let (a, b, at) = (one.a.clone(), one.b.clone(), one.levels.clone());
    Sentence::stating(words, Assertion::Best { a, b, at })
}

fn value(wording: &Wording<'_>, one: &Scaling) -> String {
    size::value(wording.plan.response(), one.peak.throughput.value)
}

fn clients(wording: &Wording<'_>, one: &Scaling) -> String {
    format!("at {}", place::level(wording.plan, CLIENTS, one.peak.clients))
}
