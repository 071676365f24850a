//! A connection to MariaDB or MySQL by the crate mysql, statements prepared on the server.

use mysql::consts::ColumnType;
use mysql::prelude::Queryable as _;
use mysql::{Column, Conn, Params, Row, Statement};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::answer::AnswerTable;
use super::client::{Control, Seen, SqlError, SqlSession, check_parameters};
use super::script::{Script, ScriptStep};
use super::value::AnswerValue;

/// The character set that stands for "no characters but bytes".
const BINARY: u16 = 63;

pub(crate) struct MysqlSession {
    connection: Conn,
    prepared: Vec<Option<Vec<Statement>>>,
}

impl MysqlSession {
    /// Takes a connection over; the server refuses writes of a read-only one.
    pub(crate) fn new(mut connection: Conn, read_only: bool) -> Result<Self, connect::Error> {
        // Times are compared with those of SQLite, which are in UTC.
        connection.query_drop("SET time_zone = '+00:00'")?;
        if read_only {
            connection.query_drop("SET SESSION TRANSACTION READ ONLY")?;
        }
        Ok(Self { connection, prepared: Vec::new() })
    }

    fn statement(&self, script: &Script, step: usize) -> Result<Statement, SqlError> {
        let found = self.prepared.get(script.id).and_then(Option::as_ref);
        let statement = found.and_then(|steps| steps.get(step)).cloned();
        statement.ok_or(SqlError::NotConnected("the statement is not prepared".to_owned()))
    }
}

impl SqlSession for MysqlSession {
    fn prepare(&mut self, script: &Script) -> Result<bool, SqlError> {
        if self.prepared.len() <= script.id {
            self.prepared.resize_with(script.id + 1, || None);
        }
        if self.prepared.get(script.id).is_some_and(Option::is_some) {
            return Ok(false);
        }
        let prepare = |step: &ScriptStep| {
            let statement = self.connection.prep(&step.sql).map_err(failed)?;
            check_parameters(statement.num_params().into(), step.binds.len())?;
            Ok(statement)
        };
        let steps = script.steps.iter().map(prepare).collect::<Result<Vec<_>, _>>()?;
        if let Some(place) = self.prepared.get_mut(script.id) {
            *place = Some(steps);
        }
        Ok(true)
    }

    fn execute(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<Seen, SqlError> {
        let statement = self.statement(script, step)?;
        let parameters = parameters(script, step, values);
        let mut result = self.connection.exec_iter(&statement, parameters).map_err(failed)?;
        let mut seen = Seen::default();
        let ignored = |column: &Column| script.ignores(&column.name_str());
        let ignored: Vec<bool> = result.columns().as_ref().iter().map(ignored).collect();
        let returns_rows = !ignored.is_empty();
        for row in result.by_ref() {
            seen.rows += 1;
            seen.hash = seen.hash.wrapping_add(hash_of(&row.map_err(failed)?, &ignored));
        }
        if !returns_rows {
            seen.rows = result.affected_rows();
        }
        Ok(seen)
    }

    fn fetch(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<AnswerTable, SqlError> {
        let statement = self.statement(script, step)?;
        let parameters = parameters(script, step, values);
        table_of(self.connection.exec_iter(&statement, parameters).map_err(failed)?)
    }

    fn explain(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<String, SqlError> {
        let Some(place) = script.steps.get(step) else { return Ok(String::new()) };
        let sql = format!("EXPLAIN FORMAT=JSON {}", place.sql);
        let parameters = parameters(script, step, values);
        let plan: Option<String> = self.connection.exec_first(sql, parameters).map_err(failed)?;
        Ok(plan.unwrap_or_default())
    }

    fn control(&mut self, control: Control) -> Result<(), SqlError> {
        self.connection
            .query_drop(match control {
                Control::Begin { .. } => "BEGIN",
                Control::Commit => "COMMIT",
                Control::Rollback => "ROLLBACK",
            })
            .map_err(failed)
    }

    fn query(&mut self, sql: &str) -> Result<AnswerTable, SqlError> {
        // By the prepared protocol, which has typed values.
        let statement = self.connection.prep(sql).map_err(failed)?;
        check_parameters(statement.num_params().into(), 0)?;
        table_of(self.connection.exec_iter(&statement, ()).map_err(failed)?)
    }
}

fn table_of(
    mut result: mysql::QueryResult<'_, '_, '_, mysql::Binary>,
) -> Result<AnswerTable, SqlError> {
    let columns = result.columns().as_ref().iter().map(|one| one.name_str().into_owned()).collect();
    let mut table = AnswerTable { columns, ..AnswerTable::default() };
    for row in result.by_ref() {
        let row = row.map_err(failed)?;
        let columns = row.columns();
        let values = columns.iter().enumerate();
        table.rows.push(values.map(|(at, column)| value_of(row.as_ref(at), column)).collect());
    }
    if table.columns.is_empty() {
        table.affected = result.affected_rows();
    }
    Ok(table)
}

fn parameters(script: &Script, step: usize, values: &[AnswerValue]) -> Params {
    let binds = script.steps.get(step).map(|step| step.binds.as_slice()).unwrap_or_default();
    let parameter = |bind: &usize| match values.get(*bind) {
        None | Some(AnswerValue::Null) => mysql::Value::NULL,
        Some(AnswerValue::Integer(integer)) => mysql::Value::Int(*integer),
        Some(AnswerValue::Double(double)) => mysql::Value::Double(*double),
        Some(AnswerValue::Text(text)) => mysql::Value::Bytes(text.as_bytes().to_vec()),
        Some(AnswerValue::Bytes(bytes)) => mysql::Value::Bytes(bytes.clone()),
    };
    match binds.is_empty() {
        true => Params::Empty,
        false => Params::Positional(binds.iter().map(parameter).collect()),
    }
}

fn value_of(value: Option<&mysql::Value>, column: &Column) -> AnswerValue {
    use mysql::Value as V;
    match value {
        None | Some(V::NULL) => AnswerValue::Null,
        Some(V::Int(integer)) => AnswerValue::Integer(*integer),
        Some(V::UInt(integer)) => i64::try_from(*integer)
            .map_or(AnswerValue::Double(*integer as f64), AnswerValue::Integer),
        // The shortest text that means this single-precision number, as other engines print it.
        Some(V::Float(float)) => AnswerValue::decimal(&float.to_string()),
        Some(V::Double(double)) => AnswerValue::number(*double),
        Some(V::Bytes(bytes)) => value_of_bytes(bytes, column),
        Some(V::Date(year, month, day, hour, minute, second, micro)) => {
            let date = format!("{year:04}-{month:02}-{day:02}");
            AnswerValue::text(&match column.column_type() {
                ColumnType::MYSQL_TYPE_DATE => date,
                _ => format!("{date} {hour:02}:{minute:02}:{second:02}.{micro:06}"),
            })
        }
        Some(V::Time(negative, days, hours, minutes, seconds, micro)) => {
            let sign = if *negative { "-" } else { "" };
            let hours = days * 24 + u32::from(*hours);
            let fraction = if *micro == 0 { String::new() } else { format!(".{micro:06}") };
            AnswerValue::Text(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}"))
        }
    }
}

fn value_of_bytes(bytes: &[u8], column: &Column) -> AnswerValue {
    let text = std::str::from_utf8(bytes);
    let is_decimal = matches!(
        column.column_type(),
        ColumnType::MYSQL_TYPE_NEWDECIMAL | ColumnType::MYSQL_TYPE_DECIMAL
    );
    match text {
        Ok(text) if is_decimal => AnswerValue::decimal(text),
        Ok(text) if column.character_set() != BINARY || is_json(column) => AnswerValue::text(text),
        _ => AnswerValue::Bytes(bytes.to_owned()),
    }
}

fn is_json(column: &Column) -> bool {
    column.column_type() == ColumnType::MYSQL_TYPE_JSON
}

fn hash_of(row: &Row, ignored: &[bool]) -> u64 {
    use mysql::Value as V;
    let mut hash = 0u64;
    for index in (0..row.len()).filter(|index| ignored.get(*index) != Some(&true)) {
        hash = match row.as_ref(index) {
            Some(V::Bytes(bytes)) => xxh3_64_with_seed(bytes, hash),
            Some(V::Int(integer)) => xxh3_64_with_seed(&integer.to_ne_bytes(), hash),
            Some(V::UInt(integer)) => xxh3_64_with_seed(&integer.to_ne_bytes(), hash),
            // See Seen::hash.
            Some(V::Float(_) | V::Double(_)) => hash.rotate_left(9),
            Some(V::NULL) | None => hash.wrapping_add(1).rotate_left(9),
            Some(other) => xxh3_64_with_seed(format!("{other:?}").as_bytes(), hash),
        };
    }
    hash
}

fn failed(error: mysql::Error) -> SqlError {
    match error {
        // ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK
        mysql::Error::MySqlError(refused) if [1205, 1213].contains(&refused.code) => {
            SqlError::Busy { message: refused.message }
        }
        mysql::Error::MySqlError(refused) => {
            SqlError::Refused { message: refused.message, line: 0 }
        }
        mysql::Error::IoError(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock
            ) =>
        {
            SqlError::TimedOut
        }
        other => SqlError::Lost(other.to_string()),
    }
}
