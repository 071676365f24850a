//! Rows of tables outside the move that refer to rows of the target which the file lacks: once those are
//! replaced, the foreign key could not be made again.

use std::sync::Arc;

use notation::thousands;
use tokio_postgres::Row;

use crate::display::flag;
use crate::finding::Finding;
use crate::source::{SourceFile, SourceSchema, quoted};
use crate::target::{ConstraintProbe, MatchedTable, RowConstraint, TargetSession};
use crate::{Error, Task};

/// Foreign keys to the tables `$1` from others: referred table, name, referring table by name, columns and
/// referred columns in order. Those that are not enforced or not valid are not validated after a load.
const KEYS: &str = "\
    SELECT f.confrelid, f.conname::text, format('%I.%I', n.nspname, c.relname), \
        ARRAY(SELECT a.attname::text FROM unnest(f.conkey) WITH ORDINALITY AS k(number, place) \
              JOIN pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = k.number \
              ORDER BY k.place), \
        ARRAY(SELECT a.attname::text FROM unnest(f.confkey) WITH ORDINALITY AS k(number, place) \
              JOIN pg_attribute AS a ON a.attrelid = f.confrelid AND a.attnum = k.number \
              ORDER BY k.place) \
    FROM pg_constraint AS f \
    JOIN pg_class AS c ON c.oid = f.conrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    WHERE f.contype = 'f' AND f.confrelid = ANY($1) AND NOT f.conrelid = ANY($1) AND f.convalidated \
      AND coalesce((to_jsonb(f) ->> 'conenforced')::boolean, true) \
      AND coalesce(to_jsonb(f) ->> 'conparentid', '0') = '0' \
      AND NOT coalesce((to_jsonb(c) ->> 'relispartition')::boolean, false) ORDER BY f.oid";

/// A blocker for each foreign key whose rows would lose theirs. Needs a transaction.
pub async fn findings(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
    let failed = Error::postgres("cannot read the target's foreign keys");
    let mut findings = Vec::new();
    for row in session.client.query(KEYS, &[&tables]).await.map_err(failed)? {
        let parent = matched.iter().find(|table| table.oid == row.get::<_, u32>(0));
        let Some(parent) = parent else { continue };
        let referred: Vec<String> = row.get(4);
        // A column that the file lacks takes its default: nothing refers to the rows of the file then.
        if parent.sources(&referred).len() == referred.len() {
            findings.extend(orphans(session, source, schema, parent, &row, task).await?);
        }
    }
    Ok(findings)
}

/// The rows of the key `row` that the rows of the file would leave without a parent.
async fn orphans(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    parent: &MatchedTable,
    row: &Row,
    task: Task<'_>,
) -> Result<Option<Finding>, Error> {
    let (name, child): (String, String) = (row.get(1), row.get(2));
    let (columns, referred): (Vec<String>, Vec<String>) = (row.get(3), row.get(4));
    let set: Vec<String> =
        columns.iter().map(|column| format!("c.{} IS NOT NULL", quoted(column))).collect();
    let set = set.join(" AND ");
    let failed = || Error::postgres(format!("cannot read {child}"));
    let some = format!("SELECT EXISTS (SELECT FROM {child} AS c WHERE {set})");
    if !session.client.query_one(&some, &[]).await.map_err(failed())?.get::<_, bool>(0) {
        return Ok(None);
    }
    let table = &schema.tables[parent.source];
    let needed = RowConstraint::of_columns(parent, referred.clone());
    let probe = ConstraintProbe::load(session, source, table, parent, &[&needed], task).await?;
    let pairs = columns.iter().zip(&referred);
    let same: Vec<String> =
        pairs.map(|(here, there)| format!("p.{} = c.{}", quoted(there), quoted(here))).collect();
    let count = probe.count_without_row(&child, &set, &same.join(" AND ")).await?;
    probe.drop_table(task).await?;
    if count == 0 {
        return Ok(None);
    }
    let message = format!(
        "{} row{} of {child}, which is not moved, would lose the row to which {} by the foreign key {}: \
         the file lacks it",
        thousands(count),
        if count == 1 { "" } else { "s" },
        if count == 1 { "it refers" } else { "they refer" },
        quoted(&name)
    );
    let fix = format!(
        "delete or repair them in the target, add the rows to the file, or leave {} out: {}",
        table.name,
        flag("--exclude", &table.name)
    );
    Ok(Some(Finding::blocker("outside_foreign_key", &table.name, message, fix)))
}
