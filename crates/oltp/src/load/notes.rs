//! Notes of a running load: by client, and by thread. An observation belongs to the part in which
//! its transaction began. Throughput is counted by when transactions end, whenever they began:
//! otherwise a client that waits when the measured part begins or ends would not be counted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::outcome::{ClientTotals, StatementTotals, Transaction};
use super::sink::Sink;
use super::{SharedState, Until};
use crate::Failure;
use plan::oltp::MixStatement;

/// Attempts of one transaction, after which it counts as failed.
const ATTEMPTS_MAX: u32 = 1_000;
/// A client gives up after this many failures without a success between them: a server that refuses
/// everything does it a hundred thousand times per second.
const FAILURES_MAX: u32 = 100;

/// One client's totals and its transaction under way.
#[derive(Debug)]
pub(crate) struct ClientAccount {
    pub client: u16,
    pub totals: ClientTotals,
    start: Instant,
    /// Whether the transaction under way belongs to the measured part.
    counted: bool,
    /// Transactions of the measured part that have begun.
    begun: u64,
    attempts: u32,
    failures_in_a_row: u32,
    /// Of the transaction under way, whatever was tried again.
    statements: u64,
    rows_added: i64,
}

impl ClientAccount {
    pub(crate) fn new(client: u16) -> Self {
        Self {
            client,
            totals: ClientTotals::default(),
            start: Instant::now(),
            counted: false,
            begun: 0,
            attempts: 0,
            failures_in_a_row: 0,
            statements: 0,
            rows_added: 0,
        }
    }
}

pub(crate) struct Notes<'a, S: Sink> {
    make_sink: &'a (dyn Fn() -> S + Sync),
    sink: Option<S>,
    measured_from: Instant,
    stops_at: Option<Instant>,
    /// Set when transactions under way must be given up.
    cut_off: &'a AtomicBool,
    transactions_max: u64,
    finished: FinishedThread,
}

/// Results of a thread beside its sink and its accounts.
#[derive(Debug)]
pub(crate) struct FinishedThread {
    pub per_second: Vec<u64>,
    /// Transactions that succeeded and ended before the time was over.
    pub ended_in_time: u64,
    pub statements: Vec<StatementTotals>,
    pub first_failure: Option<(Instant, Failure, String)>,
    pub last_end: Instant,
    /// When the measured part began, for all threads.
    pub measured_from: Instant,
}

impl<'a, S: Sink> Notes<'a, S> {
    /// By the thread itself, when it begins to offer load.
    pub(crate) fn new(shared: &'a SharedState<'_>, make_sink: &'a (dyn Fn() -> S + Sync)) -> Self {
        let options = &shared.program.options;
        let measured_from = *shared.started.get_or_init(Instant::now) + options.warmup;
        let (stops_at, transactions_max) = match options.until {
            Until::Time(time) => (Some(measured_from + time), u64::MAX),
            Until::Transactions(count) => (None, count),
        };
        let statements = vec![StatementTotals::default(); shared.program.statements.len()];
        let finished = FinishedThread {
            per_second: Vec::new(),
            ended_in_time: 0,
            statements,
            first_failure: None,
            last_end: measured_from,
            measured_from,
        };
        let cut_off = &*shared.cut_off;
        Self { make_sink, sink: None, measured_from, stops_at, cut_off, transactions_max, finished }
    }

    /// Whether the transaction under way must be given up: not even its next statement is sent.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.cut_off.load(Ordering::Relaxed)
    }

    /// A client is to begin a transaction. False: its time is over.
    pub(crate) fn begin(&mut self, account: &mut ClientAccount, now: Instant) -> bool {
        if account.failures_in_a_row >= FAILURES_MAX || self.is_cut_off() {
            return false;
        }
        account.counted = now >= self.measured_from;
        if account.counted {
            // A client that the warm-up's last transaction kept busy all the time begins one, so
            // that no load is without an answer and its wait is seen.
            let is_over = account.begun > 0 && self.stops_at.is_some_and(|end| now >= end);
            if is_over || account.begun >= self.transactions_max {
                return false;
            }
            if self.sink.is_none() {
                self.sink = Some((self.make_sink)());
            }
            if account.begun == 0 {
                account.totals.first_start = now - self.measured_from;
            }
            account.begun += 1;
        }
        (account.start, account.attempts) = (now, 0);
        (account.statements, account.rows_added) = (0, 0);
        true
    }

    pub(crate) fn answered(
        &mut self,
        account: &mut ClientAccount,
        (statement, slot): (MixStatement, usize),
        rows: u64,
    ) {
        account.statements += 1;
        account.rows_added += statement.rows_added() * rows.cast_signed();
        if account.counted
            && let Some(totals) = self.finished.statements.get_mut(slot)
        {
            totals.executions += 1;
            totals.rows += rows;
        }
    }

    /// A statement was refused, or is not sent any more. None: the transaction must be tried again;
    /// otherwise the failure that ended it.
    pub(crate) fn refused(
        &mut self,
        account: &mut ClientAccount,
        failure: Failure,
    ) -> Option<Failure> {
        account.rows_added = 0;
        account.attempts += 1;
        account.statements += 1;
        if failure == Failure::CutOff && !self.is_cut_off() {
            // Somebody else has cancelled it.
            return Some(Failure::Refused);
        }
        if !failure.is_retried() {
            return Some(failure);
        }
        if self.stops_at.is_some_and(|end| Instant::now() >= end) {
            return Some(Failure::CutOff);
        }
        if account.attempts >= ATTEMPTS_MAX {
            return Some(failure);
        }
        if account.counted {
            let retries = &mut account.totals.retries;
            match failure {
                Failure::Deadlock => retries.deadlocks += 1,
                Failure::Serialization => retries.serialization_failures += 1,
                Failure::DuplicateKey => retries.duplicate_keys += 1,
                _ => retries.lock_timeouts += 1,
            }
        }
        None
    }

    /// A statement that is none of the program's was sent: the rollback of a refused transaction.
    pub(crate) fn rolled_back(&mut self, account: &mut ClientAccount) {
        account.statements += 1;
    }

    /// The transaction is over. Returns when.
    pub(crate) fn end(
        &mut self,
        account: &mut ClientAccount,
        failed: Option<(Failure, String)>,
    ) -> Instant {
        let end = Instant::now();
        if self.stops_at.is_some_and(|stop| end >= stop)
            && let Some(sink) = &mut self.sink
        {
            sink.time_is_over();
        }
        match failed {
            None => {
                account.failures_in_a_row = 0;
                // Whatever succeeded has changed the tables, counted or not.
                account.totals.rows_added += account.rows_added;
                self.succeeded(end);
                self.count(account, end, None);
            }
            Some((Failure::CutOff, _)) => account.totals.cut_off += 1,
            Some((failure, text)) => {
                account.failures_in_a_row += 1;
                if failure.ends_client() || account.failures_in_a_row >= FAILURES_MAX {
                    account.totals.ended_by = Some(failure);
                }
                self.finished.first_failure.get_or_insert((end, failure, text));
                self.count(account, end, Some(failure));
            }
        }
        end
    }

    /// One more in the second in which it ended, if that is in the measured part.
    fn succeeded(&mut self, end: Instant) {
        let Some(since) = end.checked_duration_since(self.measured_from) else { return };
        self.finished.ended_in_time += u64::from(self.stops_at.is_none_or(|stop| end < stop));
        let second = since.as_secs() as usize;
        let series = &mut self.finished.per_second;
        if series.len() <= second {
            series.resize(second + 1, 0);
        }
        if let Some(count) = series.get_mut(second) {
            *count += 1;
        }
    }

    /// A transaction of the measured part; none that was cut off.
    fn count(&mut self, account: &mut ClientAccount, end: Instant, failure: Option<Failure>) {
        if !account.counted {
            return;
        }
        let totals = &mut account.totals;
        totals.statements += account.statements;
        totals.last_end = end - self.measured_from;
        self.finished.last_end = self.finished.last_end.max(end);
        match failure {
            Some(failure) => *totals.failures.entry(failure).or_default() += 1,
            None => totals.transactions += 1,
        }
        let (client, start) = (account.client, account.start);
        if let Some(sink) = &mut self.sink {
            sink.observe(&Transaction { client, start, end, failure });
        }
    }

    /// The thread has no clients any more.
    pub(crate) fn finish(self) -> (FinishedThread, S::Kept) {
        let sink = self.sink.unwrap_or_else(self.make_sink);
        (self.finished, sink.end())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, OnceLock};
    use std::time::Duration;

    use super::super::program::Program;
    use super::*;
    use crate::{Latencies, OltpLoadOptions};
    use plan::oltp::{Mix, TableOptions};

    #[test]
    fn throughput_counts_what_ends_in_the_time_whenever_it_began() {
        let options = OltpLoadOptions::new(Mix::PointSelect, 1, Duration::from_secs(2));
        let never = AtomicBool::new(false);
        let shared = SharedState {
            program: Program::new(&TableOptions::default(), &options, Vec::new()),
            started: OnceLock::new(),
            interrupted: &never,
            cancelled: AtomicBool::new(false),
            cut_off: Arc::default(),
            threads: 1,
        };
        let mut notes = Notes::new(&shared, &Latencies::new);
        let from = notes.measured_from;
        notes.succeeded(from - Duration::from_millis(10));
        for milliseconds in [10, 1_500, 2_100] {
            notes.succeeded(from + Duration::from_millis(milliseconds));
        }
        assert_eq!(notes.finished.per_second, [1, 1, 1]);
        assert_eq!(notes.finished.ended_in_time, 2);
    }
}
