//! Migration from SQLite to PostgreSQL: audit, transfer, verification. SQLite does not enforce
//! types and PostgreSQL does; nothing is lost silently on the way.

mod audit;
mod ddl;
mod display;
mod error;
mod finding;
mod mapping;
mod recipe;
mod source;
mod target;
mod task;
mod transfer;
mod value;
mod verify;

pub use audit::{
    AuditOptions, AuditReport, ColumnReport, TableReport, audit, audit_target_constraints,
};
pub use ddl::NocaseRule;
pub use display::{TextOptions, escaped};
pub use error::{BadRow, Error, Unfinished};
pub use finding::{Example, Finding, Losses, Lost, LostObject, Severity};
pub use mapping::{IntegerRule, MapRule, MapRules, TypeChoice, TypeRule};
pub use recipe::{MigrationRecipe, default_reject_file};
pub use source::{
    ForeignKey, Framework, FrameworkChoice, Index, IndexPart, Naming, OtherKind, Rename, Rowid,
    Selection, SourceApplication, SourceCheck, SourceColumn, SourceSchema, SourceTable, schema,
};
pub use target::{TargetCatalog, create_database, drop_database, read_catalog};
pub use task::{Task, unless_interrupted};
pub use transfer::{
    MigrateOptions, MigratedTable, MigrationReport, PhaseSeconds, SeededRows, abandon,
    load_rejects, migrate, unfinished,
};
pub use value::{ColumnConversion, ConversionKind, Looks, PostgresType, Profile};
pub use verify::{
    ColumnDifference, ColumnDigest, DifferenceKind, RowDifference, StructureComparison,
    StructureDifference, TableVerification, VerificationReport, VerifyOptions, verify,
    verify_structure,
};
