//! Socket of any kind. Its drop sends the message Terminate, in every state of the connection.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustls::{ClientConnection, StreamOwned};

/// A connection with a server, the startup packet not sent yet or long gone.
pub(super) enum ThinStream {
    Unix(UnixStream),
    Tcp(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl ThinStream {
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.write_all(bytes),
            Self::Tcp(stream) => stream.write_all(bytes),
            Self::Tls(stream) => {
                stream.write_all(bytes)?;
                stream.flush()
            }
        }
    }

    /// Writes a part of it: as much as goes without waiting.
    pub(super) fn send_some(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    /// Whether what was written has left; what is encrypted may wait for the socket.
    pub(super) fn has_sent(&mut self) -> io::Result<bool> {
        let Self::Tls(stream) = self else { return Ok(true) };
        match stream.flush() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            flushed => flushed.map(|()| true),
        }
    }

    /// Whether it decrypts: then more may have arrived than its socket tells.
    pub(super) fn is_encrypted(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    fn tcp(&self) -> Option<&TcpStream> {
        match self {
            Self::Unix(_) => None,
            Self::Tcp(stream) => Some(stream),
            Self::Tls(stream) => Some(&stream.sock),
        }
    }

    pub(super) fn limit_writes(&self, timeout: Duration) -> io::Result<()> {
        let timeout = Some(timeout.max(Duration::from_millis(1)));
        match self {
            Self::Unix(stream) => stream.set_write_timeout(timeout),
            _ => self.tcp().map_or(Ok(()), |stream| stream.set_write_timeout(timeout)),
        }
    }

    /// From now on neither reads nor writes wait.
    pub(super) fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_nonblocking(true),
            _ => self.tcp().map_or(Ok(()), |stream| stream.set_nonblocking(true)),
        }
    }

    /// Waits until it can be read from, or written to; false: not in that time, or a signal came.
    pub(super) fn wait(&self, what: PollFlags, at_most: Duration) -> io::Result<bool> {
        let at_most = Timespec::try_from(at_most).ok();
        match poll(&mut [PollFd::new(self, what)], at_most.as_ref()) {
            Ok(ready) => Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Read for ThinStream {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(room),
            Self::Tcp(stream) => stream.read(room),
            Self::Tls(stream) => stream.read(room),
        }
    }
}

impl AsFd for ThinStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
            Self::Tls(stream) => stream.sock.as_fd(),
        }
    }
}

impl Drop for ThinStream {
    fn drop(&mut self) {
        let mut goodbye = BytesMut::new();
        frontend::terminate(&mut goodbye);
        // The server notices a closed socket as well.
        let _ = self.send(&goodbye);
    }
}
