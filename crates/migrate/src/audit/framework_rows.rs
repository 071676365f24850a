//! Rows that are about one database: those that a framework wrote into the target stay there, and those of
//! the file are not moved.

use crate::Error;
use crate::display::{escaped, flag, list};
use crate::finding::Finding;
use crate::source::{Framework, Selection, SourceSchema, SourceTable, quoted};
use crate::target::{TargetCatalog, TargetSession, catalog};

/// Tables in which Litestream keeps its place in the file that it copies.
const OF_LITESTREAM: [&str; 2] = ["_litestream_lock", "_litestream_seq"];

fn is_of_litestream(table: &str) -> bool {
    OF_LITESTREAM.iter().any(|known| table.eq_ignore_ascii_case(known))
}

/// Takes the tables of Litestream out of `schema` that the target lacks, unless they are named by
/// `--table`. Returns a finding on each.
pub fn leave_out_litestream(
    catalog: &TargetCatalog,
    schema: &mut SourceSchema,
    selection: &Selection,
) -> Vec<Finding> {
    let is_left_out = |name: &str| {
        is_of_litestream(name)
            && catalog.relation(name).is_none()
            && !selection.tables.iter().any(|named| named == name)
            && !selection.framework.is_none()
    };
    let (left_out, rest): (Vec<SourceTable>, Vec<SourceTable>) =
        schema.tables.drain(..).partition(|table| is_left_out(&table.name));
    schema.tables = rest;
    let finding = |table: &SourceTable| {
        let message =
            "the place of Litestream in the file is not moved: the target lacks the table";
        let fix = "nothing: Litestream makes it again where it copies a file";
        Finding::warning("litestream", &table.name, message, fix)
    };
    left_out.iter().map(finding).collect()
}

/// Takes tables out of `schema` whose rows are about one database, unless they are named by `--table`:
/// those of a framework if the target has some, and those of Litestream.
/// Returns a finding on each.
pub async fn leave_standing(
    session: &TargetSession,
    namespace: &str,
    schema: &mut SourceSchema,
    selection: &Selection,
) -> Result<Vec<Finding>, Error> {
    let may_stay = |table: &SourceTable| {
        is_of_litestream(&table.name) || Framework::of_own_rows(schema, table).is_some()
    };
    if !schema.tables.iter().any(may_stay) {
        return Ok(Vec::new());
    }
    let catalog = catalog(&session.client, namespace).await?;
    let mut findings = leave_out_litestream(&catalog, schema, selection);
    for table in &schema.tables {
        let Some((framework, columns)) = Framework::of_own_rows(schema, table) else { continue };
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
