//! Starvation of clients, which a mean hides and users feel: a mean above its own 99th percentile.

use plan::LoadModel;
use record::counter::{CLIENT_LEAST_SHARE, CLIENT_LONGEST_WAIT};

use super::names::capital;
use super::wording::Wording;
use super::{place, size};
use crate::analysis::Treatment;

/// The worst treatment, and how many there are: `SQLite starves some of 16 clients: its mean of
/// 1.35 ms is above its own 99th percentile of 0.593 ms; ...`.
pub(super) fn sentence(wording: &Wording<'_>) -> Option<String> {
    let starved: Vec<(&Treatment, f64, f64)> =
        wording.treatments.iter().filter_map(|one| above_p99(one)).collect();
    let (worst, mean, p99) =
        starved.iter().max_by(|(_, a, b), (_, x, y)| (a / b).total_cmp(&(x / y)))?;
    let longest = worst.counters.get(CLIENT_LONGEST_WAIT).map(|seconds| {
        format!("; the longest wait of a block is {} on average", size::time(seconds * 1e3))
    });
    // In open load a client is a connection, and a seldom used one is no starved client.
    let is_closed = wording.plan.load.model == LoadModel::Closed;
    let share = worst.counters.get(CLIENT_LEAST_SHARE).filter(|_| is_closed).map(|share| {
        format!(", and the slowest client gets {:.0}% of an even share", share * 100.0)
    });
    let others = match starved.len() {
        1 => String::new(),
        many => format!(" ({many} treatments in all)"),
    };
    Some(format!(
        "{} starves clients at {}{others}: its mean of {} is above its own 99th percentile of {}{}{}.",
        capital(wording.names.get(&worst.engine)),
        place::in_words(wording.plan, &worst.levels).join(", "),
        size::time(*mean),
        size::time(*p99),
        longest.unwrap_or_default(),
        share.unwrap_or_default()
    ))
}

fn above_p99(treatment: &Treatment) -> Option<(&Treatment, f64, f64)> {
    let mean = treatment.response_time?.value;
    let p99 = treatment.percentiles.iter().find(|one| one.name == "p99")?.estimate.value;
    (mean > p99).then_some((treatment, mean, p99))
}
