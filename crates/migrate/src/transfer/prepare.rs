//! Preparation of the target: creates the tables in the staging schema, or checks that existing
//! tables are empty and suspends their indexes.

use std::sync::Arc;

use super::options::MigrateOptions;
use super::publish::{Destination, publish_tables};
use super::state::{STAGING_SCHEMA, create_staging_schema};
use super::step::{MigrationStep, Stage, of_statements};
use super::suspend_indexes::SuspendedIndexes;
use crate::audit::{Audit, MAKE_CITEXT};
use crate::ddl::{MadeFor, locks_to_make, statements};
use crate::display::{escaped, list, rows};
use crate::source::{SourceFile, SourceSchema};
use crate::target::{
    MatchedTable, Reference, RowConstraint, TargetSession, catalog, existing_constraints, locks,
    match_tables, references, rights, row_constraint,
};
use crate::value::PostgresType;
use crate::verify::compare;
use crate::{Error, Task};

/// A target that is ready for rows.
#[derive(Default)]
pub struct PreparedTarget {
    /// The tables to load, parents first.
    pub to_load: Vec<MatchedTable>,
    /// Tables that hold the same rows already, with their number.
    pub kept: Vec<(MatchedTable, u64)>,
    /// Every table was made or emptied.
    pub fresh: bool,
    /// Existing rows would be lost if the migration could not be undone as a whole.
    pub replaces_rows: bool,
    /// Steps after the rows: keys, indexes, foreign keys.
    pub rest: Vec<MigrationStep>,
    pub references: Vec<Reference>,
    /// Foreign keys of the tables to load that are NOT VALID and stay so.
    pub not_valid: Vec<Reference>,
    /// Further constraints of the target; read only if rows may be rejected.
    pub constraints: Vec<RowConstraint>,
    /// Foreign keys that were not valid before and are restored like that.
    pub notices: Vec<String>,
}

/// Creates the proposed schema in the staging schema, then tries its keys and its publication in a
/// savepoint: an obstacle is found before a row is copied.
pub async fn create(
    session: &TargetSession,
    audit: &Audit,
    destination: &Destination<'_>,
    options: &MigrateOptions,
    task: Task<'_>,
) -> Result<PreparedTarget, Error> {
    let schema = &audit.schema;
    let made_for = MadeFor { server_version: session.server_version, nocase: options.nocase };
    let statements = statements(schema, &audit.fields, STAGING_SCHEMA, made_for);
    let needed = locks_to_make(&statements);
    locks::ensure(&session.client, statements.tables.len(), needed).await?;
    ensure_citext(session, audit).await?;
    create_staging_schema(session, task).await?;
    for table in &statements.tables {
        session.run(&table.sql(), task).await?;
    }
    let rest = of_statements(&statements);
    session.run("SAVEPOINT before_trial", task).await?;
    for step in &rest {
        session.run(&step.sql, task).await?;
    }
    publish_tables(session, destination, task).await?;
    session.run("ROLLBACK TO before_trial", task).await?;
    let found = catalog(&session.client, STAGING_SCHEMA).await?;
    let to_load = match_tables(schema, &found, &options.rules)?;
    let to_load: Vec<MatchedTable> = to_load.into_iter().map(MatchedTable::made_here).collect();
    let references = references::of_source(schema, &to_load);
    let rejects = options.reject_file.is_some();
    let constraints =
        rejects.then(|| row_constraint::of_source(schema, &audit.fields, &statements, made_for));
    Ok(PreparedTarget {
        to_load,
        fresh: true,
        rest,
        references,
        constraints: constraints.unwrap_or_default(),
        ..PreparedTarget::default()
    })
}

async fn ensure_citext(session: &TargetSession, audit: &Audit) -> Result<(), Error> {
    let mut fields = audit.fields.iter().flatten();
    if !fields.any(|field| field.postgres_type == PostgresType::Citext) {
        return Ok(());
    }
    let failed = Error::postgres("cannot look for citext".to_owned());
    let known = session.client.query_one("SELECT to_regtype('citext') IS NOT NULL", &[]).await;
    match known.map_err(failed)?.get(0) {
        true => Ok(()),
        false => Err(Error::Target(format!(
            "the target has no type citext; as a superuser or its owner run there: {MAKE_CITEXT}"
        ))),
    }
}

/// Existing tables, keys and rows in place, parents first.
pub async fn to_add(
    session: &TargetSession,
    matched: Vec<MatchedTable>,
) -> Result<PreparedTarget, Error> {
    let references = references::of_target(&session.client, &matched).await?;
    let mut to_load = matched;
    references::parents_first(&mut to_load, &references);
    Ok(PreparedTarget { to_load, references, ..PreparedTarget::default() })
}

/// Checks and empties existing tables and suspends their keys and indexes.
pub async fn existing(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: Vec<MatchedTable>,
    options: &MigrateOptions,
    task: Task<'_>,
) -> Result<PreparedTarget, Error> {
    if matched.is_empty() {
        return to_add(session, matched).await;
    }
    let needed = locks::to_use(&session.client, &matched, true).await?;
    locks::ensure(&session.client, matched.len(), needed).await?;
    let all = list(matched.iter().map(|table| &table.relation));
    session.run(&format!("LOCK TABLE {all} IN ACCESS EXCLUSIVE MODE"), task).await?;
    let references = references::of_target(&session.client, &matched).await?;
    let mut not_valid = references::not_valid(&session.client, &matched).await?;
    let constraints = match &options.reject_file {
        Some(_) => existing_constraints::read(&session.client, schema, &matched).await?,
        None => Vec::new(),
    };
    let (mut to_load, mut kept, mut standing) = (Vec::new(), Vec::new(), Vec::new());
    let mut replaces_rows = false;
    for table in matched {
        let empty = table.is_empty(&session.client).await?;
        if empty || options.replace {
            replaces_rows |= !empty;
            to_load.push(table);
            continue;
        }
        // Tables with equal rows need no load, for example a table with the schema version.
        let of_source = &schema.tables[table.source];
        let compared = compare(&session.client, source, of_source, &table, task).await?;
        if compared.equal {
            kept.push((table, compared.source_rows));
        } else {
            standing.push(format!("{} ({})", compared.table, rows(compared.target_rows)));
        }
    }
    if !standing.is_empty() {
        return Err(Error::Target(format!(
            "these tables of the target hold other rows already: {}; they are kept by \
             --on-seeded keep, which leaves out the source's, or replaced by --replace",
            escaped(&standing.join(", "))
        )));
    }
    references::parents_first(&mut to_load, &references);
    // Rows that stay are not judged by them.
    not_valid.retain(|key| to_load.iter().any(|table| table.source == key.child));
    let SuspendedIndexes { steps, notices } =
        SuspendedIndexes::read(&session.client, &to_load).await?;
    if steps.iter().any(|step| step.stage == Stage::Index) {
        let tables: Vec<u32> = to_load.iter().map(|table| table.oid).collect();
        rights::ensure_indexes(&session.client, &tables).await?;
    }
    for step in steps.iter().rev().filter(|step| !step.undo.is_empty()) {
        session.run(&step.undo, task).await?;
    }
    empty(session, &to_load, options.replace, task).await?;
    Ok(PreparedTarget {
        to_load,
        kept,
        fresh: true,
        replaces_rows,
        rest: steps,
        references,
        not_valid,
        constraints,
        notices,
    })
}

/// TRUNCATE even of empty tables: only a file that is new in this transaction can be written
/// frozen. Partitioned tables are written as usual.
async fn empty(
    session: &TargetSession,
    tables: &[MatchedTable],
    replace: bool,
    task: Task<'_>,
) -> Result<(), Error> {
    let ordinary = tables.iter().filter(|table| !table.partitioned);
    let ordinary: Vec<String> = ordinary.map(|table| format!("ONLY {}", table.relation)).collect();
    if !ordinary.is_empty() {
        session.run(&format!("TRUNCATE {}", ordinary.join(", ")), task).await?;
    }
    // Children first.
    for table in tables.iter().rev().filter(|table| table.partitioned && replace) {
        session.run(&format!("DELETE FROM {}", table.relation), task).await?;
    }
    Ok(())
}
