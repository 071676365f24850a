//! Loading rows: COPY ... FROM STDIN.

use bytes::{Buf as _, BytesMut};
use postgres_protocol::message::backend::{self, Message};
use postgres_protocol::message::frontend;

use super::{ThinConnection, ThinError, row, whole_message};

/// Rows are sent in messages of about this size.
const MESSAGE_BYTES: usize = 128 * 1024;

impl ThinConnection<'_> {
    /// Runs `COPY ... FROM STDIN`. `next` appends a row in the form that the statement names and
    /// says whether there was one. Returns the number of rows.
    ///
    /// # Errors
    /// [`ThinError`]; after a refusal the session goes on.
    pub fn copy_in(
        &mut self,
        sql: &str,
        mut next: impl FnMut(&mut BytesMut) -> bool,
    ) -> Result<u64, ThinError> {
        self.out.clear();
        frontend::query(sql, &mut self.out)?;
        self.wire.write(&self.out)?;
        if let Some(refusal) = self.until(backend::COPY_IN_RESPONSE_TAG)?.refusal {
            return Err(refusal);
        }
        let mut rows = BytesMut::with_capacity(2 * MESSAGE_BYTES);
        let mut more = true;
        while more {
            rows.clear();
            while more && rows.len() < MESSAGE_BYTES {
                more = next(&mut rows);
            }
            self.out.clear();
            if self.wire.check_interrupted().is_err() {
                frontend::copy_fail("interrupted", &mut self.out)?;
                self.wire.write(&self.out)?;
                self.until(backend::READY_FOR_QUERY_TAG)?;
                return Err(ThinError::Interrupted);
            }
            // A server that has refused a row reads the others, and says so at the end.
            frontend::CopyData::new(rows.chunk())?.write(&mut self.out);
            if let Err(error) = self.wire.write(&self.out) {
                // One that has gone may have said why.
                return Err(self.until(backend::READY_FOR_QUERY_TAG).err().unwrap_or(error));
            }
        }
        self.out.clear();
        frontend::copy_done(&mut self.out);
        self.wire.write(&self.out)?;
        let end = self.until(backend::READY_FOR_QUERY_TAG)?;
        end.refusal.map_or(Ok(end.rows), Err)
    }

    /// Reads up to a message of this kind, or up to the end of a refused statement.
    fn until(&mut self, wanted: u8) -> Result<End, ThinError> {
        let mut end = End::default();
        loop {
            let (tag, body) = match self.wire.message() {
                Ok(message) => message,
                Err(ThinError::Lost(error)) => return Err(end.refusal.unwrap_or(error.into())),
                Err(error) => return Err(error),
            };
            match tag {
                backend::ERROR_RESPONSE_TAG => {
                    if let Message::ErrorResponse(error) = whole_message(tag, body)? {
                        end.refusal = Some(ThinError::from_response(&error)?);
                    }
                }
                backend::COMMAND_COMPLETE_TAG => end.rows = row::count_of_tag(body),
                backend::READY_FOR_QUERY_TAG => {
                    self.in_transaction = body.first() != Some(&b'I');
                    return Ok(end);
                }
                tag if tag == wanted => return Ok(end),
                _ => {}
            }
        }
    }
}

#[derive(Default)]
struct End {
    rows: u64,
    refusal: Option<ThinError>,
}
