//! Resources that one thread of the measuring client used, read by the thread itself: its
//! counters are gone when it has ended.

use std::fs;

use serde::{Deserialize, Serialize};

use super::process_tree::field;

/// Of one thread, or of several together. Zeros where this system does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThreadUse {
    pub threads: usize,
    pub voluntary_context_switches: u64,
    /// Switches because the scheduler took the processor away.
    pub involuntary_context_switches: u64,
    /// Bytes that came from storage.
    pub read_bytes: u64,
    /// Bytes made dirty that are to go to storage.
    pub written_bytes: u64,
    /// Seconds in which it was ready to run and had no processor.
    pub processor_wait_seconds: f64,
}

impl ThreadUse {
    /// The counters of the calling thread.
    pub fn of_this_thread() -> Self {
        let read = |name| fs::read_to_string(format!("/proc/thread-self/{name}"));
        let (status, io) = (read("status").unwrap_or_default(), read("io").unwrap_or_default());
        // Nanoseconds on a processor, nanoseconds in the queue for one, turns.
        let schedule = read("schedstat").unwrap_or_default();
        let waited_ns = schedule.split_whitespace().nth(1).and_then(|ns| ns.parse::<u64>().ok());
        let of = |text: &str, name| field(text, name).unwrap_or_default();
        Self {
            threads: 1,
            voluntary_context_switches: of(&status, "voluntary_ctxt_switches:"),
            involuntary_context_switches: of(&status, "nonvoluntary_ctxt_switches:"),
            read_bytes: of(&io, "read_bytes:"),
            written_bytes: of(&io, "write_bytes:"),
            processor_wait_seconds: waited_ns.unwrap_or_default() as f64 / 1e9,
        }
    }

    /// Use of the same thread from `earlier` to now.
    pub fn since(self, earlier: &Self) -> Self {
        let switches = |now: u64, then: u64| now.saturating_sub(then);
        Self {
            threads: self.threads,
            voluntary_context_switches: switches(
                self.voluntary_context_switches,
                earlier.voluntary_context_switches,
            ),
            involuntary_context_switches: switches(
                self.involuntary_context_switches,
                earlier.involuntary_context_switches,
            ),
            read_bytes: switches(self.read_bytes, earlier.read_bytes),
            written_bytes: switches(self.written_bytes, earlier.written_bytes),
            processor_wait_seconds: self.processor_wait_seconds - earlier.processor_wait_seconds,
        }
    }

    /// Adds what another thread used.
    pub fn add(&mut self, other: &Self) {
        self.threads += other.threads;
        self.voluntary_context_switches += other.voluntary_context_switches;
        self.involuntary_context_switches += other.involuntary_context_switches;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.processor_wait_seconds += other.processor_wait_seconds;
    }
}
