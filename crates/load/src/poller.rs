//! Waiting for sockets: many in Linux's epoll, with waits as exact as the clock, or one in poll().
//! Either wakes once for an answer, where a blocking read wakes for its request too.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::http::Interest;

const EVENTS_MAX: usize = 256;

/// Deadlines and interruptions are checked this often.
const CHECKED_EVERY: Duration = Duration::from_millis(100);

/// How long the next event is waited for.
#[derive(Clone, Copy)]
pub enum Wait<'s> {
    /// Without limit, for this socket alone. poll() of one socket gave 6% more transactions than epoll
    /// of it and a timer (BENCHMARKS.md).
    ForOne(BorrowedFd<'s>),
    /// Without limit, for any socket that is watched.
    ForAny,
    /// For any socket, until deadlines must be checked.
    UntilCheck,
    /// For any socket, at most this long and until deadlines must be checked.
    AtMost(Duration),
}

/// An epoll and the sockets that it watches.
pub struct Poller {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Poller {
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS_MAX) })
    }

    /// Watches a socket, under a number that its events carry. Closing it ends that.
    pub(super) fn add(
        &self,
        socket: BorrowedFd<'_>,
        number: usize,
        interest: Interest,
    ) -> io::Result<()> {
        let data = EventData::new_u64(number as u64);
        Ok(epoll::add(&self.epoll, socket, data, flags(interest))?)
    }

    /// Watches a socket without end: each arrival is reported once (edge-triggered), and the end of the
    /// connection, so that the socket need not be set up again.
    pub fn add_for_changes(&self, socket: impl AsFd, number: usize) -> io::Result<()> {
        let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, EventData::new_u64(number as u64), flags)?)
    }

    /// Watches it for something else.
    pub(super) fn modify(
        &self,
        socket: BorrowedFd<'_>,
        number: usize,
        interest: Interest,
    ) -> io::Result<()> {
        let data = EventData::new_u64(number as u64);
        Ok(epoll::modify(&self.epoll, socket, data, flags(interest))?)
    }

    /// Waits, and puts the numbers of the sockets that are ready into `ready`: 0 for one alone. None
    /// is ready after a signal.
    pub(super) fn wait(&mut self, wait: Wait<'_>, ready: &mut Vec<usize>) -> io::Result<()> {
        ready.clear();
        match wait {
            Wait::ForOne(socket) => {
                if is_readable(socket, None)? {
                    ready.push(0);
                }
                Ok(())
            }
            Wait::ForAny => self.wait_for_any(None, ready),
            Wait::UntilCheck => self.wait_for_any(Some(CHECKED_EVERY), ready),
            // Epoll's own clock ticks in milliseconds, too coarse for arrivals.
            Wait::AtMost(limit) => {
                match is_readable(self.epoll.as_fd(), Some(limit.min(CHECKED_EVERY)))? {
                    true => self.wait_for_any(Some(Duration::ZERO), ready),
                    false => Ok(()),
                }
            }
        }
    }

    fn wait_for_any(&mut self, limit: Option<Duration>, ready: &mut Vec<usize>) -> io::Result<()> {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        self.events.clear();
        let spare = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, spare, limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &self.events {
            let number = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
            ready.push(number);
            // Data that arrived before the end is taken first; no further event would report the end.
            let flags = event.flags;
            if flags.contains(EventFlags::RDHUP) {
                ready.push(number);
            }
        }
        Ok(())
    }
}

/// Waits until something has arrived, or the connection has ended. False: the time is over, or a
/// signal came first.
fn is_readable(socket: BorrowedFd<'_>, limit: Option<Duration>) -> io::Result<bool> {
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    match poll(&mut [PollFd::from_borrowed_fd(socket, PollFlags::IN)], limit.as_ref()) {
        Ok(events) => Ok(events > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn flags(interest: Interest) -> EventFlags {
    match interest {
        Interest::Read => EventFlags::IN,
        Interest::Write => EventFlags::OUT,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn sockets_are_distinct_and_data_is_reported_before_the_end() {
        let (_other, silent) = UnixStream::pair().unwrap();
        let (other, told) = UnixStream::pair().unwrap();
        let mut poller = Poller::new().unwrap();
        poller.add_for_changes(&silent, 0).unwrap();
        poller.add_for_changes(&told, 1).unwrap();
        let mut ready = Vec::new();
        io::Write::write_all(&mut &other, b"news").unwrap();
        poller.wait(Wait::ForAny, &mut ready).unwrap();
        assert_eq!(ready, [1]);
        drop(other);
        poller.wait(Wait::ForAny, &mut ready).unwrap();
        assert_eq!(ready, [1, 1], "what arrived, then the end");
    }

    #[test]
    fn one_socket_is_reported_for_as_long_as_it_has_news() {
        let (other, told) = UnixStream::pair().unwrap();
        io::Write::write_all(&mut &other, b"news").unwrap();
        drop(other);
        let (mut poller, mut ready) = (Poller::new().unwrap(), Vec::new());
        for _ in 0..2 {
            poller.wait(Wait::ForOne(told.as_fd()), &mut ready).unwrap();
            assert_eq!(ready, [0]);
        }
    }
}
