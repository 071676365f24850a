//! Waiting for sockets: one in poll(), many in epoll, which then tells changes alone
//! (edge-triggered) and need not be told again what to watch.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Events taken at once.
const EVENTS_MAX: usize = 256;

/// What a thread waits in.
pub(crate) enum Waiter {
    /// For the one socket that it has.
    One,
    /// For all of its sockets.
    Many(Poller),
}

impl Waiter {
    /// For these sockets, by their place.
    pub(crate) fn new<F: AsFd>(sockets: impl ExactSizeIterator<Item = F>) -> io::Result<Self> {
        if sockets.len() == 1 {
            return Ok(Self::One);
        }
        let poller = Poller::new()?;
        for (place, socket) in sockets.enumerate() {
            poller.add(&socket, place)?;
        }
        Ok(Self::Many(poller))
    }

    /// Waits until something has arrived, at most `timeout`. Puts the places of the sockets that
    /// have news into `ready`; `only` is the first.
    pub(crate) fn wait(
        &mut self,
        only: &impl AsFd,
        timeout: Duration,
        ready: &mut Vec<usize>,
    ) -> io::Result<()> {
        ready.clear();
        match self {
            Self::Many(poller) => poller.wait(timeout, ready),
            Self::One => {
                let timeout = Timespec::try_from(timeout).ok();
                match poll(&mut [PollFd::new(only, PollFlags::IN)], timeout.as_ref()) {
                    Ok(0) | Err(Errno::INTR) => {}
                    Ok(_) => ready.push(0),
                    Err(error) => return Err(error.into()),
                }
                Ok(())
            }
        }
    }
}

pub(crate) struct Poller {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Poller {
    fn new() -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS_MAX) })
    }

    /// Watches a socket, and whether the other side has closed it.
    fn add(&self, socket: &impl AsFd, place: usize) -> io::Result<()> {
        let data = EventData::new_u64(place as u64);
        let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, socket, data, flags)?)
    }

    fn wait(&mut self, timeout: Duration, ready: &mut Vec<usize>) -> io::Result<()> {
        let timeout = Timespec::try_from(timeout).ok();
        self.events.clear();
        let spare = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, spare, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        for event in &self.events {
            let place = usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
            ready.push(place);
            // What arrived before the end is taken first; no other change would tell of the end.
            let flags = event.flags;
            if flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR) {
                ready.push(place);
            }
        }
        Ok(())
    }
}
