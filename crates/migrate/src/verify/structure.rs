//! Structure of the target beside what a migration promises: the tables that it would make are made in a
//! schema of their own, described by the server, and undone. Both descriptions are PostgreSQL's.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use engine::PostgresUrl;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::audit::{Audit, AuditOptions, audit_source};
use crate::ddl::statements;
use crate::source::{SourceFile, quoted, readers};
use crate::target::{
    ColumnDefault, TargetSequence, TargetSession, catalog, given_out, match_with_unwritten,
    namespace,
};
use crate::task::blocking;
use crate::{Error, Task};

/// The schema in which the promised tables are described; it never lasts.
const PROMISED_SCHEMA: &str = "crossover_structure";

/// A column, key, check, index or sequence that is not as promised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StructureDifference {
    pub table: String,
    /// For example `type`, `not null`, `default`, `foreign key`.
    pub part: String,
    /// Its column or sequence; empty for keys, checks and indexes, whose definitions name their columns.
    pub name: String,
    /// As PostgreSQL writes it; `None` for what was not promised.
    pub promised: Option<String>,
    pub found: Option<String>,
}

/// The structure of a target, with the number of parts that are as promised.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StructureComparison {
    pub same: usize,
    /// Parts that were promised and are missing or different.
    pub differences: Vec<StructureDifference>,
    /// Further parts of the target.
    pub additions: Vec<StructureDifference>,
}

/// Parts of the tables of the schema `$1`: table, part, name, definition. Names of constraints and indexes
/// have no say. `to_jsonb` reads columns that older releases lack.
const PARTS: &str = r"
    WITH tables AS (
        SELECT c.oid, c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')),
    columns AS (
        SELECT t.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type, a.attnotnull,
               coalesce(to_jsonb(a) ->> 'attidentity', '') AS identity,
               coalesce(to_jsonb(a) ->> 'attgenerated', '') AS generated,
               pg_get_expr(f.adbin, f.adrelid) AS expression
        FROM tables AS t
        JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_attrdef AS f ON f.adrelid = t.oid AND f.adnum = a.attnum)
    SELECT relname::text, 'type', attname::text, type FROM columns
    UNION ALL SELECT relname, 'not null', attname, 'NOT NULL' FROM columns WHERE attnotnull
    UNION ALL SELECT relname, 'numbering', attname, 'by a sequence' FROM columns
        WHERE identity <> '' OR expression LIKE 'nextval(%'
    UNION ALL SELECT relname, 'default', attname, expression FROM columns
        WHERE generated = '' AND expression NOT LIKE 'nextval(%'
    UNION ALL SELECT relname, 'generated column', attname, expression FROM columns WHERE generated <> ''
    UNION ALL
    SELECT t.relname,
           CASE k.contype WHEN 'p' THEN 'primary key' WHEN 'u' THEN 'unique key'
                          WHEN 'f' THEN 'foreign key' WHEN 'c' THEN 'check' ELSE 'exclusion' END,
           '', pg_get_constraintdef(k.oid) || CASE WHEN EXISTS (
               SELECT FROM pg_trigger AS g WHERE g.tgconstraint = k.oid AND g.tgenabled = 'D')
           THEN ' DISABLED' ELSE '' END
    FROM tables AS t JOIN pg_constraint AS k ON k.conrelid = t.oid WHERE k.contype IN ('p', 'u', 'f', 'c', 'x')
    UNION ALL
    SELECT t.relname, 'index', '', CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END
           || substring(pg_get_indexdef(i.indexrelid) FROM 'USING .*$') || CASE WHEN i.indisvalid THEN '' ELSE ' INVALID' END
    FROM tables AS t JOIN pg_index AS i ON i.indrelid = t.oid
    WHERE NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.conrelid = t.oid)
    UNION ALL
    SELECT t.relname, 'rule', r.rulename, pg_get_ruledef(r.oid)
    FROM tables AS t JOIN pg_rewrite AS r ON r.ev_class = t.oid
    UNION ALL
    SELECT t.relname, 'row-level security', '', 'ENABLED'
    FROM tables AS t JOIN pg_class AS c ON c.oid = t.oid WHERE c.relrowsecurity
    ORDER BY 1, 2, 3, 4";

/// Compares the tables of the target with those that a migration by `options` would make, and sequences
/// with the numbers that are taken.
///
/// # Errors
/// Those of an audit; a role that may not make a schema in the target.
pub async fn verify_structure(
    source: &Path,
    target: &PostgresUrl,
    options: &AuditOptions,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<StructureComparison, Error> {
    let task = Task { progress, interrupted };
    let session = task.unless_interrupted(TargetSession::connect(target)).await?;
    let comparing = Box::pin(compare_structures(&session, source, options, task));
    session.cancelled_by_user(target, task, comparing).await
}

async fn compare_structures(
    session: &TargetSession,
    source: &Path,
    options: &AuditOptions,
    task: Task<'_>,
) -> Result<StructureComparison, Error> {
    let namespace = namespace(&session.client, options.schema.as_deref()).await?;
    let audit = blocking(task, {
        let (path, server_version) = (source.to_owned(), Some(session.server_version));
        let options = AuditOptions { server_version, ..options.clone() };
        move |task| {
            let source = SourceFile::open(&path, readers())?;
            audit_source(&source, &options, task.uncounted())
        }
    })
    .await?;
    session.begin().await?;
    let described = describe_both(session, &namespace, &audit, options, task).await;
    session.roll_back().await;
    let (promised, found) = described?;
    let mut comparison = compare_parts(&audit, &promised, found);
    session.begin().await?;
    let sequences = late_sequences(session, &namespace, &audit, options).await;
    session.roll_back().await;
    comparison.differences.extend(sequences?);
    Ok(comparison)
}

/// A part by table and name in small letters, so that names that differ in case alone are one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PartKey {
    table: String,
    part: String,
    name: String,
    definition: String,
}

/// Parts with their number, and with table and name as written.
type Parts = BTreeMap<PartKey, (usize, String, String)>;

async fn describe_both(
    session: &TargetSession,
    namespace: &str,
    audit: &Audit,
    options: &AuditOptions,
    task: Task<'_>,
) -> Result<(Parts, Parts), Error> {
    let found = describe(session, namespace, task).await?;
    let server_version = Some(session.server_version);
    let made_for = AuditOptions { server_version, ..options.clone() }.made_for();
    let made = statements(&audit.schema, &audit.fields, PROMISED_SCHEMA, made_for);
    session.run(&format!("CREATE SCHEMA {PROMISED_SCHEMA}"), task).await?;
    for table in &made.tables {
        session.run(&table.sql(), task).await?;
    }
    for key in &made.keys {
        session.run(&key.index, task).await?;
        if let Some(attach) = &key.attach {
            session.run(attach, task).await?;
        }
    }
    for key in &made.foreign_keys {
        session.run(&key.sql, task).await?;
    }
    Ok((describe(session, PROMISED_SCHEMA, task).await?, found))
}

/// Names of the schema itself are left out of the definitions, so that two schemas can be compared.
async fn describe(
    session: &TargetSession,
    namespace: &str,
    task: Task<'_>,
) -> Result<Parts, Error> {
    let path = format!("SET LOCAL search_path = {}, public", quoted(namespace));
    session.run(&path, task).await?;
    let failed = Error::postgres(format!("cannot describe the schema {namespace}"));
    let rows = session.client.query(PARTS, &[&namespace]).await.map_err(failed)?;
    let mut parts = Parts::new();
    for row in rows {
        let (table, name): (String, String) = (row.get(0), row.get(2));
        let (part, definition) = plain_unique(row.get(1), row.get(3));
        let key =
            PartKey { table: table.to_lowercase(), name: name.to_lowercase(), part, definition };
        parts.entry(key).or_insert((0, table, name)).0 += 1;
    }
    Ok(parts)
}

/// A unique index over columns ensures what a unique key does.
fn plain_unique(part: String, definition: String) -> (String, String) {
    let columns = definition.strip_prefix("UNIQUE USING btree ");
    // Without expressions, orders and conditions.
    let is_plain = |columns: &&str| {
        columns.ends_with(')') && columns.matches('(').count() == 1 && !columns.contains(" DESC")
    };
    match columns.filter(is_plain) {
        Some(columns) if part == "index" => ("unique key".to_owned(), format!("UNIQUE {columns}")),
        _ => (part, definition),
    }
}

fn compare_parts(audit: &Audit, promised: &Parts, mut found: Parts) -> StructureComparison {
    let mut comparison = StructureComparison::default();
    let tables: Vec<String> =
        audit.schema.tables.iter().map(|table| table.target_name.to_lowercase()).collect();
    found.retain(|key, _| tables.contains(&key.table));
    let mut missing = Vec::new();
    for (key, (count, table, name)) in promised {
        let (there, of_table, of_name) = found.remove(key).unwrap_or_default();
        comparison.same += there.min(*count);
        if there < *count {
            missing.push((key, table.clone(), name.clone()));
        } else if there > *count {
            found.insert(key.clone(), (there - count, of_table, of_name));
        }
    }
    for (key, table, name) in missing {
        // What a column has in its place; keys, checks and indexes have none.
        let is_instead = |other: &&PartKey| {
            !name.is_empty()
                && (&other.table, &other.part, &other.name) == (&key.table, &key.part, &key.name)
        };
        let instead = found.keys().find(is_instead).cloned();
        if let Some(instead) = &instead {
            found.remove(instead);
        }
        comparison.differences.push(StructureDifference {
            table,
            part: key.part.clone(),
            name,
            promised: Some(key.definition.clone()),
            found: instead.map(|instead| instead.definition),
        });
    }
    for (key, (_, table, name)) in found {
        let (part, found) = (key.part, Some(key.definition));
        // These change what the table takes and shows.
        let changes_rows = ["rule", "row-level security"].contains(&part.as_str());
        let addition = StructureDifference { table, part, name, promised: None, found };
        match changes_rows {
            true => comparison.differences.push(addition),
            false => comparison.additions.push(addition),
        }
    }
    comparison
}

/// Sequences that would give out a number which is taken, of those that the role may read. Needs a
/// transaction.
async fn late_sequences(
    session: &TargetSession,
    namespace: &str,
    audit: &Audit,
    options: &AuditOptions,
) -> Result<Vec<StructureDifference>, Error> {
    let (client, schema) = (&session.client, &audit.schema);
    let found = catalog(client, namespace).await?;
    let matched = match_with_unwritten(schema, &found, &options.rules)?.tables;
    let defaults = ColumnDefault::read_all(client, &matched).await?;
    let all = TargetSequence::read_all(client, &matched, &defaults, session.server_version).await?;
    let mut late = Vec::new();
    for sequence in all {
        let stored = sequence.furthest(client, |_| true).await?;
        let taken = sequence.further(stored, given_out(&sequence, schema, &matched));
        let position = sequence.position(client).await?;
        let (Some(taken), Some(position)) = (taken, position) else { continue };
        if taken == position {
            continue;
        }
        let of_use = sequence.uses.first();
        late.push(StructureDifference {
            table: of_use.map_or_else(String::new, |each| each.relation.clone()),
            part: "sequence".to_owned(),
            name: sequence.name.clone(),
            promised: Some(format!("at {taken}")),
            found: Some(format!("at {position}")),
        });
    }
    Ok(late)
}

impl StructureDifference {
    /// For example `orders.token: type text, where uuid was promised`.
    pub fn sentence(&self) -> String {
        let Self { table, part, name, promised, found } = self;
        let place = match (part.as_str(), name.as_str()) {
            ("sequence", name) => name.to_owned(),
            (_, "") => table.clone(),
            (_, name) => format!("{table}.{name}"),
        };
        // The definitions of constraints begin with their kind.
        let has_kind =
            ["not null", "check", "primary key", "unique key", "foreign key", "exclusion"]
                .contains(&part.as_str());
        let place = if has_kind { format!("{place}:") } else { format!("{place}: {part}") };
        match (promised, found) {
            (Some(promised), Some(found)) => {
                format!("{place} {found}, where {promised} was promised")
            }
            (Some(promised), None) => format!("{place} {promised} is missing"),
            (None, found) => {
                let found = found.as_deref().unwrap_or_default();
                format!("{place} {found} is there besides")
            }
        }
    }
}
