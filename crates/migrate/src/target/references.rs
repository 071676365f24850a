//! Foreign keys between the tables of a migration, with the order that they impose.

use serde::{Deserialize, Serialize};
use tokio_postgres::Client;

use super::matching::MatchedTable;
use crate::Error;
use crate::source::{SourceSchema, resolve};
use crate::value::{PostgresType, TargetField};

/// A foreign key between two tables of the source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reference {
    /// The referring table's place in the schema.
    pub child: usize,
    pub columns: Vec<usize>,
    /// The referred table's place in the schema.
    pub parent: usize,
    pub parent_columns: Vec<usize>,
    /// Fields of the referred columns: keys are compared in this form.
    pub parent_fields: Vec<TargetField>,
}

impl Reference {
    /// For each referred column `true` if the target compares it without regard to case.
    pub fn ignores_case(&self) -> Vec<bool> {
        let fields = self.parent_fields.iter();
        fields.map(|field| field.postgres_type == PostgresType::Citext).collect()
    }
}

/// Foreign keys that the source declares and PostgreSQL accepts.
pub fn of_source(schema: &SourceSchema, matched: &[MatchedTable]) -> Vec<Reference> {
    let mut references = Vec::new();
    for (child, table) in schema.tables.iter().enumerate() {
        for resolved in resolve(schema, table) {
            let Some((parent, parent_columns)) = resolved.parent else { continue };
            let columns = resolved.key.columns.clone();
            references.extend(reference(matched, child, columns, parent, parent_columns));
        }
    }
    references
}

/// Foreign keys from the tables `$1`: table, name, referred table by name, full match, columns and
/// referred columns in order, referred table. Without those that are not enforced, and without the copies
/// of a key to a partitioned table for each of its partitions. For more conditions.
pub const FOREIGN_KEYS: &str = "\
    SELECT f.conrelid, f.conname::text, format('%I.%I', n.nspname, p.relname), \
        f.confmatchtype = 'f', \
        ARRAY(SELECT a.attname::text FROM unnest(f.conkey) WITH ORDINALITY AS k(number, place) \
              JOIN pg_attribute AS a ON a.attrelid = f.conrelid AND a.attnum = k.number \
              ORDER BY k.place), \
        ARRAY(SELECT a.attname::text FROM unnest(f.confkey) WITH ORDINALITY AS k(number, place) \
              JOIN pg_attribute AS a ON a.attrelid = f.confrelid AND a.attnum = k.number \
              ORDER BY k.place), \
        f.confrelid \
    FROM pg_constraint AS f \
    JOIN pg_class AS p ON p.oid = f.confrelid JOIN pg_namespace AS n ON n.oid = p.relnamespace \
    WHERE f.contype = 'f' AND f.conrelid = ANY($1) \
      AND coalesce((to_jsonb(f) ->> 'conenforced')::boolean, true) \
      AND NOT EXISTS (SELECT 1 FROM pg_constraint AS k \
                      WHERE k.oid = (to_jsonb(f) ->> 'conparentid')::oid AND k.conrelid = f.conrelid)";

/// Foreign keys of the existing tables.
pub async fn of_target(client: &Client, matched: &[MatchedTable]) -> Result<Vec<Reference>, Error> {
    between(client, matched, "f.confrelid = ANY($1)").await
}

/// Those that are NOT VALID: new rows must obey them, and no validation after a load would find a row
/// that does not.
pub async fn not_valid(client: &Client, matched: &[MatchedTable]) -> Result<Vec<Reference>, Error> {
    between(client, matched, "f.confrelid = ANY($1) AND NOT f.convalidated").await
}

async fn between(
    client: &Client,
    matched: &[MatchedTable],
    condition: &str,
) -> Result<Vec<Reference>, Error> {
    let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
    let sql = format!("{FOREIGN_KEYS} AND {condition} ORDER BY f.oid");
    let rows = client
        .query(&sql, &[&tables])
        .await
        .map_err(Error::postgres("cannot read the target's foreign keys"))?;
    let mut references = Vec::new();
    for row in rows {
        let table = |oid: u32| matched.iter().find(|table| table.oid == oid);
        let (Some(child), Some(parent)) = (table(row.get(0)), table(row.get(6))) else { continue };
        let (names, parent_names): (Vec<String>, Vec<String>) = (row.get(4), row.get(5));
        let (columns, parents) = (child.sources(&names), parent.sources(&parent_names));
        if columns.len() == names.len() && parents.len() == parent_names.len() {
            references.extend(reference(matched, child.source, columns, parent.source, parents));
        }
    }
    Ok(references)
}

fn reference(
    matched: &[MatchedTable],
    child: usize,
    columns: Vec<usize>,
    parent: usize,
    parent_columns: Vec<usize>,
) -> Option<Reference> {
    let table = matched.iter().find(|table| table.source == parent)?;
    let field = |wanted: &usize| {
        let column = table.columns.iter().find(|column| column.source == *wanted)?;
        Some(column.field.clone())
    };
    let parent_fields = parent_columns.iter().map(field).collect::<Option<_>>()?;
    Some(Reference { child, columns, parent, parent_columns, parent_fields })
}

/// Sorts tables so that parents come first; a circle is entered anywhere.
pub fn parents_first(matched: &mut [MatchedTable], references: &[Reference]) {
    matched.sort_by_key(|table| depth(table.source, references, &mut Vec::new()));
}

fn depth(table: usize, references: &[Reference], above: &mut Vec<usize>) -> usize {
    if above.contains(&table) {
        return 0;
    }
    above.push(table);
    let own = references.iter().filter(|each| each.child == table && each.parent != table);
    let deepest = own.map(|each| 1 + depth(each.parent, references, above)).max();
    above.pop();
    deepest.unwrap_or(0)
}
