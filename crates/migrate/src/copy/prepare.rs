//! Makes the target ready inside the transaction: creates the tables, or checks that those that
//! exist are empty and takes down what slows loading.

use std::sync::Arc;

use super::catalog::catalog;
use super::matching::{Matched, match_tables};
use super::migration::MigrateOptions;
use super::references::{self, Reference};
use super::schema::statements;
use super::session::Session;
use super::takedown::Takedown;
use crate::audit::Audit;
use crate::inspect::{Schema, Source, quoted};
use crate::verify::compare;
use crate::{Error, Watch};

/// A target that can take rows.
pub struct Prepared {
    /// The tables to load, parents first.
    pub to_load: Vec<Matched>,
    /// Every table was made or emptied in this transaction.
    pub freeze: bool,
    /// Statements after the rows: keys and indexes.
    pub keys: Vec<String>,
    /// And foreign keys.
    pub foreign_keys: Vec<String>,
    /// The same foreign keys, as far as they lie between these tables.
    pub references: Vec<Reference>,
    /// What is restored as it was although it was not right.
    pub notices: Vec<String>,
}

/// Creates the schema that the audit proposes.
pub async fn create(
    session: &Session,
    audit: &Audit,
    namespace: &str,
    options: &MigrateOptions,
    watch: Watch<'_>,
) -> Result<Prepared, Error> {
    let schema = &audit.schema;
    let statements = statements(schema, &audit.fields, namespace, session.server_version);
    if options.replace {
        let names = schema
            .tables
            .iter()
            .map(|table| format!("{}.{}", quoted(namespace), quoted(&table.name)));
        let names: Vec<String> = names.collect();
        if !names.is_empty() {
            session.run(&format!("DROP TABLE IF EXISTS {}", names.join(", ")), watch).await?;
        }
    }
    if options.schema.is_some() {
        let sql = format!("CREATE SCHEMA IF NOT EXISTS {}", quoted(namespace));
        session.run(&sql, watch).await?;
    }
    refuse_taken_names(session, schema, namespace).await?;
    for sql in &statements.tables {
        session.run(sql, watch).await?;
    }
    let found = catalog(&session.client, namespace).await?;
    let mut matched = match_tables(schema, &found, &options.rules)
        .map_err(|problems| Error::Target(problems.join("\n")))?;
    // The catalog does not know how numbers are read as dates: the audit's fields do.
    for table in &mut matched {
        for column in &mut table.columns {
            column.field.reading = audit.fields[table.source][column.source].reading;
        }
    }
    let (keys, foreign_keys) = (statements.keys, statements.foreign_keys);
    let references = references::of_source(schema, &matched);
    let notices = Vec::new();
    Ok(Prepared { to_load: matched, freeze: true, keys, foreign_keys, references, notices })
}

/// Tables and indexes share one space of names.
async fn refuse_taken_names(
    session: &Session,
    schema: &Schema,
    namespace: &str,
) -> Result<(), Error> {
    let created = |table: &crate::inspect::Table| {
        let indexes = table.indexes.iter().filter(|index| index.created);
        indexes.map(|index| index.name.clone()).collect::<Vec<_>>()
    };
    let names: Vec<String> = schema
        .tables
        .iter()
        .flat_map(|table| std::iter::once(table.name.clone()).chain(created(table)))
        .collect();
    let rows = session
        .client
        .query(
            "SELECT c.relname::text FROM pg_class AS c \
             JOIN pg_namespace AS n ON n.oid = c.relnamespace \
             WHERE n.nspname = $1 AND c.relname = ANY($2) ORDER BY 1",
            &[&namespace, &names],
        )
        .await
        .map_err(Error::postgres("cannot read the target's names"))?;
    if rows.is_empty() {
        return Ok(());
    }
    let taken: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    Err(Error::Target(format!(
        "the target's schema {namespace} already has {}: load into what exists by --data-only, \
         drop it first by --replace, or name another schema by --schema",
        taken.join(", ")
    )))
}

/// Existing tables as they are, keys and rows in place, parents first.
pub async fn to_add(session: &Session, matched: Vec<Matched>) -> Result<Prepared, Error> {
    let references = references::of_target(&session.client, &matched).await?;
    let mut to_load = matched;
    references::parents_first(&mut to_load, &references);
    let (keys, foreign_keys, notices) = (Vec::new(), Vec::new(), Vec::new());
    Ok(Prepared { to_load, freeze: false, keys, foreign_keys, references, notices })
}

/// Tables that were left alone, with their rows.
type Kept = Vec<(String, u64)>;

/// Checks and empties existing tables and takes down their keys and indexes.
pub async fn existing(
    session: &Session,
    source: &Arc<Source>,
    schema: &Schema,
    matched: Vec<Matched>,
    options: &MigrateOptions,
    watch: Watch<'_>,
) -> Result<(Prepared, Kept), Error> {
    if matched.is_empty() {
        return Ok((to_add(session, matched).await?, Vec::new()));
    }
    let all: Vec<&str> = matched.iter().map(|table| table.relation.as_str()).collect();
    session.run(&format!("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE", all.join(", ")), watch).await?;
    let references = references::of_target(&session.client, &matched).await?;
    let (mut to_load, mut kept, mut standing) = (Vec::new(), Vec::new(), Vec::new());
    for table in matched {
        if options.replace || is_empty(session, &table).await? {
            to_load.push(table);
            continue;
        }
        // What is there already and the same needs no move, for example a schema's version.
        let of_source = &schema.tables[table.source];
        let compared = compare(&session.client, source, of_source, &table, watch).await?;
        if compared.equal {
            kept.push((compared.table, compared.source_rows));
        } else {
            standing.push(format!("{} ({} rows)", compared.table, compared.target_rows));
        }
    }
    if !standing.is_empty() {
        return Err(Error::Target(format!(
            "these tables of the target hold other rows already: {}; empty them, leave them out by \
             --exclude, or replace their rows by --replace",
            standing.join(", ")
        )));
    }
    references::parents_first(&mut to_load, &references);
    let takedown = Takedown::read(&session.client, &to_load).await?;
    takedown.run(&session.client).await?;
    empty(session, &to_load, options.replace, watch).await?;
    let Takedown { keys, foreign_keys, notices, .. } = takedown;
    Ok((Prepared { to_load, freeze: true, keys, foreign_keys, references, notices }, kept))
}

async fn is_empty(session: &Session, table: &Matched) -> Result<bool, Error> {
    let sql = format!("SELECT NOT EXISTS (SELECT 1 FROM {})", table.relation);
    let row = session
        .client
        .query_one(&sql, &[])
        .await
        .map_err(Error::postgres(format!("cannot read {}", table.relation)))?;
    Ok(row.get(0))
}

/// TRUNCATE even of empty tables: only a file that is new in this transaction can be written
/// frozen. Partitioned tables are written as usual.
async fn empty(
    session: &Session,
    tables: &[Matched],
    replace: bool,
    watch: Watch<'_>,
) -> Result<(), Error> {
    let ordinary: Vec<&str> = tables
        .iter()
        .filter(|table| !table.partitioned)
        .map(|table| table.relation.as_str())
        .collect();
    if !ordinary.is_empty() {
        session.run(&format!("TRUNCATE {}", ordinary.join(", ")), watch).await?;
    }
    // Children first.
    for table in tables.iter().rev().filter(|table| table.partitioned && replace) {
        session.run(&format!("DELETE FROM {}", table.relation), watch).await?;
    }
    Ok(())
}
