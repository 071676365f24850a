//! SQLite to PostgreSQL: audit, move, prove. SQLite does not enforce types and PostgreSQL does;
//! nothing is lost in silence on the way.

mod audit;
mod copy;
mod error;
mod expression;
mod grid;
mod inspect;
mod mapping;
mod recipe;
mod selection;
mod verify;
mod watch;

pub use audit::{
    AuditOptions, AuditReport, ColumnReport, Example, Finding, Looks, Losses, Lost, Profile,
    Severity, TableReport, audit,
};
pub use copy::{
    BadRow, Catalog, MigrateOptions, MigratedTable, MigrationReport, Seconds, Unfinished, abandon,
    create_database, drop_database, load_rejects, migrate, objections, read_catalog, unfinished,
};
pub use error::Error;
pub use inspect::{Check, Column, ForeignKey, Index, IndexPart, Rowid, Schema, Table, schema};
pub use mapping::{Mapping, PostgresType, Rules};
pub use recipe::{Recipe, default_reject_file};
pub use selection::Selection;
pub use verify::{
    ColumnDifference, ColumnDigest, Difference, DifferenceKind, TableVerification, Verification,
    VerifyOptions, verify,
};
pub use watch::Watch;
