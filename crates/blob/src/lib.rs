//! Blobs in a SQLite database or in files: the steps of the experiment, one module each. A blob's
//! bytes follow from the recipe alone, so that any reader can check them without a second copy.

mod access;
mod cold;
mod content;
mod error;
mod export;
mod form;
mod init;
mod manifest;
mod names;
mod order;
mod recipe;
mod removal;
mod run;
mod space;
mod stat;
mod table;
mod target;

pub use access::{Access, FileAccess, LookupAccess, SqliteAccess};
pub use cold::{Cold, Evicted, evict, evict_data, resident_share, warm};
pub use content::{content, generation_of};
pub use error::Error;
pub use export::{ExportOptions, Exported, export, write_names};
pub use form::BlobForm;
pub use init::{InitOptions, Initialized, init};
pub use order::{Ids, Order};
pub use recipe::{BLOB_BYTES_MAX, Recipe};
pub use removal::remove_export;
pub use run::{Checked, Pace, Timed, Work, check, time};
pub use space::DiskSpace;
pub use stat::{PageStat, Stat, stat, vacuum};
pub use target::BlobTarget;
