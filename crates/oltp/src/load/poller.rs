//! Waiting for sockets in epoll, which tells changes alone (edge-triggered), need not be told again
//! what to watch, and wakes once for an answer, where a blocking read wakes for its request too.
//! Looks at the time come from a timer in the same set: a timeout of each wait would be set and
//! taken back at every statement, a tenth of what they cost a client here.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, timerfd_create, timerfd_settime,
};

/// Events taken at once.
const EVENTS_MAX: usize = 256;

/// The timer's place; no socket has it.
const TIMER: u64 = u64::MAX;

pub(crate) struct Poller {
    epoll: OwnedFd,
    events: Vec<epoll::Event>,
    timer: OwnedFd,
}

impl Poller {
    /// For these sockets, by their place, and a look at the time in every `interval`.
    pub(crate) fn new<F: AsFd>(
        sockets: impl Iterator<Item = F>,
        interval: Duration,
    ) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        for (place, socket) in sockets.enumerate() {
            // Whether the other side has closed it, too.
            let flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
            epoll::add(&epoll, &socket, EventData::new_u64(place as u64), flags)?;
        }
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        let interval = Timespec::try_from(interval).map_err(io::Error::other)?;
        let times = Itimerspec { it_interval: interval, it_value: interval };
        timerfd_settime(&timer, TimerfdTimerFlags::empty(), &times)?;
        let flags = EventFlags::IN | EventFlags::ET;
        epoll::add(&epoll, &timer, EventData::new_u64(TIMER), flags)?;
        Ok(Self { epoll, events: Vec::with_capacity(EVENTS_MAX), timer })
    }

    /// Waits until something has arrived or the time is to be looked at: whether it is. Puts the
    /// places of the sockets that have news into `ready`.
    pub(crate) fn wait(&mut self, ready: &mut Vec<usize>) -> io::Result<bool> {
        ready.clear();
        self.events.clear();
        let spare = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, spare, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut look_up = false;
        for event in &self.events {
            let data = event.data.u64();
            if data == TIMER {
                look_up = true;
                // It goes off again only when it has been read.
                match rustix::io::read(&self.timer, &mut [0; size_of::<u64>()]) {
                    Ok(_) | Err(Errno::AGAIN | Errno::INTR) => continue,
                    Err(error) => return Err(error.into()),
                }
            }
            let place = usize::try_from(data).unwrap_or(usize::MAX);
            ready.push(place);
            // What arrived before the end is taken first; no other change would tell of the end.
            let flags = event.flags;
            if flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR) {
                ready.push(place);
            }
        }
        Ok(look_up)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn the_timer_goes_off_again_and_again_and_sockets_are_told_apart() {
        let (_other, silent) = UnixStream::pair().unwrap();
        let mut poller = Poller::new([&silent].into_iter(), Duration::from_millis(1)).unwrap();
        let mut ready = Vec::new();
        for _ in 0..3 {
            assert!(poller.wait(&mut ready).unwrap());
            assert_eq!(ready, [0; 0]);
        }
        let (other, told) = UnixStream::pair().unwrap();
        let hour = Duration::from_secs(3_600);
        let mut poller = Poller::new([&silent, &told].into_iter(), hour).unwrap();
        io::Write::write_all(&mut &other, b"news").unwrap();
        assert!(!poller.wait(&mut ready).unwrap());
        assert_eq!(ready, [1]);
        drop(other);
        assert!(!poller.wait(&mut ready).unwrap());
        assert_eq!(ready, [1, 1], "what arrived, then the end");
    }
}
