//! Reading one answer from bytes as they arrive: head, then body by length, by chunks or until
//! the connection closes. It knows no socket, so any split of the bytes can be tested.

use std::mem::MaybeUninit;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

/// What is known of every answer: enough to tell whether it is the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Answer {
    /// HTTP status code.
    pub status: u16,
    /// Length of the body after chunked coding is removed.
    pub body_bytes: u64,
    /// XXH3 (128 bits) of the body; in JSON 32 hexadecimal digits.
    #[serde(with = "hexadecimal")]
    pub body_hash: u128,
}

/// Headers a server may send at most; more is refused as malformed.
const HEADERS_MAX: usize = 96;

/// What of an answer is kept while it is read; less costs less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// Status and length.
    Length,
    /// The hash of the body too.
    Hash,
    /// The body itself, not its hash.
    Body,
    /// Hash and body.
    HashAndBody,
    /// Hash, body and headers.
    Everything,
}

/// An answer being read; one reader serves answer after answer.
pub(crate) struct AnswerReader {
    state: State,
    is_head: bool,
    keep: Keep,
    keep_alive: bool,
    status: u16,
    body_bytes: u64,
    hash: Xxh3,
    body: Vec<u8>,
    headers: Vec<(String, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Head,
    Length { left: u64 },
    ChunkSize,
    Chunk { left: u64 },
    ChunkEnd,
    Trailer,
    UntilClose,
    Complete,
}

impl Default for AnswerReader {
    fn default() -> Self {
        Self {
            state: State::Head,
            is_head: false,
            keep: Keep::Hash,
            keep_alive: false,
            status: 0,
            body_bytes: 0,
            hash: Xxh3::new(),
            body: Vec::new(),
            headers: Vec::new(),
        }
    }
}

impl AnswerReader {
    /// Forgets the last answer and waits for the next one.
    pub(super) fn begin(&mut self, is_head: bool, keep: Keep) {
        self.state = State::Head;
        self.is_head = is_head;
        self.keep = keep;
        self.keep_alive = false;
        self.status = 0;
        self.body_bytes = 0;
        self.hash.reset();
        self.body.clear();
        self.headers.clear();
    }

    pub(super) fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// Whether the server keeps the connection open after this answer.
    pub(super) fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// What is known of the answer; the hash is that of nothing where it was not to be kept.
    pub(crate) fn answer(&self) -> Answer {
        Answer {
            status: self.status,
            body_bytes: self.body_bytes,
            body_hash: self.hash.digest128(),
        }
    }

    /// The body, where it was to be kept.
    pub(crate) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Body and headers, where they were to be kept.
    pub(super) fn take_kept(&mut self) -> (Vec<u8>, Vec<(String, String)>) {
        (std::mem::take(&mut self.body), std::mem::take(&mut self.headers))
    }

    /// Takes from `input` what it can and returns how many bytes that was. Less than all of it
    /// means: complete, or more bytes are needed behind the ones left over.
    pub(super) fn advance(&mut self, input: &[u8]) -> Result<usize, String> {
        let mut taken = 0;
        while self.state != State::Complete {
            let rest = &input[taken..];
            let step = match self.state {
                State::Head => self.head(rest)?,
                State::Length { left } => {
                    let step = self.take_body(rest, left);
                    self.state = match left - step as u64 {
                        0 => State::Complete,
                        left => State::Length { left },
                    };
                    step
                }
                State::UntilClose => self.take_body(rest, u64::MAX),
                State::ChunkSize => self.chunk_size(rest)?,
                State::Chunk { left } => {
                    let step = self.take_body(rest, left);
                    self.state = match left - step as u64 {
                        0 => State::ChunkEnd,
                        left => State::Chunk { left },
                    };
                    step
                }
                State::ChunkEnd => match rest {
                    [b'\r', b'\n', ..] => {
                        self.state = State::ChunkSize;
                        2
                    }
                    [] | [b'\r'] => 0,
                    _ => return Err("a chunk is longer than its size says".to_owned()),
                },
                State::Trailer => self.trailer(rest)?,
                State::Complete => 0,
            };
            if step == 0 && self.state != State::Complete {
                break;
            }
            taken += step;
        }
        Ok(taken)
    }

    /// The server closed the connection: is the answer whole?
    pub(super) fn end_of_stream(&mut self) -> bool {
        if self.state == State::UntilClose {
            self.state = State::Complete;
        }
        self.is_complete()
    }

    fn take_body(&mut self, input: &[u8], left: u64) -> usize {
        let size = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
        let part = &input[..size];
        self.body_bytes += size as u64;
        if matches!(self.keep, Keep::Hash | Keep::HashAndBody | Keep::Everything) {
            self.hash.update(part);
        }
        if matches!(self.keep, Keep::Body | Keep::HashAndBody | Keep::Everything) {
            self.body.extend_from_slice(part);
        }
        size
    }

    fn head(&mut self, input: &[u8]) -> Result<usize, String> {
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut []);
        let status = httparse::ParserConfig::default()
            .parse_response_with_uninit_headers(&mut response, input, &mut headers)
            .map_err(|error| format!("head: {error}"))?;
        let (httparse::Status::Complete(size), Some(version), Some(code)) =
            (status, response.version, response.code)
        else {
            return Ok(0);
        };
        if code == 101 {
            return Err("the server switched to another protocol".to_owned());
        }
        if code < 200 {
            return Ok(size); // An interim answer, e.g. 103 Early Hints; the real one follows.
        }
        let framing = Framing::read(response.headers, version)?;
        self.status = code;
        self.keep_alive = framing.keep_alive;
        self.state = if self.is_head || code == 204 || code == 304 {
            State::Complete
        } else if framing.chunked {
            State::ChunkSize
        } else {
            match framing.length {
                Some(0) => State::Complete,
                Some(left) => State::Length { left },
                None => {
                    self.keep_alive = false;
                    State::UntilClose
                }
            }
        };
        if self.keep == Keep::Everything {
            self.headers = response.headers.iter().map(owned).collect();
        }
        Ok(size)
    }

    fn chunk_size(&mut self, input: &[u8]) -> Result<usize, String> {
        match httparse::parse_chunk_size(input) {
            Ok(httparse::Status::Complete((size, left))) => {
                self.state = if left == 0 { State::Trailer } else { State::Chunk { left } };
                Ok(size)
            }
            Ok(httparse::Status::Partial) => Ok(0),
            Err(_) => Err("a chunk's size is not a hexadecimal number".to_owned()),
        }
    }

    fn trailer(&mut self, input: &[u8]) -> Result<usize, String> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        match httparse::parse_headers(input, &mut headers) {
            Ok(httparse::Status::Complete((size, _))) => {
                self.state = State::Complete;
                Ok(size)
            }
            Ok(httparse::Status::Partial) => Ok(0),
            Err(error) => Err(format!("trailer: {error}")),
        }
    }
}

/// How the end of a body is told (RFC 9112 section 6.3).
struct Framing {
    length: Option<u64>,
    chunked: bool,
    keep_alive: bool,
}

impl Framing {
    fn read(headers: &[httparse::Header<'_>], version: u8) -> Result<Self, String> {
        let mut framing = Self { length: None, chunked: false, keep_alive: version == 1 };
        for header in headers {
            if header.name.eq_ignore_ascii_case("content-length") {
                let length = std::str::from_utf8(header.value)
                    .ok()
                    .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
                    .and_then(|text| text.parse().ok())
                    .ok_or("Content-Length is not a number")?;
                if framing.length.is_some_and(|other| other != length) {
                    return Err("two different Content-Lengths".to_owned());
                }
                framing.length = Some(length);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                if !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    return Err("a Transfer-Encoding other than chunked".to_owned());
                }
                framing.chunked = true;
            } else if header.name.eq_ignore_ascii_case("connection") {
                for option in header.value.split(|&byte| byte == b',') {
                    if option.trim_ascii().eq_ignore_ascii_case(b"close") {
                        framing.keep_alive = false;
                    } else if option.trim_ascii().eq_ignore_ascii_case(b"keep-alive") {
                        framing.keep_alive = true;
                    }
                }
            }
        }
        Ok(framing)
    }
}

fn owned(header: &httparse::Header<'_>) -> (String, String) {
    (header.name.to_ascii_lowercase(), String::from_utf8_lossy(header.value).into_owned())
}

/// JSON numbers lose digits beyond 2^53, so a hash is written as text.
mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(hash: &u128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{hash:032x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<u128, D::Error> {
        let text = String::deserialize(input)?;
        u128::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;

    /// Feeds the bytes in pieces that end at `cuts`, as a connection would, and returns the
    /// answer, the body and whether the connection stays.
    fn read(bytes: &[u8], cuts: &[usize]) -> Result<(Answer, Vec<u8>, bool), String> {
        let mut reader = AnswerReader::default();
        reader.begin(false, Keep::Everything);
        let mut start = 0;
        let mut ends: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
        ends.push(bytes.len());
        ends.sort_unstable();
        for end in ends {
            start += reader.advance(&bytes[start..end])?;
        }
        if start < bytes.len() {
            return Err("bytes left over".to_owned());
        }
        if !reader.is_complete() && !reader.end_of_stream() {
            return Err("cut short".to_owned());
        }
        let (answer, keep_alive) = (reader.answer(), reader.keep_alive());
        Ok((answer, reader.take_kept().0, keep_alive))
    }

    fn in_chunks(body: &[u8], sizes: &[usize]) -> Vec<u8> {
        let mut coded = Vec::new();
        let mut rest = body;
        for &size in sizes.iter().chain([&body.len()]) {
            let (chunk, behind) = rest.split_at(size.min(rest.len()));
            rest = behind;
            if !chunk.is_empty() {
                coded.extend_from_slice(format!("{:X};e=1\r\n", chunk.len()).as_bytes());
                coded.extend_from_slice(chunk);
                coded.extend_from_slice(b"\r\n");
            }
        }
        coded.extend_from_slice(b"0\r\nX-Sum: 1\r\n\r\n");
        coded
    }

    proptest! {
        #[test]
        fn every_split_of_every_framing_gives_the_same_answer(
            body in proptest::collection::vec(any::<u8>(), 0..300),
            sizes in proptest::collection::vec(1usize..80, 0..8),
            cuts in proptest::collection::vec(any::<usize>(), 0..30),
        ) {
            let expected =
                Answer { status: 200, body_bytes: body.len() as u64, body_hash: xxh3_128(&body) };
            let interim = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n".to_vec();
            let length = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n".to_vec();
            let close = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
            for (bytes, stays) in [
                ([length.clone().into_bytes(), body.clone()].concat(), true),
                ([interim, length.into_bytes(), body.clone()].concat(), true),
                ([chunked, in_chunks(&body, &sizes)].concat(), true),
                ([close, body.clone()].concat(), false),
            ] {
                prop_assert_eq!(read(&bytes, &cuts), Ok((expected, body.clone(), stays)));
            }
        }

        #[test]
        fn no_input_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes, &[]);
            let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
            let _ = read(&[head.as_slice(), &bytes].concat(), &[]);
        }
    }

    #[test]
    fn an_answer_without_a_body_ends_with_its_head() {
        let (answer, ..) = read(b"HTTP/1.1 204 No Content\r\n\r\n", &[]).unwrap();
        assert_eq!((answer.status, answer.body_bytes), (204, 0));
        let mut head = AnswerReader::default();
        head.begin(true, Keep::Hash);
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n";
        assert_eq!(head.advance(text), Ok(text.len()));
        assert!(head.is_complete());
    }

    #[test]
    fn ambiguous_framing_is_refused() {
        for head in [
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
        ] {
            assert!(read(head.as_bytes(), &[]).is_err(), "{head}");
        }
    }

    #[test]
    fn http_1_0_keeps_a_connection_only_if_it_says_so() {
        let keeps = |text: &str| read(text.as_bytes(), &[]).unwrap().2;
        assert!(!keeps("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"));
        assert!(keeps("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n"));
    }

    #[test]
    fn a_hash_survives_json() {
        let answer = Answer { status: 200, body_bytes: 3, body_hash: xxh3_128(b"abc") };
        let text = serde_json::to_string(&answer).unwrap();
        assert!(text.contains("\"06b05ab6733a618578af5f94892f3950\""), "{text}");
        assert_eq!(serde_json::from_str::<Answer>(&text).unwrap(), answer);
    }
}
