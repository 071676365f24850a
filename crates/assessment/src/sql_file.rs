//! The user's own statements: files or folders of SQL, one statement measured at a time, with
//! `query.postgres.sql` beside `query.sql` where PostgreSQL needs other words.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use sql::{Dialect, tokens};

use crate::error::{Error, Result};
use crate::names::QuotedNames;
use crate::statement::MeasuredStatement;

/// Reads every statement of `paths` (files, or folders with `.sql` files) and tries it on
/// `connection`: what writes, takes parameters or is not understood is refused by file and line.
pub fn read(
    paths: &[PathBuf],
    connection: &mut Connection,
    names: &QuotedNames,
) -> Result<Vec<MeasuredStatement>> {
    let mut statements = Vec::new();
    for path in files(paths)? {
        let written = split(&read_text(&path, connection)?, &path, Dialect::Sqlite)?;
        let twins = twins(&path, &written, connection)?;
        let alone = written.len() == 1;
        for (place, piece) in written.iter().enumerate() {
            let mut statement = piece.check(&[], connection, names)?;
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            statement.name =
                if alone { stem.into_owned() } else { format!("{stem}:{}", piece.line) };
            statement.postgres_text = twins.get(place).map(|twin| twin.text.clone());
            statements.push(statement);
        }
    }
    if statements.is_empty() {
        let named: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        return Err(Error::Usage(format!("{}: there is no SQL statement in it", named.join(", "))));
    }
    number_equal_names(&mut statements);
    Ok(statements)
}

/// A single statement, of a line of a file of another kind. Values are known for `parameters`.
pub fn one(
    path: &Path,
    line: usize,
    text: &str,
    parameters: Vec<String>,
    connection: &mut Connection,
    names: &QuotedNames,
) -> Result<MeasuredStatement> {
    let text = text.trim().trim_end_matches(';').to_owned();
    WrittenStatement { path, line, text }.check(&parameters, connection, names)
}

/// QuotedNames are unique in a plan; two folders may hold files of one name.
pub fn number_equal_names(statements: &mut [MeasuredStatement]) {
    let mut seen = BTreeSet::new();
    for statement in statements {
        let name = statement.name.clone();
        let mut number = 2;
        while !seen.insert(statement.name.clone()) {
            statement.name = format!("{name} ({number})");
            number += 1;
        }
    }
}

fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in paths {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        let entries =
            std::fs::read_dir(path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        let entries = entries.map_err(Error::io("read the folder", path))?;
        let mut inside: Vec<PathBuf> =
            entries.iter().map(std::fs::DirEntry::path).filter(|file| is_query(file)).collect();
        inside.sort();
        if inside.is_empty() {
            return Err(Error::Usage(format!("{}: no file in it ends in .sql", path.display())));
        }
        found.extend(inside);
    }
    Ok(found)
}

/// `query.sql`, not `query.postgres.sql`.
fn is_query(path: &Path) -> bool {
    let is_twin = path.file_stem().is_some_and(|stem| Path::new(stem).extension().is_some());
    path.extension().is_some_and(|extension| extension == "sql") && !is_twin && path.is_file()
}

/// Refuses the file of `connection`: closing a second descriptor of it would drop SQLite's locks.
pub fn refuse_database(flag: &str, path: &Path, connection: &Connection) -> Result<()> {
    let database = connection.path().map(Path::new);
    match database.is_some_and(|database| engine::sqlite::file::is_part_of(path, database)) {
        true => Err(Error::Usage(format!(
            "{flag}: name another file than the database {}",
            path.display()
        ))),
        false => Ok(()),
    }
}

fn read_bytes(flag: &str, path: &Path, connection: &Connection) -> Result<Vec<u8>> {
    refuse_database(flag, path, connection)?;
    let refused = |why: &str| Err(Error::Usage(format!("{flag}: {why} {}", path.display())));
    match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => refused("there is no file"),
        other => other.map_err(Error::io("read", path)),
    }
}

fn read_text(path: &Path, connection: &Connection) -> Result<String> {
    let bytes = read_bytes("--sql", path, connection)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to();
        Error::Usage(format!("{}: no UTF-8 text (byte {})", path.display(), place + 1))
    })?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

/// One statement as it stands in a file.
struct WrittenStatement<'a> {
    path: &'a Path,
    line: usize,
    text: String,
}

/// The statements of a file, without the comments around them.
fn split<'a>(text: &str, path: &'a Path, dialect: Dialect) -> Result<Vec<WrittenStatement<'a>>> {
    let parts = sql::split(text, dialect).map_err(|(line, message)| {
        Error::Usage(format!("{}, line {line}: {message}", path.display()))
    })?;
    let piece = |part: sql::Part| {
        let tokens = tokens(&part.text);
        let start = tokens.first().map_or(0, |token| token.start);
        let end = tokens.last().map_or(0, |token| token.end());
        WrittenStatement { path, line: part.line, text: part.text[start..end].to_owned() }
    };
    Ok(parts.into_iter().map(piece).collect())
}

/// The statements of `query.postgres.sql`, as many as those of `query.sql`.
fn twins(
    path: &Path,
    written: &[WrittenStatement<'_>],
    connection: &Connection,
) -> Result<Vec<MeasuredStatement>> {
    let twin = path.with_extension("postgres.sql");
    if !twin.is_file() {
        return Ok(Vec::new());
    }
    let pieces = split(&read_text(&twin, connection)?, &twin, Dialect::Postgres)?;
    if pieces.len() != written.len() {
        let (found, wanted) = (pieces.len(), written.len());
        let twin = twin.display();
        return Err(Error::Usage(format!(
            "{twin} holds {found} statements and {} holds {wanted}: they belong together",
            path.display()
        )));
    }
    pieces.iter().map(|piece| Ok(piece.statement(piece.text.clone()))).collect()
}

impl WrittenStatement<'_> {
    fn place(&self, line: usize) -> String {
        format!("{}, line {line}", self.path.display())
    }

    fn statement(&self, text: String) -> MeasuredStatement {
        MeasuredStatement {
            text,
            place: Some(self.place(self.line)),
            ..MeasuredStatement::default()
        }
    }

    /// Refuses what cannot be measured, in words that name the place and the way out.
    fn check(
        &self,
        parameters: &[String],
        connection: &mut Connection,
        names: &QuotedNames,
    ) -> Result<MeasuredStatement> {
        let refuse = |what: String| Error::Usage(format!("{}: {what}", self.place(self.line)));
        let first = tokens(&self.text).first().map_or("", |token| token.text).to_uppercase();
        let reads_only = "only statements that read are tried (SELECT, WITH, VALUES); for others \
                          write a plan (docs/reference/plans.md)";
        if !["SELECT", "WITH", "VALUES"].contains(&first.as_str()) {
            return Err(refuse(format!("{first} is no query; {reads_only}")));
        }
        let tables = tables_read(connection, &self.text).map_err(|error| self.explain(error))?;
        // The names as PostgreSQL needs them; kept only if SQLite still understands them.
        let quoted = names.quoted(&self.text);
        let text = if connection.prepare(&quoted).is_ok() { quoted } else { self.text.clone() };
        let statement = connection.prepare(&text).map_err(|error| self.explain(error))?;
        if !statement.readonly() {
            return Err(refuse(format!("it writes; {reads_only}")));
        }
        let unknown = (1..=statement.parameter_count()).find_map(|place| {
            let name = statement.parameter_name(place).unwrap_or("?");
            let is_known = parameters.iter().any(|known| name.strip_prefix(':') == Some(known));
            (!is_known).then_some(name)
        });
        if let Some(name) = unknown {
            return Err(refuse(format!(
                "it takes the parameter {name}: put a value in its place, or give it values in the \
                 plan that `crossover try` writes without it (docs/reference/plans.md, parameters)"
            )));
        }
        Ok(MeasuredStatement { tables, ..self.statement(text) })
    }

    /// SQLite's complaint with the line in which it arose.
    fn explain(&self, error: rusqlite::Error) -> Error {
        let (message, offset) = match &error {
            rusqlite::Error::SqlInputError { msg, offset, .. } => (msg.clone(), *offset),
            rusqlite::Error::SqliteFailure(_, Some(message)) => (message.clone(), 0),
            other => (other.to_string(), 0),
        };
        let before = self.text.get(..usize::try_from(offset).unwrap_or(0)).unwrap_or_default();
        let line = self.line + before.matches('\n').count();
        Error::Usage(format!("{}: SQLite: {message}", self.place(line)))
    }
}

/// The tables that a statement reads, views looked through, by SQLite's own account.
fn tables_read(connection: &mut Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let seen = Arc::new(Mutex::new(Vec::<String>::new()));
    let collect = seen.clone();
    connection.authorizer(Some(move |context: AuthContext<'_>| {
        if let AuthAction::Read { table_name, .. } = context.action {
            let mut seen = collect.lock();
            seen.push(table_name.to_owned());
        }
        Authorization::Allow
    }))?;
    let prepared = connection.prepare(sql).map(drop);
    connection.authorizer(None::<fn(AuthContext<'_>) -> Authorization>)?;
    prepared?;
    let seen = seen.lock();
    // SQLite tells names as the statement writes them.
    let mut tables: Vec<String> = seen.clone();
    tables.sort_by_key(|name| name.to_ascii_lowercase());
    tables.dedup_by_key(|name| name.to_ascii_lowercase());
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_one(sql: &str) -> Result<Vec<MeasuredStatement>> {
        let mut connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE Orders(Id INTEGER PRIMARY KEY, total); CREATE TABLE plain(a); \
                 CREATE VIEW large AS SELECT * FROM Orders WHERE total > 9;",
            )
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("q.sql"), sql).unwrap();
        let names = QuotedNames::of(&migrate::schema(&connection).unwrap());
        read(&[folder.path().to_owned()], &mut connection, &names)
    }

    #[test]
    fn statements_are_split_named_by_line_and_know_their_tables() {
        let found =
            read_one("-- all\nSELECT id FROM orders;\n\n  SELECT ';' FROM large;\n;;").unwrap();
        let told: Vec<_> =
            found.iter().map(|each| (each.name.as_str(), each.text.as_str())).collect();
        let expected = [("q:2", "SELECT \"Id\" FROM \"Orders\""), ("q:4", "SELECT ';' FROM large")];
        assert_eq!(told, expected);
        assert_eq!(found[0].tables, ["Orders"]);
        assert!(found[1].tables.contains(&"Orders".to_owned()), "{:?}", found[1].tables);
    }

    #[test]
    fn what_cannot_be_measured_is_refused_by_file_and_line() {
        for (sql, expected) in [
            ("SELECT 1;\nDELETE FROM plain", "q.sql, line 2: DELETE is no query"),
            ("WITH x AS (SELECT 1)\nINSERT INTO plain SELECT * FROM x", "line 1: it writes"),
            ("PRAGMA user_version", "PRAGMA is no query"),
            ("\n\nSELECT 1,\n  b FROM plain", "line 4: SQLite: no such column: b"),
            ("SELECT * FORM plain", "line 1: SQLite: near \"FORM\""),
            ("SELECT * FROM plain WHERE a = :id", "the parameter :id"),
            ("-- nothing", "there is no SQL statement"),
        ] {
            let message = format!("{:#}", read_one(sql).unwrap_err());
            assert!(message.contains(expected), "{sql}: {message}");
        }
    }

    #[test]
    fn equal_names_are_told_apart() {
        let one = read_one("SELECT 1").unwrap();
        let mut two = [one.clone(), one].concat();
        number_equal_names(&mut two);
        assert_eq!([two[0].name.as_str(), two[1].name.as_str()], ["q", "q (2)"]);
    }
}
