//! A client that is a process, as it sees itself: orders come on its standard input, which is a socket. Where the laboratory
//! ends, however it does, the client ends at once.

use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::LoadError;
use crate::frame::{self, FrameKind};
use crate::monotonic::from_monotonic_ns;

/// An order of the laboratory.
pub enum Job<J> {
    /// Prepare for this.
    Prepare(J),
    /// The trial of the last job begins, at this moment for all clients.
    Begin(Instant),
}

/// The client's side of its socket.
pub struct ClientChild {
    socket: UnixStream,
    orders: Receiver<(FrameKind, Vec<u8>)>,
    behind: Arc<AtomicUsize>,
}

impl ClientChild {
    /// The client whose standard input is a socket of the laboratory.
    ///
    /// # Errors
    /// When it is not.
    pub fn of_standard_input() -> Result<Self, LoadError> {
        let socket = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        socket.peer_addr()?;
        let (from_parent, behind) = (socket.try_clone()?, Arc::new(AtomicUsize::new(0)));
        let (sender, orders) = mpsc::channel();
        let rounds = Arc::clone(&behind);
        std::thread::Builder::new()
            .name("orders".to_owned())
            .spawn(move || take_orders(from_parent, &sender, &rounds))?;
        Ok(Self { socket, orders, behind })
    }

    /// The next order. The process ends where there will be none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn next<J: DeserializeOwned>(&self) -> Result<Job<J>, LoadError> {
        let (kind, content) = self.orders.recv().map_err(|_| LoadError::Interrupted)?;
        match kind {
            FrameKind::Go => {
                let moment = content.try_into().map(u64::from_le_bytes).unwrap_or_default();
                Ok(Job::Begin(from_monotonic_ns(moment)))
            }
            _ => Ok(Job::Prepare(serde_json::from_slice(&content).map_err(std::io::Error::from)?)),
        }
    }

    /// Says that the client is prepared, or why it is not.
    ///
    /// # Errors
    /// When the laboratory has ended.
    pub fn ready(&mut self, problem: Option<&str>) -> Result<(), LoadError> {
        // Its own rounds, and those of the others.
        self.behind.store(2, Ordering::Relaxed);
        self.send(FrameKind::Ready, problem.unwrap_or_default().as_bytes())
    }

    /// Answers a job that is a question.
    ///
    /// # Errors
    /// When the laboratory has ended.
    pub fn answer(&mut self, answer: &impl Serialize) -> Result<(), LoadError> {
        let answer = serde_json::to_vec(answer).map_err(std::io::Error::from)?;
        self.send(FrameKind::Answer, &answer)
    }

    /// Clients that have not finished their minimum of rounds.
    pub(crate) fn behind(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.behind)
    }

    pub(crate) fn caught_up(&mut self) -> Result<(), LoadError> {
        self.send(FrameKind::CaughtUp, &[])
    }

    /// Hands the notes of a trial over.
    ///
    /// # Errors
    /// When the laboratory has ended.
    pub fn done(&mut self, notes: &impl Serialize, observations: &[u8]) -> Result<(), LoadError> {
        let notes = serde_json::to_vec(notes).map_err(std::io::Error::from)?;
        self.send(FrameKind::Done, &notes)?;
        self.send(FrameKind::Observations, observations)
    }

    fn send(&mut self, kind: FrameKind, content: &[u8]) -> Result<(), LoadError> {
        frame::write(&mut self.socket, kind, content)?;
        Ok(self.socket.flush()?)
    }
}

fn take_orders(
    mut socket: UnixStream,
    orders: &Sender<(FrameKind, Vec<u8>)>,
    behind: &AtomicUsize,
) {
    while let Ok(Some((kind, content))) = frame::read(&mut socket) {
        match kind {
            FrameKind::CaughtUp => behind.store(0, Ordering::Relaxed),
            _ if orders.send((kind, content)).is_err() => break,
            _ => {}
        }
    }
    // A statement may be under way whose answer will not be read.
    std::process::exit(0);
}
