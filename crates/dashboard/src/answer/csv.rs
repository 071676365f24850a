//! The rows as CSV (RFC 4180) under a header line. Query and totals are left out: a spreadsheet
//! has its own sums.

use super::{Error, Row};
use crate::query::Count;

#[derive(Debug)]
pub(super) struct Rows(csv::Writer<Vec<u8>>);

impl Rows {
    pub(super) fn new(count: Option<Count>) -> Result<Self, Error> {
        // The header is written here, not from the first row: there may be none.
        let mut writer = csv::WriterBuilder::new()
            .has_headers(false)
            .terminator(csv::Terminator::CRLF)
            .from_writer(Vec::new());
        let articles = count.map(|Count::Articles| "articles");
        let columns = ["key", "label", "pageviews", "sessions", "engagement_seconds"];
        writer.write_record(columns.into_iter().chain(articles)).map_err(failed)?;
        Ok(Self(writer))
    }

    pub(super) fn push(&mut self, row: &Row<'_>) -> Result<(), Error> {
        self.0.serialize(row).map_err(failed)
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, Error> {
        self.0.into_inner().map_err(|error| Error(error.into_error().into()))
    }
}

fn failed(error: csv::Error) -> Error {
    Error(error.into())
}
