//! One direction of a relayed connection: bytes are read as they come, stamped, and written when
//! their time has come. Reading does not wait for writing, except for memory.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, Shutdown, recv, send, shutdown};

/// Bytes under way at most: an eighth of a second of 4 Gbit/s.
const UNDER_WAY_MAX: usize = 64 << 20;

/// Bytes that this process has forwarded, over all connections.
pub(super) static FORWARDED: AtomicU64 = AtomicU64::new(0);

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

pub(super) struct Direction<'f> {
    from: BorrowedFd<'f>,
    to: BorrowedFd<'f>,
    postponement: Postponement,
    under_way: VecDeque<Chunk>,
    bytes: usize,
    ended: bool,
    /// The socket takes no more of what is due.
    is_full: bool,
    is_closed: bool,
}

impl<'f> Direction<'f> {
    /// Both sockets must not block.
    pub(super) fn new(
        from: BorrowedFd<'f>,
        to: BorrowedFd<'f>,
        postponement: Postponement,
    ) -> Self {
        let under_way = VecDeque::new();
        let (ended, is_full, is_closed) = (false, false, false);
        Self { from, to, postponement, under_way, bytes: 0, ended, is_full, is_closed }
    }

    pub(super) fn takes_more(&self) -> bool {
        !self.ended && self.bytes < UNDER_WAY_MAX
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Everything has been written, and the end too.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// The next moment at which something is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.under_way.front().filter(|_| !self.is_full).map(|chunk| chunk.due)
    }

    /// Writes what is due, as far as the socket takes it.
    pub(super) fn write_due(&mut self) -> io::Result<()> {
        self.is_full = false;
        while let Some(chunk) = self.under_way.front_mut() {
            if chunk.due > Instant::now() {
                return Ok(());
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
                    FORWARDED.fetch_add(written as u64, Ordering::Relaxed);
                }
                Err(Errno::AGAIN) => {
                    self.is_full = true;
                    return Ok(());
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if self.ended && !self.is_closed {
            self.is_closed = true;
            shutdown(self.to, Shutdown::Write)?;
        }
        Ok(())
    }

    pub(super) fn read(&mut self, buffer: &mut [u8]) {
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
