//! Tables and columns that the target lacks, or has otherwise.

use crate::finding::Finding;
use crate::source::SourceSchema;
use crate::target::Mismatch;

pub fn mismatch_finding(schema: &SourceSchema, mismatch: &Mismatch) -> Finding {
    let Mismatch { table, column, kind, message, remedy } = mismatch;
    let table = &schema.tables[*table].name;
    let finding = Finding::blocker(kind, table, message.clone(), remedy.clone());
    match column {
        Some(column) => finding.on_column(column),
        None => finding,
    }
}
