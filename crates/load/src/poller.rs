//! Waiting for many sockets at once: Linux's epoll, with waits as exact as the clock.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::http::Interest;

const EVENTS_MAX: usize = 256;

pub(super) struct Poller {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
}

impl Poller {
    pub(super) fn new() -> io::Result<Self> {
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

    /// Waits until a socket is ready, at most `timeout`; puts the numbers of the ready ones into
    /// `ready`. `exact`: epoll's own clock ticks in milliseconds, too coarse for arrivals.
    pub(super) fn wait(
        &mut self,
        timeout: Duration,
        exact: bool,
        ready: &mut Vec<usize>,
    ) -> io::Result<()> {
        ready.clear();
        let mut timeout = timeout;
        if exact {
            let pause = Timespec::try_from(timeout).ok();
            let mut epoll = [PollFd::from_borrowed_fd(self.epoll.as_fd(), PollFlags::IN)];
            match poll(&mut epoll, pause.as_ref()) {
                Ok(0) | Err(Errno::INTR) => return Ok(()),
                Ok(_) => timeout = Duration::ZERO,
                Err(error) => return Err(error.into()),
            }
        }
        let timeout = Timespec::try_from(timeout).ok();
        self.events.clear();
        let spare = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, spare, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let number = |event: &epoll::Event| usize::try_from(event.data.u64()).unwrap_or(usize::MAX);
        ready.extend(self.events.iter().map(number));
        Ok(())
    }
}

fn flags(interest: Interest) -> EventFlags {
    match interest {
        Interest::Read => EventFlags::IN,
        Interest::Write => EventFlags::OUT,
    }
}
