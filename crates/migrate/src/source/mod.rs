//! SQLite side: the file on one snapshot, the schema that it declares, parts of tables.

mod default;
mod excluded_column;
mod file;
mod foreign_key;
mod framework;
mod naming;
mod other;
mod parts;
mod read_schema;
mod schema;
mod selection;
mod shadow;
mod statement;

pub use file::{SourceFile, readers};
pub use foreign_key::resolve;
pub use framework::{Framework, FrameworkChoice, SourceApplication, selection_flags};
pub use naming::{Naming, Rename};
pub use other::{OtherKind, OtherObject};
pub use parts::{MOST_PARTS, PART_BYTES, ranges, rowid_span};
pub use read_schema::schema;
pub use schema::{
    Affinity, ForeignKey, Index, IndexOmission, IndexPart, MOST_INDEX_COLUMNS, Rowid, SourceCheck,
    SourceColumn, SourceSchema, SourceTable,
};
pub use selection::{Selection, estimated_rows, fits_pattern, open_selected};
pub use shadow::{Content, content};

pub(crate) use connect::sqlite::quote_identifier as quoted;
