//! A client that is a process of its own, for an engine that lives in the process of its client.
//! The laboratory starts this program again with the word `client` and speaks to it on its standard
//! input.

use crate::error::RunError;
use crate::workload::{AskedSession, ClientJob, OltpChild, SqlChild};
use load::{ClientChild, Job};

pub use load::CLIENT;

/// A client between two orders.
enum PreparedClient {
    Sql(Box<SqlChild>),
    Oltp(Box<OltpChild>),
}

/// Does what the laboratory orders. The process ends when the laboratory does.
///
/// # Errors
/// When the standard input is not a socket, or an order cannot be carried out.
pub fn serve() -> Result<(), RunError> {
    let mut child = ClientChild::of_standard_input()?;
    let (mut prepared, mut asked) = (None, AskedSession::default());
    loop {
        match child.next()? {
            Job::Prepare(ClientJob::Sql(job)) => {
                let before = match prepared.take() {
                    Some(PreparedClient::Sql(before)) => Some(*before),
                    _ => None,
                };
                prepared = Some(PreparedClient::Sql(Box::new(SqlChild::prepare(job, before)?)));
                child.ready(None)?;
            }
            Job::Prepare(ClientJob::Ask(question)) => child.answer(&asked.answer(question))?,
            Job::Prepare(ClientJob::Oltp(job)) => match OltpChild::prepare(job) {
                Ok(client) => {
                    prepared = Some(PreparedClient::Oltp(Box::new(client)));
                    child.ready(None)?;
                }
                Err(error) => child.ready(Some(&error.to_string()))?,
            },
            Job::Begin(moment) => match prepared.take() {
                Some(PreparedClient::Sql(client)) => {
                    client.work(&mut child)?;
                    prepared = Some(PreparedClient::Sql(client));
                }
                Some(PreparedClient::Oltp(client)) => client.work(moment, &mut child)?,
                None => return Err(load::LoadError::Interrupted.into()),
            },
        }
    }
}
