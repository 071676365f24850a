//! Watch of an engine while load is on it: counters at the beginning and the end of the trial's
//! time, and wait events in between.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::workload::{CounterReading, Counters, MeasuredPart};
use host::Distance;
use host::observe::Watch;
use load::resource::ServerSide;

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Watches for `time` from the moment when the first thread says that it begins to measure, or
/// until the load has ended, if that is sooner: what clients still wait for then is not part of it.
/// What was seen, and for how long.
pub(super) fn watch(
    (side, distance): (Option<&ServerSide>, &Distance),
    watch: &mut dyn Watch,
    begun: &Receiver<()>,
    time: Duration,
) -> (MeasuredPart, Duration) {
    // The channel closes where a load ends without beginning.
    if begun.recv().is_err() {
        return (MeasuredPart::default(), Duration::ZERO);
    }
    let from = Instant::now();
    let counters = |watch: &mut dyn Watch| {
        let mut counters = watch.counters();
        counters.extend(distance.counters());
        counters
    };
    let before = CounterReading::take(side).with(counters(watch));
    let mut looks: Vec<Counters> = Vec::new();
    loop {
        let left = time.saturating_sub(from.elapsed());
        if left.is_zero() {
            break;
        }
        match begun.recv_timeout(LOOK_EVERY.min(left)) {
            Ok(()) => {}
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => looks.push(watch.look()),
        }
    }
    let watched = from.elapsed();
    let mut part = before.until(CounterReading::take(side).with(counters(watch)));
    part.counters.extend(means(&looks));
    (part, watched)
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
    fn what_clients_wait_for_when_the_time_is_over_is_not_watched() {
        let (begun, heard) = mpsc::channel();
        begun.send(()).unwrap();
        begun.send(()).unwrap();
        let side = ServerSide { roots: vec![std::process::id()] };
        let time = Duration::from_millis(20);
        // The channel is open: the load has not ended.
        let (part, watched) =
            watch((Some(&side), &Distance::default()), &mut Asked(0.0), &heard, time);
        assert!(watched >= time);
        assert_eq!(part.counters["asked"], 5.0);
        assert!(part.used.is_some() && part.machine.is_some());
    }

    #[test]
    fn a_load_that_ends_or_never_begins_is_not_watched_on() {
        let hour = Duration::from_secs(3_600);
        let (begun, heard) = mpsc::channel();
        begun.send(()).unwrap();
        drop(begun);
        let (part, watched) = watch((None, &Distance::default()), &mut Asked(0.0), &heard, hour);
        assert!(part.counters["asked"] == 5.0 && watched < hour);
        let (part, watched) = watch((None, &Distance::default()), &mut Asked(0.0), &heard, hour);
        assert!(part.counters.is_empty() && watched.is_zero());
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
