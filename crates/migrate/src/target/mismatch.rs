//! Tables and columns of the source that the target lacks, or has otherwise.

use notation::counted;

use crate::display::{escaped, first_of, flag};
use crate::source::SourceSchema;

/// Most missing tables that are named.
const MISSING_NAMED: usize = 3;

/// A difference from the target that keeps the rows of a table from it.
#[derive(Clone, Debug)]
pub struct Mismatch {
    /// Place of the table in the source's schema.
    pub table: usize,
    /// The column, of the source or of the target.
    pub column: Option<String>,
    pub kind: &'static str,
    pub message: String,
    pub remedy: String,
}

/// A table that the target lacks, or has as something else.
pub fn no_table(schema: &SourceSchema, table: usize, is_other: bool, namespace: &str) -> Mismatch {
    let namespace = escaped(namespace);
    let leave_out = flag("--exclude", &schema.tables[table].name);
    let (kind, message, remedy) = match is_other {
        true => (
            "not_a_table",
            format!("the target's schema {namespace} has something else of this name"),
            format!("leave it out by {leave_out}"),
        ),
        false => (
            "missing_table",
            format!("the target's schema {namespace} has no such table"),
            format!("create it there, or leave it out by {leave_out}"),
        ),
    };
    Mismatch { table, column: None, kind, message, remedy }
}

/// The error where the target has none of them.
pub fn no_tables(schema: &SourceSchema, namespace: &str) -> String {
    let names: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
    format!(
        "the target's schema {} has none of the {}: {}; crossover migrate makes them, --exclude leaves \
         them out, --schema names another schema",
        escaped(namespace),
        counted(names.len() as u64, "table"),
        first_of(&names, MISSING_NAMED)
    )
}
