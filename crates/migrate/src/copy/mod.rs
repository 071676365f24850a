//! The move itself: schema, rows by binary COPY, keys and indexes, step by step, and proved before
//! it is made the target's own.

mod begin;
mod catalog;
mod crew;
pub(crate) mod decimal;
mod demand;
mod encode;
pub(crate) mod json;
mod judge;
mod load;
mod matching;
mod migration;
mod misfit;
pub(crate) mod moment;
mod objections;
mod place;
mod prepare;
mod proposal;
mod references;
mod reject;
mod reject_file;
mod reload;
mod report;
mod run;
mod schema;
mod sequences;
mod session;
mod state;
mod step;
mod takedown;
mod target_demands;

pub use catalog::{Catalog, catalog, current_schema, read_catalog};
pub use encode::{EXACT_IN_DOUBLE, Field, encode, uuid};
pub use matching::{Matched, match_tables};
pub use migration::{MigrateOptions, PART_BYTES, abandon, load_rejects, migrate, unfinished};
pub use misfit::{BadRow, Misfit, StorageClass};
pub use moment::Reading;
pub use objections::objections;
pub use proposal::proposal;
pub use report::{MigratedTable, MigrationReport, Seconds};
pub use schema::{LONGEST_NAME_BYTES, check_condition, default_expression, index_predicate};
pub use session::{create_database, drop_database};
pub use state::Unfinished;
pub use step::{MOST_PARTS, ranges, rowid_span};
