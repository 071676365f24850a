//! A connection to SQLite by a library of the user's, in a client process: the same work as that of the
//! connections to the SQLite that is built in.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use connect::SqliteCounters;
use connect::sqlite_library::{
    BusyWait, LibraryConnection, LibraryError, LibraryStatement, SqliteLibrary,
};
use rusqlite::ToSql as _;
use rusqlite::ffi::{SQLITE_BUSY, SQLITE_LOCKED};
use rusqlite::types::ToSqlOutput;

use super::answer::AnswerTable;
use super::client::{Control, Seen, SqlError, SqlSession, check_parameters};
use super::script::{Script, ScriptStep};
use super::sqlite::{BUSY_TIMEOUT, OpenMode, SHARED_PRAGMA, hash_of, value_of};
use super::value::AnswerValue;
use crate::workload::Counters;

pub(super) struct LibrarySession {
    connection: LibraryConnection,
    /// Prepared statements by their text.
    statements: BTreeMap<String, LibraryStatement>,
    /// By script, whether it has been prepared.
    scripts: Vec<bool>,
    counted: SqliteCounters,
}

impl LibrarySession {
    /// Opens the file with these settings, which are returned as read back.
    pub(super) fn open(
        library: &Arc<SqliteLibrary>,
        path: &Path,
        access: OpenMode,
        settings: &[(String, String)],
    ) -> Result<(Self, Vec<(String, String)>), LibraryError> {
        let read_only = access == OpenMode::ReadOnly;
        let wait = BusyWait::Timeout(BUSY_TIMEOUT);
        let connection = LibraryConnection::open(library, path, read_only, wait)?;
        let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let read_back = connection.settings(settings)?;
        if access == OpenMode::QueryOnly {
            connection.execute("PRAGMA query_only = 1")?;
            connection.keep_shared()?;
        }
        let (statements, scripts) = (BTreeMap::new(), Vec::new());
        let counted = SqliteCounters::default();
        Ok((Self { connection, statements, scripts, counted }, read_back))
    }

    fn begun(
        &mut self,
        sql: &str,
        binds: &[usize],
        values: &[AnswerValue],
    ) -> Result<&mut LibraryStatement, SqlError> {
        if !self.statements.contains_key(sql) {
            let statement = self.connection.prepare(sql).map_err(refused)?;
            check_parameters(statement.parameter_count(), binds.len())?;
            self.statements.insert(sql.to_owned(), statement);
        }
        let missing = || SqlError::Lost("a prepared statement is gone".to_owned());
        let statement = self.statements.get_mut(sql).ok_or_else(missing)?;
        statement.reset();
        for (index, place) in binds.iter().enumerate() {
            bind(statement, index + 1, values.get(*place).unwrap_or(&AnswerValue::Null))?;
        }
        Ok(statement)
    }

    fn table(
        &mut self,
        sql: &str,
        binds: &[usize],
        values: &[AnswerValue],
    ) -> Result<AnswerTable, SqlError> {
        let statement = self.begun(sql, binds, values)?;
        let count = statement.column_count();
        let columns = (0..count).map(|column| statement.column_name(column)).collect();
        let mut table = AnswerTable { columns, ..AnswerTable::default() };
        while statement.step().map_err(refused)? {
            let row = (0..count).map(|column| value_of(statement.column(column)));
            table.rows.push(row.collect());
        }
        statement.reset();
        if table.columns.is_empty() {
            table.affected = self.connection.changes();
        }
        Ok(table)
    }
}

impl SqlSession for LibrarySession {
    fn prepare(&mut self, script: &Script) -> Result<bool, SqlError> {
        if self.scripts.get(script.id).is_some_and(|prepared| *prepared) {
            return Ok(false);
        }
        for ScriptStep { sql, binds, .. } in &script.steps {
            self.begun(sql, binds, &[])?.reset();
        }
        if self.scripts.len() <= script.id {
            self.scripts.resize(script.id + 1, false);
        }
        self.scripts[script.id] = true;
        Ok(true)
    }

    fn execute(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<Seen, SqlError> {
        let Some(step) = script.steps.get(step) else { return Ok(Seen::default()) };
        let statement = self.begun(&step.sql, &step.binds, values)?;
        let columns = statement.column_count();
        let ignored: Vec<bool> = match script.ignored.is_empty() {
            true => Vec::new(),
            false => {
                (0..columns).map(|column| script.ignores(&statement.column_name(column))).collect()
            }
        };
        let mut seen = Seen::default();
        while statement.step().map_err(refused)? {
            let mut hash = 0;
            for column in (0..columns).filter(|column| ignored.get(*column) != Some(&true)) {
                hash = hash_of(statement.column(column), hash);
            }
            seen.rows += 1;
            seen.hash = seen.hash.wrapping_add(hash);
        }
        statement.reset();
        if columns == 0 {
            seen.rows = self.connection.changes();
        }
        Ok(seen)
    }

    fn fetch(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<AnswerTable, SqlError> {
        let Some(step) = script.steps.get(step) else { return Ok(AnswerTable::default()) };
        self.table(&step.sql, &step.binds, values)
    }

    fn explain(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<String, SqlError> {
        let Some(step) = script.steps.get(step) else { return Ok(String::new()) };
        let explained = format!("EXPLAIN QUERY PLAN {}", step.sql);
        let table = self.table(&explained, &step.binds, values)?;
        let number = |value: Option<&AnswerValue>| match value {
            Some(AnswerValue::Integer(number)) => *number,
            _ => 0,
        };
        let steps = table.rows.iter().map(|row| {
            let detail = match row.get(3) {
                Some(AnswerValue::Text(detail)) => detail.clone(),
                _ => String::new(),
            };
            (number(row.first()), number(row.get(1)), detail)
        });
        Ok(host::sqlite::plan_tree(steps))
    }

    fn control(&mut self, control: Control) -> Result<(), SqlError> {
        let statement = self.begun(control.sqlite_text(), &[], &[])?;
        statement.step().map_err(refused)?;
        statement.reset();
        Ok(())
    }

    fn query(&mut self, sql: &str) -> Result<AnswerTable, SqlError> {
        self.table(sql, &[], &[])
    }

    fn counters(&mut self) -> Counters {
        let mut counted = self.connection.take_counters();
        self.statements.values().for_each(|statement| statement.add_counters(&mut counted));
        self.counted.add(&counted);
        self.counted.named().into_iter().map(|(name, _, n)| (name.to_owned(), n as f64)).collect()
    }
}

/// The part of an extended result code that is the primary one.
const PRIMARY_CODE: i32 = 0xff;

fn bind(
    statement: &mut LibraryStatement,
    place: usize,
    value: &AnswerValue,
) -> Result<(), SqlError> {
    match value.to_sql() {
        Ok(ToSqlOutput::Borrowed(value)) => statement.bind(place, value).map_err(refused),
        _ => Err(SqlError::Refused { message: "a value cannot be bound".to_owned(), line: 0 }),
    }
}

fn refused(error: LibraryError) -> SqlError {
    let message = match &error {
        LibraryError::Refused { code, .. } if *code == rusqlite::ffi::SQLITE_AUTH => {
            SHARED_PRAGMA.to_owned()
        }
        LibraryError::Refused { code, .. }
            if [SQLITE_BUSY, SQLITE_LOCKED].contains(&(code & PRIMARY_CODE)) =>
        {
            return SqlError::Busy { message: error.to_string() };
        }
        error => error.to_string(),
    };
    SqlError::Refused { message, line: 0 }
}
