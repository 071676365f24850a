//! Rows that are in existing tables before a move: seeded by the application, or moved earlier.

use std::sync::Arc;

use notation::counted;

use super::AuditReport;
use crate::display::{flag, rows};
use crate::finding::Finding;
use crate::source::{SourceFile, SourceSchema, SourceTable};
use crate::target::{ConstraintProbe, MatchedTable, RowConstraint, TargetSession};
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
        if of_table.is_empty(&session.client).await? {
            continue;
        }
        let table = &schema.tables[of_table.source];
        session.begin().await?;
        let compared = RowsOnBothSides::count(session, source, table, of_table, task).await;
        session.roll_back().await;
        findings.push(finding(&table.name, &compared?));
    }
    Ok(findings)
}

fn finding(name: &str, compared: &RowsOnBothSides) -> Finding {
    let there = rows(compared.of_target);
    if compared.are_same() {
        let message = format!("its table in the target holds the same {there} already: they stay");
        return Finding::note("same_rows_in_target", name, message, "");
    }
    let message = format!(
        "its table in the target holds {there}, other than the {} of the file: migrate refuses them",
        rows(compared.of_source)
    );
    let exclude = flag("--exclude", name);
    let fix = format!(
        "--replace deletes them, --on-seeded keep keeps them and leaves out the file's, as {exclude} \
         does for this table"
    );
    Finding::warning(KIND, name, message, fix)
}

/// Rows of a table in the file and in the target.
pub struct RowsOnBothSides {
    of_source: u64,
    of_target: u64,
    /// Rows of the file that the target holds; `None` if its types cannot hold some.
    in_both: Option<u64>,
}

impl RowsOnBothSides {
    /// Needs a transaction.
    pub async fn count(
        session: &TargetSession,
        source: &Arc<SourceFile>,
        table: &SourceTable,
        matched: &MatchedTable,
        task: Task<'_>,
    ) -> Result<Self, Error> {
        let sql = format!("SELECT count(*) FROM {}", matched.relation);
        let failed = Error::postgres(format!("cannot read {}", matched.relation));
        let there: i64 = session.client.query_one(&sql, &[]).await.map_err(failed)?.get(0);
        let columns = [];
        let uncounted = task.uncounted();
        let of_source =
            matched.each_row(source, table, &columns, None, uncounted, |_, _| Ok(()))?;
        let constraint = RowConstraint::new_row(table, matched);
        let loading =
            ConstraintProbe::load(session, source, table, matched, &[&constraint], task).await;
        let in_both = match loading {
            Ok(probe) => {
                let (same, _) = probe.count_violations(&constraint, 1).await?;
                probe.drop_table(task).await?;
                Some(same)
            }
            Err(Error::Row(_)) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { of_source, of_target: there.unsigned_abs(), in_both })
    }

    /// The target holds each row of the file, and no more rows than it.
    pub fn are_same(&self) -> bool {
        self.in_both == Some(self.of_target) && self.in_both == Some(self.of_source)
    }
}

impl AuditReport {
    /// The tables of the target that hold other rows, counted in words; `None` without such a table.
    pub(super) fn standing_tables(&self) -> Option<String> {
        let count = self.findings.iter().filter(|finding| finding.kind == KIND).count() as u64;
        (count > 0).then(|| counted(count, "table"))
    }
}
