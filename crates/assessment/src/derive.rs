//! Statements derived from a schema, where the user names none: for each of the largest tables a
//! count, lookups by key, its foreign-key joins, the top of an indexed column and a grouping. They
//! give the same answer on both engines: quoted names, plain types, no order left to chance.

#[cfg(test)]
mod tests;

use migrate::{AuditReport, ForeignKey, Rowid, SourceSchema, SourceTable};
use rusqlite::Connection;

use crate::statement::{MeasuredStatement, StatementParameter};

/// Statements are derived for this many tables, the largest by rows.
pub const TABLES: usize = 3;
/// Foreign keys of a table that are joined, in declared order.
const FOREIGN_KEYS: usize = 2;
/// Keys that point lookups draw from, spread evenly over the table.
const KEYS: u64 = 1000;
/// A grouping column has at most this many values among the rows looked at.
const GROUPS: i64 = 50;
/// Rows looked at to tell how many values a column has.
const ROWS_LOOKED_AT: u64 = 20_000;

/// The rule above in one sentence, for the user.
pub fn rule() -> String {
    format!(
        "derived for the {TABLES} largest tables: count, lookups by key ({KEYS} keys drawn from \
         the table), joins along foreign keys, the top 20 of an indexed column, a grouping by a \
         text column of few values"
    )
}

/// The tables: their schema and, by the audit, rows and types in PostgreSQL.
pub struct Tables<'a> {
    schema: &'a SourceSchema,
    audit: &'a AuditReport,
}

/// A type that looks the same in the answers of both engines.
fn is_plain(postgres_type: &str) -> bool {
    class(postgres_type).is_some_and(|class| class != "uuid")
}

/// Types that can be compared with each other.
fn class(postgres_type: &str) -> Option<&str> {
    match postgres_type.split('(').next().unwrap_or_default() {
        "smallint" | "integer" | "bigint" => Some("integer"),
        "text" | "varchar" => Some("text"),
        "double precision" => Some("number"),
        "uuid" => Some("uuid"),
        _ => None,
    }
}

impl<'a> Tables<'a> {
    /// `schema` and `audit` are of the same file.
    pub fn new(schema: &'a SourceSchema, audit: &'a AuditReport) -> Self {
        Self { schema, audit }
    }

    /// The largest tables that hold rows. `may_take_part` leaves tables out.
    pub fn largest(&self, may_take_part: impl Fn(&str) -> bool) -> Vec<&'a SourceTable> {
        let tables = self.schema.tables.iter();
        let mut tables: Vec<&SourceTable> =
            tables.filter(|table| self.rows(table) > 0 && may_take_part(&table.name)).collect();
        tables.sort_by_key(|table| std::cmp::Reverse(self.rows(table)));
        tables.truncate(TABLES);
        tables
    }

    /// A query for keys spread evenly over a table.
    pub fn keys(&self, table: &SourceTable, key: usize) -> String {
        let (name, column) = (quote(&table.name), column_name(table, key));
        let step = self.rows(table).div_ceil(KEYS).max(1);
        format!(
            "SELECT {column} FROM (SELECT {column}, row_number() OVER (ORDER BY {column}) AS \
             crossover_place FROM {name}) AS numbered WHERE crossover_place % {step} = 0 \
             ORDER BY crossover_place"
        )
    }

    fn rows(&self, table: &SourceTable) -> u64 {
        self.audit.tables.iter().find(|each| each.name == table.name).map_or(0, |each| each.rows)
    }

    /// `integer`, `text`, `number` or `uuid`; none of a type that looks different in both engines.
    pub fn class(&self, table: &SourceTable, column: usize) -> Option<&str> {
        let report = self.audit.tables.iter().find(|each| each.name == table.name)?;
        let class = class(&report.columns.get(column)?.postgres_type)?;
        // Which column a collation belongs to is not known; texts may compare in another way.
        (class != "text" || table.collations.is_empty()).then_some(class)
    }

    fn is_plain(&self, table: &SourceTable, column: usize) -> bool {
        let report = self.audit.tables.iter().find(|each| each.name == table.name);
        report
            .and_then(|report| report.columns.get(column))
            .is_some_and(|column| is_plain(&column.postgres_type))
    }

    /// The statements, the largest table first. `may_take_part` leaves tables out.
    pub fn statements(
        &self,
        connection: &Connection,
        may_take_part: impl Fn(&str) -> bool,
    ) -> rusqlite::Result<Vec<MeasuredStatement>> {
        let mut found = Vec::new();
        for table in self.largest(&may_take_part) {
            found.push(count(table));
            found.extend(self.lookup(table));
            let keys = table.foreign_keys.iter().filter(|key| may_take_part(&key.parent));
            let joins = keys.filter_map(|key| self.join(table, key)).take(FOREIGN_KEYS);
            found.extend(joins.flatten());
            found.extend(self.top(table));
            found.extend(self.grouping(connection, table)?);
        }
        Ok(found)
    }

    /// A row by its key; where the key has several columns, its first rows by the first of them.
    fn lookup(&self, table: &SourceTable) -> Option<MeasuredStatement> {
        let key = match (&table.rowid, table.primary_key.as_slice()) {
            (Rowid::Alias(column), _) => vec![*column],
            (_, []) => return None,
            (_, key) => key.to_vec(),
        };
        let first = *key.first()?;
        let is_exact = |column: &usize| self.class(table, *column).is_some_and(|c| c != "number");
        if !key.iter().all(is_exact) {
            return None;
        }
        let shown: Vec<String> = (0..table.columns.len())
            .filter(|column| self.is_plain(table, *column))
            .map(|column| column_name(table, column))
            .collect();
        let shown = if shown.is_empty() { "1 AS found".to_owned() } else { shown.join(", ") };
        let (name, column) = (quote(&table.name), column_name(table, first));
        let mut text = format!("SELECT {shown} FROM {name} WHERE {column} = :key");
        let rest: Vec<String> = key.iter().skip(1).map(|each| column_name(table, *each)).collect();
        let what = if rest.is_empty() {
            format!("{} by key", table.name)
        } else {
            text.push_str(&format!(" ORDER BY {} LIMIT 20", rest.join(", ")));
            format!("{} by {}", table.name, table.columns[first].name)
        };
        let parameter =
            StatementParameter { name: "key".to_owned(), query: self.keys(table, first) };
        Some(MeasuredStatement { parameters: vec![parameter], ..statement(what, text, &[table]) })
    }

    /// Two statements along a foreign key: how many rows join, and which parents have most.
    fn join(&self, table: &SourceTable, key: &ForeignKey) -> Option<[MeasuredStatement; 2]> {
        let parent = self.schema.table(&key.parent).filter(|parent| self.rows(parent) > 0)?;
        let referred: Vec<usize> = if key.parent_columns.is_empty() {
            parent.primary_key.clone()
        } else {
            key.parent_columns.iter().map(|name| parent.column(name)).collect::<Option<_>>()?
        };
        let same_class = |(child, parent_column): (&usize, &usize)| {
            let class = self.class(table, *child);
            class.is_some() && class == self.class(parent, *parent_column)
        };
        let pairs = || key.columns.iter().zip(&referred);
        if referred.len() != key.columns.len() || referred.is_empty() || !pairs().all(same_class) {
            return None;
        }
        let on: Vec<String> = pairs()
            .map(|(child, referred)| {
                format!("child.{} = parent.{}", column_name(table, *child), {
                    column_name(parent, *referred)
                })
            })
            .collect();
        let from = format!(
            "FROM {} AS child JOIN {} AS parent ON {}",
            quote(&table.name),
            quote(&parent.name),
            on.join(" AND ")
        );
        let columns: Vec<&str> =
            key.columns.iter().map(|column| table.columns[*column].name.as_str()).collect();
        let (from_here, to, columns) = (&table.name, &parent.name, columns.join(", "));
        let by: Vec<String> = referred
            .iter()
            .map(|column| format!("parent.{}", column_name(parent, *column)))
            .collect();
        let by = by.join(", ");
        Some([
            statement(
                format!("{from_here} joined to {to} by {columns}"),
                format!("SELECT count(*) AS joined {from}"),
                &[table, parent],
            ),
            statement(
                format!("{to} with most {from_here} by {columns}"),
                format!(
                    "SELECT {by}, count(*) AS children {from} GROUP BY {by} \
                     ORDER BY count(*) DESC, {by} LIMIT 20"
                ),
                &[table, parent],
            ),
        ])
    }

    /// The largest values of the first indexed column that is not the key.
    fn top(&self, table: &SourceTable) -> Option<MeasuredStatement> {
        let column = table.indexes.iter().find_map(|index| {
            let part = index.parts.first().filter(|_| !index.partial)?;
            let column = part.column.filter(|_| part.collation.eq_ignore_ascii_case("binary"))?;
            let is_key = table.primary_key.first() == Some(&column);
            (self.is_plain(table, column) && !is_key).then_some(column)
        })?;
        let name = column_name(table, column);
        Some(statement(
            format!("top 20 of {} by {}", table.name, table.columns[column].name),
            format!(
                "SELECT {name} FROM {} WHERE {name} IS NOT NULL ORDER BY {name} DESC LIMIT 20",
                quote(&table.name)
            ),
            &[table],
        ))
    }

    /// Rows by the first text column of few values.
    fn grouping(
        &self,
        connection: &Connection,
        table: &SourceTable,
    ) -> rusqlite::Result<Option<MeasuredStatement>> {
        let is_key = |column: &usize| table.primary_key.contains(column);
        for column in (0..table.columns.len()).filter(|column| !is_key(column)) {
            if self.class(table, column) != Some("text") {
                continue;
            }
            let (name, of) = (column_name(table, column), quote(&table.name));
            let values: i64 = connection.query_row(
                &format!(
                    "SELECT count(DISTINCT {name}) FROM (SELECT {name} FROM {of} \
                     LIMIT {ROWS_LOOKED_AT})"
                ),
                [],
                |row| row.get(0),
            )?;
            let rows = i64::try_from(self.rows(table).min(ROWS_LOOKED_AT)).unwrap_or(i64::MAX);
            if (2..=GROUPS).contains(&values) && values * 2 <= rows {
                let text =
                    format!("SELECT {name}, count(*) AS rows_found FROM {of} GROUP BY {name}");
                let what = format!("{} by {}", table.name, table.columns[column].name);
                return Ok(Some(statement(format!("{what}, counted"), text, &[table])));
            }
        }
        Ok(None)
    }
}

fn count(table: &SourceTable) -> MeasuredStatement {
    let text = format!("SELECT count(*) AS rows_found FROM {}", quote(&table.name));
    statement(format!("count {}", table.name), text, &[table])
}

fn statement(name: String, text: String, tables: &[&SourceTable]) -> MeasuredStatement {
    let tables = tables.iter().map(|table| table.name.clone()).collect();
    MeasuredStatement { name, text, tables, ..MeasuredStatement::default() }
}

pub fn quote(name: &str) -> String {
    connect::sqlite::quote_identifier(name)
}

pub fn column_name(table: &SourceTable, column: usize) -> String {
    table.columns.get(column).map_or_else(String::new, |column| quote(&column.name))
}
