//! A request encoded once, before any clock runs; the same bytes go out each time.

use std::fmt;
use std::io::Write;

use super::{HttpError, Target};

/// A request ready to be written to a socket.
#[derive(Clone)]
pub struct PreparedRequest {
    /// Its name in plans, records and reports.
    pub name: String,
    pub(super) bytes: Vec<u8>,
    /// The answer to HEAD announces a body and brings none.
    pub(super) is_head: bool,
}

impl PreparedRequest {
    /// Encodes a request to `target`. `path` starts with `/` and is already percent-encoded;
    /// the target's path prefix comes before it. Host, User-Agent, Accept and, with a body,
    /// Content-Length are added where `headers` lacks them.
    pub fn new(
        target: &Target,
        name: &str,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Self, HttpError> {
        let refuse = |reason: String| HttpError::InvalidRequest { name: name.to_owned(), reason };
        if method.is_empty() || !method.bytes().all(is_token) {
            return Err(refuse(format!("{method:?} is not an HTTP method")));
        }
        if !path.starts_with('/') {
            return Err(refuse(format!("path {path:?} must start with /")));
        }
        if let Some(wrong) = path.chars().find(|c| !c.is_ascii_graphic() || *c == '#') {
            return Err(refuse(format!("path {path:?}: percent-encode the character {wrong:?}")));
        }
        let mut bytes = format!("{method} {}{path} HTTP/1.1\r\n", target.prefix).into_bytes();
        for (field, value) in headers {
            if field.is_empty() || !field.bytes().all(is_token) {
                return Err(refuse(format!("{field:?} is not the name of a header")));
            }
            // The value may be a secret: it is not repeated.
            if value.bytes().any(|byte| byte != b'\t' && (byte < b' ' || byte == 0x7f)) {
                return Err(refuse(format!("header {field} holds a control character")));
            }
            push_header(&mut bytes, field, value);
        }
        let mut add = |field: &str, value: &str| {
            if !headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(field)) {
                push_header(&mut bytes, field, value);
            }
        };
        add("Host", &target.host_header);
        add("User-Agent", concat!("crossover/", env!("CARGO_PKG_VERSION")));
        add("Accept", "*/*");
        if !body.is_empty() || matches!(method, "POST" | "PUT" | "PATCH") {
            add("Content-Length", &body.len().to_string());
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body);
        Ok(Self { name: name.to_owned(), bytes, is_head: method == "HEAD" })
    }

    /// A GET with these headers and no body.
    pub fn get(
        target: &Target,
        name: &str,
        path: &str,
        headers: &[(String, String)],
    ) -> Result<Self, HttpError> {
        Self::new(target, name, "GET", path, headers, &[])
    }
}

/// The bytes may hold a key, so only the name is shown.
impl fmt::Debug for PreparedRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("PreparedRequest").field(&self.name).finish()
    }
}

fn push_header(bytes: &mut Vec<u8>, field: &str, value: &str) {
    // Writing to a Vec cannot fail.
    let _ = write!(bytes, "{field}: {value}\r\n");
}

/// The characters of a token, RFC 9110 section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
