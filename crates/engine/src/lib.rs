//! Engine names, settings and connections: the one place that knows how a user writes
//! an engine or a database and how the program reaches it. Knows no other crate of the workspace.

mod error;
mod kind;
pub mod mysql;
pub mod postgres;
mod settings;
pub mod shell;
mod spec;
pub mod sqlite;
mod sqlite_counters;
pub mod system_sqlite;
mod text;
mod url;
mod version;

pub use error::Error;
pub use kind::EngineKind;
pub use settings::{Settings, nearest, nearest_of};
pub use spec::{EngineSource, EngineSpec};
pub use sqlite_counters::SqliteCounters;
pub use text::from_text;
pub use url::{DatabaseUrl, PostgresUrl, sqlite_path};
pub use version::{ExactVersion, VersionRequest};
