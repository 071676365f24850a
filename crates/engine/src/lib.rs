//! Names of engines, database URLs, releases and settings: the one place that knows how a user writes
//! them. Connects to nothing and knows no other crate of the workspace.

mod error;
mod kind;
mod pool;
mod settings;
pub mod shell;
mod spec;
mod system_sqlite;
mod text;
mod url;
mod version;

pub use error::Error;
pub use kind::{EngineKind, KindProperties};
pub use pool::{PoolMode, PoolRequest};
pub use settings::{Settings, nearest, nearest_of};
pub use spec::{EngineSource, EngineSpec};
pub use system_sqlite::{SystemSqlite, differing_options};
pub use text::from_text;
pub use url::{
    DatabaseUrl, Host, PostgresUrl, check_parameter, mask_password, parse_host_lists, parse_port,
    sqlite_path,
};
pub use version::{ExactVersion, VersionRequest};
