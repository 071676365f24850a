//! The trivial server: a process of its own, a thread per connection, one answer for everything.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;

const BODY_BYTES: usize = 200;

/// The server as a child process; it ends when this is dropped.
pub struct Server {
    pub url: String,
    child: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts this program again as the server.
pub fn start() -> Server {
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new(program)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut address = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
    Server { url: format!("http://{}/", address.trim()), child }
}

/// Serves until its standard input ends, so that it never outlives the benchmark.
pub fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    let _ = std::io::stdin().read(&mut [0]);
}

fn answer(mut stream: TcpStream) {
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BODY_BYTES}\r\n\r\n");
    let reply = [head.into_bytes(), vec![b'x'; BODY_BYTES]].concat();
    let mut buffer = [0; 4096];
    let mut filled = 0;
    let _ = stream.set_nodelay(true);
    while let Ok(count) = stream.read(&mut buffer[filled..]) {
        filled += count;
        if count == 0 || filled == buffer.len() {
            return;
        }
        if buffer[..filled].ends_with(b"\r\n\r\n") {
            filled = 0;
            if stream.write_all(&reply).is_err() {
                return;
            }
        }
    }
}
