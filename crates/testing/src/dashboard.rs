//! A dashboard that `crossover dashboard serve` serves, and a client of it. Everything may fail,
//! since some tests kill the server.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server that does not answer for so long does not answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A server that ends with the test.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: String,
    /// Its messages up to the address.
    pub said: String,
}

impl Server {
    /// Starts `command`, a `dashboard serve`, and waits for its address.
    ///
    /// # Errors
    /// With its messages, where it ends without one.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            return Err(io::Error::other("no pipes"));
        };
        let mut said = String::new();
        let mut errors = BufReader::new(stderr).lines().map_while(Result::ok);
        // The line that introduces the server is the last one before its address.
        for line in errors.by_ref() {
            said.push_str(&line);
            said.push('\n');
            if line.contains("Ctrl-C stops") {
                break;
            }
        }
        // Nobody reads the rest, but a full pipe would stop the server.
        std::thread::spawn(move || errors.for_each(drop));
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line.trim().strip_prefix("http://").unwrap_or_default().to_owned();
        if address.is_empty() {
            let _ = child.kill();
            child.wait()?;
            return Err(io::Error::other(said));
        }
        Ok(Self { child, address, said })
    }

    /// A connection of its own.
    pub fn connect(&self) -> io::Result<DashboardClient> {
        DashboardClient::connect(&self.address)
    }

    /// Ends the server without warning.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

#[derive(Debug)]
pub struct DashboardClient {
    stream: BufReader<TcpStream>,
    /// The server as its requests name it.
    pub host: String,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    /// `name=value` of the cookie that it sets.
    pub cookie: Option<String>,
    /// Its body, whatever it holds.
    pub body: String,
}

impl DashboardClient {
    /// Connects to `host:port`.
    pub fn connect(host: &str) -> io::Result<Self> {
        let stream = TcpStream::connect(host)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        Ok(Self { stream: BufReader::new(stream), host: host.to_owned() })
    }

    /// Sends a request with header lines (each with its `\r\n`) and reads the answer.
    pub fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> io::Result<Reply> {
        let (host, length) = (&self.host, body.len());
        let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n");
        let request = format!("{head}Content-Length: {length}\r\n{headers}\r\n{body}");
        self.stream.get_mut().write_all(request.as_bytes())?;
        self.read()
    }

    pub fn post(&mut self, path: &str, body: &serde_json::Value) -> io::Result<Reply> {
        self.send("POST", path, "Content-Type: application/json\r\n", &body.to_string())
    }

    /// Sends bytes unchanged, and reads one answer.
    pub fn send_bytes(&mut self, request: &[u8]) -> io::Result<Reply> {
        self.stream.get_mut().write_all(request)?;
        self.stream.get_mut().shutdown(std::net::Shutdown::Write)?;
        self.read()
    }

    fn read(&mut self) -> io::Result<Reply> {
        let mut reply = Reply { status: 0, cookie: None, body: String::new() };
        let mut length = 0;
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            match line.split_once(": ") {
                None => {
                    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
                    reply.status = status.ok_or_else(|| io::Error::other(line.to_owned()))?;
                }
                Some(("content-length", text)) => {
                    length = text.parse().map_err(io::Error::other)?;
                }
                Some(("set-cookie", text)) => {
                    reply.cookie = text.split(';').next().map(str::to_owned);
                }
                Some(_) => {}
            }
        }
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes)?;
        reply.body = String::from_utf8_lossy(&bytes).into_owned();
        Ok(reply)
    }
}
