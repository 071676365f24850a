//! A connection to SQLite, in the client's own thread: engine and client are one process.

use std::path::Path;
use std::time::Duration;

use connect::SqliteCounters;
use connect::sqlite::PreparedConnection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, InterruptHandle, Statement, ToSql};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::answer::AnswerTable;
use super::client::{Control, Seen, SqlError, SqlSession, check_parameters, line_of};
use super::lock_times::{self, LockTimes};
use super::script::{Script, ScriptStep};
use super::value::AnswerValue;
use crate::workload::Counters;
use host::sqlite;

/// How long a statement waits for another connection's lock.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a statement may not set a PRAGMA of [`connect::sqlite::is_shared_by_trials`].
pub(super) const SHARED_PRAGMA: &str = "this PRAGMA would change the copy of the data that trials share; a \
     setting belongs to its engine (sqlite[journal_mode=wal])";

/// The rights of connections to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OpenMode {
    /// A file of the user's, which is only read.
    ReadOnly,
    /// The run's copy, which settings may change and statements may not: later trials read it too.
    QueryOnly,
    /// A copy of one trial.
    Write,
}

pub(crate) struct SqliteSession {
    /// The steps of each script, by its number; none of a script that was not prepared.
    prepared: PreparedConnection,
    counted: SqliteCounters,
    /// Of a connection that may write.
    lock: Option<LockTimes>,
}

impl SqliteSession {
    /// Opens the file with the engine's settings, which are returned as read back.
    pub(crate) fn open<'s>(
        path: &Path,
        access: OpenMode,
        settings: impl Iterator<Item = (&'s str, &'s str)>,
    ) -> Result<(Self, Vec<(String, String)>), connect::Error> {
        let mut connection = match access {
            OpenMode::ReadOnly => connect::sqlite::open_read_only(path)?,
            OpenMode::QueryOnly | OpenMode::Write => connect::sqlite::open_existing(path)?,
        };
        connection.busy_handler(Some(lock_times::pause))?;
        let settings = connect::sqlite::settings(&connection, settings)?;
        if access == OpenMode::QueryOnly {
            connection.pragma_update(None, "query_only", true)?;
            connection.authorizer(Some(refuse_writing_pragmas))?;
        }
        let prepared = PreparedConnection::new(connection, |_| Vec::new());
        let lock = (access == OpenMode::Write).then(LockTimes::default);
        Ok((Self { prepared, counted: SqliteCounters::default(), lock }, settings))
    }

    fn connection(&self) -> &Connection {
        self.prepared.borrow_owner()
    }

    /// Ends what this connection is doing, from another thread.
    pub(crate) fn interrupt_handle(&self) -> InterruptHandle {
        self.connection().get_interrupt_handle()
    }

    /// Does something that may take the write lock, and notes its times.
    fn locking<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T, SqlError>,
    ) -> Result<T, SqlError> {
        let Some(mut lock) = self.lock.take() else { return run(self) };
        let done = lock.step(self, run, |session| !session.connection().is_autocommit());
        self.lock = Some(lock);
        done
    }

    /// Hands the statement of a step to `run` with its values bound.
    fn with_bound<T>(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
        run: impl FnOnce(&mut Statement<'_>) -> Result<T, SqlError>,
    ) -> Result<T, SqlError>
    where
        T: Default,
    {
        self.prepare(script)?;
        self.prepared.with_dependent_mut(|_, scripts| {
            let statement = scripts.get_mut(script.id).and_then(|steps| steps.get_mut(step));
            let Some((statement, step)) = statement.zip(script.steps.get(step)) else {
                return Ok(T::default());
            };
            bind(statement, step, values).map_err(refused)?;
            run(statement)
        })
    }

    fn take_counters(&mut self) -> Result<(), connect::Error> {
        let mut counted = SqliteCounters::take(self.connection())?;
        for statement in self.prepared.borrow_dependent().iter().flatten() {
            counted.add_statement(statement);
        }
        self.counted.add(&counted);
        Ok(())
    }
}

impl SqlSession for SqliteSession {
    fn prepare(&mut self, script: &Script) -> Result<bool, SqlError> {
        if self.prepared.borrow_dependent().get(script.id).is_some_and(|steps| !steps.is_empty()) {
            return Ok(false);
        }
        self.prepared.with_dependent_mut(|connection, scripts| {
            let prepared = script.steps.iter().map(|step| {
                let statement = connection.prepare(&step.sql).map_err(refused)?;
                check_parameters(statement.parameter_count(), step.binds.len())?;
                Ok(statement)
            });
            let prepared = prepared.collect::<Result<Vec<_>, SqlError>>()?;
            if scripts.len() <= script.id {
                scripts.resize_with(script.id + 1, Vec::new);
            }
            scripts[script.id] = prepared;
            Ok(true)
        })
    }

    fn execute(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<Seen, SqlError> {
        let changes_rows = script.steps.get(step).is_some_and(|step| step.changes_rows);
        let see = |statement: &mut Statement<'_>| {
            let columns = statement.column_count();
            let ignored = match script.ignored.is_empty() {
                true => Vec::new(),
                false => statement.column_names().map(|name| script.ignores(name)).collect(),
            };
            let mut rows = statement.raw_query();
            let mut seen = Seen::default();
            while let Some(row) = rows.next().map_err(refused)? {
                let mut hash = 0;
                for column in (0..columns).filter(|column| ignored.get(*column) != Some(&true)) {
                    hash = hash_of(row.get_ref(column).map_err(refused)?, hash);
                }
                seen.rows += 1;
                seen.hash = seen.hash.wrapping_add(hash);
            }
            Ok((seen, columns))
        };
        let (mut seen, columns) = match changes_rows {
            true => self.locking(|session| session.with_bound(script, step, values, see))?,
            false => self.with_bound(script, step, values, see)?,
        };
        if columns == 0 {
            seen.rows = self.connection().changes();
        }
        Ok(seen)
    }

    fn fetch(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<AnswerTable, SqlError> {
        let mut table = self.with_bound(script, step, values, table_of)?;
        if table.columns.is_empty() {
            table.affected = self.connection().changes();
        }
        Ok(table)
    }

    fn explain(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<String, SqlError> {
        let Some(step) = script.steps.get(step) else { return Ok(String::new()) };
        let bind = |statement: &mut Statement<'_>| bind(statement, step, values);
        sqlite::explain(self.connection(), &step.sql, bind).map_err(refused)
    }

    fn control(&mut self, control: Control) -> Result<(), SqlError> {
        let run = |session: &mut Self| {
            let sql = control.sqlite_text();
            let mut statement = session.connection().prepare_cached(sql).map_err(refused)?;
            statement.raw_execute().map_err(refused).map(drop)
        };
        if matches!(control, Control::Begin { locks: true }) {
            return self.locking(run);
        }
        let done = run(self);
        if let Some(lock) = self.lock.as_mut().filter(|_| !matches!(control, Control::Begin { .. }))
        {
            lock.end();
        }
        done
    }

    fn query(&mut self, sql: &str) -> Result<AnswerTable, SqlError> {
        let mut statement = self.connection().prepare_cached(sql).map_err(refused)?;
        check_parameters(statement.parameter_count(), 0)?;
        table_of(&mut statement)
    }

    fn scan(&mut self, sql: &str, show: &mut dyn FnMut(Vec<AnswerValue>)) -> Result<(), SqlError> {
        let mut statement = self.connection().prepare_cached(sql).map_err(refused)?;
        each_row(&mut statement, show)
    }

    fn counters(&mut self) -> Counters {
        // Counters that cannot be read are left unchanged.
        let _ = self.take_counters();
        let counted = self.counted.named().into_iter();
        let counted = counted.map(|(name, _, n)| (name.to_owned(), n as f64));
        counted.chain(self.lock.iter().flat_map(LockTimes::named)).collect()
    }
}

/// Refuses the PRAGMAs by which a connection of [`OpenMode::QueryOnly`] would write.
fn refuse_writing_pragmas(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Pragma { pragma_name, pragma_value: Some(_) }
            if connect::sqlite::is_shared_by_trials(pragma_name) =>
        {
            Authorization::Deny
        }
        _ => Authorization::Allow,
    }
}

fn bind(
    statement: &mut Statement<'_>,
    step: &ScriptStep,
    values: &[AnswerValue],
) -> rusqlite::Result<()> {
    for (index, place) in step.binds.iter().enumerate() {
        statement
            .raw_bind_parameter(index + 1, values.get(*place).unwrap_or(&AnswerValue::Null))?;
    }
    Ok(())
}

fn table_of(statement: &mut Statement<'_>) -> Result<AnswerTable, SqlError> {
    let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut table = AnswerTable { columns, ..AnswerTable::default() };
    each_row(statement, &mut |row| table.rows.push(row))?;
    Ok(table)
}

fn each_row(
    statement: &mut Statement<'_>,
    show: &mut dyn FnMut(Vec<AnswerValue>),
) -> Result<(), SqlError> {
    let columns = statement.column_count();
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next().map_err(refused)? {
        let value = |column| Ok(value_of(row.get_ref(column)?));
        let values = (0..columns).map(value).collect::<rusqlite::Result<_>>();
        show(values.map_err(refused)?);
    }
    Ok(())
}

pub(super) fn value_of(value: ValueRef<'_>) -> AnswerValue {
    match value {
        ValueRef::Null => AnswerValue::Null,
        ValueRef::Integer(integer) => AnswerValue::Integer(integer),
        ValueRef::Real(double) => AnswerValue::number(double),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => AnswerValue::text(text),
            Err(_) => AnswerValue::Bytes(bytes.to_owned()),
        },
        ValueRef::Blob(bytes) => AnswerValue::Bytes(bytes.to_owned()),
    }
}

/// The hash of a row up to and with this value.
pub(super) fn hash_of(value: ValueRef<'_>, seed: u64) -> u64 {
    match value {
        ValueRef::Null => seed.wrapping_add(1).rotate_left(9),
        ValueRef::Integer(integer) => xxh3_64_with_seed(&integer.to_ne_bytes(), seed),
        // See Seen::hash.
        ValueRef::Real(_) => seed.rotate_left(9),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => xxh3_64_with_seed(bytes, seed),
    }
}

impl ToSql for AnswerValue {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(integer) => ValueRef::Integer(*integer),
            Self::Double(double) => ValueRef::Real(*double),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn refused(error: rusqlite::Error) -> SqlError {
    use rusqlite::Error::{SqlInputError, SqliteFailure};
    if error.sqlite_error_code() == Some(ErrorCode::AuthorizationForStatementDenied) {
        return SqlError::Refused { message: SHARED_PRAGMA.to_owned(), line: 0 };
    }
    match error {
        SqliteFailure(code, _) if code.code == ErrorCode::OperationInterrupted => {
            SqlError::Interrupted
        }
        SqlInputError { msg, sql, offset, .. } => {
            let line = usize::try_from(offset).map_or(0, |offset| line_of(&sql, offset));
            SqlError::Refused { message: msg, line }
        }
        SqliteFailure(code, message)
            if [ErrorCode::DatabaseBusy, ErrorCode::DatabaseLocked].contains(&code.code) =>
        {
            SqlError::Busy { message: message.unwrap_or_else(|| code.to_string()) }
        }
        SqliteFailure(_, Some(message)) => SqlError::Refused { message, line: 0 },
        other => SqlError::Refused { message: other.to_string(), line: 0 },
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::super::script::script;
    use super::*;
    use engine::EngineKind;
    use plan::Placeholders;

    /// After ANALYZE the row's number in the join chooses the plan, so SQLite would look at it again
    /// if the number before had been forgotten.
    #[test]
    fn a_new_value_does_not_have_a_statement_planned_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.db");
        Connection::open(&path)
            .unwrap()
            .execute_batch(
                "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
                 CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, cents INTEGER);
                 CREATE INDEX orders_customer ON orders (customer);
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
                   INSERT INTO orders SELECT i, i % 200, i FROM n;
                 INSERT INTO customers SELECT id, 'name ' || id FROM orders WHERE id <= 200;
                 ANALYZE;",
            )
            .unwrap();
        let (mut session, _) =
            SqliteSession::open(&path, OpenMode::QueryOnly, std::iter::empty()).unwrap();
        let statement = plan::Statement {
            name: "order".to_owned(),
            text: "SELECT o.cents, c.name FROM orders o JOIN customers c ON c.id = o.customer \
                   WHERE o.id = :id"
                .to_owned(),
            ..plan::Statement::default()
        };
        let names = ["id".to_owned()];
        let placeholders = Placeholders::default();
        let script = script(&statement, 0, EngineKind::Sqlite, &placeholders, &names).unwrap();
        assert!(session.prepare(&script).unwrap());
        for id in 2..52 {
            let seen = session.execute(&script, 0, &[AnswerValue::Integer(id)]).unwrap();
            assert_eq!(seen.rows, 1);
        }
        let planned = |statement: &Statement<'_>| statement.get_status(StatementStatus::RePrepare);
        let again: i32 = session.prepared.borrow_dependent().iter().flatten().map(planned).sum();
        assert!(again <= 1, "planned again {again} times in 50 executions");
    }
}
