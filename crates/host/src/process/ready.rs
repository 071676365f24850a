//! The question whether an application is ready, asked until it is; what it still answers is said while
//! it is waited for.

use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use load::http::{Connection, HttpError, PreparedRequest, Target};

/// When it is first said that an application is waited for, and how often again.
const SAY_AFTER: Duration = Duration::from_secs(3);
const SAY_EVERY: Duration = Duration::from_secs(10);

/// GET of a path, answered with a status below a bound once the application is ready.
pub struct ReadyQuestion<'a> {
    target: &'a Target,
    request: PreparedRequest,
    path: &'a str,
    below: u16,
    /// How long one answer may take.
    timeout: Duration,
    interrupted: &'a AtomicBool,
    say: &'a dyn Fn(&str),
    begun: Instant,
    /// The time since then at which the wait is mentioned next.
    say_at: Cell<Duration>,
}

impl<'a> ReadyQuestion<'a> {
    pub fn new(
        target: &'a Target,
        (path, below): (&'a str, u16),
        timeout: Duration,
        say: &'a dyn Fn(&str),
        interrupted: &'a AtomicBool,
    ) -> Result<Self, HttpError> {
        Ok(Self {
            target,
            request: PreparedRequest::get(target, "ready", path, &[])?,
            path,
            below,
            timeout,
            interrupted,
            say,
            begun: Instant::now(),
            say_at: Cell::new(SAY_AFTER),
        })
    }

    /// Asks once. The reason where it is not ready.
    pub fn ask(&self) -> Result<(), String> {
        let path = self.path;
        let asked = Connection::open(self.target, self.timeout, self.interrupted)
            .and_then(|mut connection| connection.send(&self.request));
        let reason = match asked {
            Ok(answer) if answer.status < self.below => return Ok(()),
            Ok(answer) => format!("GET {path} is answered with {}", answer.status),
            Err(HttpError::Interrupted) => return Err(String::new()),
            Err(error @ HttpError::Tls { .. }) => format!(
                "GET {path}: {error}; --ca-file FILE (in a plan application.ca_file) names a \
                 certificate to trust"
            ),
            Err(error) => format!("GET {path}: {error}"),
        };
        self.say_if_due(&reason);
        Err(reason)
    }

    fn say_if_due(&self, reason: &str) {
        let waited = self.begun.elapsed();
        if waited < self.say_at.get() {
            return;
        }
        self.say_at.set(waited + SAY_EVERY);
        let url = self.target.base_url();
        (self.say)(&format!("waiting for {url} since {} s: {reason}", waited.as_secs()));
    }
}
