//! Bytes to and from the server: a socket of any kind, one write per exchange, poll() before read.

use std::io::{self, Read as _};
use std::sync::atomic::Ordering;
use std::time::Duration;

use postgres_protocol::message::backend::Header;
use rustix::event::PollFlags;

use super::stream::ThinStream;
use super::{ThinError, WaitLimits};

/// How often a waiting client looks whether the user asked to stop.
pub(super) const STEP: Duration = Duration::from_millis(250);

/// Enough for most answers; it grows to the longest message.
const BUFFER_BYTES: usize = 16 * 1024;

/// A socket with the messages that arrived on it.
pub(super) struct ThinWire<'a> {
    stream: ThinStream,
    limits: WaitLimits<'a>,
    buffer: Vec<u8>,
    /// The part of `buffer` that is not consumed yet.
    start: usize,
    end: usize,
}

impl<'a> ThinWire<'a> {
    pub(super) fn new(stream: ThinStream, limits: WaitLimits<'a>) -> Self {
        Self { stream, limits, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0 }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), ThinError> {
        match self.stream.send(bytes) {
            Err(error) if is_timeout(&error) => Err(ThinError::TimedOut(self.limits.timeout)),
            sent => Ok(sent?),
        }
    }

    pub(super) fn check_interrupted(&self) -> Result<(), ThinError> {
        match self.limits.interrupted.load(Ordering::Relaxed) {
            true => Err(ThinError::Interrupted),
            false => Ok(()),
        }
    }

    /// The socket alone; what has arrived and was not looked at is given up.
    pub(super) fn into_stream(self) -> ThinStream {
        self.stream
    }

    /// The next message: its tag and body.
    pub(super) fn message(&mut self) -> Result<(u8, &[u8]), ThinError> {
        let (tag, body) = loop {
            let unread = self.buffer.get(self.start..self.end).unwrap_or_default();
            let mut wanted = 5;
            if let Some(header) = Header::parse(unread)? {
                wanted = 1 + usize::try_from(header.len()).unwrap_or(0);
                if unread.len() >= wanted {
                    let body = self.start + 5..self.start + wanted;
                    self.start += wanted;
                    break (header.tag(), body);
                }
            }
            self.fill(wanted)?;
        };
        Ok((tag, self.buffer.get(body).unwrap_or_default()))
    }

    /// Reads once, with room for a message of `wanted` bytes.
    fn fill(&mut self, wanted: usize) -> Result<(), ThinError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.start + wanted > self.buffer.len() {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if wanted > self.buffer.len() {
            self.buffer.resize(wanted.next_power_of_two(), 0);
        }
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        let read = receive(&mut self.stream, room, self.limits)?;
        if read == 0 {
            let closed = "the server closed the connection";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, closed).into());
        }
        self.end += read;
        Ok(())
    }
}

/// A blocking read of a Unix socket wakes twice per answer where poll() and read wake once.
fn receive(
    stream: &mut ThinStream,
    room: &mut [u8],
    limits: WaitLimits<'_>,
) -> Result<usize, ThinError> {
    let mut waited = Duration::ZERO;
    loop {
        // Bytes that have arrived may be decrypted already; the socket has a timeout of one step.
        let ready = stream.is_encrypted() || stream.wait(PollFlags::IN, STEP)?;
        let read = ready.then(|| stream.read(room));
        match read {
            Some(Ok(read)) => return Ok(read),
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => continue,
            Some(Err(error)) if !is_timeout(&error) => return Err(error.into()),
            _ => waited += STEP,
        }
        if limits.interrupted.load(Ordering::Relaxed) {
            return Err(ThinError::Interrupted);
        }
        if waited >= limits.timeout {
            return Err(ThinError::TimedOut(limits.timeout));
        }
    }
}

pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
