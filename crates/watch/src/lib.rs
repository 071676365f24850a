//! Holders of the locks of a SQLite file, and readers that keep its log from being reset: seen from
//! outside by the locks that the kernel knows, without opening the file through SQLite.
//!
//! Shares of time come from samples, commits from the counter that SQLite itself raises. The bytes that
//! SQLite locks are part of its file format (<https://sqlite.org/walformat.html>, os.h of its source).

mod error;
mod file;
mod lock;
mod metrics;
mod process;
mod reader;
mod state;
mod summary;
mod tally;
mod text;
mod watch;

pub use error::WatchError;
pub use file::JournalForm;
pub use metrics::MetricsPage;
pub use state::WatchOptions;
pub use summary::{LockSummary, LogSummary, OldStateReader, OpenProcess, ProcessShare};
pub use watch::LockWatch;
