//! One connection to a server that waits: sends a prepared request, returns with the whole answer.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::response::Keep;
use super::wire::{BUFFER_BYTES, Interest, Wire, WireStep};
use super::{HttpError, PreparedRequest, Target};
use record::Answer;

/// A waiting client looks this often whether it was interrupted.
const LOOK_UP: Duration = Duration::from_millis(100);
/// A server that does not even accept a connection in this time is not waited for.
pub const CONNECT_TIMEOUT_MAX: Duration = Duration::from_secs(10);

/// A client's connection. It may be closed and connected again; its buffer stays.
pub struct Connection<'a> {
    wire: Wire<'a>,
    address: &'a str,
    /// From the first byte written to the last byte of the answer.
    timeout: Duration,
    interrupted: &'a AtomicBool,
    buffer: Vec<u8>,
}

/// An answer read in full, for untimed use.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The answer as a timed request would have seen it.
    pub answer: Answer,
    /// The body, chunked coding removed.
    pub body: Vec<u8>,
    /// Names in small letters, in the order sent.
    pub headers: Vec<(String, String)>,
}

impl<'a> Connection<'a> {
    /// A connection that is not open yet: see [`Connection::connect`].
    #[must_use]
    pub fn closed(target: &'a Target, timeout: Duration, interrupted: &'a AtomicBool) -> Self {
        let buffer = vec![0; BUFFER_BYTES];
        Self { wire: Wire::new(target), address: target.address(), timeout, interrupted, buffer }
    }

    /// Connects to `target`. `timeout` holds for each answer as a whole, and for connecting
    /// (there at most 10 s); `interrupted` ends every wait within a tenth of a second.
    pub fn open(
        target: &'a Target,
        timeout: Duration,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, HttpError> {
        let mut connection = Self::closed(target, timeout, interrupted);
        connection.connect()?;
        Ok(connection)
    }

    pub fn connect(&mut self) -> Result<(), HttpError> {
        let step = self.wire.connect();
        self.drive(step, None, self.timeout.min(CONNECT_TIMEOUT_MAX))
    }

    /// Whether a request can be sent without connecting first.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.wire.is_idle()
    }

    /// Sends a request and reads its answer to the last byte; the body is hashed and not kept.
    pub fn send(&mut self, request: &PreparedRequest) -> Result<Answer, HttpError> {
        self.exchange(request, Keep::Hash)?;
        Ok(self.wire.reader().answer())
    }

    /// As [`Connection::send`], and keeps the body and the headers.
    pub fn fetch(&mut self, request: &PreparedRequest) -> Result<Fetched, HttpError> {
        self.exchange(request, Keep::Everything)?;
        let reader = self.wire.reader();
        let (body, headers) = reader.take_kept();
        Ok(Fetched { answer: reader.answer(), body, headers })
    }

    fn exchange(&mut self, request: &PreparedRequest, keep: Keep) -> Result<(), HttpError> {
        let step = self.wire.send(request, keep, &mut self.buffer);
        self.drive(step, Some(request), self.timeout)
    }

    /// Waits and goes on until the connection stands or the answer is complete.
    fn drive(
        &mut self,
        begun: Result<WireStep, HttpError>,
        request: Option<&PreparedRequest>,
        timeout: Duration,
    ) -> Result<(), HttpError> {
        let deadline = Instant::now() + timeout;
        let mut step = begun?;
        while let WireStep::Waits(interest) = step {
            if let Err(error) = self.wait(interest, deadline, timeout) {
                self.wire.close();
                return Err(error);
            }
            step = self.wire.advance(request, &mut self.buffer)?;
        }
        Ok(())
    }

    fn wait(
        &self,
        interest: Interest,
        deadline: Instant,
        timeout: Duration,
    ) -> Result<(), HttpError> {
        let address = || self.address.to_owned();
        let Some(socket) = self.wire.socket() else {
            return Err(HttpError::Closed { address: address() });
        };
        let flags = match interest {
            Interest::Read => PollFlags::IN,
            Interest::Write => PollFlags::OUT,
        };
        loop {
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(HttpError::Interrupted);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(HttpError::TimedOut { address: address(), timeout });
            }
            let pause = Timespec::try_from(left.min(LOOK_UP)).ok();
            match poll(&mut [PollFd::from_borrowed_fd(socket, flags)], pause.as_ref()) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => {
                    let source = io::Error::from(error);
                    return Err(HttpError::Lost { address: address(), source });
                }
            }
        }
    }
}
