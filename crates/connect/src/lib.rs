//! Connections to the engines that crate `engine` names: SQLite files, PostgreSQL, MariaDB and MySQL
//! servers, with settings that are applied and read back, and every refusal as one line with its remedy.

mod error;
pub mod mysql;
pub mod postgres;
pub mod sqlite;
mod sqlite_counters;
pub mod sqlite_library;
pub mod system_sqlite;

pub use error::Error;
pub use sqlite_counters::SqliteCounters;
