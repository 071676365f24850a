//! The clients of MariaDB and MySQL: a connection of the crate mysql and a thread each.

use mysql::prelude::Queryable as _;
use mysql::{Conn, Params, Statement, Value};

use super::drawer::{Argument, Arguments};
use super::notes::{ClientAccount, Notes};
use super::session::{ClientSession, Refused, work};
use super::sink::Sink;
use super::{SharedState, Worker};
use crate::statement::EngineDialect;
use crate::target::MysqlServer;
use crate::{Error, Failure};
use plan::oltp::CharacterSet;

pub(super) struct MysqlClient {
    session: MysqlClientSession,
    account: ClientAccount,
}

impl MysqlClient {
    pub(super) fn connect(
        server: MysqlServer<'_>,
        client: u16,
        shared: &SharedState<'_>,
    ) -> Result<Self, Error> {
        let options = &shared.program.options;
        let mut connection = server.connect(options.timeout).map_err(|cause| Error::Connect {
            client: usize::from(client) + 1,
            clients: usize::from(options.clients),
            cause: Box::new(cause),
        })?;
        let failed = |error: mysql::Error| Error::Engine {
            place: server.place(),
            problem: error.to_string(),
        };
        if options.character_set == CharacterSet::Latin2 {
            connection.query_drop("SET NAMES latin2").map_err(failed)?;
        }
        let texts = shared.program.texts(EngineDialect::Mysql);
        let prepare = |(_, sql): &(plan::oltp::MixStatement, String)| match connection.prep(sql) {
            Err(mysql::Error::MySqlError(refused)) if refused.code == NOT_PREPARED => {
                Ok(Sent::Text(sql.clone()))
            }
            prepared => prepared.map(Sent::Prepared),
        };
        let statements =
            texts.iter().map(prepare).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let session = MysqlClientSession { connection, statements, in_transaction: false };
        Ok(Self { session, account: ClientAccount::new(client) })
    }
}

impl MysqlClient {
    /// The server's number of its session.
    pub(super) fn session_number(&self) -> u32 {
        self.session.connection.connection_id()
    }
}

impl Worker for MysqlClient {
    fn work<S: Sink>(
        mut self,
        shared: &SharedState<'_>,
        notes: &mut Notes<'_, S>,
    ) -> Result<Vec<ClientAccount>, Error> {
        self.session.in_transaction = shared.program.has_transaction;
        work(&mut self.session, &mut self.account, shared, notes)?;
        Ok(vec![self.account])
    }
}

/// How a statement is sent.
enum Sent {
    Prepared(Statement),
    /// As text: MariaDB before 10.6 does not prepare BEGIN.
    Text(String),
}

/// The server's number for a statement that it does not prepare.
const NOT_PREPARED: u16 = 1295;

struct MysqlClientSession {
    connection: Conn,
    statements: Vec<Sent>,
    /// Whether transactions are begun: then a refused one is rolled back, though the server may
    /// have done so by itself.
    in_transaction: bool,
}

impl ClientSession for MysqlClientSession {
    fn execute(&mut self, place: usize, arguments: &Arguments) -> Result<u64, Refused> {
        let statement = match self.statements.get(place) {
            Some(Sent::Prepared(statement)) => statement,
            Some(Sent::Text(sql)) => {
                self.connection.query_drop(sql.as_str()).map_err(refused)?;
                return Ok(0);
            }
            None => return Ok(0),
        };
        let values: Vec<Value> = arguments.iter().map(value).collect();
        let parameters = if values.is_empty() { Params::Empty } else { Params::Positional(values) };
        let mut result = self.connection.exec_iter(statement, parameters).map_err(refused)?;
        if result.columns().as_ref().is_empty() {
            return Ok(result.affected_rows());
        }
        let mut rows = 0;
        for row in result.by_ref() {
            row.map_err(refused)?;
            rows += 1;
        }
        Ok(rows)
    }

    fn roll_back(&mut self) -> Result<bool, Refused> {
        if self.in_transaction {
            self.connection.query_drop("ROLLBACK").map_err(refused)?;
        }
        Ok(self.in_transaction)
    }
}

fn value(argument: Argument<'_>) -> Value {
    match argument {
        Argument::Number(number) => Value::Int(number),
        Argument::Text(text) => Value::Bytes(text.to_vec()),
    }
}

fn refused(error: mysql::Error) -> Refused {
    let failure = match &error {
        mysql::Error::MySqlError(refused) => match refused.code {
            1213 => Failure::Deadlock,
            1205 => Failure::LockTimeout,
            1062 => Failure::DuplicateKey,
            1020 => Failure::Serialization,
            // Disk full, table full, and a write that failed.
            1021 | 1114 | 1026 => Failure::DiskFull,
            // KILL QUERY.
            1317 => Failure::CutOff,
            // Shutdown, killed.
            1053 | 1077 | 1927 => Failure::Lost,
            _ => Failure::Refused,
        },
        mysql::Error::IoError(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::TimedOut | std::io::ErrorKind::WouldBlock
            ) =>
        {
            Failure::TimedOut
        }
        _ => Failure::Lost,
    };
    Refused { failure, text: error.to_string() }
}
