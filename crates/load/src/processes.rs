//! Clients that are processes: this program started again, one for each client, for engines that
//! live in the process of their client. SQLite's locks belong to a process, so threads of one take
//! them once together, and workers of a web server do not. Processes are started, prepared, begun
//! together, and read when their trial is over.

use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::LoadError;
use crate::frame::{self, FrameKind};
use crate::gate::Gate;
use crate::monotonic::to_monotonic_ns;
use crate::threads::in_threads;
use plan::PROCESSES_MAX;
use record::ObservationLog;

/// The word by which this program becomes a client.
pub const CLIENT: &str = "client";

/// How often it is looked whether the user asked to stop.
const LOOK_UP: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Memory of a client process, at least.
const PROCESS_BYTES_MIN: u64 = 16 << 20;

/// A client that is a process.
pub struct ClientProcess {
    number: u16,
    child: Child,
    socket: UnixStream,
}

impl ClientProcess {
    /// Starts what is missing until `processes` are `clients`; all of them, where one has ended.
    ///
    /// # Errors
    /// When there are too many, for us or for the memory that is left, or the system starts none.
    pub fn start_missing(
        program: &Path,
        processes: &mut Vec<Self>,
        clients: u16,
    ) -> Result<(), LoadError> {
        if processes.iter_mut().any(|one| !matches!(one.child.try_wait(), Ok(None))) {
            processes.clear();
        }
        let started = u16::try_from(processes.len()).unwrap_or(u16::MAX);
        let missing = started..clients;
        if missing.is_empty() {
            return Ok(());
        }
        let refuse = |reason: String| {
            let remedy = "use fewer clients, or --clients-as threads";
            Err(LoadError::InvalidLoad(format!("{reason}; {remedy}")))
        };
        if clients > PROCESSES_MAX {
            return refuse(format!("at most {PROCESSES_MAX} clients can be processes"));
        }
        let needed = PROCESS_BYTES_MIN * missing.len() as u64;
        if let Some(available) = available_bytes().filter(|available| *available < needed) {
            let count = notation::counted(missing.len(), "client process");
            return refuse(format!(
                "{count} need at least {}, and {} of memory are available",
                notation::bytes(needed),
                notation::bytes(available)
            ));
        }
        for number in missing {
            processes.push(Self::start(program, number)?);
        }
        Ok(())
    }

    fn start(program: &Path, number: u16) -> Result<Self, LoadError> {
        let failed = |source| LoadError::Process { client: number, source };
        let (socket, theirs) = UnixStream::pair().map_err(failed)?;
        let child = Command::new(program)
            .arg(CLIENT)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            // Ctrl-C is ours to answer.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        Ok(Self { number, child, socket })
    }

    /// A client that answers questions, and has no part in trials.
    ///
    /// # Errors
    /// When the system starts none.
    pub fn start_alone(program: &Path) -> Result<Self, LoadError> {
        Self::start(program, 0)
    }

    /// The answer to a job that is a question.
    ///
    /// # Errors
    /// When the client has ended, or the user asked to stop.
    pub fn ask<R: DeserializeOwned>(
        &mut self,
        question: &impl Serialize,
        interrupted: &AtomicBool,
    ) -> Result<R, LoadError> {
        let question = serde_json::to_vec(question).map_err(std::io::Error::from)?;
        self.send(FrameKind::Job, &question)?;
        self.wait_for_answer(interrupted)?;
        let (_, answer) = self.receive()?;
        Ok(serde_json::from_slice(&answer).map_err(std::io::Error::from)?)
    }

    fn wait_for_answer(&self, interrupted: &AtomicBool) -> Result<(), LoadError> {
        loop {
            let mut socket = [PollFd::new(&self.socket, PollFlags::IN)];
            let ready = match poll(&mut socket, Some(&LOOK_UP)) {
                Err(Errno::INTR) => 0,
                ready => ready.map_err(std::io::Error::from)?,
            };
            if interrupted.load(Ordering::Relaxed) {
                return Err(LoadError::Interrupted);
            }
            if ready > 0 {
                return Ok(());
            }
        }
    }

    fn send(&mut self, kind: FrameKind, content: &[u8]) -> Result<(), LoadError> {
        let sent = frame::write(&mut self.socket, kind, content);
        sent.map_err(|_| self.ended())
    }

    fn receive(&mut self) -> Result<(FrameKind, Vec<u8>), LoadError> {
        match frame::read(&mut self.socket) {
            Ok(Some(frame)) => Ok(frame),
            Ok(None) | Err(_) => Err(self.ended()),
        }
    }

    /// Why it does not speak any more.
    fn ended(&mut self) -> LoadError {
        let _ = self.socket.shutdown(Shutdown::Both);
        let how = match self.child.wait() {
            Ok(status) => match status.signal() {
                Some(signal) => format!("was killed by signal {signal}"),
                None => format!("ended with {status}"),
            },
            Err(error) => format!("cannot be waited for: {error}"),
        };
        LoadError::ProcessEnded { client: self.number, how }
    }

    fn prepare(&mut self, job: &impl Serialize) -> Result<(), LoadError> {
        let job = serde_json::to_vec(job).map_err(std::io::Error::from)?;
        self.send(FrameKind::Job, &job)?;
        let (_, problem) = self.receive()?;
        match problem.is_empty() {
            true => Ok(()),
            false => Err(LoadError::ProcessRefused(String::from_utf8_lossy(&problem).into_owned())),
        }
    }

    /// Follows the trial to its end.
    fn follow<R: DeserializeOwned>(
        &mut self,
        rounds: &Behind<'_>,
    ) -> Result<(R, ObservationLog), LoadError> {
        loop {
            let (kind, content) = self.receive()?;
            match kind {
                FrameKind::Done => {
                    let notes = serde_json::from_slice(&content).map_err(std::io::Error::from)?;
                    let (_, bytes) = self.receive()?;
                    let read = ObservationLog::from_bytes(bytes);
                    return Ok((notes, read));
                }
                _ => rounds.one_more(),
            }
        }
    }
}

impl Drop for ClientProcess {
    fn drop(&mut self) {
        // It ends when the other side is closed.
        let _ = self.socket.shutdown(Shutdown::Both);
        let _ = self.child.wait();
    }
}

/// Clients that have not finished their minimum of rounds, and how all hear that none is left.
struct Behind<'a> {
    behind: AtomicUsize,
    sockets: &'a [UnixStream],
}

impl Behind<'_> {
    fn one_more(&self) {
        if self.behind.fetch_sub(1, Ordering::Relaxed) == 1 {
            for mut socket in self.sockets {
                // Where a client has ended, its own thread says so.
                let _ = frame::write(&mut socket, FrameKind::CaughtUp, &[]);
            }
        }
    }
}

/// Has every client prepare itself for its job, all at once as in a trial.
///
/// # Errors
/// As [`in_processes`].
pub fn prepare_processes<J: Serialize>(
    processes: &mut [ClientProcess],
    job: impl Fn(u16) -> J + Sync,
    interrupted: &AtomicBool,
) -> Result<(), LoadError> {
    let prepared = with_each(processes, interrupted, |process, gate, _| {
        gate.wait_for_all(None, || process.prepare(&job(process.number)))?
    })?;
    first_error(prepared, interrupted).map(drop)
}

/// Gives every client its job, begins the trial of all at one moment, which `begun` hears of, and
/// returns the notes and observations of each, read when its trial was over.
///
/// # Errors
/// When a client cannot do its job, has ended, or the user asked to stop.
pub fn in_processes<J: Serialize, R: DeserializeOwned + Send>(
    processes: &mut [ClientProcess],
    job: impl Fn(u16) -> J + Sync,
    begun: &(dyn Fn(Instant) + Sync),
    interrupted: &AtomicBool,
) -> Result<Vec<(R, ObservationLog)>, LoadError> {
    let moment = OnceLock::new();
    let done = with_each(processes, interrupted, |process, gate, rounds| {
        let prepared = gate.wait_for_all(None, || process.prepare(&job(process.number)))?;
        let moment = *moment.get_or_init(|| {
            let now = Instant::now();
            begun(now);
            to_monotonic_ns(now)
        });
        let followed = prepared
            .and_then(|()| process.send(FrameKind::Go, &moment.to_le_bytes()))
            .and_then(|()| process.follow(rounds));
        if followed.is_err() {
            rounds.one_more();
        }
        followed
    })?;
    first_error(done, interrupted)
}

fn with_each<T: Send>(
    processes: &mut [ClientProcess],
    interrupted: &AtomicBool,
    work: impl Fn(&mut ClientProcess, &Gate, &Behind<'_>) -> Result<T, LoadError> + Sync,
) -> Result<Vec<Result<T, LoadError>>, LoadError> {
    let sockets = processes.iter().map(|process| process.socket.try_clone());
    let sockets: Vec<UnixStream> = sockets.collect::<Result<_, _>>()?;
    let rounds = Behind { behind: AtomicUsize::new(sockets.len()), sockets: &sockets };
    let end_all = &mut |_: &[usize]| {
        if interrupted.load(Ordering::Relaxed) {
            sockets.iter().for_each(|socket| drop(socket.shutdown(Shutdown::Both)));
        }
    };
    in_threads(processes.iter_mut(), "client", Some(end_all), |process, gate| {
        work(process, gate, &rounds)
    })
}

/// Memory that programs can get without swapping; none where it is not known.
fn available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// The first error; an end by the user's wish to stop is none.
fn first_error<T>(
    results: Vec<Result<T, LoadError>>,
    interrupted: &AtomicBool,
) -> Result<Vec<T>, LoadError> {
    let all: Result<Vec<T>, LoadError> = results.into_iter().collect();
    all.map_err(|error| match interrupted.load(Ordering::Relaxed) {
        true => LoadError::Interrupted,
        false => error,
    })
}
