//! The user's own statements: files or folders of SQL, one statement measured at a time, with
//! `query.postgres.sql` beside `query.sql` where PostgreSQL needs other words.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use engine::EngineKind;
use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use sql::{Token, tokens};

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
    for file in plan::sql_files(paths).map_err(Error::Usage)? {
        for path in file.paths() {
            refuse_database("--sql", path, connection)?;
        }
        for found in file.statements().map_err(Error::Usage)? {
            let own = found.for_kind(EngineKind::Sqlite);
            let text = without_comments(&own.text);
            let written = WrittenStatement { path: &own.path, line: own.line, text };
            let mut statement = written.check(&[], connection, names)?;
            let postgres = found.twins.get(&EngineKind::Postgres);
            statement.postgres_text = postgres.map(|twin| without_comments(&twin.text));
            statement.name = found.name;
            statements.push(statement);
        }
    }
    number_equal_names(&mut statements);
    Ok(statements)
}

/// A statement without the comments around it.
pub fn without_comments(text: &str) -> String {
    let tokens = tokens(text);
    let start = tokens.first().map_or(0, |token| token.start);
    let end = tokens.last().map_or(0, Token::end);
    text.get(start..end).unwrap_or_default().to_owned()
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

/// Names are unique in a plan.
pub fn number_equal_names(statements: &mut [MeasuredStatement]) {
    plan::number_equal(statements.iter_mut().map(|statement| &mut statement.name));
}

/// Refuses the file of `connection`: closing a second descriptor of it would drop SQLite's locks.
pub fn refuse_database(flag: &str, path: &Path, connection: &Connection) -> Result<()> {
    let database = connection.path().map(Path::new);
    match database.is_some_and(|database| connect::sqlite::file::is_part_of(path, database)) {
        true => Err(Error::Usage(format!(
            "{flag}: name another file than the database {}",
            path.display()
        ))),
        false => Ok(()),
    }
}

/// One statement as written in a file.
struct WrittenStatement<'a> {
    path: &'a Path,
    line: usize,
    text: String,
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
            return Err(refuse(format!("{first} is not a query; {reads_only}")));
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
            ("SELECT 1;\nDELETE FROM plain", "q.sql, line 2: DELETE is not a query"),
            ("WITH x AS (SELECT 1)\nINSERT INTO plain SELECT * FROM x", "line 1: it writes"),
            ("PRAGMA user_version", "PRAGMA is not a query"),
            ("\n\nSELECT 1,\n  b FROM plain", "line 4: SQLite: no such column: b"),
            ("SELECT * FORM plain", "line 1: SQLite: near \"FORM\""),
            ("SELECT * FROM plain WHERE a = :id", "the parameter :id"),
            ("-- nothing", "q.sql holds no statement"),
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
