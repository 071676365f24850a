//! Starvation of clients, which a mean hides and users feel: a mean above its own 99th percentile.

use plan::{LoadModel, WorkloadKind, clients};
use record::counter::{CLIENT_LEAST_SHARE, CLIENT_LONGEST_WAIT};

use super::sentence::{Assertion, Sentence};
use super::wording::Wording;
use super::{place, size};
use crate::analysis::Treatment;

/// The worst treatment, and how many there are: `SQLite starves some of 16 clients: its mean of
/// 1.35 ms is above its own 99th percentile of 0.593 ms; ...`.
pub(super) fn sentence(wording: &Wording<'_>) -> Option<Sentence> {
    let starved = wording.treatments.iter().filter(|one| may_starve(wording, one));
    let starved: Vec<(&Treatment, f64, f64)> = starved.filter_map(above_p99).collect();
    let (worst, mean, p99) =
        starved.iter().max_by(|(_, a, b), (_, x, y)| (a / b).total_cmp(&(x / y)))?;
    let longest = worst.counters.get(CLIENT_LONGEST_WAIT).map(|seconds| {
        format!("; the longest wait of a block is {} on average", size::time(seconds * 1e3))
    });
    // In open load a client is a connection, and a seldom used one does not starve; of fixed work each
    // client has its part.
    let may_tell = is_closed(wording) && !is_fixed_work(wording);
    let share = worst.counters.get(CLIENT_LEAST_SHARE).filter(|_| may_tell).map(|share| {
        format!(", and the slowest client gets {:.0}% of an even share", share * 100.0)
    });
    let others = match starved.len() {
        1 => String::new(),
        many => format!(" ({many} treatments in all)"),
    };
    let words = format!(
        "{} starves clients at {}{others}",
        wording.names.get(&worst.engine),
        place::in_words(wording.plan, &worst.levels).join(", "),
    );
    let mut starves = starved
        .iter()
        .map(|(one, ..)| Assertion::Starved { engine: one.engine.clone(), at: one.levels.clone() });
    let said = Sentence::stating(words, starves.next()?);
    let said = starves.fold(said, Sentence::also).then(format!(
        ": its mean of {} is above its own 99th percentile of {}{}{}.",
        size::time(*mean),
        size::time(*p99),
        longest.unwrap_or_default(),
        share.unwrap_or_default()
    ));
    Some(said.capital())
}

fn is_closed(wording: &Wording<'_>) -> bool {
    wording.plan.load.model == LoadModel::Closed
}

fn is_fixed_work(wording: &Wording<'_>) -> bool {
    wording.plan.workload == WorkloadKind::Sql && !wording.plan.only_reads()
}

/// Whether clients compete for the engine, and did not merely wait for a processor.
fn may_starve(wording: &Wording<'_>, treatment: &Treatment) -> bool {
    let compete = !is_closed(wording) || clients(&treatment.levels) > 1;
    let longest = treatment.counters.get(CLIENT_LONGEST_WAIT);
    let explained = longest.zip(treatment.client_processor_wait_seconds);
    compete && explained.is_none_or(|(longest, waited)| *longest > waited)
}

fn above_p99(treatment: &Treatment) -> Option<(&Treatment, f64, f64)> {
    let mean = treatment.response_time?.value;
    let p99 = treatment.percentiles.iter().find(|one| one.name == "p99")?.estimate.value;
    (mean > p99).then_some((treatment, mean, p99))
}
