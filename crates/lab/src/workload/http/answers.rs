//! The untimed pass: every distinct request, its whole answer compared with what any engine
//! answered before. It warms the engine too.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_128;

use super::difference::{KeptAnswer, first_difference, remedy};
use super::reach::Reach;
use super::requests::{CellRequest, Check};
use crate::error::RunError;
use crate::workload::Answers;
use load::http::{Connection, Fetched, HttpError, Target};
use record::Answer;

/// A refusal, a fault of the server's or a lost connection is asked about again so often: an
/// application may fail now and then and be worth measuring.
const ATTEMPTS_MAX: usize = 3;

/// An answer that takes longer is not asked for a second time from every engine.
const REPEATED_WITHIN: Duration = Duration::from_secs(1);

/// How much of a refusal is shown.
const BODY_CHARACTERS: usize = 300;

/// The untimed pass over one engine.
pub(super) struct Pass<'a> {
    pub engine: &'a str,
    pub target: &'a Target,
    pub timeout: Duration,
    /// Where the answers of the first engine are kept for the others.
    pub kept: &'a Path,
    pub interrupted: &'a AtomicBool,
}

impl Pass<'_> {
    /// Sends `requests` and notes or compares their answers, and looks whether they use the database.
    /// Nothing is written before they are seen to: it might be a database of the user's.
    pub(super) fn check_all(
        &self,
        requests: &[CellRequest],
        reach: Option<&mut Reach<'_>>,
        answers: &mut Answers,
    ) -> Result<(), RunError> {
        let (reads, writes): (Vec<&CellRequest>, Vec<&CellRequest>) =
            requests.iter().partition(|request| request.only_reads());
        let Some(reach) = reach else { return self.compare(&reads, &writes, answers) };
        reach.begin();
        if !writes.is_empty() && !reach.allows_writes() {
            self.send(&reads);
            reach.require(Ok(()), false, || self.send(&reads))?;
        }
        reach.require_of_writes(&writes, |write| self.is_answered(write))?;
        let compared = self.compare(&reads, &writes, answers);
        reach.require(compared, true, || self.send(&reads))
    }

    /// Sends them, whatever comes of it.
    pub(super) fn send(&self, requests: &[&CellRequest]) {
        let mut connection = self.connection();
        for request in requests {
            let _ = self.fetch(&mut connection, request);
        }
    }

    /// Sends it, and says whether it was answered well.
    pub(super) fn is_answered(&self, request: &CellRequest) -> bool {
        let fetched = self.fetch(&mut self.connection(), request);
        fetched.is_ok_and(|fetched| (200..300).contains(&fetched.answer.status))
    }

    /// Reads are compared after the writes, which may make what is read.
    fn compare(
        &self,
        reads: &[&CellRequest],
        writes: &[&CellRequest],
        answers: &mut Answers,
    ) -> Result<(), RunError> {
        let known = answers.len();
        let mut connection = self.connection();
        for request in writes.iter().chain(reads) {
            self.check_one(&mut connection, request, answers)?;
        }
        if writes.is_empty() || answers.len() == known {
            return Ok(());
        }
        self.send(writes);
        reads.iter().try_for_each(|request| {
            self.check_after_writes(&mut connection, request, writes, answers)
        })
    }

    /// A request whose answer each write changes has no answer that a trial could expect.
    fn check_after_writes(
        &self,
        connection: &mut Connection<'_>,
        request: &CellRequest,
        writes: &[&CellRequest],
        answers: &Answers,
    ) -> Result<(), RunError> {
        let (fetched, answer) = self.ask(connection, request)?;
        if answers.get(&request.key()) == Some(&answer) {
            return Ok(());
        }
        let before = KeptAnswer::read(&self.kept_path(request)).map(|kept| kept.body);
        let labels: Vec<String> = writes.iter().map(|write| write.label()).collect();
        Err(RunError::ChangedByWrites {
            engine: self.engine.to_owned(),
            path: request.path.clone(),
            writes: labels.join(" or "),
            remedy: remedy(&before.unwrap_or_default(), &fetched.body),
        })
    }

    fn connection(&self) -> Connection<'_> {
        Connection::closed(self.target, self.timeout, self.interrupted)
    }

    fn kept_path(&self, request: &CellRequest) -> PathBuf {
        self.kept.join(format!("answer-{:032x}", xxh3_128(request.key().as_bytes())))
    }

    fn check_one(
        &self,
        connection: &mut Connection<'_>,
        request: &CellRequest,
        answers: &mut Answers,
    ) -> Result<(), RunError> {
        let begun = Instant::now();
        let (fetched, answer) = self.ask(connection, request)?;
        let quick = begun.elapsed() < REPEATED_WITHIN;
        let engine = self.engine.to_owned();
        let kept = self.kept_path(request);
        let known = answers.get(&request.key()).copied();
        let repeated = request.compares_bodies() && (quick || known != Some(answer));
        // An answer that is never the same twice cannot be compared at all.
        if known.is_none() || repeated && request.only_reads() {
            let (again, second) = self.ask(connection, request)?;
            if second != answer {
                let (path, remedy) = (request.path.clone(), remedy(&fetched.body, &again.body));
                return Err(RunError::AnswerChanges { engine, path, remedy });
            }
        }
        match known {
            Some(expected) if expected == answer => Ok(()),
            Some(expected) => Err(differs(request, &kept, (self.engine, &fetched.body), expected)),
            None => {
                KeptAnswer { engine, body: fetched.body }.write(&kept);
                answers.insert(request.key(), answer);
                Ok(())
            }
        }
    }

    /// The answer to a request, and what of it is compared.
    fn ask(
        &self,
        connection: &mut Connection<'_>,
        request: &CellRequest,
    ) -> Result<(Fetched, Answer), RunError> {
        let mut attempt = 1;
        loop {
            let asked = self.fetch(connection, request).and_then(|fetched| {
                let answer = self.noted(request, &fetched)?;
                Ok((fetched, answer))
            });
            let passes = match &asked {
                Err(RunError::Request { source, .. }) => !matches!(source, HttpError::Interrupted),
                Err(RunError::Refused { status, .. }) => matches!(status, 408 | 429 | 500..),
                _ => false,
            };
            if !passes || attempt == ATTEMPTS_MAX {
                return asked;
            }
            attempt += 1;
        }
    }

    fn fetch(
        &self,
        connection: &mut Connection<'_>,
        request: &CellRequest,
    ) -> Result<Fetched, RunError> {
        let fetch = |connection: &mut Connection<'_>| {
            let prepared = request.prepared(self.target)?;
            // A server may close a connection that rested.
            if connection.is_open() {
                match connection.fetch(&prepared) {
                    Err(HttpError::Closed { .. } | HttpError::Lost { .. }) => {}
                    result => return result,
                }
            }
            connection.connect()?;
            connection.fetch(&prepared)
        };
        fetch(connection).map_err(|source| {
            let (engine, path) = (self.engine.to_owned(), request.path.clone());
            RunError::Request { engine, path, source }
        })
    }

    /// The parts of an answer that are compared and recorded.
    fn noted(&self, request: &CellRequest, fetched: &Fetched) -> Result<Answer, RunError> {
        let answer = fetched.answer;
        if !(200..300).contains(&answer.status) {
            return Err(self.refused(request, fetched));
        }
        let of = |body: &[u8]| Answer {
            status: answer.status,
            body_bytes: body.len() as u64,
            body_hash: xxh3_128(body),
        };
        let unexpected = |reason: String| RunError::UnexpectedAnswer {
            engine: self.engine.to_owned(),
            path: request.path.clone(),
            reason,
            body: beginning(&fetched.body),
        };
        match &request.check {
            Check::Exact => Ok(answer),
            Check::Status => Ok(of(&[])),
            Check::Json(meaning) => match meaning.of(&fetched.body) {
                Some(body) => Ok(of(&body)),
                None => Err(unexpected("is not JSON, as its check expects".to_owned())),
            },
            Check::Regex(regex) if regex.is_match(&fetched.body) => Ok(of(&[])),
            Check::Regex(regex) => Err(unexpected(format!("holds nothing that matches `{regex}`"))),
        }
    }

    fn refused(&self, request: &CellRequest, fetched: &Fetched) -> RunError {
        let to = fetched.headers.iter().find(|(name, _)| name == "location");
        let body = match to {
            Some((_, place)) => format!("it leads to {place}; ask for that, or send what it wants"),
            None => beginning(&fetched.body),
        };
        RunError::Refused {
            engine: self.engine.to_owned(),
            path: request.path.clone(),
            status: fetched.answer.status,
            body,
        }
    }
}

fn beginning(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(BODY_CHARACTERS).collect()
}

/// How the answer of an engine differs from that of the first one, which `kept` holds unless this
/// run was taken up again since.
fn differs(
    request: &CellRequest,
    kept: &Path,
    (engine, body): (&str, &[u8]),
    expected: Answer,
) -> RunError {
    let (difference, remedy) = match KeptAnswer::read(kept) {
        Some(first) => {
            // A part that the plan ignores already is not a difference.
            let meaning = |body: &[u8]| match &request.check {
                Check::Json(meaning) => meaning.of(body).unwrap_or_else(|| body.to_vec()),
                _ => body.to_vec(),
            };
            let (ours, theirs) = (meaning(body), meaning(&first.body));
            let sides = ((first.engine.as_str(), theirs.as_slice()), (engine, ours.as_slice()));
            (first_difference(sides.0, sides.1), remedy(&theirs, &ours))
        }
        None => {
            let Answer { body_bytes, .. } = expected;
            let (now, remedy) = (body.len(), "answer = \"status\"".to_owned());
            (format!("before it was {body_bytes} bytes, now {now}"), remedy)
        }
    };
    RunError::AnswersDiffer {
        engine: engine.to_owned(),
        path: request.path.clone(),
        difference,
        remedy,
    }
}
