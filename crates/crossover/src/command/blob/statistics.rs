//! `blob run --stats`: what SQLite and the kernel counted during the pass.

use std::collections::BTreeMap;

use rusqlite::Connection;

/// Counters of the kernel for this process (<https://man7.org/linux/man-pages/man5/proc_pid_io.5.html>)
/// and what they count.
const KERNEL: [(&str, &str); 6] = [
    ("rchar", "io_bytes_read_by_calls"),
    ("wchar", "io_bytes_written_by_calls"),
    ("syscr", "io_read_calls"),
    ("syscw", "io_write_calls"),
    ("read_bytes", "io_bytes_read_from_storage"),
    ("write_bytes", "io_bytes_written_to_storage"),
];

/// Counters by name, unit in the name.
pub type Statistics = BTreeMap<String, u64>;

/// The kernel's counters so far; empty where it reports none.
pub fn kernel() -> Statistics {
    let text = std::fs::read_to_string("/proc/self/io").unwrap_or_default();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
        line.trim().parse::<u64>().ok()
    };
    let known = KERNEL.iter().filter_map(|(name, ours)| Some(((*ours).to_owned(), value(name)?)));
    known.collect()
}

/// By how much each has grown since `before`.
pub fn since(before: &Statistics, now: Statistics) -> Statistics {
    let grown = |(name, value): (String, u64)| {
        let earlier = before.get(&name).copied().unwrap_or(0);
        (name, value.saturating_sub(earlier))
    };
    now.into_iter().map(grown).collect()
}

/// Counters of this connection of SQLite since the last call.
pub fn sqlite(connection: &Connection) -> anyhow::Result<Statistics> {
    let counters = connect::SqliteCounters::take(connection)?;
    let named = counters.named();
    Ok(named.into_iter().map(|(name, _, value)| (name.to_owned(), value)).collect())
}
