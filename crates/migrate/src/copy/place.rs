//! The last act: tables that were made apart move into the schema where they are to stand, and those
//! that they replace go, all in one transaction.

use super::session::Session;
use super::state::WORKSHOP;
use crate::inspect::{Schema, quoted};
use crate::{Error, Watch};

/// Where the tables go.
pub struct Place<'a> {
    /// The source's schema.
    pub schema: &'a Schema,
    /// The target's schema.
    pub namespace: &'a str,
    /// It is made if it is not there.
    pub make_namespace: bool,
    /// Tables of the same names are dropped.
    pub replace: bool,
}

/// Moves every table of the source from Crossover's schema to where it is to stand. Must run in a
/// transaction. `more_names` of indexes that are yet to be made must be free too.
///
/// # Errors
/// [`Error::Target`] with the names that are taken; tables that others depend on.
pub async fn move_into_place(
    session: &Session,
    place: &Place<'_>,
    more_names: &[String],
    watch: Watch<'_>,
) -> Result<(), Error> {
    let names = place.schema.tables.iter().map(|table| quoted(&table.name));
    let names: Vec<String> = names.collect();
    let namespace = quoted(place.namespace);
    if place.make_namespace {
        session.run(&format!("CREATE SCHEMA IF NOT EXISTS {namespace}"), watch).await?;
    }
    if place.replace && !names.is_empty() {
        let all: Vec<String> = names.iter().map(|name| format!("{namespace}.{name}")).collect();
        session.run(&format!("DROP TABLE IF EXISTS {}", all.join(", ")), watch).await?;
    }
    refuse_taken_names(session, place.namespace, more_names).await?;
    for name in names {
        let sql = format!("ALTER TABLE {WORKSHOP}.{name} SET SCHEMA {namespace}");
        session.run(&sql, watch).await?;
    }
    Ok(())
}

/// Tables, indexes and sequences share one space of names.
async fn refuse_taken_names(
    session: &Session,
    namespace: &str,
    more_names: &[String],
) -> Result<(), Error> {
    let rows = session
        .client
        .query(
            "SELECT c.relname::text FROM pg_class AS c \
             JOIN pg_namespace AS n ON n.oid = c.relnamespace \
             WHERE n.nspname = $1 AND (c.relname = ANY($2) OR c.relname IN \
                 (SELECT w.relname FROM pg_class AS w \
                  JOIN pg_namespace AS x ON x.oid = w.relnamespace WHERE x.nspname = $3)) \
             ORDER BY 1",
            &[&namespace, &more_names, &WORKSHOP],
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
