//! The move itself: schema, rows by binary COPY, keys and indexes, in one transaction.

mod catalog;
pub(crate) mod decimal;
mod encode;
pub(crate) mod json;
mod load;
mod matching;
mod migration;
mod misfit;
pub(crate) mod moment;
mod prepare;
mod proposal;
mod references;
mod reject;
mod reject_file;
mod reload;
mod report;
mod schema;
mod sequences;
mod session;
mod takedown;

pub use catalog::{Catalog, catalog, current_schema, read_catalog};
pub use encode::{Field, encode, uuid};
pub use matching::{Matched, match_tables};
pub use migration::{MigrateOptions, load_rejects, migrate};
pub use misfit::{BadRow, Misfit, StorageClass};
pub use moment::Reading;
pub use proposal::proposal;
pub use report::{MigratedTable, MigrationReport, Seconds};
pub use schema::default_expression;
pub use session::create_database;
