//! Schema of a SQLite file as text and names, and a database in memory with the same schema and
//! statistics, in which the planner can be asked.

use std::collections::{BTreeMap, BTreeSet};

use connect::sqlite::quote_identifier;
use rusqlite::Connection;

/// A column of an index that is not made yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    pub name: String,
    /// Where the column's own collation is another.
    pub collation: Option<String>,
    pub descends: bool,
}

impl IndexColumn {
    /// As written in `CREATE INDEX`.
    pub fn sql(&self) -> String {
        let mut sql = super::plain_or_quoted(&self.name);
        if let Some(collation) = &self.collation {
            sql.push_str(&format!(" COLLATE {}", super::plain_or_quoted(collation)));
        }
        if self.descends {
            sql.push_str(" DESC");
        }
        sql
    }
}

/// An ordinary table.
pub struct FileTable {
    pub name: String,
    /// `CREATE TABLE`.
    sql: String,
    columns: Vec<TableColumn>,
    rowid_alias: Option<usize>,
    /// By column, those other than BINARY.
    pub collations: BTreeMap<String, String>,
    /// QuotedNames of columns in indexes that hold every row.
    indexes: Vec<Vec<(String, bool)>>,
}

struct TableColumn {
    name: String,
    declared_type: String,
    is_generated: bool,
}

impl FileTable {
    /// The column at a place; none for the rowid.
    pub fn column(&self, place: usize, descends: bool) -> Option<IndexColumn> {
        let column = self.columns.get(place).filter(|_| self.rowid_alias != Some(place))?;
        Some(IndexColumn { name: column.name.clone(), collation: None, descends })
    }

    /// Whether an index begins with these columns in this order, read forwards or backwards. Columns
    /// with a collation never match: an index with another one would not serve.
    pub fn has_index(&self, columns: &[IndexColumn]) -> bool {
        let is_plain = columns.iter().all(|column| column.collation.is_none());
        let begins = |index: &Vec<(String, bool)>, backwards: bool| {
            index.len() >= columns.len()
                && index.iter().zip(columns).all(|((name, descends), column)| {
                    *name == column.name && (*descends != column.descends) == backwards
                })
        };
        is_plain && self.indexes.iter().any(|index| begins(index, false) || begins(index, true))
    }

    /// The declaration of the virtual table. Generated columns become plain ones: SQLite does not
    /// allow them there.
    fn declaration(&self) -> String {
        if !self.columns.iter().any(|column| column.is_generated) {
            return self.sql.clone();
        }
        let column = |column: &TableColumn| {
            let (name, of) = (quote_identifier(&column.name), &column.declared_type);
            let collation = self.collations.get(&column.name);
            let collation = collation.map(|name| format!(" COLLATE {}", quote_identifier(name)));
            format!("{name} {of}{}", collation.unwrap_or_default())
        };
        let columns: Vec<String> = self.columns.iter().map(column).collect();
        format!("CREATE TABLE x({})", columns.join(", "))
    }
}

/// The schema of a file, as far as index advice needs it.
pub struct FileSchema {
    pub tables: Vec<FileTable>,
    /// `CREATE VIEW`s.
    pub views: Vec<String>,
    /// `CREATE INDEX`es.
    indexes: Vec<String>,
    /// All names that are taken, in small letters.
    pub names: BTreeSet<String>,
    /// The rows of `sqlite_stat1`.
    statistics: Vec<(String, Option<String>, String)>,
}

impl FileSchema {
    pub fn read(file: &Connection) -> rusqlite::Result<Self> {
        let mut schema = Self {
            tables: Vec::new(),
            views: Vec::new(),
            indexes: Vec::new(),
            names: BTreeSet::new(),
            statistics: Vec::new(),
        };
        let mut all = file.prepare("SELECT type, name, sql FROM sqlite_schema")?;
        let rows = all.query_map([], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, Option<String>>(2)?,
            ))
        })?;
        let rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        for (kind, name, sql) in rows {
            schema.names.insert(name.to_lowercase());
            let Some(sql) = sql.filter(|_| !name.starts_with("sqlite_")) else { continue };
            match kind.as_str() {
                "table" if !starts_with_words(&sql, "create virtual") => {
                    schema.tables.push(table(file, name, sql)?);
                }
                "view" => schema.views.push(sql),
                "index" => schema.indexes.push(sql),
                _ => {}
            }
        }
        if schema.names.contains("sqlite_stat1") {
            let mut rows = file.prepare("SELECT tbl, idx, stat FROM sqlite_stat1")?;
            let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            schema.statistics = rows.collect::<rusqlite::Result<_>>()?;
        }
        Ok(schema)
    }

    /// QuotedNames and `CREATE TABLE`s for virtual tables.
    pub fn declarations(&self) -> Vec<(String, String)> {
        self.tables.iter().map(|table| (table.name.clone(), table.declaration())).collect()
    }

    /// A database of the same schema without rows but with the file's statistics. What cannot be
    /// made there (a view on a module that is missing) is left out.
    pub fn planner(&self) -> rusqlite::Result<Connection> {
        let planner = Connection::open_in_memory()?;
        planner.execute_batch("PRAGMA foreign_keys = off")?;
        let tables = self.tables.iter().map(|table| &table.sql);
        for sql in tables.chain(&self.indexes).chain(&self.views) {
            let _ = planner.execute_batch(sql);
        }
        // Makes the tables of statistics.
        planner.execute_batch("ANALYZE sqlite_schema")?;
        for (table, index, stat) in &self.statistics {
            planner.execute(
                "INSERT INTO sqlite_stat1(tbl, idx, stat) VALUES (?1, ?2, ?3)",
                (table, index, stat),
            )?;
        }
        Ok(planner)
    }
}

fn starts_with_words(sql: &str, words: &str) -> bool {
    let of_sql = sql.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    of_sql.eq_ignore_ascii_case(words)
}

fn table(file: &Connection, name: String, sql: String) -> rusqlite::Result<FileTable> {
    let mut columns = Vec::new();
    let mut keys = Vec::new();
    let mut info =
        file.prepare("SELECT name, type, pk, hidden FROM pragma_table_xinfo(?1) ORDER BY cid")?;
    let mut rows = info.query([&name])?;
    while let Some(row) = rows.next()? {
        let declared_type: String = row.get(1)?;
        if row.get::<_, i64>(2)? > 0 {
            keys.push((columns.len(), declared_type.eq_ignore_ascii_case("integer")));
        }
        let is_generated = row.get::<_, i64>(3)? > 1;
        columns.push(TableColumn { name: row.get(0)?, declared_type, is_generated });
    }
    let without_rowid: bool = file.query_row(
        "SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?1",
        [&name],
        |row| row.get(0),
    )?;
    let rowid_alias = match keys.as_slice() {
        [(place, true)] if !without_rowid => Some(*place),
        _ => None,
    };
    let collations = collations(&sql, &name, &columns).unwrap_or_default();
    let indexes = indexes(file, &name)?;
    Ok(FileTable { name, sql, columns, rowid_alias, collations, indexes })
}

/// By column those that are not BINARY: an index takes the collation of its column.
fn collations(
    sql: &str,
    table: &str,
    columns: &[TableColumn],
) -> rusqlite::Result<BTreeMap<String, String>> {
    let scratch = Connection::open_in_memory()?;
    scratch.execute_batch(sql)?;
    let listed: Vec<String> = columns.iter().map(|column| quote_identifier(&column.name)).collect();
    let (table, listed) = (quote_identifier(table), listed.join(", "));
    scratch.execute_batch(&format!("CREATE INDEX crossover_all ON {table}({listed})"))?;
    let mut info = scratch.prepare(
        "SELECT name, coll FROM pragma_index_xinfo('crossover_all') \
         WHERE key AND name IS NOT NULL AND coll <> 'BINARY'",
    )?;
    let rows = info.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

/// The columns of each index of a table, partial ones and those on expressions left out.
fn indexes(file: &Connection, table: &str) -> rusqlite::Result<Vec<Vec<(String, bool)>>> {
    let mut list = file.prepare("SELECT name FROM pragma_index_list(?1) WHERE NOT partial")?;
    let names = list.query_map([table], |row| row.get(0))?;
    let names = names.collect::<rusqlite::Result<Vec<String>>>()?;
    let mut indexes = Vec::new();
    for name in names {
        let mut info = file.prepare(
            "SELECT name, \"desc\" FROM pragma_index_xinfo(?1) WHERE key ORDER BY seqno",
        )?;
        let rows =
            info.query_map([&name], |row| Ok((row.get::<_, Option<String>>(0)?, row.get(1)?)))?;
        let columns = rows.collect::<rusqlite::Result<Vec<_>>>()?;
        let named = columns.into_iter().map_while(|(name, descends)| Some((name?, descends)));
        indexes.push(named.collect());
    }
    Ok(indexes)
}
