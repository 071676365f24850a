//! Views, triggers, virtual tables, and columns that `--exclude` leaves out. None is carried over; each is
//! named, and the rows of virtual tables and the values of columns are counted.

use std::sync::Arc;

use notation::counted;
use rusqlite::Connection;

use super::proposed;
use crate::display::{flag, rows};
use crate::finding::{Finding, Lost, LostObject};
use crate::source::{Content, OtherKind, OtherObject, SourceFile, SourceSchema, content, quoted};
use crate::target::TargetCatalog;
use crate::task::blocking;
use crate::{Error, Task};
use sql::tokens;

/// Findings on all objects that are not tables. Rules that the tables of an existing target have
/// are its own: a view of the same name, any trigger on the same table.
pub fn findings(
    connection: &Connection,
    schema: &SourceSchema,
    target: Option<&TargetCatalog>,
) -> rusqlite::Result<Vec<Finding>> {
    let mut findings = excluded_columns(connection, schema)?;
    for object in &schema.others {
        match object.kind {
            OtherKind::View | OtherKind::Trigger if target.is_some_and(|it| has(it, object)) => {}
            OtherKind::View => findings.push(rule(schema, object, Lost::View)),
            OtherKind::Trigger => findings.push(rule(schema, object, Lost::Trigger)),
            OtherKind::VirtualTable => findings.extend(of_virtual(connection, schema, object)?),
            // It belongs to a virtual table, which is named.
            OtherKind::ShadowTable => {}
        }
    }
    Ok(findings)
}

fn excluded_columns(
    connection: &Connection,
    schema: &SourceSchema,
) -> rusqlite::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for table in &schema.tables {
        for column in &table.excluded_columns {
            let sql = format!("SELECT count({}) FROM main.{}", quoted(column), quoted(&table.name));
            let values: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
            let message = format!(
                "the column is left out, as --exclude asks, with {}",
                counted(values.unsigned_abs(), "value")
            );
            let finding = Finding::warning("excluded_column", &table.name, message, "");
            findings.push(finding.on_column(column).losing(Lost::Column));
        }
    }
    Ok(findings)
}

fn has(target: &TargetCatalog, object: &OtherObject) -> bool {
    target.relation(&object.table).is_some_and(|relation| match object.kind {
        OtherKind::Trigger => relation.has_triggers,
        _ => true,
    })
}

fn rule(schema: &SourceSchema, object: &OtherObject, lost: Lost) -> Finding {
    let message = format!("a {} is not carried over", object.kind.name());
    let fix = "write its equal for PostgreSQL by hand";
    let reason = match object.kind {
        OtherKind::Trigger => "PostgreSQL's triggers call functions",
        _ => "its SELECT is in SQLite's dialect",
    };
    let tables = match object.kind {
        OtherKind::Trigger => vec![object.table.clone()],
        OtherKind::View => tables_of(schema, object),
        OtherKind::VirtualTable | OtherKind::ShadowTable => Vec::new(),
    };
    let described = LostObject { kind: object.kind.name(), tables, reason: reason.to_owned() };
    Finding::warning("not_carried_over", &object.name, message, fix)
        .proposing(proposed::object(schema, object))
        .losing(lost)
        .on_object(described)
}

/// The tables whose names are in a view's statement.
fn tables_of(schema: &SourceSchema, view: &OtherObject) -> Vec<String> {
    let names: Vec<String> = tokens(&view.sql).iter().filter_map(|token| token.name()).collect();
    let is_named = |table: &str| names.iter().any(|name| name.eq_ignore_ascii_case(table));
    let tables = schema.tables.iter().map(|table| &table.name);
    tables.filter(|table| is_named(table) && **table != view.name).cloned().collect()
}

/// A virtual table is lost as an index; its rows are lost if no other table has them.
fn of_virtual(
    connection: &Connection,
    schema: &SourceSchema,
    object: &OtherObject,
) -> rusqlite::Result<Vec<Finding>> {
    let (module, content) = content(object);
    let mut index = rule(schema, object, Lost::VirtualTable);
    index.message = match &content {
        Content::Own(_) => format!("a virtual table ({module}) is not carried over"),
        Content::Of(table) => {
            format!("an index ({module}) over the rows of {table} is not carried over")
        }
        Content::Nowhere => {
            format!("an index ({module}), which keeps no rows of its own, is not carried over")
        }
        Content::Unknown => {
            let note = "tables that its module made are ordinary ones here";
            format!("a virtual table ({module}) is not carried over; {note}")
        }
    };
    let reason = match &content {
        Content::Own(_) => format!("{module} is a module of SQLite"),
        Content::Of(_) => format!("an index of SQLite's {module}, its rows are in another table"),
        Content::Nowhere => format!("an index of SQLite's {module} without rows of its own"),
        Content::Unknown => format!("{module} is a module of the application"),
    };
    let tables = if let Content::Of(table) = &content { vec![table.clone()] } else { Vec::new() };
    index.object = Some(LostObject { kind: object.kind.name(), tables, reason });
    let mut findings = vec![index];
    findings.extend(left_behind(connection, object, &module, &content)?);
    let names = schema.shadows_of(object);
    if !names.is_empty() {
        let message = format!("its own tables are passed over: {}", names.join(", "));
        let finding = Finding::note("shadow_tables", &object.name, message, "");
        findings.push(finding.counted(names.len() as u64, Vec::new()));
    }
    Ok(findings)
}

/// Rows that exist only in a virtual table.
fn left_behind(
    connection: &Connection,
    object: &OtherObject,
    module: &str,
    content: &Content,
) -> rusqlite::Result<Option<Finding>> {
    let count = |table: &str| -> rusqlite::Result<u64> {
        let sql = format!("SELECT count(*) FROM main.{}", quoted(table));
        connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
    };
    let counted = match content {
        // A tokenizer or module may be missing here; the rows are in a plain table as well.
        Content::Own(shadow) => count(&object.name).or_else(|_| count(shadow))?,
        Content::Of(_) | Content::Nowhere => 0,
        // A table that cannot be opened keeps its rows in tables that are moved as ordinary ones.
        Content::Unknown => count(&object.name).unwrap_or(0),
    };
    if counted == 0 {
        return Ok(None);
    }
    let message = format!(
        "{} of a virtual table {} left behind",
        rows(counted),
        if counted == 1 { "is" } else { "are" }
    );
    let (name, copy) = (quoted(&object.name), quoted(&format!("{}_rows", object.name)));
    // Full-text search tells its rows apart by the rowid alone.
    let columns = if module.starts_with("fts") { "rowid, *" } else { "*" };
    let fix = format!(
        "keep them in an ordinary table of the source: CREATE TABLE {copy} AS SELECT {columns} \
         FROM {name}; then leave this one out: {}",
        flag("--exclude", &object.name)
    );
    let finding = Finding::warning("rows_left_behind", &object.name, message, fix);
    Ok(Some(finding.counted(counted, Vec::new()).losing(Lost::Rows)))
}

/// Findings on objects that an existing target does not get.
pub async fn objects(
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    target: TargetCatalog,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let (source, schema) = (source.clone(), schema.clone());
    let found = blocking(task, move |_| {
        source.with(|connection| {
            let found = findings(connection, &schema, Some(&target));
            found.map_err(|error| source.explain(error))
        })
    });
    found.await
}
