//! Session that never waits: an event loop sends, is notified of readable sockets, and reads. The
//! receive buffer is the loop's, one for all its sessions, so that thousands of them cost next to
//! nothing; the part of an incomplete message is kept by the session.

use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use postgres_protocol::message::backend::{self, Header, Message};
use rustix::event::PollFlags;

use super::row::count_of_tag;
use super::stream::ThinStream;
use super::wire::is_timeout;
use super::{ThinError, whole_message};

const BUFFER_BYTES: usize = 64 * 1024;

/// A session whose waiting is done by an event loop.
pub struct Channel {
    stream: ThinStream,
    /// The beginning of a message whose end has not arrived.
    carry: Vec<u8>,
    /// The answer under way, as far as it has come.
    answer: StatementAnswer,
}

/// Result of a statement.
#[derive(Debug, Default)]
pub struct StatementAnswer {
    pub rows: u64,
    /// Whether a transaction is open, perhaps a failed one.
    pub in_transaction: bool,
    pub refusal: Option<ThinError>,
}

impl Channel {
    pub(super) fn new(stream: ThinStream) -> Result<Self, ThinError> {
        stream.set_nonblocking()?;
        Ok(Self { stream, carry: Vec::new(), answer: StatementAnswer::default() })
    }

    /// Sends messages that end with a sync. A closed loop's are far smaller than a socket's
    /// buffer; should that be full all the same, this waits for at most `timeout`.
    pub fn send(&mut self, messages: &[u8], timeout: Duration) -> Result<(), ThinError> {
        let mut rest = messages;
        let mut waiting_since = None;
        loop {
            match self.stream.send_some(rest) {
                Ok(sent) => {
                    rest = rest.get(sent..).unwrap_or_default();
                    if rest.is_empty() && self.stream.has_sent()? {
                        return Ok(());
                    }
                }
                Err(error) if is_timeout(&error) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            }
            let since = *waiting_since.get_or_insert_with(Instant::now);
            let left = timeout.saturating_sub(since.elapsed());
            if left.is_zero() {
                return Err(ThinError::TimedOut(timeout));
            }
            self.stream.wait(PollFlags::OUT, left)?;
        }
    }

    /// Takes what has arrived; the answer, if it is complete. A poller that reports changes alone
    /// (edge-triggered) may be waited for after `None`: the socket has been read empty. Only its
    /// end may still be there, which takes another call.
    ///
    /// # Errors
    /// [`ThinError::Lost`], with the server's message in its place where it sent one;
    /// [`ThinError::Unexpected`].
    pub fn receive(&mut self, buffer: &mut Vec<u8>) -> Result<Option<StatementAnswer>, ThinError> {
        let mut held = self.carry.len();
        if buffer.len() <= held {
            buffer.resize((held * 2).max(BUFFER_BYTES), 0);
        }
        if let Some(place) = buffer.get_mut(..held) {
            place.copy_from_slice(&self.carry);
            self.carry.clear();
        }
        loop {
            let room = buffer.get_mut(held..).unwrap_or_default();
            let asked = room.len();
            let read = match self.stream.read(room) {
                Ok(0) => return Err(self.ended()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) if is_timeout(&error) => 0,
                Err(error) => return Err(self.answer.refusal.take().unwrap_or(error.into())),
            };
            held += read;
            let (used, ready) = self.take(buffer.get(..held).unwrap_or_default())?;
            buffer.copy_within(used..held, 0);
            held -= used;
            // A read that leaves room has emptied the socket, unless it was decrypted.
            let empty = read == 0 || (read < asked && !self.stream.is_encrypted());
            if ready || empty {
                self.carry.extend_from_slice(buffer.get(..held).unwrap_or_default());
                return Ok(ready.then(|| std::mem::take(&mut self.answer)));
            }
            if held == buffer.len() {
                buffer.resize(held * 2, 0);
            }
        }
    }

    /// Looks at every whole message of `bytes`: how many bytes they are, and whether the last one
    /// ends the answer.
    fn take(&mut self, bytes: &[u8]) -> Result<(usize, bool), ThinError> {
        let mut used = 0;
        let mut ready = false;
        loop {
            let rest = bytes.get(used..).unwrap_or_default();
            let Some(header) = Header::parse(rest)? else { return Ok((used, ready)) };
            let length = 1 + usize::try_from(header.len()).unwrap_or(usize::MAX - 1);
            let Some(body) = rest.get(5..length) else { return Ok((used, ready)) };
            used += length;
            match header.tag() {
                backend::COMMAND_COMPLETE_TAG => self.answer.rows = count_of_tag(body),
                backend::READY_FOR_QUERY_TAG => {
                    self.answer.in_transaction = body.first() != Some(&b'I');
                    ready = true;
                }
                backend::ERROR_RESPONSE_TAG => {
                    if let Message::ErrorResponse(error) = whole_message(header.tag(), body)? {
                        self.answer.refusal = Some(ThinError::from_response(&error)?);
                    }
                }
                backend::COPY_IN_RESPONSE_TAG => {
                    return Err(ThinError::Unexpected("COPY FROM STDIN cannot be measured"));
                }
                _ => {}
            }
        }
    }

    /// The server has closed the connection; it may have said why.
    fn ended(&mut self) -> ThinError {
        let closed = "the server closed the connection";
        let closed = io::Error::new(io::ErrorKind::UnexpectedEof, closed);
        self.answer.refusal.take().unwrap_or(closed.into())
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
