//! Both directions of a relayed connection, carried by one thread.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};

use super::direction::{Direction, Postponement};

/// Bytes of one read.
const READ_MAX: usize = 64 << 10;
/// A thread that sleeps may wake this late: it spins instead for this time before something is due.
const SPIN: Duration = Duration::from_micros(60);

/// One thread spins at a time: the server and its clients need processors.
static IS_SPINNING: AtomicBool = AtomicBool::new(false);
static HAS_SECOND_PROCESSOR: LazyLock<bool> =
    LazyLock::new(|| std::thread::available_parallelism().is_ok_and(|count| count.get() > 1));

/// The right to spin, until it is dropped.
struct Spin;

impl Spin {
    fn begin() -> Option<Self> {
        (*HAS_SECOND_PROCESSOR && !IS_SPINNING.swap(true, Ordering::Relaxed)).then_some(Self)
    }
}

impl Drop for Spin {
    fn drop(&mut self) {
        IS_SPINNING.store(false, Ordering::Relaxed);
    }
}

pub(super) struct RelayedConnection {
    pub client: OwnedFd,
    pub server: OwnedFd,
    /// From the client to the server.
    pub there: Postponement,
    pub back: Postponement,
}

impl RelayedConnection {
    /// Carries bytes until both directions have ended. Both sockets must not block.
    pub(super) fn carry(&self) {
        if self.run().is_err() {
            // The one that is left shall see the end.
            let _ = shutdown(&self.client, Shutdown::Both);
            let _ = shutdown(&self.server, Shutdown::Both);
        }
    }

    fn run(&self) -> io::Result<()> {
        let (client, server) = (self.client.as_fd(), self.server.as_fd());
        let mut there = Direction::new(client, server, self.there);
        let mut back = Direction::new(server, client, self.back);
        let mut buffer = vec![0; READ_MAX];
        loop {
            there.write_due()?;
            back.write_due()?;
            if there.is_closed() && back.is_closed() {
                return Ok(());
            }
            let [client_has, server_has] = self.wait(&there, &back)?;
            if client_has {
                there.read(&mut buffer);
            }
            if server_has {
                back.read(&mut buffer);
            }
        }
    }

    /// Waits until something can be done; for client and server whether there are bytes to read.
    fn wait(&self, there: &Direction<'_>, back: &Direction<'_>) -> io::Result<[bool; 2]> {
        let sides = [(&self.client, there, back), (&self.server, back, there)];
        let mut sockets = Vec::with_capacity(2);
        let mut places = [None; 2];
        for ((socket, from, to), place) in sides.into_iter().zip(&mut places) {
            let mut events = PollFlags::empty();
            events.set(PollFlags::IN, from.takes_more());
            events.set(PollFlags::OUT, to.is_full());
            // A socket of which nothing is wanted would still say that it has ended.
            if !events.is_empty() {
                *place = Some(sockets.len());
                sockets.push(PollFd::new(socket, events));
            }
        }
        let due = [there.due(), back.due()].into_iter().flatten().min();
        let left = due.map(|due| due.saturating_duration_since(Instant::now()));
        let mut spin = None;
        let sleep = left.map(|left| match left.checked_sub(SPIN) {
            Some(before) if *HAS_SECOND_PROCESSOR => before,
            _ => {
                spin = Spin::begin();
                if spin.is_some() { Duration::ZERO } else { left }
            }
        });
        let sleep = sleep.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        match poll(&mut sockets, sleep.as_ref()) {
            Err(Errno::INTR) => return Ok([false; 2]),
            polled => polled?,
        };
        let readable = PollFlags::IN | PollFlags::HUP | PollFlags::ERR;
        let has = |place: Option<usize>| {
            let socket = place.and_then(|place| sockets.get(place));
            socket.is_some_and(|socket| socket.revents().intersects(readable))
        };
        let [client, server] = places.map(has);
        Ok([client && there.takes_more(), server && back.takes_more()])
    }
}
