//! Rows that are in existing tables before a move: seeded by the application, or moved earlier.

use std::sync::Arc;

use notation::counted;

use super::AuditReport;
use crate::display::{flag, rows};
use crate::finding::{Finding, Lost};
use crate::mapping::MapRules;
use crate::source::{SourceFile, SourceSchema};
use crate::target::{MatchedTable, TargetSession, catalog, match_with_unwritten};
use crate::verify::{TableVerification, compare};
use crate::{Error, Task};

const KIND: &str = "rows_in_target";

/// A warning for each table that holds other rows than the file, a note where they are the same.
pub async fn findings(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for of_table in matched {
        let Some(compared) = seeded(session, source, schema, of_table, task).await? else {
            continue;
        };
        let name = &compared.table;
        if compared.equal {
            let message = format!(
                "its table in the target holds the same {} already: they stay",
                rows(compared.target_rows)
            );
            findings.push(Finding::note("same_rows_in_target", name, message, ""));
            continue;
        }
        let message = format!(
            "its table in the target holds {}, other than the {} of the file: migrate refuses them",
            rows(compared.target_rows),
            rows(compared.source_rows)
        );
        let exclude = flag("--exclude", name);
        let fix = format!(
            "--replace deletes them, --on-seeded keep keeps them and leaves out the file's, as {exclude} \
             does for this table"
        );
        findings.push(Finding::warning(KIND, name, message, fix));
    }
    Ok(findings)
}

/// The comparison of a table that holds rows.
async fn seeded(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &MatchedTable,
    task: Task<'_>,
) -> Result<Option<TableVerification>, Error> {
    if matched.is_empty(&session.client).await? {
        return Ok(None);
    }
    let table = &schema.tables[matched.source];
    compare(&session.client, source, table, matched, task.uncounted()).await.map(Some)
}

/// Takes the tables out of `schema` whose tables in the target hold other rows, which stay. Returns a
/// finding on each.
pub async fn keep_seeded(
    session: &TargetSession,
    namespace: &str,
    source: &Arc<SourceFile>,
    schema: &mut SourceSchema,
    rules: &MapRules,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let found = catalog(&session.client, namespace).await?;
    let matching = match_with_unwritten(schema, &found, rules)?;
    let mut findings = Vec::new();
    for of_table in matching.tables.iter().filter(|table| matching.is_written(table)) {
        let compared = seeded(session, source, schema, of_table, task).await?;
        let Some(compared) = compared.filter(|compared| !compared.equal) else { continue };
        let message = format!(
            "the {} in the target stay, as --on-seeded keep asks; {} of the file {} not moved",
            rows(compared.target_rows),
            rows(compared.source_rows),
            if compared.source_rows == 1 { "is" } else { "are" }
        );
        let fix = format!("{} takes that for granted", flag("--exclude", &compared.table));
        let finding = Finding::warning("seeded_rows", &compared.table, message, fix);
        let finding = finding.counted(compared.source_rows, Vec::new());
        findings.push(match compared.source_rows {
            0 => finding,
            _ => finding.losing(Lost::Rows),
        });
    }
    schema.tables.retain(|table| findings.iter().all(|finding| finding.table != table.name));
    Ok(findings)
}

impl AuditReport {
    /// The tables of the target that hold other rows, counted in words; `None` without such a table.
    pub(super) fn standing_tables(&self) -> Option<String> {
        let count = self.findings.iter().filter(|finding| finding.kind == KIND).count() as u64;
        (count > 0).then(|| counted(count, "table"))
    }
}
