//! One connection that never waits: each call goes as far as the socket allows and says what it
//! waits for. An event loop drives many of them; [`super::Connection`] drives one and waits.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustls::{ClientConnection, StreamOwned};

use super::response::{AnswerReader, Keep};
use super::{HttpError, PreparedRequest, Target};

/// Bytes read at once; also the longest head of an answer that is accepted.
pub const BUFFER_BYTES: usize = 64 * 1024;

/// The event that a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Bytes to read, or the end of the stream.
    Read,
    /// Room for bytes to write, or the end of connecting.
    Write,
}

/// How far a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireStep {
    /// Call again when the socket is ready for this.
    Waits(Interest),
    /// Connected, or the answer is complete.
    Done,
}

/// A connection, and the exchange under way on it.
pub struct Wire<'a> {
    target: &'a Target,
    state: WireState,
    reader: AnswerReader,
    /// The beginning of a head, or of a line between chunks, whose end has not come yet.
    held: Vec<u8>,
    sockets_made: u64,
}

enum WireState {
    Closed,
    /// To the address of this index of the target.
    Connecting {
        address: usize,
        socket: TcpStream,
    },
    Handshaking(Tls),
    Idle(WireStream),
    Sending {
        stream: WireStream,
        sent: usize,
    },
    Receiving(WireStream),
}

type Tls = Box<StreamOwned<ClientConnection, TcpStream>>;

enum WireStream {
    Plain(TcpStream),
    Tls(Tls),
}

impl<'a> Wire<'a> {
    pub fn new(target: &'a Target) -> Self {
        let (reader, held) = (AnswerReader::default(), Vec::new());
        Self { target, state: WireState::Closed, reader, held, sockets_made: 0 }
    }

    /// Whether a request can be sent without connecting first.
    pub fn is_idle(&self) -> bool {
        matches!(self.state, WireState::Idle(_))
    }

    pub fn close(&mut self) {
        self.state = WireState::Closed;
    }

    /// The answer that was read last.
    pub fn reader(&mut self) -> &mut AnswerReader {
        &mut self.reader
    }

    /// How many sockets this connection has had; a change means that there is another one to wait on.
    pub fn sockets_made(&self) -> u64 {
        self.sockets_made
    }

    /// The socket to wait on; none while closed.
    pub fn socket(&self) -> Option<BorrowedFd<'_>> {
        Some(match &self.state {
            WireState::Closed => return None,
            WireState::Connecting { socket, .. } => socket.as_fd(),
            WireState::Handshaking(stream) => stream.sock.as_fd(),
            WireState::Idle(stream)
            | WireState::Sending { stream, .. }
            | WireState::Receiving(stream) => stream.socket().as_fd(),
        })
    }

    /// Begins to connect, to the first address of the target that does not refuse at once.
    pub fn connect(&mut self) -> Result<WireStep, HttpError> {
        self.connect_from(0, None)
    }

    fn connect_from(
        &mut self,
        first: usize,
        mut refusal: Option<io::Error>,
    ) -> Result<WireStep, HttpError> {
        self.state = WireState::Closed;
        for (index, address) in self.target.addresses.iter().enumerate().skip(first) {
            match begin_connecting(address) {
                Ok(socket) => {
                    self.sockets_made += 1;
                    self.state = WireState::Connecting { address: index, socket };
                    return Ok(WireStep::Waits(Interest::Write));
                }
                Err(error) => refusal = Some(error),
            }
        }
        let source = refusal.unwrap_or_else(|| ErrorKind::AddrNotAvailable.into());
        let address = self.target.address.clone();
        Err(match source.kind() {
            ErrorKind::ConnectionRefused => HttpError::Refused { address },
            _ => HttpError::Connect { address, source },
        })
    }

    /// Begins an exchange on an idle connection; of the answer it keeps what `keep` says.
    pub fn send(
        &mut self,
        request: &PreparedRequest,
        keep: Keep,
        buffer: &mut [u8],
    ) -> Result<WireStep, HttpError> {
        let WireState::Idle(stream) = std::mem::replace(&mut self.state, WireState::Closed) else {
            return Err(self.closed());
        };
        self.reader.begin(request.is_head, keep);
        self.held.clear();
        self.state = WireState::Sending { stream, sent: 0 };
        self.advance(Some(request), buffer)
    }

    /// Goes on as far as the socket allows. After an error the connection is closed.
    pub fn advance(
        &mut self,
        request: Option<&PreparedRequest>,
        buffer: &mut [u8],
    ) -> Result<WireStep, HttpError> {
        // Put back only where the connection is still good.
        match std::mem::replace(&mut self.state, WireState::Closed) {
            WireState::Closed => Err(self.closed()),
            WireState::Connecting { address, socket } => self.connecting(address, socket),
            WireState::Handshaking(stream) => self.handshake(stream),
            WireState::Idle(stream) => {
                self.state = WireState::Idle(stream);
                Ok(WireStep::Done)
            }
            WireState::Sending { stream, sent } => match request {
                Some(request) => self.write(stream, sent, request, buffer),
                None => Err(self.closed()),
            },
            WireState::Receiving(stream) => self.read(stream, buffer),
        }
    }

    /// The server said something, or farewell, on an idle connection. Nothing was asked, so it is
    /// of no further use, except where TLS sends tickets of its own accord.
    pub fn disturbed(&mut self, buffer: &mut [u8]) {
        if let WireState::Idle(stream @ WireStream::Tls(_)) = &mut self.state
            && stream.read(buffer).is_err_and(|error| is_pause(&error))
        {
            return;
        }
        self.close();
    }

    fn connecting(&mut self, address: usize, socket: TcpStream) -> Result<WireStep, HttpError> {
        match socket.take_error() {
            Ok(None) => {}
            Ok(Some(error)) | Err(error) => return self.connect_from(address + 1, Some(error)),
        }
        socket.set_nodelay(true).map_err(|source| self.lost(source))?;
        let Some((name, config)) = &self.target.tls else {
            self.state = WireState::Idle(WireStream::Plain(socket));
            return Ok(WireStep::Done);
        };
        let session = ClientConnection::new(Arc::clone(config), name.clone())
            .map_err(|error| self.tls(&error))?;
        self.handshake(Box::new(StreamOwned::new(session, socket)))
    }

    fn handshake(&mut self, mut stream: Tls) -> Result<WireStep, HttpError> {
        while stream.conn.is_handshaking() {
            match stream.conn.complete_io(&mut stream.sock) {
                Ok(_) => {}
                Err(error) if is_pause(&error) => {
                    let writes = stream.conn.wants_write();
                    self.state = WireState::Handshaking(stream);
                    return Ok(WireStep::Waits(if writes {
                        Interest::Write
                    } else {
                        Interest::Read
                    }));
                }
                Err(error) => return Err(self.tls(&error)),
            }
        }
        self.state = WireState::Idle(WireStream::Tls(stream));
        Ok(WireStep::Done)
    }

    fn write(
        &mut self,
        mut stream: WireStream,
        mut sent: usize,
        request: &PreparedRequest,
        buffer: &mut [u8],
    ) -> Result<WireStep, HttpError> {
        loop {
            let rest = request.bytes.get(sent..).unwrap_or_default();
            let result = if rest.is_empty() { stream.flush() } else { Ok(()) };
            match result.and_then(|()| if rest.is_empty() { Ok(0) } else { stream.write(rest) }) {
                Ok(_) if rest.is_empty() => return self.read(stream, buffer),
                Ok(0) => return Err(self.lost(ErrorKind::WriteZero.into())),
                // Asking the socket at once would only tell that no answer is there yet.
                Ok(count) if count == rest.len() && matches!(stream, WireStream::Plain(_)) => {
                    self.state = WireState::Receiving(stream);
                    return Ok(WireStep::Waits(Interest::Read));
                }
                Ok(count) => sent += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_pause(&error) => {
                    self.state = WireState::Sending { stream, sent };
                    return Ok(WireStep::Waits(Interest::Write));
                }
                Err(error) => return Err(self.lost(error)),
            }
        }
    }

    fn read(&mut self, mut stream: WireStream, buffer: &mut [u8]) -> Result<WireStep, HttpError> {
        loop {
            // Held bytes stand before new ones, so that a head is parsed in one piece.
            let held = self.held.len();
            let (before, space) = buffer.split_at_mut(held);
            before.copy_from_slice(&self.held);
            let count = match stream.read(space) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if is_pause(&error) => break,
                // A peer that closes without TLS's farewell.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => 0,
                Err(error) => return Err(self.lost(error)),
            };
            let drained = count < space.len() && matches!(stream, WireStream::Plain(_));
            if count == 0 {
                return if self.reader.end_of_stream() {
                    Ok(WireStep::Done)
                } else {
                    Err(self.closed())
                };
            }
            let input = buffer.get(..held + count).unwrap_or_default();
            let taken = self.reader.advance(input).map_err(|reason| self.malformed(reason))?;
            let rest = input.get(taken..).unwrap_or_default();
            if self.reader.is_complete() {
                if !rest.is_empty() {
                    return Err(self.malformed("more bytes than its length says".to_owned()));
                }
                if self.reader.keep_alive() {
                    self.state = WireState::Idle(stream);
                }
                self.held.clear();
                return Ok(WireStep::Done);
            }
            if rest.len() == buffer.len() {
                let reason = "a head, or a line between chunks, of more than 64 KiB";
                return Err(self.malformed(reason.to_owned()));
            }
            self.held.clear();
            self.held.extend_from_slice(rest);
            if drained {
                break;
            }
        }
        self.state = WireState::Receiving(stream);
        Ok(WireStep::Waits(Interest::Read))
    }

    fn closed(&self) -> HttpError {
        HttpError::Closed { address: self.target.address.clone() }
    }

    fn tls(&self, error: &dyn std::error::Error) -> HttpError {
        HttpError::Tls { address: self.target.address.clone(), reason: error.to_string() }
    }

    fn malformed(&self, reason: String) -> HttpError {
        HttpError::Malformed { address: self.target.address.clone(), reason }
    }

    fn lost(&self, source: io::Error) -> HttpError {
        HttpError::Lost { address: self.target.address.clone(), source }
    }
}

fn begin_connecting(address: &SocketAddr) -> io::Result<TcpStream> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, address) {
        Ok(()) | Err(rustix::io::Errno::INPROGRESS) => Ok(socket.into()),
        Err(error) => Err(error.into()),
    }
}

/// The socket has nothing to read, or no room to write.
fn is_pause(error: &io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock
}

impl WireStream {
    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => &stream.sock,
        }
    }
}

impl Read for WireStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for WireStream {
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
