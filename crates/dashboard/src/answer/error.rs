//! Errors of answering a question.

use crate::database::from_clients;
use crate::query::QueryRefusal;
use crate::{database, rollup, schema};

/// Errors of opening a store or answering a query.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is at fault.
    #[error(transparent)]
    Refused(#[from] QueryRefusal),
    /// The database cannot be used as a dashboard's.
    #[error(transparent)]
    Schema(#[from] schema::Error),
    /// The design needs totals, and there are none of this data.
    #[error(transparent)]
    Totals(rollup::Error),
    #[error(transparent)]
    Database(#[from] database::Error),
    /// The answer cannot be written into memory; not seen in practice.
    #[error("cannot write the answer: {0}")]
    Write(Box<dyn std::error::Error + Send + Sync>),
}

from_clients!(Error);

impl From<rollup::Error> for Error {
    fn from(error: rollup::Error) -> Self {
        match error {
            rollup::Error::Database(error) => error.into(),
            error => Self::Totals(error),
        }
    }
}

impl Error {
    /// Whether PostgreSQL ended the connection, so that the same on a new one may work.
    pub(crate) fn is_connection_lost(&self) -> bool {
        matches!(self, Self::Database(error) if error.is_connection_lost())
    }
}
