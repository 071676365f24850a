//! Schema reader over SQLite's own table-valued pragmas; it parses nothing that SQLite reports
//! itself.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::default::Calculator;
use super::framework::RecognisedFramework;
use super::other::{OtherKind, OtherObject};
use super::schema::{
    Affinity, ForeignKey, Index, IndexPart, Rowid, SourceColumn, SourceSchema, SourceTable,
};
use super::shadow::is_shadow;
use super::statement;

/// The number that SQLite gives to a part of an index that is an expression.
const EXPRESSION: i64 = -2;

/// SQLite's mark of a generated column that it computes when it is read; a stored one has a greater one.
const VIRTUAL: i64 = 2;

/// Reads the whole schema of the main database.
pub fn schema(connection: &Connection) -> rusqlite::Result<SourceSchema> {
    let calculator = Calculator::new()?;
    let mut schema = SourceSchema { others: others(connection)?, ..SourceSchema::default() };
    let mut statement = connection.prepare(
        "SELECT l.name, l.wr, l.strict, coalesce(m.sql, '') \
         FROM pragma_table_list AS l JOIN main.sqlite_schema AS m ON m.name = l.name \
         WHERE l.schema = 'main' AND l.type IN ('table', 'shadow') AND m.type = 'table' \
         AND substr(lower(l.name), 1, 7) <> 'sqlite_' ORDER BY l.name",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        if schema.others.iter().any(|other| is_shadow(other, &name)) {
            let kind = OtherKind::ShadowTable;
            let table = name.clone();
            schema.others.push(OtherObject { kind, name, table, sql: row.get(3)? });
            continue;
        }
        let (without_rowid, strict, sql) = (row.get(1)?, row.get(2)?, row.get::<_, String>(3)?);
        let kind = (without_rowid, strict);
        schema.tables.push(table(connection, &calculator, name, kind, &sql)?);
    }
    schema.frameworks = RecognisedFramework::all_of(&schema);
    Ok(schema)
}

fn others(connection: &Connection) -> rusqlite::Result<Vec<OtherObject>> {
    let mut statement = connection.prepare(
        "SELECT type, name, tbl_name, coalesce(sql, '') FROM main.sqlite_schema \
         WHERE type IN ('view', 'trigger') OR (type = 'table' AND rootpage = 0) \
         ORDER BY type, name",
    )?;
    let objects = statement.query_map([], |row| {
        let kind = match row.get_ref(0)?.as_str()? {
            "view" => OtherKind::View,
            "trigger" => OtherKind::Trigger,
            _ => OtherKind::VirtualTable,
        };
        Ok(OtherObject { kind, name: row.get(1)?, table: row.get(2)?, sql: row.get(3)? })
    })?;
    objects.collect()
}

fn table(
    connection: &Connection,
    calculator: &Calculator,
    name: String,
    (without_rowid, strict): (bool, bool),
    sql: &str,
) -> rusqlite::Result<SourceTable> {
    let facts = statement::facts(sql);
    let (columns, primary_key) = columns(connection, calculator, &name, strict, &facts)?;
    let (indexes, key_has_index) = indexes(connection, &name)?;
    let rowid = rowid(&columns, &primary_key, without_rowid, key_has_index);
    let autoincrement =
        if facts.autoincrement { Some(last_rowid_assigned(connection, &name)?) } else { None };
    let foreign_keys = foreign_keys(connection, &name, &columns, &facts.deferred)?;
    Ok(SourceTable {
        target_name: name.clone(),
        name,
        columns,
        primary_key,
        rowid,
        foreign_keys,
        indexes,
        left_out: Vec::new(),
        excluded_columns: Vec::new(),
        excluded_parents: Vec::new(),
        strict,
        autoincrement,
        checks: facts.checks,
        collations: facts.collations,
        row_names: Arc::default(),
    })
}

fn columns(
    connection: &Connection,
    calculator: &Calculator,
    table: &str,
    strict: bool,
    facts: &statement::Facts,
) -> rusqlite::Result<(Vec<SourceColumn>, Vec<usize>)> {
    let fact_of = |of: &[(String, String)], column: &str| {
        let same = of.iter().find(|(name, _)| name.eq_ignore_ascii_case(column));
        same.map(|(_, what)| what.clone())
    };
    let mut statement = connection.prepare(
        "SELECT name, coalesce(type, ''), \"notnull\", dflt_value, pk, hidden \
         FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1 ORDER BY cid",
    )?;
    let mut rows = statement.query(params![table])?;
    let mut columns = Vec::new();
    let mut key: Vec<(i64, usize)> = Vec::new();
    while let Some(row) = rows.next()? {
        let declared_type: String = row.get(1)?;
        let place: i64 = row.get(4)?;
        if place > 0 {
            key.push((place, columns.len()));
        }
        let name: String = row.get(0)?;
        let hidden: i64 = row.get(5)?;
        let affinity = Affinity::of(&declared_type, strict);
        let default: Option<String> = row.get(3)?;
        let value = |default: &String| calculator.value(default, affinity);
        columns.push(SourceColumn {
            affinity,
            declared_type,
            not_null: row.get(2)?,
            default_value: default.as_ref().and_then(value),
            default,
            generated: hidden >= VIRTUAL,
            stored: hidden > VIRTUAL,
            expression: fact_of(&facts.generated, &name),
            collation: fact_of(&facts.column_collations, &name),
            target_name: name.clone(),
            name,
        });
    }
    key.sort_unstable();
    Ok((columns, key.into_iter().map(|(_, column)| column).collect()))
}

/// `INTEGER PRIMARY KEY` is the rowid itself exactly if SQLite keeps no index for the key.
fn rowid(
    columns: &[SourceColumn],
    key: &[usize],
    without_rowid: bool,
    key_has_index: bool,
) -> Rowid {
    if without_rowid {
        return Rowid::None;
    }
    if let &[column] = key
        && !key_has_index
    {
        return Rowid::Alias(column);
    }
    let taken = |name: &str| columns.iter().any(|column| column.name.eq_ignore_ascii_case(name));
    match ["rowid", "_rowid_", "oid"].into_iter().find(|name| !taken(name)) {
        Some(name) => Rowid::Hidden(name),
        None => Rowid::Unreadable,
    }
}

fn indexes(connection: &Connection, table: &str) -> rusqlite::Result<(Vec<Index>, bool)> {
    let mut statement = connection.prepare(
        "SELECT l.name, l.origin, l.\"unique\", l.partial, coalesce(m.sql, '') \
         FROM pragma_index_list(?1, 'main') AS l \
         LEFT JOIN main.sqlite_schema AS m ON m.type = 'index' AND m.name = l.name \
         ORDER BY l.seq DESC",
    )?;
    let mut parts = connection.prepare(
        "SELECT cid, \"desc\", coalesce(coll, 'BINARY') FROM pragma_index_xinfo(?1, 'main') \
         WHERE key = 1 ORDER BY seqno",
    )?;
    let mut rows = statement.query(params![table])?;
    let mut indexes = Vec::new();
    let mut key_has_index = false;
    while let Some(row) = rows.next()? {
        let name: String = row.get(0)?;
        let origin: String = row.get(1)?;
        if origin == "pk" {
            key_has_index = true;
            continue;
        }
        let sql: String = row.get(4)?;
        let mut written = statement::index_parts(&sql).into_iter();
        let parts = parts.query_map(params![name], |part| {
            let column: i64 = part.get(0)?;
            let expression = written.next().filter(|_| column == EXPRESSION);
            Ok(IndexPart {
                column: usize::try_from(column).ok(),
                expression,
                descending: part.get(1)?,
                collation: part.get(2)?,
            })
        })?;
        indexes.push(Index {
            predicate: statement::predicate(&sql),
            parts: parts.collect::<rusqlite::Result<_>>()?,
            name,
            created: origin == "c",
            unique: row.get(2)?,
            partial: row.get(3)?,
            sql,
        });
    }
    Ok((indexes, key_has_index))
}

fn foreign_keys(
    connection: &Connection,
    table: &str,
    columns: &[SourceColumn],
    deferred: &[bool],
) -> rusqlite::Result<Vec<ForeignKey>> {
    let mut statement = connection.prepare(
        "SELECT id, \"table\", \"from\", \"to\", on_update, on_delete \
         FROM pragma_foreign_key_list(?1, 'main') ORDER BY id DESC, seq",
    )?;
    let mut rows = statement.query(params![table])?;
    let mut keys: Vec<(i64, ForeignKey)> = Vec::new();
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        let from: String = row.get(2)?;
        let to: Option<String> = row.get(3)?;
        if keys.last().is_none_or(|(last, _)| *last != id) {
            keys.push((
                id,
                ForeignKey {
                    columns: Vec::new(),
                    parent: row.get(1)?,
                    parent_columns: Vec::new(),
                    on_update: row.get(4)?,
                    on_delete: row.get(5)?,
                    // The pragma lists the last declared key first, as number 0.
                    deferred: deferred.get(keys.len()).copied().unwrap_or(false),
                },
            ));
        }
        if let Some((_, key)) = keys.last_mut() {
            key.columns
                .extend(columns.iter().position(|each| each.name.eq_ignore_ascii_case(&from)));
            key.parent_columns.extend(to);
        }
    }
    Ok(keys.into_iter().map(|(_, key)| key).collect())
}

fn last_rowid_assigned(connection: &Connection, table: &str) -> rusqlite::Result<i64> {
    connection
        .query_row("SELECT seq FROM main.sqlite_sequence WHERE name = ?1", [table], |row| {
            row.get(0)
        })
        .optional()
        .map(Option::unwrap_or_default)
}
