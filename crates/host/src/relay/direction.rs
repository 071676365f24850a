//! One direction of a relayed connection: bytes are read as they come, stamped, and written when
//! their time has come. Reading does not wait for writing, except for memory.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

/// Bytes under way at most: an eighth of a second of 4 Gbit/s.
const UNDER_WAY_MAX: usize = 64 << 20;
/// Bytes of one read.
const READ_MAX: usize = 64 << 10;

/// Bytes that are under way; none is the end of the stream.
struct Chunk {
    due: Instant,
    bytes: Vec<u8>,
    written: usize,
}

/// Times of a direction.
#[derive(Clone, Copy)]
pub(super) struct Postponement {
    /// From arrival to release.
    pub delay: Duration,
    /// The first bytes count as arrived then, at the earliest: the connection itself is made by a
    /// round trip.
    pub open: Instant,
}

struct Direction<'f> {
    from: BorrowedFd<'f>,
    to: BorrowedFd<'f>,
    postponement: Postponement,
    under_way: VecDeque<Chunk>,
    bytes: usize,
    ended: bool,
}

/// Carries bytes from one socket to the other until the stream ends. Both must not block.
pub(super) fn carry(from: &impl AsFd, to: &impl AsFd, postponement: Postponement) {
    let (from, to) = (from.as_fd(), to.as_fd());
    let under_way = VecDeque::new();
    let mut direction = Direction { from, to, postponement, under_way, bytes: 0, ended: false };
    if direction.run().is_err() {
        // The other direction shall end too.
        let _ = (shutdown(from, Shutdown::Both), shutdown(to, Shutdown::Both));
    }
}

impl Direction<'_> {
    fn run(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; READ_MAX];
        loop {
            let is_full = self.write_due()?;
            if self.ended && self.under_way.is_empty() {
                return Ok(shutdown(self.to, Shutdown::Write)?);
            }
            if self.wait(is_full)? {
                self.read(&mut buffer);
            }
        }
    }

    /// Writes what is due; `true` where the socket takes no more of it now.
    fn write_due(&mut self) -> io::Result<bool> {
        while let Some(chunk) = self.under_way.front_mut() {
            if chunk.due > Instant::now() {
                break;
            }
            let rest = chunk.bytes.get(chunk.written..).unwrap_or_default();
            if rest.is_empty() {
                self.under_way.pop_front();
                continue;
            }
            match send(self.to, rest, SendFlags::NOSIGNAL) {
                Ok(written) => {
                    chunk.written += written;
                    self.bytes -= written;
                }
                Err(Errno::AGAIN) => return Ok(true),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }

    /// Waits until something can be done; `true` where there are bytes to read.
    fn wait(&self, is_full: bool) -> io::Result<bool> {
        let takes_more = !self.ended && self.bytes < UNDER_WAY_MAX;
        let mut sockets = Vec::with_capacity(2);
        if takes_more {
            sockets.push(PollFd::from_borrowed_fd(self.from, PollFlags::IN));
        }
        if is_full {
            sockets.push(PollFd::from_borrowed_fd(self.to, PollFlags::OUT));
        }
        let due = self.under_way.front().filter(|_| !is_full).map(|chunk| chunk.due);
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        let left = left.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut sockets, left.as_ref()) {
            Err(Errno::INTR) => return Ok(false),
            polled => polled?,
        };
        let first = sockets.first().filter(|_| takes_more);
        Ok(first.is_some_and(|socket| !socket.revents().is_empty()))
    }

    fn read(&mut self, buffer: &mut [u8]) {
        let read = match recv(self.from, &mut *buffer, RecvFlags::empty()) {
            Err(Errno::AGAIN | Errno::INTR) => return,
            Ok((read, _)) => read,
            // A connection that breaks off ends as one that is closed.
            Err(_) => 0,
        };
        let due = Instant::now().max(self.postponement.open) + self.postponement.delay;
        let bytes = buffer.get(..read).unwrap_or_default().to_vec();
        self.ended = read == 0;
        self.bytes += read;
        self.under_way.push_back(Chunk { due, bytes, written: 0 });
    }
}
