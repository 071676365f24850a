//! The relay as it sees itself: it says where it listens, and ends when its standard input does.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::Upstream;
use super::connection::RelayedConnection;
use super::direction::{FORWARDED, Postponement};

/// Stack of a thread that carries bytes.
const STACK_BYTES: usize = 256 << 10;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Arguments of a relay, as its command line has them.
#[derive(Clone, Debug)]
pub struct RelayArguments {
    /// Of a round trip.
    pub delay: Duration,
    pub upstream: Upstream,
}

impl RelayArguments {
    /// The arguments by their words: a path of a Unix socket, or addresses with ports.
    ///
    /// # Errors
    /// When a word is not an address.
    pub fn read(delay_ns: u64, upstream: &[String]) -> io::Result<Self> {
        let upstream = match upstream {
            [path] if path.starts_with('/') => Upstream::Socket(PathBuf::from(path)),
            several => {
                let read = several.iter().map(|word| word.parse::<SocketAddr>());
                Upstream::Tcp(read.collect::<Result<_, _>>().map_err(io::Error::other)?)
            }
        };
        Ok(Self { delay: Duration::from_nanos(delay_ns), upstream })
    }
}

/// Relays until the standard input ends. Each byte of it asks how many bytes were forwarded.
///
/// # Errors
/// When it cannot listen, or not say where.
pub fn serve(arguments: RelayArguments) -> io::Result<()> {
    // The kernel may wake a thread 50 us late unless asked not to; threads inherit this.
    #[cfg(target_os = "linux")]
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    // Two for each connection.
    let files = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: files.maximum, maximum: files.maximum })?;
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let mut output = io::stdout();
    writeln!(output, "{}", listener.local_addr()?)?;
    output.flush()?;
    thread::Builder::new().name("accept".to_owned()).spawn(move || {
        // Without a listener the relay ends, and clients see it.
        let _ = accept(&listener, &arguments);
        std::process::exit(1);
    })?;
    let mut question = [0; 1];
    while io::stdin().read(&mut question)? > 0 {
        writeln!(output, "{}", FORWARDED.load(Ordering::Relaxed))?;
        output.flush()?;
    }
    Ok(())
}

fn accept(listener: &TcpListener, arguments: &RelayArguments) -> io::Result<()> {
    loop {
        let client = match listener.accept() {
            // Of the client that came and left again.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            accepted => accepted?.0,
        };
        let (accepted, arguments) = (Instant::now(), arguments.clone());
        thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            // The client sees an error as a connection that is closed.
            let _ = relay(client, accepted, &arguments);
        })?;
    }
}

fn relay(client: TcpStream, accepted: Instant, arguments: &RelayArguments) -> io::Result<()> {
    client.set_nodelay(true)?;
    client.set_nonblocking(true)?;
    let (client, server) = (OwnedFd::from(client), connect(&arguments.upstream)?);
    let half = arguments.delay / 2;
    // A client on another machine hears after a round trip that it is connected, and what it then
    // sends opens the server's side half a round trip later.
    let there = Postponement { delay: half, open: accepted + arguments.delay };
    let back = Postponement { delay: half, open: there.open + half };
    RelayedConnection { client, server, there, back }.carry();
    Ok(())
}

fn connect(upstream: &Upstream) -> io::Result<OwnedFd> {
    match upstream {
        Upstream::Socket(path) => {
            let socket = UnixStream::connect(path)?;
            socket.set_nonblocking(true)?;
            Ok(socket.into())
        }
        Upstream::Tcp(addresses) => {
            let mut last = io::Error::from(io::ErrorKind::NotFound);
            for address in addresses {
                match TcpStream::connect_timeout(address, CONNECT_TIMEOUT) {
                    Ok(socket) => {
                        socket.set_nodelay(true)?;
                        socket.set_nonblocking(true)?;
                        return Ok(socket.into());
                    }
                    Err(error) => last = error,
                }
            }
            Err(last)
        }
    }
}
