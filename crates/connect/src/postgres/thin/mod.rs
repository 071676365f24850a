//! A thin blocking connection for measuring clients: bind, execute and sync leave in one write,
//! poll() waits before each read, rows are looked at where they arrived. General-purpose clients
//! cost a load generator two to three times the processor time (measured against tokio-postgres
//! and the crate postgres). It lives beside the other ways to connect, since it shares their
//! reading of URLs, `PG*`, password file and TLS; every workload that measures PostgreSQL uses it.

mod channel;
mod copy;
mod error;
mod row;
mod startup;
mod stream;
mod wire;

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bytes::{BufMut as _, BytesMut};
use engine::PostgresUrl;
use fallible_iterator::FallibleIterator as _;
use postgres_protocol::message::backend::{self, Message};
use postgres_protocol::message::frontend;
use postgres_protocol::{IsNull, Oid};

pub use channel::{Channel, StatementAnswer};
pub use error::ThinError;
pub use row::ThinRow;
use wire::ThinWire;

use crate::Error;

/// The two forms of values, as the protocol numbers them.
const TEXT: i16 = 0;
const BINARY: i16 = 1;

/// How long to wait for the server, and who may end the waiting.
#[derive(Clone, Copy, Debug)]
pub struct WaitLimits<'a> {
    /// For the whole answer to one message; in steps of a quarter of a second.
    pub timeout: Duration,
    /// The user asked to stop.
    pub interrupted: &'a AtomicBool,
}

/// A session with a server.
pub struct ThinConnection<'a> {
    wire: ThinWire<'a>,
    /// The message about to be sent; kept for its memory.
    out: BytesMut,
    prepared: u32,
    in_transaction: bool,
}

/// A statement that the server has parsed. Names count up in every session, so that sessions which
/// prepare the same texts in the same order can share the values that describe them.
#[derive(Clone, Debug)]
pub struct PreparedStatement {
    name: String,
    /// The types of its parameters, by object id.
    pub parameter_types: Vec<Oid>,
    /// The columns of its rows; empty where it returns none.
    pub columns: Vec<RowColumn>,
}

impl PreparedStatement {
    /// Its name on the server, by which SQL reaches it too (`EXPLAIN EXECUTE`).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// One column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowColumn {
    pub name: String,
    /// Its type, by object id.
    pub type_oid: Oid,
}

/// The value of a parameter. All but [`Parameter::Int4`] and [`Parameter::Binary`] travel as text,
/// which the server reads as whatever type the parameter has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundParameter<'a> {
    Null,
    Integer(i64),
    /// A whole number in the binary form of `integer`, for a parameter that is one.
    Int4(i32),
    Double(f64),
    /// Text, or any value in its text form.
    Text(&'a str),
    /// The type's own binary form; that of `bytea` is the bytes themselves, and that of a text
    /// the text in the client's encoding.
    Binary(&'a [u8]),
}

impl BoundParameter<'_> {
    /// The protocol's number for the form in which it travels.
    fn format(self) -> i16 {
        i16::from(matches!(self, Self::Int4(_) | Self::Binary(_)))
    }
}

impl<'a> ThinConnection<'a> {
    /// Connects as [`super::connect`] does. `session` are further settings of the session.
    pub fn connect(
        url: &PostgresUrl,
        session: &[(&str, &str)],
        limits: WaitLimits<'a>,
    ) -> Result<Self, Error> {
        startup::connect(url, session, limits)
    }

    /// Has a statement parsed, under a name of its own, and described. Types that `types` leaves
    /// out, or gives as 0, are the server's to infer.
    pub fn prepare(&mut self, sql: &str, types: &[Oid]) -> Result<PreparedStatement, ThinError> {
        self.prepared += 1;
        let name = format!("s{}", self.prepared);
        self.out.clear();
        frontend::parse(&name, sql, types.iter().copied(), &mut self.out)?;
        frontend::describe(b'S', &name, &mut self.out)?;
        frontend::sync(&mut self.out);
        let mut statement =
            PreparedStatement { name, parameter_types: Vec::new(), columns: Vec::new() };
        self.exchange(|tag, body| {
            if !matches!(tag, backend::PARAMETER_DESCRIPTION_TAG | backend::ROW_DESCRIPTION_TAG) {
                return Ok(());
            }
            match whole_message(tag, body)? {
                Message::ParameterDescription(description) => {
                    statement.parameter_types = description.parameters().collect()?;
                }
                Message::RowDescription(description) => {
                    let column = |field: backend::Field<'_>| {
                        Ok(RowColumn { name: field.name().to_owned(), type_oid: field.type_oid() })
                    };
                    statement.columns = description.fields().map(column).collect()?;
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(statement)
    }

    /// Runs a prepared statement and hands `each_row` its rows as they arrive, values in text
    /// form. Returns the number of rows returned or changed.
    ///
    /// # Errors
    /// [`ThinError`]; after a refusal the session goes on, see [`ThinError::ends_connection`].
    pub fn execute(
        &mut self,
        statement: &PreparedStatement,
        parameters: &[BoundParameter<'_>],
        each_row: impl FnMut(ThinRow<'_>),
    ) -> Result<u64, ThinError> {
        self.execute_in(TEXT, statement, parameters, each_row)
    }

    /// The same with values in the binary form of their type: that of `bytea` is the bytes
    /// themselves, its text form twice as long.
    pub fn execute_binary(
        &mut self,
        statement: &PreparedStatement,
        parameters: &[BoundParameter<'_>],
        each_row: impl FnMut(ThinRow<'_>),
    ) -> Result<u64, ThinError> {
        self.execute_in(BINARY, statement, parameters, each_row)
    }

    fn execute_in(
        &mut self,
        format: i16,
        statement: &PreparedStatement,
        parameters: &[BoundParameter<'_>],
        mut each_row: impl FnMut(ThinRow<'_>),
    ) -> Result<u64, ThinError> {
        self.out.clear();
        write_execution_in(format, statement, parameters.iter().copied(), &mut self.out)?;
        let mut affected = 0;
        self.exchange(|tag, body| {
            match tag {
                backend::DATA_ROW_TAG => each_row(ThinRow::new(body)),
                backend::COMMAND_COMPLETE_TAG => affected = row::count_of_tag(body),
                _ => {}
            }
            Ok(())
        })?;
        Ok(affected)
    }

    /// Sends one or several statements as text, for what is not measured; rows are handed over
    /// as by [`Connection::execute`].
    pub fn query(
        &mut self,
        sql: &str,
        mut each_row: impl FnMut(ThinRow<'_>),
    ) -> Result<(), ThinError> {
        self.out.clear();
        frontend::query(sql, &mut self.out)?;
        self.exchange(|tag, body| {
            if tag == backend::DATA_ROW_TAG {
                each_row(ThinRow::new(body));
            }
            Ok(())
        })
    }

    /// The session alone, for an event loop that waits for many: statements stay prepared.
    pub fn into_channel(self) -> Result<Channel, ThinError> {
        Channel::new(self.wire.into_stream())
    }

    /// Whether a transaction is open, perhaps a failed one.
    #[must_use]
    pub fn in_transaction(&self) -> bool {
        self.in_transaction
    }

    /// Writes what is in `out` and reads until the server is ready again.
    fn exchange(
        &mut self,
        mut each: impl FnMut(u8, &[u8]) -> Result<(), ThinError>,
    ) -> Result<(), ThinError> {
        self.wire.write(&self.out)?;
        let mut refusal = None;
        loop {
            let (tag, body) = match self.wire.message() {
                Ok(message) => message,
                // A server that goes down says why before it closes the connection.
                Err(ThinError::Lost(error)) => return Err(refusal.unwrap_or(error.into())),
                Err(error) => return Err(error),
            };
            match tag {
                backend::READY_FOR_QUERY_TAG => {
                    self.in_transaction = body.first() != Some(&b'I');
                    return refusal.map_or(Ok(()), Err);
                }
                backend::ERROR_RESPONSE_TAG => {
                    if let Message::ErrorResponse(error) = whole_message(tag, body)? {
                        refusal = Some(ThinError::from_response(&error)?);
                    }
                }
                backend::COPY_IN_RESPONSE_TAG => {
                    return Err(ThinError::Unexpected("COPY FROM STDIN cannot be measured"));
                }
                _ => each(tag, body)?,
            }
        }
    }
}

/// Bind, execute and sync, appended to `out`: one write, one answer, whose values are binary, as
/// sysbench asks for them: they cost the server less than texts (BENCHMARKS.md).
pub fn write_execution<'p>(
    statement: &PreparedStatement,
    parameters: impl Iterator<Item = BoundParameter<'p>> + Clone,
    out: &mut BytesMut,
) -> std::io::Result<()> {
    write_execution_in(BINARY, statement, parameters, out)
}

/// The same, with values that come back in this form.
fn write_execution_in<'p>(
    format: i16,
    statement: &PreparedStatement,
    parameters: impl Iterator<Item = BoundParameter<'p>> + Clone,
    out: &mut BytesMut,
) -> std::io::Result<()> {
    let bound = frontend::bind(
        "",
        &statement.name,
        parameters.clone().map(BoundParameter::format),
        parameters,
        |parameter, out| Ok(write_parameter(parameter, out)),
        Some(format),
        out,
    );
    if let Err(frontend::BindError::Serialization(error)) = bound {
        return Err(error);
    }
    frontend::execute("", 0, out)?;
    frontend::sync(out);
    Ok(())
}

/// A statement as text, appended to `out`.
pub fn write_query(sql: &str, out: &mut BytesMut) -> std::io::Result<()> {
    frontend::query(sql, out)
}

fn write_parameter(parameter: BoundParameter<'_>, out: &mut BytesMut) -> IsNull {
    use std::fmt::Write as _;
    // Writing into memory that grows cannot fail.
    match parameter {
        BoundParameter::Null => return IsNull::Yes,
        BoundParameter::Integer(number) => drop(write!(out, "{number}")),
        BoundParameter::Int4(number) => out.put_i32(number),
        BoundParameter::Double(number) => drop(write!(out, "{number}")),
        BoundParameter::Text(text) => out.put_slice(text.as_bytes()),
        BoundParameter::Binary(bytes) => out.put_slice(bytes),
    }
    IsNull::No
}

/// Has the crate read a message that is rare enough to be copied.
fn whole_message(tag: u8, body: &[u8]) -> Result<Message, ThinError> {
    let mut copy = BytesMut::with_capacity(body.len() + 5);
    copy.put_u8(tag);
    copy.put_u32(u32::try_from(body.len() + 4).unwrap_or(u32::MAX));
    copy.put_slice(body);
    Message::parse(&mut copy)?.ok_or(ThinError::Unexpected("a message is cut short"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_asks_for_binary_values_as_sysbench_does() {
        let (parameter_types, columns) = (Vec::new(), Vec::new());
        let statement = PreparedStatement { name: "s1".to_owned(), parameter_types, columns };
        let mut out = BytesMut::new();
        write_execution(&statement, [BoundParameter::Int4(7)].into_iter(), &mut out).unwrap();
        // One form for all values, the binary one; then comes the execution.
        assert!(out.windows(5).any(|part| part == [0, 1, 0, 1, b'E']), "{out:?}");
    }
}
