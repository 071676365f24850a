//! Relay between clients and a server that delays both directions: a distance, where there is none.
//! It is a process of its own (this program started again), so that its processor time is neither
//! the client's nor the server's.

mod addition;
mod connection;
mod direction;
mod serve;

use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use parking_lot::Mutex;

pub use addition::measure;
pub use serve::{RelayArguments, serve};

/// The word by which this program becomes a relay.
pub const RELAY: &str = "relay";

/// The listening place of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upstream {
    /// A Unix socket.
    Socket(PathBuf),
    /// The addresses of a host, in the order in which they are tried.
    Tcp(Vec<SocketAddr>),
}

impl Upstream {
    fn words(&self) -> Vec<String> {
        match self {
            Self::Socket(path) => vec![path.display().to_string()],
            Self::Tcp(addresses) => addresses.iter().map(SocketAddr::to_string).collect(),
        }
    }
}

/// A relay that runs. Dropping it ends it.
#[derive(Debug)]
pub struct Relay {
    child: Child,
    address: SocketAddr,
    talk: Mutex<Talk>,
}

/// Questions to a relay, which it answers in lines.
#[derive(Debug)]
struct Talk {
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Talk {
    fn answer(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(line.trim().to_owned())
    }
}

impl Relay {
    /// Starts `program` as a relay that delays a round trip to `upstream` by `delay`.
    ///
    /// # Errors
    /// When the system does not start it, or it cannot listen.
    pub fn start(program: &Path, upstream: &Upstream, delay: Duration) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg(RELAY)
            .arg(delay.as_nanos().to_string())
            .args(upstream.words())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C is ours to answer.
            .process_group(0)
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (questions, answers) = pipes.ok_or_else(|| io::Error::other("it cannot be asked"))?;
        let mut talk = Talk { questions, answers: BufReader::new(answers) };
        // It ends by itself where this is an error: its standard input is closed.
        let address = talk.answer()?.parse();
        let address = address.map_err(|_| io::Error::other("it does not listen"))?;
        Ok(Self { child, address, talk: Mutex::new(talk) })
    }

    /// Bytes that it has forwarded so far, both ways; none where it has ended.
    pub fn forwarded(&self) -> Option<u64> {
        let mut talk = self.talk.lock();
        talk.questions.write_all(b"?").ok()?;
        talk.answer().ok()?.parse().ok()
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its end, where it has ended.
    pub fn ending(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(status.to_string()),
            Err(error) => Some(error.to_string()),
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        // It holds nothing that has to be kept.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
