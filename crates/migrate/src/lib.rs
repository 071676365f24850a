//! SQLite to PostgreSQL: audit, move, prove. SQLite does not enforce types and PostgreSQL does;
//! nothing is lost in silence on the way.

mod audit;
mod ddl;
mod display;
mod error;
mod finding;
mod grid;
mod mapping;
mod recipe;
mod source;
mod target;
mod transfer;
mod value;
mod verify;
mod watch;

pub use audit::{AuditOptions, AuditReport, ColumnReport, TableReport, audit, objections};
pub use error::{BadRow, Error, Unfinished};
pub use finding::{Example, Finding, Losses, Lost, Severity};
pub use mapping::{Mapping, Rules};
pub use recipe::{Recipe, default_reject_file};
pub use source::{
    Check, Column, ForeignKey, Index, IndexPart, Rowid, Schema, Selection, Table, schema,
};
pub use target::{Catalog, create_database, drop_database, read_catalog};
pub use transfer::{
    MigrateOptions, MigratedTable, MigrationReport, Seconds, abandon, load_rejects, migrate,
    unfinished,
};
pub use value::{Looks, PostgresType, Profile};
pub use verify::{
    ColumnDifference, ColumnDigest, Difference, DifferenceKind, TableVerification, Verification,
    VerifyOptions, verify,
};
pub use watch::Watch;
