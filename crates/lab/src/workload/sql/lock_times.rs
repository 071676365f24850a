//! Times of SQLite's write lock by a client's own clock: how long it waits for it, and how long it holds it.

use std::cell::Cell;
use std::time::{Duration, Instant};

use record::counter::{WRITE_LOCK_HELD, WRITE_LOCK_WAIT};

use super::sqlite::BUSY_TIMEOUT;

/// SQLite's own pauses between attempts at a lock, in milliseconds; the last one is repeated. Source:
/// sqliteDefaultBusyCallback in src/main.c.
const PAUSES_MS: [u64; 12] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100];

thread_local! {
    /// Pauses of this thread so far.
    static PAUSED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// Waits before another attempt at a lock as SQLite's own timeout does, and counts the wait; `false`
/// gives up.
pub(super) fn pause(attempts: i32) -> bool {
    let attempts = usize::try_from(attempts).unwrap_or_default();
    let pause = |attempt: usize| PAUSES_MS[attempt.min(PAUSES_MS.len() - 1)];
    let before: u64 = (0..attempts).map(pause).sum();
    let left = BUSY_TIMEOUT.saturating_sub(Duration::from_millis(before));
    let pause = Duration::from_millis(pause(attempts)).min(left);
    if pause.is_zero() {
        return false;
    }
    let begun = Instant::now();
    std::thread::sleep(pause);
    PAUSED.set(PAUSED.get() + begun.elapsed());
    true
}

/// Waits before a transaction that was refused is tried again.
pub(super) fn pause_before(attempts: usize) {
    let pause = PAUSES_MS[attempts.min(PAUSES_MS.len() - 1)];
    std::thread::sleep(Duration::from_millis(pause));
}

/// Of one connection.
#[derive(Default)]
pub(super) struct LockTimes {
    waited: Duration,
    held: Duration,
    /// The transaction that is open holds the lock since then.
    since: Option<Instant>,
}

impl LockTimes {
    /// Times a step that may take the lock. `stays_open` tells whether its transaction is open after it.
    pub(super) fn step<C, T, E>(
        &mut self,
        connection: &mut C,
        run: impl FnOnce(&mut C) -> Result<T, E>,
        stays_open: impl FnOnce(&C) -> bool,
    ) -> Result<T, E> {
        if self.since.is_some() {
            return run(connection);
        }
        let (begun, paused) = (Instant::now(), PAUSED.get());
        let done = run(connection);
        let waited = PAUSED.get().saturating_sub(paused);
        self.waited += waited;
        if done.is_ok() {
            match stays_open(connection) {
                true => self.since = Some(begun + waited),
                false => self.held += begun.elapsed().saturating_sub(waited),
            }
        }
        done
    }

    /// The transaction that held it has ended.
    pub(super) fn end(&mut self) {
        if let Some(since) = self.since.take() {
            self.held += since.elapsed();
        }
    }

    /// The times so far as counters.
    pub(super) fn named(&self) -> [(String, f64); 2] {
        [
            (WRITE_LOCK_HELD.to_owned(), self.held.as_secs_f64()),
            (WRITE_LOCK_WAIT.to_owned(), self.waited.as_secs_f64()),
        ]
    }
}
