//! Waiting for sockets without limit: one in poll(), many in epoll, which then tells changes alone
//! (edge-triggered) and need not be told again what to watch. Either wakes once for an answer, where
//! a blocking read wakes for its request too. poll() of one socket gave 6% more transactions than
//! epoll of it and a timer (BENCHMARKS.md).

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

const EVENTS_MAX: usize = 256;

/// What a thread waits in.
pub(super) enum Poller {
    /// For the one socket that it has.
    One,
    /// For all of its sockets.
    Many { epoll: OwnedFd, events: Vec<epoll::Event> },
}

impl Poller {
    /// For these sockets, by their place.
    pub(super) fn new<F: AsFd>(sockets: impl ExactSizeIterator<Item = F>) -> io::Result<Self> {
        if sockets.len() == 1 {
            return Ok(Self::One);
        }
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        for (place, socket) in sockets.enumerate() {
            // Whether the other side has closed it, too.
            let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
            epoll::add(&epoll, &socket, EventData::new_u64(place as u64), flags)?;
        }
        Ok(Self::Many { epoll, events: Vec::with_capacity(EVENTS_MAX) })
    }

    /// Waits until something has arrived, or a connection has ended. Puts the places of the sockets
    /// that have news into `ready`; `first` is the first of them.
    pub(super) fn wait(&mut self, first: &impl AsFd, ready: &mut Vec<usize>) -> io::Result<()> {
        ready.clear();
        match self {
            Self::One => match poll(&mut [PollFd::new(first, PollFlags::IN)], None) {
                Ok(_) => ready.push(0),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            },
            Self::Many { epoll, events } => {
                events.clear();
                match epoll::wait(epoll, rustix::buffer::spare_capacity(events), None) {
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
                events.iter().for_each(|event| note(event, ready));
            }
        }
        Ok(())
    }
}

fn note(event: &epoll::Event, ready: &mut Vec<usize>) {
    let place = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
    ready.push(place);
    // Data that arrived before the end is taken first; no further event would report the end.
    let flags = event.flags;
    if flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR) {
        ready.push(place);
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
        let mut poller = Poller::new([&silent, &told].into_iter()).unwrap();
        let mut ready = Vec::new();
        io::Write::write_all(&mut &other, b"news").unwrap();
        poller.wait(&silent, &mut ready).unwrap();
        assert_eq!(ready, [1]);
        drop(other);
        poller.wait(&silent, &mut ready).unwrap();
        assert_eq!(ready, [1, 1], "what arrived, then the end");
    }

    #[test]
    fn one_socket_is_told_of_for_as_long_as_it_has_news() {
        let (other, told) = UnixStream::pair().unwrap();
        let mut poller = Poller::new([&told].into_iter()).unwrap();
        let mut ready = Vec::new();
        io::Write::write_all(&mut &other, b"news").unwrap();
        drop(other);
        for _ in 0..2 {
            poller.wait(&told, &mut ready).unwrap();
            assert_eq!(ready, [0]);
        }
    }
}
