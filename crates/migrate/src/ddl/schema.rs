//! PostgreSQL schema that migration creates: tables before the rows, keys and indexes after.

use std::collections::HashSet;

use super::expression::{MadeFor, PlannedTable, default_expression};
use crate::display::list;
use crate::source::{Rowid, SourceSchema, SourceTable, quoted, resolve};
use crate::value::{PostgresType, TargetField};

/// The release from which on identity columns exist (`server_version_num`).
const IDENTITY_SINCE: i32 = 100_000;

/// PostgreSQL truncates longer names.
pub const LONGEST_NAME_BYTES: usize = 63;

/// The statements that make a schema, in the order in which they run.
#[derive(Clone, Debug, Default)]
pub struct Statements {
    /// CREATE TABLE: before the rows.
    pub tables: Vec<TableStatement>,
    /// Primary keys, unique constraints and indexes: after the rows.
    pub keys: Vec<KeyStatements>,
    pub foreign_keys: Vec<ForeignKeyStatement>,
}

/// A table without its keys.
#[derive(Clone, Debug)]
pub struct TableStatement {
    /// Its name, quoted, with the schema.
    pub name: String,
    /// The definitions of its columns, in order.
    pub columns: Vec<String>,
    /// Its CHECK constraints: every row is tested as it arrives.
    pub checks: Vec<CheckConstraint>,
}

/// A CHECK constraint that means the same in both databases.
#[derive(Clone, Debug)]
pub struct CheckConstraint {
    pub name: String,
    /// Its condition, as PostgreSQL writes it.
    pub condition: String,
    /// The source's constraint, by its place in the table.
    pub source: usize,
}

impl TableStatement {
    pub fn sql(&self) -> String {
        format!("CREATE TABLE {} (\n    {}\n)", self.name, self.lines().join(",\n    "))
    }

    /// Its definition: columns, then constraints.
    pub fn lines(&self) -> Vec<String> {
        let checks = self
            .checks
            .iter()
            .map(|check| format!("CONSTRAINT {} CHECK ({})", quoted(&check.name), check.condition));
        self.columns.iter().cloned().chain(checks).collect()
    }
}

/// An index, and its constraint if it is a key. They are two statements, since only the second one
/// blocks other work on the table, and it reads no row.
#[derive(Clone, Debug)]
pub struct KeyStatements {
    pub index: String,
    /// ALTER TABLE ... ADD CONSTRAINT ... USING INDEX
    pub attach: Option<String>,
}

#[derive(Clone, Debug)]
pub struct ForeignKeyStatement {
    /// Its table, quoted, with the schema.
    pub table: String,
    pub name: String,
    /// ALTER TABLE ... ADD CONSTRAINT ... FOREIGN KEY
    pub sql: String,
}

/// Names for what SQLite leaves unnamed, as PostgreSQL would choose them.
struct ConstraintNames(HashSet<String>);

impl ConstraintNames {
    fn of(schema: &SourceSchema) -> Self {
        let indexes = |table: &SourceTable| {
            let created = table.indexes.iter().filter(|index| index.created);
            created.map(|index| index.name.clone()).collect::<Vec<_>>()
        };
        let tables = schema.tables.iter();
        Self(
            tables
                .flat_map(|table| std::iter::once(table.target_name.clone()).chain(indexes(table)))
                .collect(),
        )
    }

    /// `name` itself if it fits and is free, otherwise one chosen for `table`.
    fn claim(&mut self, name: Option<&str>, table: &str) -> String {
        match name.filter(|name| name.len() <= LONGEST_NAME_BYTES) {
            Some(name) if self.0.insert(name.to_owned()) => name.to_owned(),
            _ => self.choose(&[table], "check"),
        }
    }

    /// `parts` joined by underscores, cut to fit, with a number if the name is taken.
    fn choose(&mut self, parts: &[&str], ending: &str) -> String {
        let base = parts.join("_");
        for number in 0_u32.. {
            let number = if number == 0 { String::new() } else { number.to_string() };
            let room = LONGEST_NAME_BYTES - ending.len() - number.len() - 1;
            let name = format!("{}_{ending}{number}", cut(&base, room));
            if self.0.insert(name.clone()) {
                return name;
            }
        }
        base
    }
}

/// The beginning of `name` that is at most `bytes` long.
pub fn cut(name: &str, bytes: usize) -> &str {
    let mut end = name.len().min(bytes);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

/// The statements for `schema` with the types in `fields`, inside `namespace` of the target.
pub fn statements(
    schema: &SourceSchema,
    fields: &[Vec<TargetField>],
    namespace: &str,
    made_for: MadeFor,
) -> Statements {
    let mut statements = Statements::default();
    let mut taken = ConstraintNames::of(schema);
    let name =
        |table: &SourceTable| format!("{}.{}", quoted(namespace), quoted(&table.target_name));
    for (table, fields) in schema.tables.iter().zip(fields) {
        let planned = PlannedTable { table, fields, made_for };
        let columns = (0..table.columns.len()).map(|position| column(&planned, position));
        let (name, columns) = (name(table), columns.collect());
        statements.keys.extend(keys(&planned, &name, &mut taken));
        let checks = checks(&planned, &mut taken);
        statements.tables.push(TableStatement { name, columns, checks });
    }
    for table in &schema.tables {
        for resolved in resolve(schema, table) {
            let Some((parent, parent_columns)) = resolved.parent else { continue };
            let parent = &schema.tables[parent];
            let mut parts = vec![table.target_name.as_str()];
            let columns = resolved.key.columns.iter();
            parts.extend(columns.map(|each| table.columns[*each].target_name.as_str()));
            let key_name = quoted(&taken.choose(&parts, "fkey"));
            let mut sql = format!(
                "ALTER TABLE {} ADD CONSTRAINT {key_name} FOREIGN KEY ({}) REFERENCES {} ({})",
                name(table),
                table.target_names(resolved.key.columns.iter().copied()),
                name(parent),
                parent.target_names(parent_columns)
            );
            for (event, action) in
                [("UPDATE", &resolved.key.on_update), ("DELETE", &resolved.key.on_delete)]
            {
                if action != "NO ACTION" {
                    sql.push_str(&format!(" ON {event} {action}"));
                }
            }
            if resolved.key.deferred {
                sql.push_str(" DEFERRABLE INITIALLY DEFERRED");
            }
            let table = name(table);
            statements.foreign_keys.push(ForeignKeyStatement { table, name: key_name, sql });
        }
    }
    statements
}

fn column(planned: &PlannedTable<'_>, position: usize) -> String {
    let PlannedTable { table, fields, made_for } = *planned;
    let (column, field) = (&table.columns[position], &fields[position]);
    let name = quoted(&column.target_name);
    let numbered = table.rowid == Rowid::Alias(position) && field.postgres_type.is_integer();
    if numbered {
        return match (&field.postgres_type, made_for.server_version >= IDENTITY_SINCE) {
            (postgres_type, true) => {
                format!("{name} {postgres_type} NOT NULL GENERATED BY DEFAULT AS IDENTITY")
            }
            (PostgresType::SmallInt, false) => format!("{name} smallserial"),
            (PostgresType::Integer, false) => format!("{name} serial"),
            (_, false) => format!("{name} bigserial"),
        };
    }
    let mut sql = format!("{name} {}", field.postgres_type);
    if field.not_null {
        sql.push_str(" NOT NULL");
    }
    if column.generated {
        if let Some(expression) = planned.generated(position) {
            sql.push_str(&format!(" GENERATED ALWAYS AS ({expression}) STORED"));
        }
    } else if let Some(expression) = default_expression(column, field) {
        sql.push_str(&format!(" DEFAULT {expression}"));
    }
    sql
}

fn checks(planned: &PlannedTable<'_>, taken: &mut ConstraintNames) -> Vec<CheckConstraint> {
    let table = planned.table;
    let mut constraints = Vec::new();
    for (source, check) in table.checks.iter().enumerate() {
        if let Some(condition) = planned.check(check) {
            let name = taken.claim(check.name.as_deref(), &table.target_name);
            constraints.push(CheckConstraint { name, condition, source });
        }
    }
    constraints
}

fn keys(planned: &PlannedTable<'_>, name: &str, taken: &mut ConstraintNames) -> Vec<KeyStatements> {
    let table = planned.table;
    let mut statements = Vec::new();
    let mut constraint = |columns: &[usize], kind: &str, ending: &str| {
        let mut parts = vec![table.target_name.as_str()];
        if ending == "key" {
            parts.extend(columns.iter().map(|column| table.columns[*column].target_name.as_str()));
        }
        let key = quoted(&taken.choose(&parts, ending));
        let columns = table.target_names(columns.iter().copied());
        statements.push(KeyStatements {
            index: format!("CREATE UNIQUE INDEX {key} ON {name} ({columns})"),
            attach: Some(format!(
                "ALTER TABLE {name} ADD CONSTRAINT {key} {kind} USING INDEX {key}"
            )),
        });
    };
    if !table.primary_key.is_empty() {
        constraint(&table.primary_key, "PRIMARY KEY", "pkey");
    }
    for index in table.indexes.iter().filter(|index| !index.created) {
        if let Some(columns) = index.columns() {
            constraint(&columns, "UNIQUE", "key");
        }
    }
    for index in table.indexes.iter().filter(|index| index.created) {
        let Some((key, predicate)) = planned.index(index) else { continue };
        let predicate = predicate.map_or_else(String::new, |it| format!(" WHERE {it}"));
        let parts = key.iter().zip(&index.parts).map(|(key, part)| {
            let descending = if part.descending { " DESC" } else { "" };
            format!("{key}{descending}")
        });
        let unique = if index.unique { "UNIQUE " } else { "" };
        let named = match index.name.len() {
            0..=LONGEST_NAME_BYTES => index.name.clone(),
            _ => taken.choose(&[&index.name], "idx"),
        };
        let (index, parts) = (quoted(&named), list(parts));
        let index = format!("CREATE {unique}INDEX {index} ON {name} ({parts}){predicate}");
        statements.push(KeyStatements { index, attach: None });
    }
    for key in planned.nocase_keys() {
        let mut parts = vec![table.target_name.as_str()];
        let columns = key.columns.iter();
        parts.extend(columns.map(|column| table.columns[*column].target_name.as_str()));
        let index = quoted(&taken.choose(&parts, "nocase"));
        let predicate = key.predicate.map_or_else(String::new, |it| format!(" WHERE {it}"));
        let parts = list(key.parts);
        let index = format!("CREATE UNIQUE INDEX {index} ON {name} ({parts}){predicate}");
        statements.push(KeyStatements { index, attach: None });
    }
    statements
}
