//! Schema of a SQLite file: tables, columns, keys, indexes, views, triggers, virtual tables. Audit,
//! mapping, migration and verification work from it.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};
use serde::Serialize;

use super::framework::{Framework, RecognisedFramework};
use super::other::{OtherKind, OtherObject};
use super::{quoted, shadow};
use crate::display::{ShownValue, list};

#[derive(Clone, Debug, Default)]
pub struct SourceSchema {
    /// Ordinary tables, in the order of their names. SQLite's own are left out.
    pub tables: Vec<SourceTable>,
    /// Everything else that has a name: it is reported, never half copied.
    pub others: Vec<OtherObject>,
    /// The frameworks whose applications may have made it, whatever tables are selected.
    pub frameworks: Vec<RecognisedFramework>,
    /// No preset of a framework is applied: `--framework none`.
    pub without_presets: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceCheck {
    /// Its name, if it was given one.
    pub name: Option<String>,
    /// Its expression as written, without the outer parentheses.
    pub expression: String,
}

#[derive(Clone, Debug)]
pub struct SourceTable {
    pub name: String,
    /// Its name in the target.
    pub target_name: String,
    /// Its columns in declared order, without those hidden by a virtual table.
    pub columns: Vec<SourceColumn>,
    /// Positions of the primary key's columns, in key order; empty without a primary key.
    pub primary_key: Vec<usize>,
    pub rowid: Rowid,
    pub foreign_keys: Vec<ForeignKey>,
    /// Indexes and unique constraints, without the primary key's.
    pub indexes: Vec<Index>,
    pub strict: bool,
    /// `Some` with the last number used if declared `AUTOINCREMENT`.
    pub autoincrement: Option<i64>,
    /// Indexes that PostgreSQL does not get, and why.
    pub left_out: Vec<(Index, IndexOmission)>,
    /// Names of its columns that `--exclude` leaves out.
    pub excluded_columns: Vec<String>,
    /// Names of the tables to which foreign keys with such columns refer.
    pub excluded_parents: Vec<String>,
    pub checks: Vec<SourceCheck>,
    /// Collations named in its declaration other than BINARY.
    pub collations: Vec<String>,
    /// By rowid, the names of rows in their first source, for rows of a reject file.
    pub row_names: Arc<HashMap<i64, String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rowid {
    /// This column (`INTEGER PRIMARY KEY`) is the rowid.
    Alias(usize),
    /// A hidden rowid, to be read by this name.
    Hidden(&'static str),
    /// A hidden rowid that cannot be read, since columns have all of its names.
    Unreadable,
    /// `WITHOUT ROWID`: the primary key.
    None,
}

#[derive(Clone, Debug)]
pub struct SourceColumn {
    pub name: String,
    /// Its name in the target.
    pub target_name: String,
    /// The declared type as written; may be empty.
    pub declared_type: String,
    /// By SQLite's rules for the declared type.
    pub affinity: Affinity,
    pub not_null: bool,
    pub default: Option<String>,
    /// The value that it gives every row, if it is the same for all.
    pub default_value: Option<Value>,
    /// A generated column, stored or not.
    pub generated: bool,
    /// A generated column whose values are in the file.
    pub stored: bool,
    /// Its expression as written.
    pub expression: Option<String>,
    /// Its collation, in upper case, if it is not BINARY.
    pub collation: Option<String>,
}

/// SQLite's column affinities (<https://sqlite.org/datatype3.html>, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Affinity {
    /// Declared with CHAR, CLOB or TEXT
    Text,
    /// Anything else, for example DECIMAL, BOOLEAN, DATE, UUID, STRING
    Numeric,
    Integer,
    /// Declared with REAL, FLOA or DOUB
    Real,
    /// Declared with BLOB, or not at all
    Blob,
}

impl Affinity {
    /// The affinity of a declared type. In a STRICT table ANY converts nothing.
    pub fn of(declared_type: &str, strict: bool) -> Self {
        let upper = declared_type.to_ascii_uppercase();
        let has = |parts: &[&str]| parts.iter().any(|part| upper.contains(part));
        if has(&["INT"]) {
            Self::Integer
        } else if has(&["CHAR", "CLOB", "TEXT"]) {
            Self::Text
        } else if upper.is_empty() || has(&["BLOB"]) || (strict && upper == "ANY") {
            Self::Blob
        } else if has(&["REAL", "FLOA", "DOUB"]) {
            Self::Real
        } else {
            Self::Numeric
        }
    }
}

#[derive(Clone, Debug)]
pub struct ForeignKey {
    /// Positions of the referring columns.
    pub columns: Vec<usize>,
    /// The referred table's name as written.
    pub parent: String,
    /// The referred columns as written; empty means the parent's primary key.
    pub parent_columns: Vec<String>,
    /// `ON UPDATE` action, for example `NO ACTION`.
    pub on_update: String,
    pub on_delete: String,
    /// `DEFERRABLE INITIALLY DEFERRED`
    pub deferred: bool,
}

/// An index or unique constraint.
#[derive(Clone, Debug)]
pub struct Index {
    /// Its name; made by SQLite for a constraint.
    pub name: String,
    /// Made by `CREATE INDEX`; otherwise by UNIQUE in the table.
    pub created: bool,
    pub unique: bool,
    pub partial: bool,
    /// The CREATE INDEX statement as written; empty for a constraint.
    pub sql: String,
    /// Its WHERE clause, without the keyword.
    pub predicate: Option<String>,
    pub parts: Vec<IndexPart>,
}

impl Index {
    /// The positions of its columns; `None` if it holds an expression.
    pub fn columns(&self) -> Option<Vec<usize>> {
        self.parts.iter().map(|part| part.column).collect()
    }
}

/// The largest number of columns in an index of PostgreSQL.
pub const MOST_INDEX_COLUMNS: usize = 32;

/// The reason why an index is not carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexOmission {
    /// By `--skip-index`.
    Asked,
    /// One of its columns is left out.
    ExcludedColumn,
    TooManyColumns,
}

/// One column or expression of an index.
#[derive(Clone, Debug)]
pub struct IndexPart {
    /// The column's position; `None` for an expression or the rowid.
    pub column: Option<usize>,
    /// The expression as written, where it is one.
    pub expression: Option<String>,
    pub descending: bool,
    /// The collation, for example `BINARY` or `NOCASE`.
    pub collation: String,
}

impl SourceSchema {
    /// The framework whose application made it, if that is certain.
    pub fn framework(&self) -> Option<Framework> {
        match self.frameworks.as_slice() {
            [only] => Some(only.framework),
            _ => None,
        }
    }

    /// Frameworks whose tables may be in it, those that were recognised first.
    pub fn presets(&self) -> impl Iterator<Item = Framework> {
        let recognised = self.frameworks.iter().map(|each| each.framework);
        recognised.chain(Framework::all()).filter(|_| !self.without_presets)
    }

    /// The table of this name; SQLite compares names without regard to ASCII case.
    pub fn table(&self, name: &str) -> Option<&SourceTable> {
        self.tables.iter().find(|table| table.name.eq_ignore_ascii_case(name))
    }

    /// The shadow tables of a virtual table.
    pub fn shadows_of(&self, owner: &OtherObject) -> Vec<&str> {
        let shadows = self.others.iter().filter(|other| other.kind == OtherKind::ShadowTable);
        let names = shadows.map(|other| other.name.as_str());
        names.filter(|name| shadow::is_shadow(owner, name)).collect()
    }
}

impl SourceTable {
    /// The names of these columns, separated by commas.
    pub fn names(&self, columns: impl IntoIterator<Item = usize>) -> String {
        list(columns.into_iter().map(|column| &self.columns[column].name))
    }

    /// Their names in the target, quoted.
    pub fn target_names(&self, columns: impl IntoIterator<Item = usize>) -> String {
        list(columns.into_iter().map(|column| quoted(&self.columns[column].target_name)))
    }

    /// The position of the column of this name, without regard to ASCII case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// `true` if SQLite gives this column a number where an INSERT leaves it out.
    pub fn is_numbered(&self, column: usize) -> bool {
        self.rowid == Rowid::Alias(column)
    }

    /// The expression that reads a row's rowid, if there is one.
    pub fn rowid_expression(&self) -> Option<String> {
        match &self.rowid {
            Rowid::Alias(column) => Some(quoted(&self.columns[*column].name)),
            Rowid::Hidden(name) => Some((*name).to_owned()),
            Rowid::Unreadable | Rowid::None => None,
        }
    }

    /// A statement that reads every row once, or those between two rowids: first the rowid (or
    /// NULL), then `columns`. `NOT INDEXED` keeps SQLite from walking a covering index in another
    /// order.
    pub fn select(&self, columns: &[usize], rowids: Option<(i64, i64)>) -> String {
        let rowid = self.rowid_expression().unwrap_or_else(|| "NULL".to_owned());
        let mut sql = format!("SELECT {rowid}");
        for &column in columns {
            sql.push_str(", ");
            sql.push_str(&quoted(&self.columns[column].name));
        }
        sql.push_str(&format!(" FROM main.{} NOT INDEXED", quoted(&self.name)));
        if let Some((first, last)) = rowids {
            sql.push_str(&format!(" WHERE {rowid} BETWEEN {first} AND {last}"));
        }
        sql
    }

    /// The same, followed by `expressions`.
    pub fn select_also(&self, columns: &[usize], expressions: &[String]) -> String {
        let more: String = expressions.iter().map(|expression| format!(", {expression}")).collect();
        let from = format!(" FROM main.{} NOT INDEXED", quoted(&self.name));
        let select = self.select(columns, None);
        // The last FROM is the statement's own: nothing but NOT INDEXED follows it.
        match select.strip_suffix(&from) {
            Some(columns) => format!("{columns}{more}{from}"),
            None => select,
        }
    }

    /// Address of a row that `select` returned: its rowid, otherwise its place (from 1) in reading
    /// the order of the primary key.
    pub fn address(&self, row: &Row<'_>, place: i64) -> i64 {
        match row.get_ref(0) {
            Ok(ValueRef::Integer(rowid)) => rowid,
            _ => place,
        }
    }

    fn rowid_name(&self, rowid: i64) -> String {
        self.row_names.get(&rowid).cloned().unwrap_or_else(|| format!("rowid {rowid}"))
    }

    /// Names a row by its address.
    pub fn address_name(&self, address: i64) -> String {
        match self.rowid_expression() {
            Some(_) => self.rowid_name(address),
            None => format!("row {address} in the order of the key"),
        }
    }

    /// Names a row that `select(columns)` gave: `rowid 4711`, or the values of its key.
    pub fn row_name(&self, row: &Row<'_>, columns: &[usize]) -> String {
        if let Ok(ValueRef::Integer(rowid)) = row.get_ref(0) {
            return self.rowid_name(rowid);
        }
        let key = if self.primary_key.is_empty() { columns } else { &self.primary_key };
        let parts = key.iter().filter_map(|column| {
            let position = columns.iter().position(|each| each == column)?;
            let value = row.get_ref(position + 1).ok()?;
            Some(format!("{} {}", self.columns[*column].name, ShownValue(value)))
        });
        list(parts.take(8))
    }
}
