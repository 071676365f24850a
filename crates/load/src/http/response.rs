//! Reading one answer from bytes as they arrive: head, then body by length, by chunks or until
//! the connection closes. It knows no socket, so any split of the bytes can be tested.

use std::mem::MaybeUninit;

use record::Answer;
use xxhash_rust::xxh3::Xxh3;

/// Headers a server may send at most; more is refused as malformed.
const HEADERS_MAX: usize = 96;

/// The parts of an answer that are kept while it is read; fewer cost less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    Length,
    /// The hash of the body too.
    Hash,
    /// The body itself, not its hash.
    Body,
    HashAndBody,
    Everything,
}

/// An answer being read; one reader serves answer after answer.
pub struct AnswerReader {
    state: ResponseState,
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
enum ResponseState {
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
            state: ResponseState::Head,
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
        self.state = ResponseState::Head;
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
        self.state == ResponseState::Complete
    }

    /// Whether the server keeps the connection open after this answer.
    pub(super) fn keep_alive(&self) -> bool {
        self.keep_alive
    }

    /// The facts of the answer; the hash is that of no bytes where it was not to be kept.
    pub fn answer(&self) -> Answer {
        Answer {
            status: self.status,
            body_bytes: self.body_bytes,
            body_hash: self.hash.digest128(),
        }
    }

    /// The body, if the request keeps it.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Body and headers, if the request keeps them.
    pub(super) fn take_kept(&mut self) -> (Vec<u8>, Vec<(String, String)>) {
        (std::mem::take(&mut self.body), std::mem::take(&mut self.headers))
    }

    /// Takes from `input` what it can and returns how many bytes that was. Less than all of it
    /// means: complete, or more bytes are needed behind the ones left over.
    pub(super) fn advance(&mut self, input: &[u8]) -> Result<usize, String> {
        let mut taken = 0;
        while self.state != ResponseState::Complete {
            let rest = &input[taken..];
            let step = match self.state {
                ResponseState::Head => self.head(rest)?,
                ResponseState::Length { left } => {
                    let step = self.take_body(rest, left);
                    self.state = match left - step as u64 {
                        0 => ResponseState::Complete,
                        left => ResponseState::Length { left },
                    };
                    step
                }
                ResponseState::UntilClose => self.take_body(rest, u64::MAX),
                ResponseState::ChunkSize => self.chunk_size(rest)?,
                ResponseState::Chunk { left } => {
                    let step = self.take_body(rest, left);
                    self.state = match left - step as u64 {
                        0 => ResponseState::ChunkEnd,
                        left => ResponseState::Chunk { left },
                    };
                    step
                }
                ResponseState::ChunkEnd => match rest {
                    [b'\r', b'\n', ..] => {
                        self.state = ResponseState::ChunkSize;
                        2
                    }
                    [] | [b'\r'] => 0,
                    _ => return Err("a chunk is longer than its size says".to_owned()),
                },
                ResponseState::Trailer => self.trailer(rest)?,
                ResponseState::Complete => 0,
            };
            if step == 0 && self.state != ResponseState::Complete {
                break;
            }
            taken += step;
        }
        Ok(taken)
    }

    /// The server closed the connection: is the answer whole?
    pub(super) fn end_of_stream(&mut self) -> bool {
        if self.state == ResponseState::UntilClose {
            self.state = ResponseState::Complete;
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
            ResponseState::Complete
        } else if framing.chunked {
            ResponseState::ChunkSize
        } else {
            match framing.length {
                Some(0) => ResponseState::Complete,
                Some(left) => ResponseState::Length { left },
                None => {
                    self.keep_alive = false;
                    ResponseState::UntilClose
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
                self.state =
                    if left == 0 { ResponseState::Trailer } else { ResponseState::Chunk { left } };
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
                self.state = ResponseState::Complete;
                Ok(size)
            }
            Ok(httparse::Status::Partial) => Ok(0),
            Err(error) => Err(format!("trailer: {error}")),
        }
    }
}

/// How the end of a body is known (RFC 9112 section 6.3).
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

#[cfg(test)]
mod tests;
