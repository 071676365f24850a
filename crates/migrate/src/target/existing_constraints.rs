//! Constraints of existing tables, read from the target's catalog.

use tokio_postgres::{Client, Row};

use super::matching::MatchedTable;
use super::references::FOREIGN_KEYS;
use super::row_constraint::{ConstraintKind, RowConstraint, is_ensured};
use crate::Error;
use crate::source::{SourceSchema, SourceTable, quoted};
use crate::value::PostgresType;

/// CHECK constraints, also those not validated: new rows must obey them.
const CHECKS: &str = "\
    SELECT c.conrelid, c.conname::text, pg_get_expr(c.conbin, c.conrelid), \
        ARRAY(SELECT a.attname::text FROM pg_attribute AS a \
              WHERE a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey) ORDER BY a.attnum) \
    FROM pg_constraint AS c \
    WHERE c.contype = 'c' AND c.conrelid = ANY($1) \
      AND coalesce((to_jsonb(c) ->> 'conenforced')::boolean, true) ORDER BY c.oid";

/// Unique indexes: their keys with collations, the columns that they need, the plain columns among
/// the keys, and whether keys are equal exactly if their bytes are.
const UNIQUES: &str = "\
    SELECT i.indrelid, x.relname::text, \
        ARRAY(SELECT pg_get_indexdef(i.indexrelid, k.place::int, false) \
                  || CASE WHEN l.oid IS NULL THEN '' \
                     ELSE format(' COLLATE %I.%I', n.nspname, l.collname) END \
              FROM unnest(i.indcollation::oid[]) WITH ORDINALITY AS k(oid, place) \
              LEFT JOIN pg_collation AS l ON l.oid = k.oid \
              LEFT JOIN pg_namespace AS n ON n.oid = l.collnamespace ORDER BY k.place), \
        pg_get_expr(i.indpred, i.indrelid), \
        coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false), \
        ARRAY(SELECT a.attname::text FROM pg_attribute AS a \
              WHERE a.attrelid = i.indrelid AND a.attnum > 0 AND NOT a.attisdropped \
                AND (a.attnum = ANY(i.indkey::int2[]) OR EXISTS \
                    (SELECT 1 FROM pg_depend AS d \
                     WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid \
                       AND d.refclassid = 'pg_class'::regclass AND d.refobjid = i.indrelid \
                       AND d.refobjsubid = a.attnum)) ORDER BY a.attnum), \
        ARRAY(SELECT a.attname::text \
              FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k(number, place) \
              JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.number \
              WHERE k.place <= array_length(i.indcollation::oid[], 1) ORDER BY k.place), \
        i.indexprs IS NULL AND i.indpred IS NULL \
            AND NOT EXISTS (SELECT 1 FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid \
                WHERE a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey::int2[]) \
                  AND t.typname NOT IN ('int2', 'int4', 'int8', 'text', 'varchar')) \
            AND NOT EXISTS (SELECT 1 FROM pg_collation AS l WHERE l.oid = ANY(i.indcollation::oid[]) \
                AND NOT coalesce((to_jsonb(l) ->> 'collisdeterministic')::boolean, true)) \
    FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid \
    WHERE i.indisunique AND i.indisvalid AND i.indrelid = ANY($1) ORDER BY i.indexrelid";

const DOMAINS: &str = "\
    SELECT a.attrelid, t.typname::text, a.attname::text, format_type(t.oid, NULL), \
           format_type(t.typbasetype, t.typtypmod) \
    FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid \
    WHERE a.attrelid = ANY($1) AND a.attnum > 0 AND NOT a.attisdropped AND t.typtype = 'd' \
    ORDER BY a.attrelid, a.attnum";

/// Constructor of a constraint from a row of the catalog.
type Make = fn(&Row, &MatchedTable, &SourceTable) -> Option<RowConstraint>;

/// Constraints of the existing tables; conditions before keys, so that a row that violates a
/// condition takes no key from another.
pub async fn read(
    client: &Client,
    schema: &SourceSchema,
    matched: &[MatchedTable],
) -> Result<Vec<RowConstraint>, Error> {
    let mut constraints: Vec<RowConstraint> = matched.iter().flat_map(computed).collect();
    let kinds: [(&str, Make); 2] = [(CHECKS, check), (DOMAINS, domain)];
    for (sql, make) in kinds {
        constraints.extend(of_kind(client, sql, make, schema, matched).await?);
    }
    constraints.extend(references_outside(client, schema, matched).await?);
    constraints.extend(of_kind(client, UNIQUES, unique, schema, matched).await?);
    Ok(constraints)
}

/// Foreign keys to tables that are not moved; partitions are parts of theirs.
pub async fn references_outside(
    client: &Client,
    schema: &SourceSchema,
    matched: &[MatchedTable],
) -> Result<Vec<RowConstraint>, Error> {
    let sql = format!(
        "{FOREIGN_KEYS} AND f.confrelid NOT IN (\
         WITH RECURSIVE moved(oid) AS (SELECT unnest($1) UNION \
             SELECT i.inhrelid FROM pg_inherits AS i JOIN moved ON moved.oid = i.inhparent) \
         SELECT oid FROM moved) ORDER BY f.oid"
    );
    of_kind(client, &sql, reference, schema, matched).await
}

/// Foreign keys that rows of this session would pass unseen: `session_replication_role` is replica, or
/// triggers of the key are disabled.
pub async fn unwatched_references(
    client: &Client,
    schema: &SourceSchema,
    matched: &[MatchedTable],
) -> Result<Vec<RowConstraint>, Error> {
    let sql = format!(
        "{FOREIGN_KEYS} AND (current_setting('session_replication_role') = 'replica' OR EXISTS \
         (SELECT FROM pg_trigger AS t JOIN pg_constraint AS k ON k.oid = t.tgconstraint \
          WHERE f.oid::text IN (k.oid::text, to_jsonb(k) ->> 'conparentid') \
            AND t.tgenabled NOT IN ('O', 'A'))) ORDER BY f.oid"
    );
    of_kind(client, &sql, reference, schema, matched).await
}

async fn of_kind(
    client: &Client,
    sql: &str,
    make: Make,
    schema: &SourceSchema,
    matched: &[MatchedTable],
) -> Result<Vec<RowConstraint>, Error> {
    let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
    let failed = Error::postgres("cannot read the target's constraints");
    let rows = client.query(sql, &[&tables]).await.map_err(failed)?;
    let of_row = |row: &Row| {
        let oid: u32 = row.get(0);
        let table = matched.iter().find(|table| table.oid == oid)?;
        make(row, table, &schema.tables[table.source])
    };
    Ok(rows.iter().filter_map(of_row).collect())
}

fn constraint(
    table: &MatchedTable,
    name: String,
    needs: Vec<String>,
    kind: ConstraintKind,
) -> RowConstraint {
    let columns = table.sources(&needs);
    RowConstraint { table: table.source, name, columns, needs, kind }
}

/// The columns of a table that the target computes.
pub fn computed(matched: &MatchedTable) -> Vec<RowConstraint> {
    let columns = matched.columns.iter().filter_map(|column| {
        let kind = ConstraintKind::Generated {
            column: column.name.clone(),
            given: format!("crossover given {}", column.source),
            is_json: column.field.postgres_type == PostgresType::Json,
            expression: column.generated.as_ref()?.expression.clone(),
        };
        Some(constraint(matched, column.name.clone(), vec![column.name.clone()], kind))
    });
    columns.collect()
}

fn check(row: &Row, matched: &MatchedTable, _: &SourceTable) -> Option<RowConstraint> {
    Some(constraint(
        matched,
        row.get(1),
        row.get(3),
        ConstraintKind::Check(row.get::<_, Option<_>>(2)?),
    ))
}

fn domain(row: &Row, matched: &MatchedTable, _: &SourceTable) -> Option<RowConstraint> {
    let column: String = row.get(2);
    let kind =
        ConstraintKind::Domain { column: quoted(&column), domain: row.get(3), base: row.get(4) };
    Some(constraint(matched, row.get(1), vec![column], kind))
}

fn reference(row: &Row, matched: &MatchedTable, _: &SourceTable) -> Option<RowConstraint> {
    let (here, there): (Vec<String>, Vec<String>) = (row.get(4), row.get(5));
    let pairs = here.iter().zip(&there).map(|(here, there)| (quoted(here), quoted(there)));
    let kind =
        ConstraintKind::Reference { pairs: pairs.collect(), parent: row.get(2), full: row.get(3) };
    Some(constraint(matched, row.get(1), here, kind))
}

fn unique(row: &Row, matched: &MatchedTable, table: &SourceTable) -> Option<RowConstraint> {
    let (keys, needs, plain): (Vec<String>, Vec<String>, Vec<String>) =
        (row.get(2), row.get(5), row.get(6));
    let columns = matched.sources(&plain);
    let type_of = |wanted: usize| {
        let column = matched.columns.iter().find(|column| column.source == wanted);
        column.map(|column| &column.field.postgres_type)
    };
    let exact: bool = row.get(7);
    if exact && columns.len() == plain.len() && is_ensured(table, &columns, type_of) {
        return None;
    }
    // Equal expressions do not make columns equal.
    let kind = ConstraintKind::Unique {
        keys,
        predicate: row.get(3),
        nulls_are_equal: row.get(4),
        equal: columns.clone(),
    };
    let constraint = constraint(matched, row.get(1), needs, kind);
    let columns = if columns.is_empty() { constraint.columns } else { columns };
    Some(RowConstraint { columns, ..constraint })
}
