//! Transactions derived from a schema, where the user names none: for each of the largest tables an
//! insert, an update by key, and a read with an update of the same row.

use std::collections::BTreeMap;

use migrate::{AuditReport, OtherKind, Rowid, SourceSchema, SourceTable};
use plan::Parameter;
use record::NotMeasured;
use rusqlite::Connection;

use super::WriteTransaction;
use super::fresh::{FRESH, beyond_all};
use crate::derive::{TABLES, Tables, column_name, quote};
use crate::error::Result;

/// The rule above in one sentence, for the user.
pub fn rule() -> String {
    format!(
        "derived for the {TABLES} largest tables: an insert (a copy of a row, with fresh unique values), an \
         update by key, and a read with an update of the same row in one transaction; keys are drawn evenly"
    )
}

/// The derived transactions, and what cannot be derived.
#[derive(Default)]
pub struct Derived {
    pub transactions: Vec<WriteTransaction>,
    pub left_out: Vec<NotMeasured>,
}

/// `schema` and `audit` are of the database of `connection`. `may_take_part` leaves tables out.
pub fn derive(
    schema: &SourceSchema,
    audit: &AuditReport,
    connection: &Connection,
    may_take_part: impl Fn(&str) -> bool,
) -> Result<Derived> {
    let tables = Tables::new(schema, audit);
    let mut derived = Derived::default();
    for table in tables.largest(may_take_part) {
        let subject = DerivedTable { schema, table, tables: &tables };
        let name = |what: &str| format!("{what} {}", table.name);
        match subject.refusal() {
            Some(why) => derived.left_out.push(left_out(name("writes to"), why)),
            None => {
                let inserted = subject.insert(connection)?;
                derived.add(name("insert into"), inserted);
                derived.add(name("update of"), subject.update(false));
                derived.add(name("read and update of"), subject.update(true));
            }
        }
    }
    Ok(derived)
}

impl Derived {
    fn add(&mut self, name: String, found: std::result::Result<WriteTransaction, String>) {
        match found {
            Ok(transaction) => self.transactions.push(WriteTransaction { name, ..transaction }),
            Err(why) => self.left_out.push(left_out(name, why)),
        }
    }
}

fn left_out(name: String, why: String) -> NotMeasured {
    NotMeasured { name, place: None, why }
}

struct DerivedTable<'a> {
    schema: &'a SourceSchema,
    table: &'a SourceTable,
    tables: &'a Tables<'a>,
}

impl DerivedTable<'_> {
    /// Why nothing that writes to it is alike on both engines.
    fn refusal(&self) -> Option<String> {
        let has_trigger = self.schema.others.iter().any(|other| {
            other.kind == OtherKind::Trigger && other.table.eq_ignore_ascii_case(&self.table.name)
        });
        if has_trigger {
            return Some(
                "it has triggers, which PostgreSQL's copy lacks: name the transactions by --sql"
                    .to_owned(),
            );
        }
        self.key().is_none().then(|| "it has no key of one column".to_owned())
    }

    /// The column of the key.
    fn key(&self) -> Option<usize> {
        let column = match (&self.table.rowid, self.table.primary_key.as_slice()) {
            (Rowid::Alias(column), _) => *column,
            (_, [column]) => *column,
            _ => return None,
        };
        self.tables.class(self.table, column).filter(|class| *class != "number")?;
        Some(column)
    }

    fn keyed(&self) -> BTreeMap<String, Parameter> {
        let query = self.key().map(|key| self.tables.keys(self.table, key));
        let query = Parameter::Query { query: query.unwrap_or_default() };
        BTreeMap::from([("key".to_owned(), query)])
    }

    /// A copy of a row, with fresh values where they must be unique.
    fn insert(
        &self,
        connection: &Connection,
    ) -> Result<std::result::Result<WriteTransaction, String>> {
        let Self { table, .. } = self;
        let fresh = match self.fresh_columns() {
            Ok(fresh) => fresh,
            Err(why) => return Ok(Err(why)),
        };
        let numbered = match table.rowid {
            Rowid::Alias(column) => Some(column),
            _ => None,
        };
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for (place, column) in table.columns.iter().enumerate() {
            if column.generated || numbered == Some(place) {
                continue;
            }
            let name = column_name(table, place);
            values.push(match fresh.contains(&place) {
                true if self.tables.class(table, place) == Some("text") => {
                    "CAST(:fresh AS TEXT)".to_owned()
                }
                true => ":fresh".to_owned(),
                false => name.clone(),
            });
            columns.push(name);
        }
        let Some(key) = self.key() else { return Ok(Err("it has no key".to_owned())) };
        let (of, key_name) = (quote(&table.name), column_name(table, key));
        let text = format!(
            "INSERT INTO {of} ({}) SELECT {} FROM {of} WHERE {key_name} = :key",
            columns.join(", "),
            values.join(", ")
        );
        let mut parameters = self.keyed();
        if !fresh.is_empty() {
            let first = beyond_all(table, &fresh, connection)?;
            let range = [first, first.saturating_add(FRESH)];
            parameters.insert("fresh".to_owned(), Parameter::Range { range });
        }
        // Their order is that of the commits.
        let ignored = numbered.map(|column| table.columns[column].name.clone());
        Ok(Ok(WriteTransaction {
            text,
            parameters,
            ignored_columns: ignored.into_iter().collect(),
            ..WriteTransaction::default()
        }))
    }

    /// A column of each unique key, the primary one too where SQLite does not number it.
    fn fresh_columns(&self) -> std::result::Result<Vec<usize>, String> {
        let table = self.table;
        let own = (!matches!(table.rowid, Rowid::Alias(_))).then(|| table.primary_key.clone());
        let unique = table.indexes.iter().filter(|index| index.unique);
        let mut fresh: Vec<usize> = Vec::new();
        for (name, columns) in own
            .map(|key| ("the primary key", Some(key)))
            .into_iter()
            .chain(unique.map(|index| (index.name.as_str(), index.columns())))
        {
            let columns = columns.unwrap_or_default();
            if columns.iter().any(|column| fresh.contains(column)) {
                continue;
            }
            let refers =
                |column: &usize| table.foreign_keys.iter().any(|key| key.columns.contains(column));
            let free = columns.iter().find(|column| {
                let (class, name) =
                    (self.tables.class(table, **column), &table.columns[**column].name);
                let is_checked =
                    table.checks.iter().any(|one| one.expression.contains(name.as_str()));
                matches!(class, Some("integer" | "text")) && !refers(column) && !is_checked
            });
            let free = free.ok_or_else(|| {
                format!("no fresh value can be made for {name}: name the transaction by --sql")
            })?;
            fresh.push(*free);
        }
        Ok(fresh)
    }

    /// An update of a column without key or index; after a read of the row where it `reads`.
    fn update(&self, reads: bool) -> std::result::Result<WriteTransaction, String> {
        let table = self.table;
        let key = self.key().ok_or_else(|| "it has no key".to_owned())?;
        let is_free = |place: &usize| {
            let name = &table.columns[*place].name;
            let is_keyed = |columns: &[usize]| columns.contains(place);
            !table.columns[*place].generated
                && !is_keyed(&table.primary_key)
                && !table.foreign_keys.iter().any(|key| is_keyed(&key.columns))
                && !table.indexes.iter().any(|index| {
                    index.sql.contains(name.as_str()) || {
                        index.parts.iter().any(|part| part.column == Some(*place))
                    }
                })
                && !table.checks.iter().any(|check| check.expression.contains(name.as_str()))
        };
        let of_class = |class: &str| {
            let mut places = (0..table.columns.len()).filter(is_free);
            places.find(|place| self.tables.class(table, *place) == Some(class))
        };
        let (is_number, column) = match (of_class("integer"), of_class("text")) {
            (Some(number), _) => (true, number),
            (None, Some(text)) => (false, text),
            (None, None) => {
                return Err(
                    "it has no column of numbers or texts outside of keys and indexes".to_owned()
                );
            }
        };
        let (of, key) = (quote(&table.name), column_name(table, key));
        let column = column_name(table, column);
        let mut parameters = self.keyed();
        // A row that keeps its value is not written by SQLite.
        let value = match is_number {
            true => format!("{column} + 1"),
            false => {
                let range = [1, FRESH];
                parameters.insert("fresh".to_owned(), Parameter::Range { range });
                "CAST(:fresh AS TEXT)".to_owned()
            }
        };
        let update = format!("UPDATE {of} SET {column} = {value} WHERE {key} = :key");
        let text = match reads {
            true => format!("SELECT {column} FROM {of} WHERE {key} = :key;\n{update}"),
            false => update,
        };
        Ok(WriteTransaction { text, parameters, is_several: reads, ..WriteTransaction::default() })
    }
}
