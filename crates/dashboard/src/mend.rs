//! `dashboard mend`: a SQLite file as the article's author found it, copied into one with true
//! declarations, as PostgreSQL needs them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::ProgressBar;
use rusqlite::{Connection, ErrorCode};

use crate::database::{self, CommandTransaction, SqlDialect, from_clients, stop_when_interrupted};
use crate::new_file::{self, NewFile};
use crate::rollup;
use crate::schema::{
    self, ColumnType, Declarations, TABLES, TableDefinition, column_names, create_indexes,
    create_tables, sqlite_declarations, watch_changes,
};

/// Why no repaired file was made. Nothing is left behind then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file has neither the declarations as found nor our own.
    #[error("{path} cannot be repaired: {reason}")]
    Schema { path: String, reason: schema::Error },
    /// Both names are those of one file.
    #[error("{path} cannot be repaired into itself; name another file for the copy")]
    SameFile { path: String },
    /// A value is longer than our own declaration, too.
    #[error(
        "{path} cannot be repaired: {count} values of {table}.{column} are longer than {length} \
         characters; shorten them first"
    )]
    TooLong { path: String, table: &'static str, column: &'static str, count: u32, length: u32 },
    /// The copy does not have the rows of the original.
    #[error("table {table}: {found} rows were found, but {copied} copied; the copy is not kept")]
    Incomplete { table: &'static str, found: u64, copied: u64 },
    /// The user asked to stop.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// The new file cannot be made.
    #[error(transparent)]
    NewFile(#[from] new_file::Error),
    #[error(transparent)]
    Database(#[from] database::Error),
    /// The totals cannot be made.
    #[error(transparent)]
    Totals(rollup::Error),
}

impl From<rollup::Error> for Error {
    fn from(error: rollup::Error) -> Self {
        match error {
            rollup::Error::Interrupted => Self::Interrupted,
            rollup::Error::Database(error) => error.into(),
            error => Self::Totals(error),
        }
    }
}

from_clients!(Error);

/// Copies a dashboard's file, as found or with our own declarations, into the new file `repaired`
/// with our own; the number of rows copied. `replace` allows `repaired` to be a dashboard already.
///
/// # Errors
/// [`Error`] says which; `repaired` then does not exist.
pub fn mend(
    as_found: &Path,
    repaired: &Path,
    replace: bool,
    progress: &ProgressBar,
    interrupted: &Arc<AtomicBool>,
) -> Result<u64, Error> {
    let original = connect::sqlite::open_existing(as_found)?;
    sqlite_declarations(&original)
        .map_err(|reason| Error::Schema { path: as_found.display().to_string(), reason })?;
    check_lengths(&original, as_found)?;
    drop(original);
    if is_same_file(as_found, repaired) {
        return Err(Error::SameFile { path: repaired.display().to_string() });
    }
    let file = NewFile::begin(repaired, replace)?;
    let rows =
        copy(as_found, file.path(), progress, interrupted).map_err(|error| match &error {
            Error::Database(database::Error::Sqlite(reason)) => match reason.sqlite_error_code() {
                Some(ErrorCode::OperationInterrupted) => Error::Interrupted,
                Some(ErrorCode::DiskFull) => {
                    new_file::Error::DiskFull { path: repaired.to_owned() }.into()
                }
                _ => error,
            },
            _ => error,
        })?;
    file.finish()?;
    Ok(rows)
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn check_lengths(original: &Connection, as_found: &Path) -> Result<(), Error> {
    for table in TABLES {
        for column in table.columns {
            let ColumnType::Varchar(length) = column.column_type else { continue };
            let (table, column) = (table.name.name(), column.name.name());
            let sql = format!("SELECT count(*) FROM {table} WHERE length({column}) > {length}");
            let count: u32 = original.query_row(&sql, [], |row| row.get(0))?;
            if count > 0 {
                let path = as_found.display().to_string();
                return Err(Error::TooLong { path, table, column, count, length });
            }
        }
    }
    Ok(())
}

fn copy(
    as_found: &Path,
    repaired: &Path,
    progress: &ProgressBar,
    interrupted: &Arc<AtomicBool>,
) -> Result<u64, Error> {
    let mut connection = connect::sqlite::create(repaired)?;
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF",
    )?;
    connection.execute("ATTACH ?1 AS found", [as_found.to_string_lossy()])?;
    stop_when_interrupted(&mut connection, interrupted)?;
    let transaction = connection.transaction()?;
    for statement in create_tables(SqlDialect::Sqlite, Declarations::Own) {
        transaction.execute(&statement, [])?;
    }
    let mut rows = 0;
    for table in TABLES {
        progress.set_message(table.name.name());
        rows += copy_table(&transaction, table)?;
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
    }
    progress.set_message("indexes and statistics");
    for statement in create_indexes(SqlDialect::Sqlite) {
        transaction.execute(&statement, [])?;
    }
    transaction.execute("ANALYZE main", [])?;
    transaction.execute("UPDATE schema_version SET data_version = 0, totals_version = NULL", [])?;
    let totals = CommandTransaction::Sqlite(&transaction);
    rollup::make(&totals)?;
    rollup::fill(&totals, progress, interrupted)?;
    for statement in watch_changes(SqlDialect::Sqlite) {
        totals.batch(&statement)?;
    }
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(rows)
}

/// In the order of the primary key, so that the copy is written from front to back.
fn copy_table(connection: &Connection, table: &TableDefinition) -> Result<u64, Error> {
    let name = table.name.name();
    let columns = column_names(table.name).join(", ");
    let key: Vec<_> = table.primary_key.iter().map(|column| column.name()).collect();
    let copied = connection.execute(
        &format!(
            "INSERT INTO main.{name} ({columns}) SELECT {columns} FROM found.{name} ORDER BY {}",
            key.join(", ")
        ),
        [],
    )? as u64;
    let count = |database: &str| -> Result<u64, rusqlite::Error> {
        let sql = format!("SELECT count(*) FROM {database}.{name}");
        connection.query_row(&sql, [], |row| row.get::<_, u32>(0)).map(u64::from)
    };
    let (found, written) = (count("found")?, count("main")?);
    if copied != found || written != found {
        return Err(Error::Incomplete { table: name, found, copied: copied.min(written) });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use engine::DatabaseUrl;

    use super::*;
    use crate::generate::{DatasetOptions, generate};
    use crate::{account, key};

    struct Place {
        folder: tempfile::TempDir,
        as_found: PathBuf,
    }

    impl Place {
        fn new(as_found: bool) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("found.db");
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            generate(
                &DatabaseUrl::Sqlite(path.clone()),
                &DatasetOptions { as_found, ..DatasetOptions::scaled(0.001) },
                runtime.handle(),
                &ProgressBar::hidden(),
                &Arc::new(AtomicBool::new(false)),
            )
            .unwrap();
            Self { folder, as_found: path }
        }

        fn mend(&self) -> Result<u64, Error> {
            let repaired = self.folder.path().join("repaired.db");
            let interrupted = Arc::new(AtomicBool::new(false));
            mend(&self.as_found, &repaired, false, &ProgressBar::hidden(), &interrupted)
        }

        fn change(&self, sql: &str) {
            Connection::open(&self.as_found).unwrap().execute_batch(sql).unwrap();
        }

        fn has_repaired(&self) -> bool {
            let names = self.folder.path().read_dir().unwrap();
            names.map(|entry| entry.unwrap().file_name()).any(|name| name != "found.db")
        }
    }

    #[test]
    fn the_copy_has_our_declarations_and_the_same_rows() {
        for as_found in [true, false] {
            let place = Place::new(as_found);
            let rows = place.mend().unwrap();
            // 6,500 facts, 8 articles, 524 names, 817 days of 2 blogs, 1 version
            assert_eq!(rows, 6_500 + 8 + 524 + 2 * 817 + 1);
            let copy = Connection::open(place.folder.path().join("repaired.db")).unwrap();
            schema::check_sqlite(&copy).unwrap();
            copy.execute("ATTACH ?1 AS found", [place.as_found.to_str().unwrap()]).unwrap();
            // The copy has totals, which the file as found has not: `schema_version` says so.
            for table in TABLES.iter().filter(|table| table.name != schema::Table::SchemaVersion) {
                let name = table.name.name();
                let difference =
                    format!("SELECT * FROM main.{name} EXCEPT SELECT * FROM found.{name}");
                let sql = format!("SELECT count(*) FROM ({difference})");
                assert_eq!(copy.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
            }
        }
    }

    #[test]
    fn a_backup_keeps_accounts_and_the_ends_of_keys() {
        let place = Place::new(false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let found = DatabaseUrl::Sqlite(place.as_found.clone());
        let repaired = DatabaseUrl::Sqlite(place.folder.path().join("repaired.db"));
        let password = account::Password::chosen("a long password").unwrap();
        runtime.block_on(account::add(&found, "ann", password)).unwrap();
        runtime.block_on(key::add(&found, "laptop", Some(Duration::from_secs(60)))).unwrap();
        place.mend().unwrap();
        let of = |database| {
            let accounts = runtime.block_on(account::list(database)).unwrap();
            (accounts, runtime.block_on(key::list(database)).unwrap())
        };
        let (accounts, keys) = of(&repaired);
        assert_eq!((accounts.len(), keys.len()), (1, 1));
        assert_eq!((accounts, keys), of(&found));
    }

    #[test]
    fn another_schema_and_values_that_do_not_fit_are_refused() {
        let place = Place::new(true);
        let long = "UPDATE articles SET slug = printf('%.*c', 513, 'x') WHERE id = 3";
        place.change(long);
        let refused = place.mend().unwrap_err().to_string();
        assert!(refused.contains("1 values of articles.slug are longer than 512"), "{refused}");
        place.change("ALTER TABLE teams ADD COLUMN city text");
        let refused = place.mend().unwrap_err().to_string();
        assert!(refused.contains("column teams.city is unknown"), "{refused}");
        assert!(!place.has_repaired());
    }

    #[test]
    fn the_original_is_never_replaced_by_its_copy() {
        let place = Place::new(true);
        let interrupted = Arc::new(AtomicBool::new(false));
        let itself = place.folder.path().join("./found.db");
        let refused =
            mend(&place.as_found, &itself, true, &ProgressBar::hidden(), &interrupted).unwrap_err();
        assert!(matches!(refused, Error::SameFile { .. }), "{refused}");
    }

    #[test]
    fn an_interruption_leaves_nothing_behind() {
        let place = Place::new(true);
        let repaired = place.folder.path().join("repaired.db");
        let interrupted = Arc::new(AtomicBool::new(true));
        let outcome = mend(&place.as_found, &repaired, false, &ProgressBar::hidden(), &interrupted);
        assert!(matches!(outcome, Err(Error::Interrupted)), "{outcome:?}");
        assert!(!place.has_repaired());
    }
}
