//! Rows that are in existing tables before a move.

use notation::counted;

use super::AuditReport;
use crate::Error;
use crate::display::flag;
use crate::finding::Finding;
use crate::source::SourceSchema;
use crate::target::{MatchedTable, TargetSession};

const KIND: &str = "rows_in_target";

/// A warning for each table that holds rows.
pub async fn findings(
    session: &TargetSession,
    schema: &SourceSchema,
    matched: &[MatchedTable],
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for of_table in matched {
        if !of_table.is_empty(&session.client).await? {
            let name = &schema.tables[of_table.source].name;
            let message = "its table in the target holds rows: migrate refuses them unless they equal \
                           those of the file";
            let exclude = flag("--exclude", name);
            let fix = format!("--replace deletes them, {exclude} leaves the table out");
            findings.push(Finding::warning(KIND, name, message, fix));
        }
    }
    Ok(findings)
}

impl AuditReport {
    /// The tables of the target that hold rows, counted in words; `None` without such a table.
    pub(super) fn standing_tables(&self) -> Option<String> {
        let count = self.findings.iter().filter(|finding| finding.kind == KIND).count() as u64;
        (count > 0).then(|| counted(count, "table"))
    }
}
