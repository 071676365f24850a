//! A connection to PostgreSQL by the thin client. Values travel as text, as libpq's programs have
//! them; the plan is that of the very prepared statement that was measured.

use connect::postgres::thin::{
    BoundParameter, PreparedStatement, RowColumn, ThinConnection, ThinError, ThinRow, WaitLimits,
};
use engine::PostgresUrl;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::answer::AnswerTable;
use super::client::{Control, Seen, SqlError, SqlSession, check_parameters, line_of};
use super::script::Script;
use super::value::AnswerValue;

/// Object ids of the types whose text form is not their value's (pg_type.dat of PostgreSQL).
mod oid {
    pub const BOOL: u32 = 16;
    pub const BYTEA: u32 = 17;
    pub const INT8: u32 = 20;
    pub const INT2: u32 = 21;
    pub const INT4: u32 = 23;
    pub const OID: u32 = 26;
    pub const FLOAT4: u32 = 700;
    pub const FLOAT8: u32 = 701;
    pub const BPCHAR: u32 = 1042;
    pub const NUMERIC: u32 = 1700;
}

pub(crate) struct PostgresSession<'a> {
    connection: ThinConnection<'a>,
    prepared: Vec<Option<Vec<Prepared>>>,
    controls: Vec<(Control, PreparedStatement)>,
}

struct Prepared {
    statement: PreparedStatement,
    /// The columns that are hashed: none of floating-point numbers, and none that is ignored. Empty
    /// where all are.
    hashed: Vec<bool>,
}

impl<'a> PostgresSession<'a> {
    /// Connects with `settings` of the session.
    pub(crate) fn connect(
        url: &PostgresUrl,
        settings: &[(&str, &str)],
        limits: WaitLimits<'a>,
    ) -> Result<Self, connect::Error> {
        let connection = ThinConnection::connect(url, settings, limits)?;
        Ok(Self { connection, prepared: Vec::new(), controls: Vec::new() })
    }

    fn parts(
        &mut self,
        script: &Script,
        step: usize,
    ) -> Result<(&mut ThinConnection<'a>, &Prepared), SqlError> {
        let found = self.prepared.get(script.id).and_then(Option::as_ref);
        let prepared = found.and_then(|steps| steps.get(step));
        let prepared =
            prepared.ok_or(SqlError::NotConnected("the statement is not prepared".to_owned()))?;
        Ok((&mut self.connection, prepared))
    }
}

impl SqlSession for PostgresSession<'_> {
    fn prepare(&mut self, script: &Script) -> Result<bool, SqlError> {
        if self.prepared.len() <= script.id {
            self.prepared.resize_with(script.id + 1, || None);
        }
        if self.prepared.get(script.id).is_some_and(Option::is_some) {
            return Ok(false);
        }
        let mut steps = Vec::new();
        for step in &script.steps {
            let statement = self
                .connection
                .prepare(&step.sql, &[])
                .map_err(|error| failed(error, &step.sql))?;
            check_parameters(statement.parameter_types.len(), step.binds.len())?;
            let is_hashed = |column| !is_double(column) && !script.ignores(&column.name);
            let mut hashed: Vec<bool> = statement.columns.iter().map(is_hashed).collect();
            if !hashed.contains(&false) {
                hashed.clear();
            }
            steps.push(Prepared { statement, hashed });
        }
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
        let parameters = Parameters::of(script, step, values);
        let (connection, Prepared { statement, hashed }) = self.parts(script, step)?;
        let mut seen = Seen::default();
        let affected = connection
            .execute(statement, parameters.as_slice(), |row| {
                seen.rows += 1;
                let hash = match hashed.is_empty() {
                    true => xxh3_64(row.bytes()),
                    false => hash_of(row, hashed),
                };
                seen.hash = seen.hash.wrapping_add(hash);
            })
            .map_err(|error| failed(error, ""))?;
        if statement.columns.is_empty() {
            seen.rows = affected;
        }
        Ok(seen)
    }

    fn fetch(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<AnswerTable, SqlError> {
        let sql = script.steps.get(step).map_or("", |step| &step.sql);
        let parameters = Parameters::of(script, step, values);
        let (connection, Prepared { statement, .. }) = self.parts(script, step)?;
        fetch(connection, statement, parameters.as_slice(), sql)
    }

    fn explain(
        &mut self,
        script: &Script,
        step: usize,
        values: &[AnswerValue],
    ) -> Result<String, SqlError> {
        let Some(place) = script.steps.get(step) else { return Ok(String::new()) };
        let arguments: Vec<String> =
            place.binds.iter().map(|bind| literal(values.get(*bind))).collect();
        let (connection, Prepared { statement, .. }) = self.parts(script, step)?;
        let arguments = match arguments.is_empty() {
            true => String::new(),
            false => format!("({})", arguments.join(", ")),
        };
        let sql = format!("EXPLAIN (COSTS OFF) EXECUTE {}{arguments}", statement.name());
        let mut lines = Vec::new();
        let line = |row: ThinRow<'_>| {
            lines.extend(
                row.values().flatten().map(|text| String::from_utf8_lossy(text).into_owned()),
            );
        };
        connection.query(&sql, line).map_err(|error| failed(error, &sql))?;
        Ok(lines.join("\n"))
    }

    fn control(&mut self, control: Control) -> Result<(), SqlError> {
        let sql = match control {
            Control::Begin { .. } => "BEGIN",
            Control::Commit => "COMMIT",
            Control::Rollback => "ROLLBACK",
        };
        if !self.controls.iter().any(|(known, _)| *known == control) {
            let statement =
                self.connection.prepare(sql, &[]).map_err(|error| failed(error, sql))?;
            self.controls.push((control, statement));
        }
        let known = self.controls.iter().find(|(known, _)| *known == control);
        if let Some((_, statement)) = known {
            let done = self.connection.execute(statement, &[], |_| {});
            done.map_err(|error| failed(error, sql))?;
        }
        Ok(())
    }

    fn query(&mut self, sql: &str) -> Result<AnswerTable, SqlError> {
        let statement = self.connection.prepare(sql, &[]).map_err(|error| failed(error, sql))?;
        check_parameters(statement.parameter_types.len(), 0)?;
        fetch(&mut self.connection, &statement, &[], sql)
    }

    fn scan(&mut self, sql: &str, show: &mut dyn FnMut(Vec<AnswerValue>)) -> Result<(), SqlError> {
        let statement = self.connection.prepare(sql, &[]).map_err(|error| failed(error, sql))?;
        let show = |row: ThinRow<'_>| show(values_of(row, &statement));
        self.connection.execute(&statement, &[], show).map_err(|error| failed(error, sql))?;
        Ok(())
    }
}

fn values_of(row: ThinRow<'_>, statement: &PreparedStatement) -> Vec<AnswerValue> {
    let values = row.values().zip(&statement.columns);
    values.map(|(value, column)| value_of(value, column.type_oid)).collect()
}

fn fetch(
    connection: &mut ThinConnection<'_>,
    statement: &PreparedStatement,
    parameters: &[BoundParameter<'_>],
    sql: &str,
) -> Result<AnswerTable, SqlError> {
    let columns = statement.columns.iter().map(|column| column.name.clone()).collect();
    let mut table = AnswerTable { columns, ..AnswerTable::default() };
    let keep = |row: ThinRow<'_>| table.rows.push(values_of(row, statement));
    let affected =
        connection.execute(statement, parameters, keep).map_err(|error| failed(error, sql))?;
    if statement.columns.is_empty() {
        table.affected = affected;
    }
    Ok(table)
}

/// The most parameters that need no memory of their own.
const FEW: usize = 8;

/// The values of a step in the order of its parameters.
struct Parameters<'v> {
    few: [BoundParameter<'v>; FEW],
    many: Vec<BoundParameter<'v>>,
    count: usize,
}

impl<'v> Parameters<'v> {
    fn of(script: &Script, step: usize, values: &'v [AnswerValue]) -> Self {
        let binds = script.steps.get(step).map(|step| step.binds.as_slice()).unwrap_or_default();
        let parameter = |bind: &usize| match values.get(*bind) {
            None | Some(AnswerValue::Null) => BoundParameter::Null,
            Some(AnswerValue::Integer(integer)) => BoundParameter::Integer(*integer),
            Some(AnswerValue::Double(double)) => BoundParameter::Double(*double),
            Some(AnswerValue::Text(text)) => BoundParameter::Text(text),
            Some(AnswerValue::Bytes(bytes)) => BoundParameter::Binary(bytes),
        };
        let mut parameters =
            Self { few: [BoundParameter::Null; FEW], many: Vec::new(), count: binds.len() };
        if binds.len() > FEW {
            parameters.many = binds.iter().map(parameter).collect();
        } else {
            for (place, bind) in parameters.few.iter_mut().zip(binds) {
                *place = parameter(bind);
            }
        }
        parameters
    }

    fn as_slice(&self) -> &[BoundParameter<'v>] {
        match self.many.is_empty() {
            true => self.few.get(..self.count).unwrap_or_default(),
            false => &self.many,
        }
    }
}

fn is_double(column: &RowColumn) -> bool {
    matches!(column.type_oid, oid::FLOAT4 | oid::FLOAT8)
}

fn hash_of(row: ThinRow<'_>, hashed: &[bool]) -> u64 {
    let exact = row.values().zip(hashed).filter(|(_, hashed)| **hashed);
    exact.fold(0, |hash, (value, _)| match value {
        Some(value) => xxh3_64_with_seed(value, hash),
        None => hash.wrapping_add(1).rotate_left(9),
    })
}

fn value_of(value: Option<&[u8]>, type_oid: u32) -> AnswerValue {
    let Some(bytes) = value else { return AnswerValue::Null };
    let Ok(text) = std::str::from_utf8(bytes) else { return AnswerValue::Bytes(bytes.to_owned()) };
    match type_oid {
        oid::BOOL => AnswerValue::Integer((text == "t").into()),
        oid::INT2 | oid::INT4 | oid::INT8 | oid::OID | oid::NUMERIC => AnswerValue::decimal(text),
        oid::FLOAT4 | oid::FLOAT8 => {
            text.parse().map_or_else(|_| AnswerValue::Text(text.to_owned()), AnswerValue::number)
        }
        oid::BYTEA => {
            let bytes = text.strip_prefix(r"\x").and_then(|digits| hex::decode(digits).ok());
            bytes.map_or_else(|| AnswerValue::Text(text.to_owned()), AnswerValue::Bytes)
        }
        // The blanks that fill a character(n) are not part of its value.
        oid::BPCHAR => AnswerValue::text(text.trim_end_matches(' ')),
        _ => AnswerValue::text(text),
    }
}

/// A value as an argument of EXECUTE, which the server reads as the parameter's type.
fn literal(value: Option<&AnswerValue>) -> String {
    match value {
        None | Some(AnswerValue::Null) => "NULL".to_owned(),
        Some(AnswerValue::Integer(integer)) => format!("'{integer}'"),
        Some(AnswerValue::Double(double)) => format!("'{double}'"),
        Some(AnswerValue::Text(text)) => {
            // Backslashes mean what they say whatever standard_conforming_strings is.
            format!(" E'{}'", text.replace('\\', r"\\").replace('\'', "''"))
        }
        Some(AnswerValue::Bytes(bytes)) => {
            format!(" E'\\\\x{}'", hex::encode(bytes))
        }
    }
}

/// serialization_failure, deadlock_detected, lock_not_available
const RETRIED: [&str; 3] = ["40001", "40P01", "55P03"];

fn failed(error: ThinError, sql: &str) -> SqlError {
    match error {
        ThinError::Server { .. } if error.ends_connection() => SqlError::Lost(error.to_string()),
        ThinError::Server { ref code, .. } if RETRIED.contains(&code.as_str()) => {
            SqlError::Busy { message: error.to_string() }
        }
        ThinError::Server { position, .. } => {
            let at = position.and_then(|position| sql.char_indices().nth(position.checked_sub(1)?));
            let line = at.map_or(0, |(at, _)| line_of(sql, at));
            SqlError::Refused { message: error.to_string(), line }
        }
        ThinError::Lost(_) => SqlError::Lost(error.to_string()),
        ThinError::TimedOut(_) => SqlError::TimedOut,
        ThinError::Interrupted => SqlError::Interrupted,
        ThinError::Unexpected(_) => SqlError::Lost(error.to_string()),
    }
}
