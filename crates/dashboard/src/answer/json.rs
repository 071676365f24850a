//! JSON answers. The totals stand before the rows, so the rows wait in a buffer of bytes.

use super::Error;
use super::row::{ComparedSums, WrittenRow};
use crate::imported_days::DaySpan;
use crate::query::Query;

#[derive(Debug, Default)]
pub(super) struct JsonRows(Vec<u8>);

impl JsonRows {
    pub(super) fn push(&mut self, row: &WrittenRow<'_>) -> Result<(), Error> {
        if !self.0.is_empty() {
            self.0.push(b',');
        }
        serde_json::to_writer(&mut self.0, row).map_err(failed)
    }

    pub(super) fn finish(
        self,
        query: &Query,
        totals: &ComparedSums,
        row_count: u64,
    ) -> Result<Vec<u8>, Error> {
        let mut head = br#"{"query":"#.to_vec();
        serde_json::to_writer(&mut head, query).map_err(failed)?;
        head.extend_from_slice(br#","totals":"#);
        serde_json::to_writer(&mut head, totals).map_err(failed)?;
        head.extend_from_slice(br#","row_count":"#);
        serde_json::to_writer(&mut head, &row_count).map_err(failed)?;
        head.extend_from_slice(br#","rows":["#);
        // Moved along in their own memory: beside a copy of them they would need twice as much.
        let mut body = self.0;
        drop(body.splice(0..0, head));
        body.extend_from_slice(b"]}");
        Ok(body)
    }
}

/// Adds the states of days to a finished body.
pub(super) fn add_states(body: &mut Vec<u8>, states: &[DaySpan]) -> Result<(), Error> {
    body.pop();
    body.extend_from_slice(br#","states":"#);
    serde_json::to_writer(&mut *body, states).map_err(failed)?;
    body.push(b'}');
    Ok(())
}

fn failed(error: serde_json::Error) -> Error {
    Error::Write(error.into())
}
