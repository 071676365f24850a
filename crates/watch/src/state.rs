//! State of a watch between two looks.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::file::{JournalForm, LogIndex};
use crate::lock::Holder;
use crate::process::{CommandLines, Openers};
use crate::reader::Readers;
use crate::tally::LockTally;

#[derive(Clone, Copy, Debug)]
pub struct WatchOptions {
    pub time: Duration,
    /// Mean time between two looks.
    pub interval: Duration,
}

/// Everything that was seen so far.
pub struct WatchState {
    pub journal_mode: JournalForm,
    /// The mode changed while the file was watched.
    pub mode_changed: bool,
    pub is_replaced: bool,
    pub writers: LockTally,
    pub checkpointers: LockTally,
    /// Looks that met the whole database file locked, against readers too.
    pub exclusive_looks: u64,
    /// Writers that wait for readers, in rollback mode.
    pub pending: LockTally,
    /// Looks at all locks while a writer waited, and in how many of them each process read.
    pub waits_seen: u32,
    pub in_the_way: BTreeMap<i32, u32>,
    pub readers: Readers,
    pub commands: CommandLines,
    pub openers: Openers,
    pub log_bytes: Vec<u64>,
    pub resets: u32,
    pub page_bytes: u32,
    pub last_index: Option<LogIndex>,
    /// The programs that had the database open at some look, by the byte that they lock.
    pub open: BTreeSet<i32>,
}

impl WatchState {
    pub fn new(journal_mode: JournalForm, options: WatchOptions) -> Self {
        let tally = || LockTally::new(options.time, options.interval);
        Self {
            journal_mode,
            mode_changed: false,
            is_replaced: false,
            writers: tally(),
            checkpointers: tally(),
            exclusive_looks: 0,
            pending: tally(),
            waits_seen: 0,
            in_the_way: BTreeMap::new(),
            readers: Readers::default(),
            commands: CommandLines::default(),
            openers: Openers::default(),
            log_bytes: Vec::new(),
            resets: 0,
            page_bytes: 0,
            last_index: None,
            open: BTreeSet::new(),
        }
    }

    pub fn remember(&mut self, holders: [Option<Holder>; 2]) {
        for holder in holders.into_iter().flatten() {
            if let Holder::Process(pid) = holder {
                self.commands.remember(pid);
            }
        }
    }

    pub fn note_open(&mut self, pids: &[i32]) {
        for pid in pids {
            self.commands.remember(*pid);
            self.open.insert(*pid);
        }
    }
}
