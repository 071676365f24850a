//! Counters of a trial, by name with the unit last. Those that a report reads by name stand here, so
//! that measuring and reporting cannot differ in them.

use std::collections::BTreeMap;

/// Counters of an engine that only grow, by name with the unit last (`sqlite_cache_misses`).
pub type Counters = BTreeMap<String, f64>;

/// Processor time of the relay that makes a distance; neither side's.
pub const RELAY_CPU: &str = "relay_cpu_seconds";
/// Bytes that it forwarded, both ways.
pub const RELAY_BYTES: &str = "relay_bytes";
/// Share of their time that the client's threads waited for a processor.
pub const CLIENT_PROCESSOR_WAIT: &str = "client_processor_wait_fraction";
/// The longest response time of a trial.
pub const CLIENT_LONGEST_WAIT: &str = "client_longest_wait_seconds";
/// Requests of the client that got fewest, by what an even share would be: 1 where all got the same.
pub const CLIENT_LEAST_SHARE: &str = "client_least_share_fraction";
/// Attempts at a transaction after its first: another one was in the way.
pub const TRANSACTION_RETRIES: &str = "transaction_retries";
/// Time in which clients held SQLite's write lock, by their own clocks, seconds over all clients.
pub const WRITE_LOCK_HELD: &str = "sqlite_write_lock_held_seconds";
/// Time in which they paused because another connection had a lock, seconds over all clients.
pub const WRITE_LOCK_WAIT: &str = "sqlite_write_lock_wait_seconds";
/// Requests of the mix that were sent one by one after the last trial of an engine's turn, by their weights.
pub const PROBED_REQUESTS: &str = "probed_requests";
/// Those of them for which the application used the database.
pub const PROBED_AT_ENGINE: &str = "probed_requests_at_engine";
/// Those of them for which that could not be seen.
pub const PROBED_OUT_OF_SIGHT: &str = "probed_requests_out_of_sight";
/// Bytes of blobs read or written in a trial.
pub const BLOB_BYTES: &str = "blob_bytes";
/// Reading a file whole, measured on a sample without a clock in between, microseconds.
pub const FILE_READ_US: &str = "file_read_us_mean";
/// Opening and closing other files, microseconds.
pub const FILE_OPEN_CLOSE_US: &str = "file_open_close_us_mean";

/// How much of what a warm trial reads may come from storage. A read from there takes some twenty
/// times as long as one from memory, so this much moves the mean by about 2%.
pub const FROM_STORAGE_SHARE_MAX: f64 = 0.001;
