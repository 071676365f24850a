//! Resource use of the measured part of a trial alone: before it clients open their sessions and
//! warm them, which takes as long and is not part of it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use crate::workload::{CounterReading, MeasuredPart};
use load::resource::ServerSide;
use parking_lot::Mutex;

/// Where the clients of a load say that they are ready, and that they have ended.
pub(super) struct Edges {
    clients: usize,
    ready: AtomicUsize,
    ended: AtomicUsize,
    told: Sender<()>,
    /// Answered when the counters have been read.
    go_on: Mutex<Receiver<()>>,
}

impl Edges {
    /// A client is about to begin. The last one waits until the counters have been read; the others
    /// wait for it at the gate.
    pub(super) fn ready(&self) {
        let last = self.ready.fetch_add(1, Ordering::Relaxed) + 1 == self.clients;
        if last && self.told.send(()).is_ok() {
            // Without a receiver there is no answer either.
            let _ = self.go_on.lock().recv();
        }
    }

    pub(super) fn ended(&self) {
        if self.ended.fetch_add(1, Ordering::Relaxed) + 1 == self.clients {
            let _ = self.told.send(());
        }
    }
}

/// Carries `load` out, and looks at the machine when all of its clients are ready and when all have
/// ended; no part where the load ends before.
pub(super) fn watched<T: Send>(
    clients: u16,
    side: Option<&ServerSide>,
    load: impl FnOnce(&Edges) -> T + Send,
) -> (T, Option<MeasuredPart>) {
    let (told, heard) = mpsc::channel();
    let (go, go_on) = mpsc::channel();
    let edges = Edges {
        clients: usize::from(clients),
        ready: AtomicUsize::new(0),
        ended: AtomicUsize::new(0),
        told,
        go_on: Mutex::new(go_on),
    };
    let look = || CounterReading::take(side);
    thread::scope(|scope| {
        // The edges are dropped with the load: `recv` below must not outlast it.
        let loading = scope.spawn(move || load(&edges));
        let part = heard.recv().ok().and_then(|()| {
            let before = look();
            let _ = go.send(());
            heard.recv().ok()?;
            Some(before.until(look()))
        });
        let done = loading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (done, part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side() -> ServerSide {
        ServerSide { roots: vec![std::process::id()] }
    }

    #[test]
    fn the_measured_part_spans_counters_read_to_the_last_end() {
        let (done, part) = watched(3, Some(&side()), |edges| {
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        edges.ready();
                        edges.ended();
                    });
                }
            });
            "done"
        });
        let part = part.unwrap();
        assert_eq!(done, "done");
        assert!(part.used.is_some() && part.machine.is_some() && part.counters.is_empty());
    }

    #[test]
    fn a_load_that_ends_before_all_are_ready_has_no_part() {
        let (done, part) = watched(2, Some(&side()), |edges| {
            edges.ready();
            "interrupted"
        });
        assert_eq!(done, "interrupted");
        assert!(part.is_none());
        let (_, part) = watched(1, None, |edges| edges.ready());
        assert!(part.is_none(), "it began and did not end");
    }
}
