//! Errors between the thin connection and its server.

use std::io;
use std::time::Duration;

use fallible_iterator::FallibleIterator as _;
use postgres_protocol::message::backend::ErrorResponseBody;

/// A message that was not answered as hoped.
#[derive(Debug, thiserror::Error)]
pub enum ThinError {
    #[error("{message}{}", in_brackets(.detail))]
    Server {
        /// `FATAL` and `PANIC` end the session.
        severity: String,
        code: String,
        message: String,
        /// The server's detail, or nothing.
        detail: String,
        /// Where in the statement, in characters from 1.
        position: Option<usize>,
    },
    #[error("connection lost: {0}")]
    Lost(#[from] io::Error),
    /// No whole answer in time; the session is of no use any more.
    #[error("no whole answer within {0:?}")]
    TimedOut(Duration),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Not what the protocol says, or a statement of a kind that is not spoken here.
    #[error("{0}")]
    Unexpected(&'static str),
}

fn in_brackets(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(" ({detail})") }
}

impl ThinError {
    pub(super) fn from_response(body: &ErrorResponseBody) -> Result<Self, Self> {
        let (mut severity, mut code, mut message) = (String::new(), String::new(), String::new());
        let (mut detail, mut position) = (String::new(), None);
        let mut fields = body.fields();
        while let Some(field) = fields.next()? {
            let text = String::from_utf8_lossy(field.value_bytes()).into_owned();
            match field.type_() {
                // V is never translated; releases before 9.6 have only S.
                b'V' => severity = text,
                b'S' if severity.is_empty() => severity = text,
                b'C' => code = text,
                b'M' => message = text,
                b'D' => detail = text,
                b'P' => position = text.parse().ok(),
                _ => {}
            }
        }
        Ok(Self::Server { severity, code, message, detail, position })
    }

    /// Whether the session is over.
    #[must_use]
    pub fn ends_connection(&self) -> bool {
        match self {
            Self::Server { severity, .. } => severity == "FATAL" || severity == "PANIC",
            _ => true,
        }
    }
}
