//! CSV rows (RFC 4180) under a header line. Query and totals are left out: a spreadsheet has its
//! own sums.

use notation::harmless;

use super::Error;
use super::row::WrittenRow;
use crate::query::Query;

#[derive(Debug)]
pub(super) struct CsvRows(csv::Writer<Vec<u8>>);

impl CsvRows {
    pub(super) fn new(query: &Query) -> Result<Self, Error> {
        // The header is written here, not from the first row: there may be none.
        let mut writer = csv::WriterBuilder::new()
            .has_headers(false)
            .terminator(csv::Terminator::CRLF)
            .from_writer(Vec::new());
        let mut columns = vec!["key", "label"];
        columns.extend(query.split.map(|_| "country"));
        columns.extend(["pageviews", "sessions", "engagement_seconds"]);
        columns.extend(query.count.map(|_| "articles"));
        if query.comparison.is_some() {
            columns.extend(["previous_pageviews", "previous_sessions"]);
            columns.push("previous_engagement_seconds");
            columns.extend(query.count.map(|_| "previous_articles"));
        }
        writer.write_record(columns).map_err(failed)?;
        Ok(Self(writer))
    }

    pub(super) fn push(&mut self, row: &WrittenRow<'_>) -> Result<(), Error> {
        let (key, label) = (harmless(row.key), harmless(row.label));
        self.0.serialize(WrittenRow { key: &key, label: &label, ..*row }).map_err(failed)
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, Error> {
        self.0.into_inner().map_err(|error| Error::Write(error.into_error().into()))
    }
}

fn failed(error: csv::Error) -> Error {
    Error::Write(error.into())
}
