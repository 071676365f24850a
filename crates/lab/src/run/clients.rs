//! Clients of a trial beside each other: their longest wait, their shares, their rate while all of them work.

use std::collections::BTreeMap;

use record::counter::{CLIENT_LEAST_SHARE, CLIENT_LONGEST_WAIT};
use record::{Observation, Observations, Outcome, Run, Trial};

use super::fixed_work;

/// Notes the longest wait, the least share, and of fixed work the rate of all clients together.
pub(super) fn note(trial: &mut Trial, run: &Run, observations: &Observations) {
    trial.counters.extend(waits(observations));
    let is_fixed = fixed_work::is_at(run, &trial.levels);
    if let Some(rate) = while_all_work(observations).filter(|_| is_fixed) {
        trial.requests_per_second = rate;
    }
}

/// Right answers per second while every client had work left: of fixed work the slowest ends alone. None
/// of one client, whose work has no such end.
fn while_all_work(observations: &Observations) -> Option<f64> {
    let end = |one: &Observation| one.start_ns + one.response_time_ns;
    let mut last: BTreeMap<u16, u64> = BTreeMap::new();
    for one in observations.iter() {
        let of_client = last.entry(one.client).or_default();
        *of_client = (*of_client).max(end(&one));
    }
    let first_to_end = *last.values().min().filter(|_| last.len() > 1)?;
    let right = |one: &Observation| one.outcome == Outcome::Ok && end(one) <= first_to_end;
    let count = observations.iter().filter(right).count();
    (count > 0).then(|| count as f64 / (first_to_end as f64 / 1e9))
}

/// How long the longest wait was, and what the client got that got least: a mean hides both. Of
/// several clients only, since one alone cannot be overtaken.
fn waits(observations: &Observations) -> Vec<(String, f64)> {
    let mut requests: Vec<u64> = Vec::new();
    let mut longest_ns = 0;
    for one in observations.iter() {
        let client = usize::from(one.client);
        if requests.len() <= client {
            requests.resize(client + 1, 0);
        }
        requests[client] += 1;
        longest_ns = longest_ns.max(one.response_time_ns);
    }
    let even = requests.iter().sum::<u64>() as f64 / requests.len().max(1) as f64;
    let least = requests.iter().min().filter(|_| requests.len() > 1);
    least.map_or_else(Vec::new, |least| {
        vec![
            (CLIENT_LONGEST_WAIT.to_owned(), longest_ns as f64 / 1e9),
            (CLIENT_LEAST_SHARE.to_owned(), *least as f64 / even),
        ]
    })
}

#[cfg(test)]
mod tests {
    use record::ObservationLog;

    use super::*;

    /// Two clients of four answers each: one ends after 4 ms, the other starves and ends after a second.
    #[test]
    fn the_rate_of_fixed_work_leaves_out_who_ends_alone() {
        let ms = 1_000_000;
        let mut log = ObservationLog::default();
        let mut push = |client, start_ns, response_time_ns| {
            let (request, outcome) = (0, Outcome::Ok);
            log.push(&Observation { client, request, start_ns, response_time_ns, outcome });
        };
        for turn in 0..4 {
            push(0, turn * ms, ms);
        }
        push(1, 0, 2 * ms);
        push(1, 2 * ms, 990 * ms);
        push(1, 992 * ms, 4 * ms);
        push(1, 996 * ms, 4 * ms);
        let mut observations = Observations::default();
        observations.add(log, 0);
        assert_eq!(while_all_work(&observations), Some(5.0 / 0.004));

        let mut alone = ObservationLog::default();
        let (request, outcome) = (0, Outcome::Ok);
        alone.push(&Observation { client: 0, request, start_ns: 0, response_time_ns: ms, outcome });
        let mut observations = Observations::default();
        observations.add(alone, 0);
        assert_eq!(while_all_work(&observations), None);
    }
}
