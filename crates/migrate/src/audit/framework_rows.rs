//! Rows that a framework writes into a database about that database: they stay in the target, and those of
//! the file are not moved.

use crate::Error;
use crate::display::{escaped, flag, list};
use crate::finding::Finding;
use crate::source::{Framework, Selection, SourceSchema, quoted};
use crate::target::{TargetSession, catalog};

/// Takes tables with such rows out of `schema` if the target has some, unless they are named by `--table`.
/// Returns a finding on each.
pub async fn leave_standing(
    session: &TargetSession,
    namespace: &str,
    schema: &mut SourceSchema,
    selection: &Selection,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for table in &schema.tables {
        let Some((framework, columns)) = Framework::of_own_rows(schema, table) else { continue };
        let catalog = catalog(&session.client, namespace).await?;
        let Some(relation) = catalog.relation(&table.name) else { continue };
        let columns: Option<Vec<String>> =
            columns.iter().map(|column| Some(quoted(&relation.column(column)?.name))).collect();
        let Some(columns) = columns.filter(|_| !selection.tables.contains(&table.name)) else {
            continue;
        };
        let relation = catalog.quoted(&relation.name);
        let sql = format!("SELECT concat_ws('=', {}) FROM {relation} ORDER BY 1", list(columns));
        let failed = Error::postgres(format!("cannot read {relation}"));
        let rows = session.client.query(&sql, &[]).await.map_err(failed)?;
        if rows.is_empty() {
            continue;
        }
        let rows = list(rows.iter().map(|row| escaped(row.get(0))));
        let name = framework.name();
        let message = format!(
            "the rows that {name} wrote in the target stay ({rows}); those of the file are not moved"
        );
        let named = flag("--table", &table.name);
        let fix =
            format!("to put the file's in their place all the same: --data-only --replace {named}");
        findings.push(Finding::warning("framework_rows", &table.name, message, fix));
    }
    schema.tables.retain(|table| findings.iter().all(|finding| finding.table != table.name));
    Ok(findings)
}
