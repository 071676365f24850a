//! The answer as JSON. The totals stand before the rows, so the rows wait in a buffer of bytes.

use super::{Compared, Error, Written};
use crate::query::Query;

#[derive(Debug, Default)]
pub(super) struct Rows(Vec<u8>);

impl Rows {
    pub(super) fn push(&mut self, row: &Written<'_>) -> Result<(), Error> {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        serde_json::to_writer(&mut self.0, row).map_err(failed)
    }

    pub(super) fn finish(
        self,
        query: &Query,
        totals: &Compared,
        row_count: u64,
    ) -> Result<Vec<u8>, Error> {
        let mut body = Vec::with_capacity(self.0.len() + 512);
        body.extend_from_slice(br#"{"query":"#);
        serde_json::to_writer(&mut body, query).map_err(failed)?;
        body.extend_from_slice(br#","totals":"#);
        serde_json::to_writer(&mut body, totals).map_err(failed)?;
        body.extend_from_slice(br#","row_count":"#);
        serde_json::to_writer(&mut body, &row_count).map_err(failed)?;
        body.extend_from_slice(br#","rows":["#);
        body.extend_from_slice(&self.0);
        body.extend_from_slice(b"]}");
        Ok(body)
    }
}

fn failed(error: serde_json::Error) -> Error {
    Error(error.into())
}
