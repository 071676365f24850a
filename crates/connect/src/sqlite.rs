//! Opening SQLite files with clear errors, and its pragmas as settings that are read back:
//! SQLite ignores an unknown pragma in silence, a measurement must not.

pub mod file;
mod prepared;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use engine::nearest;

use crate::Error;

pub use prepared::{PreparedConnection, PreparedStatements};

/// Opens an existing database for reading only.
pub fn open_read_only(path: &Path) -> Result<Connection, Error> {
    refuse_without_content(path)?;
    open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// Opens an existing database for reading and writing.
pub fn open_existing(path: &Path) -> Result<Connection, Error> {
    refuse_without_content(path)?;
    open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// Opens a database for reading and writing and makes the file if there is none (or an empty one).
pub fn create(path: &Path) -> Result<Connection, Error> {
    open(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
}

/// Makes a database that only its owner can read: a copy must expose nothing, wherever it lies.
pub fn create_private(path: &Path) -> Result<Connection, Error> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    made.map_err(|error| cannot_open(path, &error.to_string()))?;
    create(path)
}

/// SQLite takes an empty file for an empty database. Nothing is opened here: this process may hold
/// SQLite's locks on the file, which closing it would drop.
fn refuse_without_content(path: &Path) -> Result<(), Error> {
    match path.metadata() {
        Ok(file) if file.is_file() && file.len() == 0 => Err(not_sqlite(path, "it is empty")),
        // To open a pipe would wait for its writer.
        Ok(file) if !file.is_file() && !file.is_dir() => {
            Err(not_sqlite(path, "it is not a regular file"))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(Error::NoSuchFile { path: path.to_owned() })
        }
        _ => Ok(()),
    }
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    // Not as a URI: a file may be called `a?b.db`.
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection =
        Connection::open_with_flags(path, flags).map_err(|error| explain(path, &error))?;
    // SQLite opens lazily; the first read finds what is wrong with the file.
    connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))
        .map_err(|error| explain(path, &error))?;
    Ok(connection)
}

fn not_sqlite(path: &Path, problem: &str) -> Error {
    Error::NotSqlite { path: path.to_owned(), problem: problem.to_owned() }
}

fn cannot_open(path: &Path, problem: &str) -> Error {
    Error::CannotOpen { path: path.to_owned(), problem: problem.to_owned() }
}

fn explain(path: &Path, error: &rusqlite::Error) -> Error {
    use rusqlite::ErrorCode::{CannotOpen, DatabaseBusy, NotADatabase, ReadOnly};
    if path.is_dir() {
        return not_sqlite(path, "it is a folder");
    }
    match error.sqlite_error_code() {
        Some(NotADatabase) => {
            not_sqlite(path, "its first bytes are not those of a SQLite file (or it is encrypted)")
        }
        Some(CannotOpen) => match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
                cannot_open(path, &format!("there is no folder {}", parent.display()))
            }
            _ => cannot_open(path, "check the rights on the file and on its folder"),
        },
        Some(DatabaseBusy) => {
            cannot_open(path, "another program holds it locked; close that first")
        }
        Some(ReadOnly) => cannot_open(path, "it may not be written; check its rights"),
        _ => cannot_open(path, &error.to_string()),
    }
}

/// The version of the SQLite that is built in, for example `3.51.1`.
#[must_use]
pub fn version() -> &'static str {
    rusqlite::version()
}

/// `PRAGMA compile_options`: how the SQLite that is built in was compiled.
pub fn compile_options() -> Result<Vec<String>, Error> {
    column(&Connection::open_in_memory()?, "SELECT compile_options FROM pragma_compile_options")
}

fn column(connection: &Connection, sql: &str) -> Result<Vec<String>, Error> {
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// `name` as an identifier in SQL, quoted.
#[must_use]
pub fn quote_identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Sets each pragma on this connection and reads it back; what was read back, in order.
///
/// # Errors
/// [`Error::UnknownSetting`] with the nearest name; [`Error::SettingNotTaken`] if SQLite has
/// another value afterwards (an impossible value, or one that only an empty database takes).
pub fn pragmas<'a>(
    connection: &Connection,
    settings: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<(String, String)>, Error> {
    let known = column(connection, "SELECT name FROM pragma_pragma_list")?;
    let engine = format!("SQLite {}", version());
    let mut read_back = Vec::new();
    for (name, wanted) in settings {
        let name = name.to_lowercase();
        if !known.contains(&name) {
            let suggestion = nearest(&name, known.iter().map(String::as_str));
            return Err(Error::UnknownSetting { name, engine, suggestion });
        }
        set_pragma(connection, &name, wanted)?;
        let actual = read_pragma(connection, &name)?;
        check_taken(&name, wanted, &actual, engine.clone())?;
        read_back.push((name, actual));
    }
    Ok(read_back)
}

/// Refuses a setting that has another value than was asked for.
pub(crate) fn check_taken(
    name: &str,
    wanted: &str,
    actual: &str,
    engine: String,
) -> Result<(), Error> {
    if canonical(name, wanted) == canonical(name, actual) {
        return Ok(());
    }
    let hint = match name {
        "page_size" | "auto_vacuum" | "encoding" => ": only an empty database takes another value",
        "mmap_size" => ": this SQLite was compiled with that limit",
        _ => "",
    };
    let name = name.to_owned();
    let (wanted, actual, hint) = (wanted.to_owned(), actual.to_owned(), hint.to_owned());
    Err(Error::SettingNotTaken { name, wanted, actual, engine, hint })
}

/// `true` of the pragmas by which a statement would change what trials share: their file's journal, and
/// that they only read it.
#[must_use]
pub fn is_shared_by_trials(pragma: &str) -> bool {
    ["query_only", "journal_mode"].iter().any(|one| pragma.eq_ignore_ascii_case(one))
}

/// The pragmas that results depend on most.
pub const SHOWN_PRAGMAS: [&str; 9] = [
    "journal_mode",
    "synchronous",
    "cache_size",
    "mmap_size",
    "page_size",
    "wal_autocheckpoint",
    "busy_timeout",
    "foreign_keys",
    "encoding",
];

/// Sets each pragma as [`pragmas`] does; what was read back, then those of [`SHOWN_PRAGMAS`] that
/// were not set.
pub fn settings<'a>(
    connection: &Connection,
    settings: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<(String, String)>, Error> {
    let mut shown = pragmas(connection, settings)?;
    for name in SHOWN_PRAGMAS {
        if !shown.iter().any(|(known, _)| known == name) {
            shown.push((name.to_owned(), read_pragma(connection, name)?));
        }
    }
    Ok(shown)
}

fn set_pragma(connection: &Connection, name: &str, value: &str) -> Result<(), Error> {
    let number = value.parse::<i64>();
    let ignore_row = |_: &rusqlite::Row<'_>| Ok(());
    // A quoted word is taken like a bare one, so no value can be anything but a value.
    match number {
        Ok(number) => connection.pragma(None, name, number, ignore_row)?,
        Err(_) => connection.pragma(None, name, value, ignore_row)?,
    }
    Ok(())
}

/// The value of a pragma; empty where it has none.
pub fn read_pragma(connection: &Connection, name: &str) -> Result<String, Error> {
    let value =
        connection.pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0));
    Ok(match value {
        Ok(rusqlite::types::Value::Integer(number)) => number.to_string(),
        Ok(rusqlite::types::Value::Real(number)) => number.to_string(),
        Ok(rusqlite::types::Value::Text(text)) => text,
        Ok(_) | Err(rusqlite::Error::QueryReturnedNoRows) => String::new(),
        Err(error) => return Err(error.into()),
    })
}

/// Words and numbers for the same value, brought to one form
/// (<https://www.sqlite.org/pragma.html>).
fn canonical(name: &str, value: &str) -> String {
    let value = value.trim().to_lowercase();
    let words: &[&str] = match name {
        "synchronous" => &["off", "normal", "full", "extra"],
        "temp_store" => &["default", "file", "memory"],
        "auto_vacuum" => &["none", "full", "incremental"],
        _ => match value.as_str() {
            "off" | "no" | "false" => return "0".to_owned(),
            "on" | "yes" | "true" => return "1".to_owned(),
            _ => return value,
        },
    };
    words.iter().position(|word| *word == value).map_or(value, |number| number.to_string())
}
