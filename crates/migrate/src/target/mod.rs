//! PostgreSQL side: sessions, existing tables and their constraints, rows by binary COPY.

mod catalog;
mod column_default;
mod constraint_probe;
pub(crate) mod existing_constraints;
mod load;
mod lock_wait;
pub(crate) mod locks;
mod matching;
mod mismatch;
pub(crate) mod references;
mod refusal;
pub(crate) mod rights;
pub(crate) mod row_constraint;
mod sequence;
mod session;

pub use catalog::{GeneratedColumn, TargetCatalog, catalog, namespace, read_catalog};
pub use column_default::ColumnDefault;
pub use constraint_probe::ConstraintProbe;
pub use load::{LoadedRows, TableLoad};
pub use lock_wait::{StatementCanceller, cancelled_by_user};
pub use matching::{
    MatchedColumn, MatchedTable, TableMatching, UnwrittenColumn, match_tables, match_with_unwritten,
};
pub use mismatch::Mismatch;
pub use references::{Reference, parents_first};
pub use row_constraint::{ConstraintKind, RowConstraint};
pub use sequence::{SequenceUse, TargetSequence, given_out};
pub use session::{TargetSession, create_database, drop_database};
