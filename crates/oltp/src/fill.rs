//! Tables made and filled.

use std::sync::atomic::{AtomicBool, Ordering};

use mysql::prelude::Queryable as _;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::catalog::{claim, complete};
use crate::console::{Console, ConsoleProblem, ConsoleSession};
use crate::layout::{Layout, layouts};
use crate::row::{Fields, Rows};
use crate::statement::EngineDialect;
use crate::{Error, OltpTarget, catalog};
use plan::oltp::{CharacterSet, Collation, Schema, TableOptions};

/// Rows of one transaction where rows are inserted, and steps of the progress.
const CHUNK_ROWS: u64 = 10_000;
/// Rows of one statement of MariaDB's.
const STATEMENT_ROWS: u64 = 500;

/// Makes the tables and fills them, the same rows for the same seed on every engine: by COPY in
/// PostgreSQL, all in one transaction; in transactions of 10,000 rows elsewhere; indexes and
/// statistics after. `progress` gets the rows that are there and the rows of the whole. Marked
/// tables of the same schema are replaced.
pub fn fill(
    target: &OltpTarget,
    options: &TableOptions,
    progress: &(dyn Fn(u64, u64) + Sync),
    interrupted: &AtomicBool,
) -> Result<(), Error> {
    options.check().map_err(Error::Options)?;
    let encoding = if options.character_set == CharacterSet::Utf16 { "UTF-16le" } else { "UTF-8" };
    let mut console = Console::create(target, encoding, interrupted)?;
    check_texts(&mut console, options)?;
    let dialect = console.dialect();
    let layouts = layouts(options);
    if dialect == EngineDialect::Postgres {
        console.run("BEGIN")?;
    }
    claim(&mut console, options, &layouts)?;
    let total: u64 = layouts.iter().map(|layout| layout.rows).sum();
    let mut before = 0;
    for layout in &layouts {
        for statement in layout.create(dialect, options) {
            console.run(&statement)?;
        }
        // Texts travel in UTF-8; the engine makes of them what it stores.
        let rows = Rows::new(options, layout.number, CharacterSet::Utf8);
        let mut filling = TableFilling { layout, rows, interrupted, progress, before, total };
        filling.load(&mut console)?;
        before += layout.rows;
        for statement in layout.finish(dialect) {
            check_interrupted(interrupted)?;
            console.run(&statement)?;
        }
    }
    complete(&mut console, options)?;
    if dialect == EngineDialect::Postgres {
        console.run("COMMIT")?;
    }
    for layout in &layouts {
        check_interrupted(interrupted)?;
        console.run(&layout.analyze(dialect))?;
    }
    if dialect == EngineDialect::Sqlite {
        console.run("PRAGMA wal_checkpoint(TRUNCATE)")?;
    }
    Ok(())
}

/// The options by which the marked tables were filled; none where tables are missing or not whole.
pub fn find(target: &OltpTarget, schema: Schema) -> Result<Option<TableOptions>, Error> {
    let never = AtomicBool::new(false);
    catalog::find(&mut Console::open(target, &never)?, schema)
}

/// Drops the tables that [`fill`] made, and their marks.
pub fn remove(target: &OltpTarget) -> Result<(), Error> {
    let never = AtomicBool::new(false);
    catalog::remove(&mut Console::open(target, &never)?)
}

fn check_interrupted(interrupted: &AtomicBool) -> Result<(), Error> {
    match interrupted.load(Ordering::Relaxed) {
        true => Err(Error::Interrupted),
        false => Ok(()),
    }
}

/// Refuses what this engine, or this database, has not.
fn check_texts(console: &mut Console<'_>, options: &TableOptions) -> Result<(), Error> {
    let (set, place) = (options.character_set, console.place.clone());
    let wrong = |text: String| Err(Error::Options(format!("{place}: {text}")));
    let refused = match (console.dialect(), set) {
        (EngineDialect::Sqlite, CharacterSet::Latin2) => Some("SQLite stores utf8 or utf16"),
        (EngineDialect::Postgres | EngineDialect::Mysql, CharacterSet::Utf16) => {
            Some("only SQLite has utf16")
        }
        _ => None,
    };
    if let Some(text) = refused {
        return wrong(text.to_owned());
    }
    if console.dialect() == EngineDialect::Sqlite && options.collation == Collation::Language {
        return wrong("SQLite as built here compares bytes alone: collation bytes".to_owned());
    }
    if console.dialect() == EngineDialect::Postgres && options.schema == Schema::Text {
        let encoding = console.value("SHOW server_encoding")?;
        let wanted = if set == CharacterSet::Latin2 { "LATIN2" } else { "UTF8" };
        if encoding != wanted {
            return wrong(format!(
                "the database is {encoding}: create one with ENCODING '{wanted}' TEMPLATE template0"
            ));
        }
        let language = "SELECT count(*) FROM pg_collation WHERE collname = 'hu-x-icu'";
        if options.collation == Collation::Language && console.value(language)? == "0" {
            return wrong("this server has no ICU collation hu-x-icu (10 and later do)".to_owned());
        }
    }
    Ok(())
}

struct TableFilling<'f> {
    layout: &'f Layout,
    rows: Rows,
    interrupted: &'f AtomicBool,
    progress: &'f (dyn Fn(u64, u64) + Sync),
    /// Rows of the tables before it, and of all.
    before: u64,
    total: u64,
}

impl TableFilling<'_> {
    fn load(&mut self, console: &mut Console<'_>) -> Result<(), Error> {
        let loaded = match &mut console.session {
            ConsoleSession::Postgres(connection) => {
                self.copy(connection).map_err(ConsoleProblem::from)
            }
            ConsoleSession::Sqlite(connection) => {
                self.insert_sqlite(connection).map_err(ConsoleProblem::from)
            }
            ConsoleSession::Mysql(connection) => {
                self.insert_mysql(connection).map_err(ConsoleProblem::from)
            }
        };
        loaded.map_err(|problem| console.failed(problem))?;
        check_interrupted(self.interrupted)
    }

    fn row(&self, key: u64, fields: &mut Fields) {
        fields.clear();
        (self.layout.row)(&self.rows, key, fields);
    }

    fn told(&self, done: u64) {
        (self.progress)(self.before + done, self.total);
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// The table was made in the same transaction, so its rows can be frozen at once.
    fn copy(
        &self,
        connection: &mut connect::postgres::thin::ThinConnection<'_>,
    ) -> Result<(), connect::postgres::thin::ThinError> {
        let (name, columns) = (&self.layout.name, self.layout.column_list());
        let sql = format!("COPY {name} ({columns}) FROM STDIN WITH (FREEZE)");
        let mut fields = Fields::default();
        let mut key = 0;
        connection.copy_in(&sql, |out| {
            if key == self.layout.rows {
                return false;
            }
            key += 1;
            self.row(key, &mut fields);
            for (position, field) in fields.iter().enumerate() {
                if position > 0 {
                    out.extend_from_slice(b"\t");
                }
                // No generated text holds a tab, a backslash or an end of line.
                out.extend_from_slice(field);
            }
            out.extend_from_slice(b"\n");
            if key.is_multiple_of(CHUNK_ROWS) || key == self.layout.rows {
                self.told(key);
            }
            true
        })?;
        Ok(())
    }

    fn insert_sqlite(&self, connection: &mut rusqlite::Connection) -> rusqlite::Result<()> {
        let values = vec!["?"; self.layout.columns().count()].join(", ");
        let (name, columns) = (&self.layout.name, self.layout.column_list());
        let sql = format!("INSERT INTO {name} ({columns}) VALUES ({values})");
        let mut fields = Fields::default();
        for chunk in self.chunks(CHUNK_ROWS) {
            let transaction = connection.transaction()?;
            let mut insert = transaction.prepare_cached(&sql)?;
            for key in chunk.clone() {
                self.row(key, &mut fields);
                for (index, field) in fields.iter().enumerate() {
                    // A column of integers makes an integer of a text that is one.
                    let value = ToSqlOutput::Borrowed(ValueRef::Text(field));
                    insert.raw_bind_parameter(index + 1, value)?;
                }
                insert.raw_execute()?;
            }
            drop(insert);
            transaction.commit()?;
            self.told(chunk.end - 1);
            if self.is_interrupted() {
                break;
            }
        }
        Ok(())
    }

    fn insert_mysql(&self, connection: &mut mysql::Conn) -> mysql::Result<()> {
        let (name, columns) = (&self.layout.name, self.layout.column_list());
        let mut fields = Fields::default();
        let mut rows_open = 0;
        connection.query_drop("BEGIN")?;
        for chunk in self.chunks(STATEMENT_ROWS) {
            let mut sql = format!("INSERT INTO {name} ({columns}) VALUES ");
            for key in chunk.clone() {
                self.row(key, &mut fields);
                sql.push_str(if key == chunk.start { "(" } else { ", (" });
                for (position, field) in fields.iter().enumerate() {
                    sql.push_str(if position > 0 { ", '" } else { "'" });
                    // No generated text holds a quote or a backslash.
                    sql.push_str(&String::from_utf8_lossy(field));
                    sql.push('\'');
                }
                sql.push(')');
            }
            connection.query_drop(sql)?;
            rows_open += chunk.end - chunk.start;
            if rows_open >= CHUNK_ROWS {
                connection.query_drop("COMMIT")?;
                connection.query_drop("BEGIN")?;
                rows_open = 0;
            }
            self.told(chunk.end - 1);
            if self.is_interrupted() {
                break;
            }
        }
        connection.query_drop("COMMIT")
    }

    /// All keys in ranges of `rows`.
    fn chunks(&self, rows: u64) -> impl Iterator<Item = std::ops::Range<u64>> + use<> {
        let end = self.layout.rows + 1;
        let starts = (1..end).step_by(usize::try_from(rows).unwrap_or(usize::MAX));
        starts.map(move |start| start..end.min(start + rows))
    }
}
