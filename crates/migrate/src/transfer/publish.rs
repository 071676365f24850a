//! Publication: moves the finished tables from the staging schema into the target's, and drops
//! those that they replace, in one transaction.

use super::dependents;
use super::state::STAGING_SCHEMA;
use crate::display::{escaped, list};
use crate::source::{SourceSchema, quoted};
use crate::target::TargetSession;
use crate::{Error, Task};

pub struct Destination<'a> {
    pub schema: &'a SourceSchema,
    pub namespace: &'a str,
    /// Create the schema if it does not exist.
    pub make_namespace: bool,
    /// Drop tables of the same names.
    pub replace: bool,
}

/// Moves every table from the staging schema to `namespace`. Must run in a transaction.
pub async fn publish_tables(
    session: &TargetSession,
    destination: &Destination<'_>,
    task: Task<'_>,
) -> Result<(), Error> {
    let names = destination.schema.tables.iter().map(|table| quoted(&table.target_name));
    let names: Vec<String> = names.collect();
    let namespace = quoted(destination.namespace);
    if destination.make_namespace {
        session.run(&format!("CREATE SCHEMA IF NOT EXISTS {namespace}"), task).await?;
    }
    if destination.replace && !names.is_empty() {
        let tables = destination.schema.tables.iter().map(|table| table.target_name.clone());
        dependents::refuse(session, destination.namespace, &tables.collect::<Vec<_>>()).await?;
        let all = list(names.iter().map(|name| format!("{namespace}.{name}")));
        session.run(&format!("DROP TABLE IF EXISTS {all}"), task).await?;
    }
    refuse_taken_names(session, destination.namespace).await?;
    for name in names {
        let sql = format!("ALTER TABLE {STAGING_SCHEMA}.{name} SET SCHEMA {namespace}");
        session.run(&sql, task).await?;
    }
    Ok(())
}

/// Names in the target's schema that staged tables, their indexes or sequences have too: they share
/// one namespace. An index or sequence is listed with its table.
const TAKEN: &str = "\
    SELECT c.relname::text, o.relname::text \
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    LEFT JOIN pg_index AS i ON i.indexrelid = c.oid \
    LEFT JOIN pg_depend AS d ON c.relkind = 'S' AND d.classid = 'pg_class'::regclass \
        AND d.objid = c.oid AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') \
    LEFT JOIN pg_class AS o ON o.oid = coalesce(i.indrelid, d.refobjid) \
    WHERE n.nspname = $1 AND c.relname IN \
        (SELECT w.relname FROM pg_class AS w JOIN pg_namespace AS x ON x.oid = w.relnamespace \
         WHERE x.nspname = $2) \
    ORDER BY 1";

async fn refuse_taken_names(session: &TargetSession, namespace: &str) -> Result<(), Error> {
    let found = session.client.query(TAKEN, &[&namespace, &STAGING_SCHEMA]).await;
    let found = found.map_err(Error::postgres("cannot read the target's names"))?;
    let (mut tables, mut parts): (Vec<String>, Vec<(String, String)>) = (Vec::new(), Vec::new());
    for row in &found {
        match (row.get(0), row.get(1)) {
            (name, None) => tables.push(name),
            (name, Some(table)) => parts.push((name, table)),
        }
    }
    // Parts of a table that is already named add nothing.
    parts.retain(|(_, table)| !tables.contains(table));
    let mut ways = Vec::new();
    if !tables.is_empty() {
        ways.push("load into what exists by --data-only, drop it first by --replace");
    }
    if !parts.is_empty() {
        ways.push("rename what belongs to another table (ALTER INDEX, ALTER SEQUENCE)");
    }
    if ways.is_empty() {
        return Ok(());
    }
    let parts = parts.into_iter().map(|(name, table)| format!("{name} of {table}"));
    let taken = list(tables.into_iter().chain(parts));
    Err(Error::Target(format!(
        "the target's schema {namespace} already has {}: {}, or name another schema by --schema",
        escaped(&taken),
        ways.join(", ")
    )))
}
