//! Findings on existing tables as a whole, the same in an audit and before a move.

use std::sync::Arc;

use tokio_postgres::Row;

use super::framework_versions;
use super::target_numbering::target_numbering;
use crate::display::flag;
use crate::finding::Finding;
use crate::source::{SourceFile, SourceSchema, quoted};
use crate::target::{MatchedTable, TargetSession};
use crate::{Error, Task};

/// `adds`: the rows of the tables stay. Needs a transaction.
pub async fn existing_tables(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    adds: bool,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut findings = target_numbering(session, source, schema, matched, adds, task).await?;
    findings.extend(insert_triggers(session, schema, matched).await?);
    findings.extend(guarded_tables(session, schema, matched).await?);
    if !adds {
        findings.extend(inheriting_tables(session, schema, matched).await?);
        findings
            .extend(framework_versions::findings(session, source, schema, matched, task).await?);
    }
    Ok(findings)
}

/// Tables that inherit from an ordinary table; partitions are parts of theirs.
const INHERITING: &str = "\
    SELECT i.inhparent, format('%I.%I', n.nspname, c.relname) \
    FROM pg_inherits AS i JOIN pg_class AS p ON p.oid = i.inhparent \
    JOIN pg_class AS c ON c.oid = i.inhrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
    WHERE i.inhparent = ANY($1) AND p.relkind = 'r' ORDER BY 1, 2";

/// Their rows are read with those of the table, whose rows then never equal the file's.
async fn inheriting_tables(
    session: &TargetSession,
    schema: &SourceSchema,
    matched: &[MatchedTable],
) -> Result<Vec<Finding>, Error> {
    let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
    let failed = Error::postgres("cannot read which tables of the target inherit");
    let rows = session.client.query(INHERITING, &[&tables]).await.map_err(failed)?;
    let finding = |row: &Row| {
        let (oid, child): (u32, String) = (row.get(0), row.get(1));
        let of_table = matched.iter().find(|table| table.oid == oid)?;
        let (relation, name) = (&of_table.relation, &schema.tables[of_table.source].name);
        let message = format!(
            "{child} of the target inherits from it, so its rows count as rows of this table: they would \
             not equal those of the file"
        );
        let fix = format!(
            "in the target, before the move: ALTER TABLE {child} NO INHERIT {relation}; after it: ALTER \
             TABLE {child} INHERIT {relation}; or leave the table out: {}",
            flag("--exclude", name)
        );
        Some(Finding::blocker("inheriting_table", name, message, fix))
    };
    Ok(rows.iter().filter_map(finding).collect())
}

/// Tables whose policies apply to this role.
const GUARDED: &str = "\
    SELECT c.oid, quote_ident(current_user) FROM pg_class AS c \
    WHERE c.oid = ANY($1) AND row_security_active(c.oid) ORDER BY c.oid";

/// COPY loads no table whose row-level security applies to the role.
async fn guarded_tables(
    session: &TargetSession,
    schema: &SourceSchema,
    matched: &[MatchedTable],
) -> Result<Vec<Finding>, Error> {
    let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
    let failed = Error::postgres("cannot read the target's row-level security");
    let rows = session.client.query(GUARDED, &[&tables]).await.map_err(failed)?;
    let finding = |row: &Row| {
        let (oid, role): (u32, String) = (row.get(0), row.get(1));
        let of_table = matched.iter().find(|table| table.oid == oid)?;
        let relation = &of_table.relation;
        let message = format!(
            "its row-level security applies to the role {role}: COPY refuses to load it, and rows may be hidden"
        );
        let fix = format!(
            "as a superuser of the target: ALTER ROLE {role} BYPASSRLS; or as the table's owner, before the \
             move: ALTER TABLE {relation} DISABLE ROW LEVEL SECURITY; after it: ALTER TABLE {relation} ENABLE \
             ROW LEVEL SECURITY"
        );
        let table = &schema.tables[of_table.source].name;
        Some(Finding::blocker("row_security", table, message, fix))
    };
    Ok(rows.iter().filter_map(finding).collect())
}

/// Tables with an enabled row trigger before INSERT (pg_trigger.tgtype: 1 row, 2 before, 4 insert).
const INSERT_TRIGGERS: &str = "\
    SELECT tgrelid, tgname::text FROM pg_trigger \
    WHERE tgrelid = ANY($1) AND NOT tgisinternal AND tgenabled IN ('O', 'A') AND tgtype & 7 = 7 \
    ORDER BY tgrelid, tgname";

/// Triggers that may change each row on its way, such as one that numbers the rows.
async fn insert_triggers(
    session: &TargetSession,
    schema: &SourceSchema,
    matched: &[MatchedTable],
) -> Result<Vec<Finding>, Error> {
    let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
    let failed = Error::postgres("cannot read the target's triggers");
    let rows = session.client.query(INSERT_TRIGGERS, &[&tables]).await.map_err(failed)?;
    let finding = |row: &Row| {
        let (oid, name): (u32, String) = (row.get(0), row.get(1));
        let of_table = matched.iter().find(|table| table.oid == oid)?;
        let (relation, name) = (&of_table.relation, quoted(&name));
        let message = format!(
            "the trigger {name} of the target runs before each row is inserted, also during the move: \
             one that gives rows their numbers replaces those of the file"
        );
        let fix = format!(
            "if so, in the target, before the move: ALTER TABLE {relation} DISABLE TRIGGER {name}; after \
             it: ALTER TABLE {relation} ENABLE TRIGGER {name}, and set by setval the sequence that it reads"
        );
        let table = &schema.tables[of_table.source].name;
        Some(Finding::warning("insert_trigger", table, message, fix))
    };
    Ok(rows.iter().filter_map(finding).collect())
}
