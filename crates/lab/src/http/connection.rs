//! One connection to a server: writes a prepared request, waits for the whole answer.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};

use super::response::{Answer, AnswerReader, Collected};
use super::{HttpError, PreparedRequest, Target};

/// Bytes read at once; also the longest head of an answer that is accepted.
const BUFFER_BYTES: usize = 64 * 1024;
/// A waiting client looks this often whether it was interrupted.
const LOOK_UP: Duration = Duration::from_millis(100);
/// A server that does not even accept a connection in this time is not waited for.
const CONNECT_TIMEOUT_MAX: Duration = Duration::from_secs(10);

/// A client's connection. It may be closed and connected again; its buffer stays.
pub struct Connection<'a> {
    target: &'a Target,
    /// From the first byte written to the last byte of the answer.
    timeout: Duration,
    interrupted: &'a AtomicBool,
    stream: Option<Stream>,
    buffer: Vec<u8>,
}

/// An answer read in full, for untimed use.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// What a timed request would have seen.
    pub answer: Answer,
    /// The body, chunked coding removed.
    pub body: Vec<u8>,
    /// Names in small letters, in the order sent.
    pub headers: Vec<(String, String)>,
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl<'a> Connection<'a> {
    /// A connection that is not open yet: see [`Connection::connect`].
    #[must_use]
    pub fn closed(target: &'a Target, timeout: Duration, interrupted: &'a AtomicBool) -> Self {
        // A socket takes no limit of 0.
        let timeout = timeout.max(Duration::from_millis(1));
        Self { target, timeout, interrupted, stream: None, buffer: vec![0; BUFFER_BYTES] }
    }

    /// Connects to `target`. `timeout` holds for each answer as a whole, and for connecting
    /// (there at most 10 s); `interrupted` ends every wait within a tenth of a second.
    ///
    /// # Errors
    /// As [`Connection::connect`].
    pub fn open(
        target: &'a Target,
        timeout: Duration,
        interrupted: &'a AtomicBool,
    ) -> Result<Self, HttpError> {
        let mut connection = Self::closed(target, timeout, interrupted);
        connection.connect()?;
        Ok(connection)
    }

    /// Connects, or connects anew.
    ///
    /// # Errors
    /// [`HttpError::Refused`], [`HttpError::Connect`], [`HttpError::TimedOut`],
    /// [`HttpError::Tls`] or [`HttpError::Interrupted`].
    pub fn connect(&mut self) -> Result<(), HttpError> {
        self.stream = None;
        let deadline = Instant::now() + self.timeout;
        let socket = self.connect_socket()?;
        let prepared = socket
            .set_nodelay(true)
            .and_then(|()| socket.set_read_timeout(Some(self.timeout.min(LOOK_UP))))
            .and_then(|()| socket.set_write_timeout(Some(self.timeout)));
        prepared.map_err(|source| self.lost(source))?;
        self.stream = Some(match &self.target.tls {
            None => Stream::Plain(socket),
            Some((name, config)) => {
                let session = ClientConnection::new(Arc::clone(config), name.clone())
                    .map_err(|error| self.tls(error.to_string()))?;
                self.handshake(StreamOwned::new(session, socket), deadline)?
            }
        });
        Ok(())
    }

    /// Whether a request can be sent without connecting first.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.stream.is_some()
    }

    /// Closes the connection.
    pub fn close(&mut self) {
        self.stream = None;
    }

    /// Sends a request and reads its answer to the last byte; the body is hashed and not kept.
    ///
    /// # Errors
    /// Any [`HttpError`] of an exchange; the connection is closed then.
    pub fn send(&mut self, request: &PreparedRequest) -> Result<Answer, HttpError> {
        Ok(self.exchange(request, false)?.answer())
    }

    /// As [`Connection::send`], and keeps the body and the headers.
    ///
    /// # Errors
    /// As [`Connection::send`].
    pub fn fetch(&mut self, request: &PreparedRequest) -> Result<Fetched, HttpError> {
        let reader = self.exchange(request, true)?;
        let answer = reader.answer();
        let Collected { body, headers } = reader.into_collected();
        Ok(Fetched { answer, body, headers })
    }

    fn exchange(
        &mut self,
        request: &PreparedRequest,
        collect: bool,
    ) -> Result<AnswerReader, HttpError> {
        // Taken out and put back only after a whole answer that leaves the connection open.
        let Some(mut stream) = self.stream.take() else {
            return Err(HttpError::Closed { address: self.target.address.clone() });
        };
        let deadline = Instant::now() + self.timeout;
        stream.write_all(&request.bytes).map_err(|source| self.failed(source))?;
        let mut reader = AnswerReader::new(request.is_head, collect);
        let (mut start, mut end) = (0, 0);
        while !reader.is_complete() {
            if end == self.buffer.len() {
                if start == 0 {
                    return Err(self.malformed(
                        "a head, or a line between chunks, of more than 64 KiB".to_owned(),
                    ));
                }
                self.buffer.copy_within(start..end, 0);
                (start, end) = (0, end - start);
            }
            let count = self.read(&mut stream, end, deadline)?;
            if count == 0 && !reader.end_of_stream() {
                return Err(HttpError::Closed { address: self.target.address.clone() });
            }
            end += count;
            let taken = reader.advance(&self.buffer[start..end]);
            start += taken.map_err(|reason| self.malformed(reason))?;
            if start == end {
                (start, end) = (0, 0);
            }
        }
        if start != end {
            return Err(self.malformed("more bytes than its length says".to_owned()));
        }
        if reader.keep_alive() {
            self.stream = Some(stream);
        }
        Ok(reader)
    }

    /// Reads what is there behind `end`, waiting until `deadline`; 0 at the end of the stream.
    fn read(
        &mut self,
        stream: &mut Stream,
        end: usize,
        deadline: Instant,
    ) -> Result<usize, HttpError> {
        loop {
            match stream.read(&mut self.buffer[end..]) {
                Ok(count) => return Ok(count),
                Err(error) if is_pause(&error) => self.may_wait(deadline)?,
                // A peer that closes without TLS's farewell.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                Err(error) => return Err(self.failed(error)),
            }
        }
    }

    fn connect_socket(&self) -> Result<TcpStream, HttpError> {
        let timeout = self.timeout.min(CONNECT_TIMEOUT_MAX);
        let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
        for address in &self.target.addresses {
            if self.interrupted.load(Ordering::Relaxed) {
                return Err(HttpError::Interrupted);
            }
            match TcpStream::connect_timeout(address, timeout) {
                Ok(socket) => return Ok(socket),
                Err(error) => last = error,
            }
        }
        let address = self.target.address.clone();
        Err(match last.kind() {
            ErrorKind::ConnectionRefused => HttpError::Refused { address },
            ErrorKind::TimedOut => HttpError::TimedOut { address, timeout },
            _ => HttpError::Connect { address, source: last },
        })
    }

    fn handshake(
        &self,
        mut stream: StreamOwned<ClientConnection, TcpStream>,
        deadline: Instant,
    ) -> Result<Stream, HttpError> {
        while stream.conn.is_handshaking() {
            match stream.conn.complete_io(&mut stream.sock) {
                Ok(_) => {}
                Err(error) if is_pause(&error) => self.may_wait(deadline)?,
                Err(error) => return Err(self.tls(error.to_string())),
            }
        }
        Ok(Stream::Tls(Box::new(stream)))
    }

    fn may_wait(&self, deadline: Instant) -> Result<(), HttpError> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(HttpError::Interrupted);
        }
        if Instant::now() >= deadline {
            return Err(self.timed_out());
        }
        Ok(())
    }

    fn timed_out(&self) -> HttpError {
        HttpError::TimedOut { address: self.target.address.clone(), timeout: self.timeout }
    }

    fn tls(&self, reason: String) -> HttpError {
        HttpError::Tls { address: self.target.address.clone(), reason }
    }

    fn malformed(&self, reason: String) -> HttpError {
        HttpError::Malformed { address: self.target.address.clone(), reason }
    }

    fn lost(&self, source: io::Error) -> HttpError {
        HttpError::Lost { address: self.target.address.clone(), source }
    }

    fn failed(&self, source: io::Error) -> HttpError {
        if is_pause(&source) { self.timed_out() } else { self.lost(source) }
    }
}

/// A read or write that ran into the socket's own time limit.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}
