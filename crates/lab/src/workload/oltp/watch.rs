//! Looking at an engine while load is on it: counters at the beginning and the end of the measured
//! part, and what is waited for in between.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::resource::{MachineCounters, ServerSide};
use crate::workload::{Counters, MeasuredPart};

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Whoever looks waits no longer for a server that has fallen silent.
pub(super) const ANSWER_AT_MOST: Duration = Duration::from_secs(30);

/// Somebody who looks at an engine under load.
pub(super) trait Watch {
    /// Counters that only grow.
    fn counters(&mut self) -> Counters;

    /// What is the case now; means over the looks of a trial are kept.
    fn look(&mut self) -> Counters {
        Counters::new()
    }
}

/// An engine that tells nothing.
pub(super) struct Silent;

impl Watch for Silent {
    fn counters(&mut self) -> Counters {
        Counters::new()
    }
}

/// What the threads of a load tell of themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// One begins to measure.
    Begin,
    /// One has done its part.
    End,
}

/// Watches from the first thread's beginning to the first one's end; those that are still at work
/// then finish their last transactions.
pub(super) fn watch(
    side: Option<&ServerSide>,
    watch: &mut dyn Watch,
    edges: &Receiver<Edge>,
) -> MeasuredPart {
    // The channel closes where a load ends without beginning.
    if edges.recv().is_err() {
        return MeasuredPart::default();
    }
    let used_before = side.and_then(|side| side.snapshot().ok());
    let machine_before = MachineCounters::read().ok();
    let before = watch.counters();
    let mut looks: Vec<Counters> = Vec::new();
    loop {
        match edges.recv_timeout(LOOK_EVERY) {
            Ok(Edge::Begin) => {}
            Ok(Edge::End) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => looks.push(watch.look()),
        }
    }
    let machine = MachineCounters::read().ok().zip(machine_before);
    let used = side.and_then(|side| side.snapshot().ok()).zip(used_before);
    let mut counters: Counters = watch
        .counters()
        .into_iter()
        .filter_map(|(name, after)| {
            let grown = after - before.get(&name)?;
            Some((name, grown))
        })
        .collect();
    counters.extend(means(&looks));
    MeasuredPart {
        used: used.map(|(after, before)| after.since(&before)),
        machine: machine.map(|(after, before)| after.since(&before)),
        counters,
        answers_by_second: Vec::new(),
    }
}

/// Of what every look has seen.
fn means(looks: &[Counters]) -> Counters {
    let mut sums: BTreeMap<&String, (f64, usize)> = BTreeMap::new();
    for (name, value) in looks.iter().flatten() {
        let sum = sums.entry(name).or_default();
        *sum = (sum.0 + value, sum.1 + 1);
    }
    let whole = sums.into_iter().filter(|(_, (_, count))| *count == looks.len());
    whole.map(|(name, (sum, count))| (name.clone(), sum / count as f64)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Counts how often it was asked.
    struct Asked(f64);

    impl Watch for Asked {
        fn counters(&mut self) -> Counters {
            self.0 += 5.0;
            Counters::from([("asked".to_owned(), self.0)])
        }
    }

    #[test]
    fn counters_grow_between_the_first_beginning_and_the_first_end() {
        let (edges, heard) = mpsc::channel();
        for edge in [Edge::Begin, Edge::Begin, Edge::End, Edge::End] {
            edges.send(edge).unwrap();
        }
        let side = ServerSide { roots: vec![std::process::id()] };
        let part = watch(Some(&side), &mut Asked(0.0), &heard);
        assert_eq!(part.counters["asked"], 5.0);
        assert!(part.used.is_some() && part.machine.is_some());
    }

    #[test]
    fn a_load_that_never_begins_has_nothing_to_tell() {
        let (edges, heard) = mpsc::channel::<Edge>();
        drop(edges);
        let part = watch(None, &mut Asked(0.0), &heard);
        assert!(part.counters.is_empty() && part.used.is_none());
    }

    #[test]
    fn means_are_of_what_every_look_has_seen() {
        let look = |pairs: &[(&str, f64)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect::<Counters>()
        };
        let looks = [look(&[("a", 1.0), ("b", 1.0)]), look(&[("a", 3.0)])];
        assert_eq!(means(&looks), look(&[("a", 2.0)]));
    }
}
