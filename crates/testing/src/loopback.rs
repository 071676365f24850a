//! A real HTTP server on the loopback interface whose every byte the test decides.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// The handler's use of the connection after a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum After {
    Keep,
    Close,
    /// The whole server ends: nothing is answered, and its socket no longer listens.
    Die,
}

/// One request as it came: its head and its body.
pub struct ReceivedRequest {
    pub head: String,
    pub body: Vec<u8>,
    /// How many requests of this server came before it.
    pub number: usize,
}

impl ReceivedRequest {
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }
}

pub struct Loopback {
    pub address: String,
    shared: Arc<LoopbackState>,
}

#[derive(Default)]
struct LoopbackState {
    connections: AtomicUsize,
    requests: AtomicUsize,
    dead: AtomicBool,
    streams: Mutex<Vec<TcpStream>>,
    acceptor: Mutex<Option<JoinHandle<()>>>,
}

impl Loopback {
    /// Serves until it is dropped. `handler` writes the answer itself.
    pub fn serve<H>(handler: H) -> Self
    where
        H: Fn(&ReceivedRequest, &mut TcpStream) -> After + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(LoopbackState::default());
        let (handler, accepting) = (Arc::new(handler), Arc::clone(&shared));
        let own_address = address.clone();
        let acceptor = thread::spawn(move || {
            for stream in listener.incoming() {
                if accepting.dead.load(Ordering::SeqCst) {
                    return;
                }
                let stream = stream.unwrap();
                accepting.connections.fetch_add(1, Ordering::SeqCst);
                accepting.streams.lock().unwrap().push(stream.try_clone().unwrap());
                let (handler, shared) = (Arc::clone(&handler), Arc::clone(&accepting));
                let address = own_address.clone();
                thread::spawn(move || {
                    converse(stream, &shared, &*handler, &address);
                });
            }
        });
        *shared.acceptor.lock().unwrap() = Some(acceptor);
        Self { address, shared }
    }

    /// Serves every request with 200 and the given body, keeping connections.
    pub fn constant(body: &'static str) -> Self {
        Self::serve(move |_, stream| {
            stream.write_all(&with_length(200, body)).unwrap();
            After::Keep
        })
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    pub fn requests(&self) -> usize {
        self.shared.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.shared.die(&self.address);
    }
}

impl LoopbackState {
    /// Returns only when the socket no longer listens.
    fn die(&self, address: &str) {
        self.dead.store(true, Ordering::SeqCst);
        let Some(acceptor) = self.acceptor.lock().unwrap().take() else { return };
        drop(TcpStream::connect(address));
        acceptor.join().unwrap();
        for stream in self.streams.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn converse(
    mut stream: TcpStream,
    shared: &LoopbackState,
    handler: &dyn Fn(&ReceivedRequest, &mut TcpStream) -> After,
    address: &str,
) {
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(request) = read_request(&mut reader, &shared.requests) {
        match handler(&request, &mut stream) {
            After::Keep => {}
            After::Close => break,
            After::Die => return shared.die(address),
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

fn read_request(
    reader: &mut BufReader<TcpStream>,
    counter: &AtomicUsize,
) -> Option<ReceivedRequest> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return None;
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Length: "))
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(ReceivedRequest { head, body, number: counter.fetch_add(1, Ordering::SeqCst) })
}

pub fn with_length(status: u16, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
