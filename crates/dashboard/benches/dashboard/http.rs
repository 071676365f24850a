//! The client: one connection, one request after the other, as the article's script asked.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Instant;

pub struct QueryAnswer {
    pub milliseconds: f64,
    /// The time of the query by the server's own account, if it gives one.
    pub query_ms: Option<f64>,
    pub bytes: usize,
}

/// A connection that stays open.
pub struct Client {
    address: String,
    key: String,
    stream: BufReader<TcpStream>,
}

impl Client {
    pub fn open(address: &str, key: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self {
            address: address.to_owned(),
            key: key.to_owned(),
            stream: BufReader::new(stream),
        })
    }

    /// Asks and reads the whole answer, which must be a 200.
    pub fn get(&mut self, path: &str) -> QueryAnswer {
        let begin = Instant::now();
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            self.address, self.key
        );
        self.stream.get_mut().write_all(request.as_bytes()).unwrap();
        let (mut length, mut query_ms, mut chunked) = (0, None, false);
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{path}: {line}");
        loop {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            let header = line.trim().to_lowercase();
            match header.split_once(": ") {
                None => break,
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(("transfer-encoding", value)) => chunked = value == "chunked",
                Some(("server-timing", value)) => {
                    let milliseconds = value.split_once("dur=").map(|(_, value)| value);
                    query_ms = milliseconds.and_then(|value| value.parse().ok());
                }
                Some(_) => {}
            }
        }
        let bytes = if chunked { self.chunks() } else { self.skip(length) };
        QueryAnswer { milliseconds: begin.elapsed().as_secs_f64() * 1_000.0, query_ms, bytes }
    }

    fn skip(&mut self, length: usize) -> usize {
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        length
    }

    fn chunks(&mut self) -> usize {
        let mut all = 0;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            let length = usize::from_str_radix(line.trim(), 16).unwrap();
            all += self.skip(length);
            self.skip(2);
            if length == 0 {
                return all;
            }
        }
    }
}
