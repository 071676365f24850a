//! The untimed pass: every distinct request once, its whole answer compared with what any engine
//! answered before. It warms the engine too.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::requests::{CellRequest, Check};
use crate::http::{Answer, Connection, Fetched, HttpError, Target};
use crate::run::RunError;
use crate::workload::Answers;

/// How much of a refusal is shown.
const BODY_CHARACTERS: usize = 300;

/// The untimed pass over one engine.
pub(super) struct Pass<'a> {
    pub engine: &'a str,
    pub target: &'a Target,
    pub timeout: Duration,
    pub interrupted: &'a AtomicBool,
}

impl Pass<'_> {
    /// Sends every distinct request of `requests` and notes or compares its answer.
    pub(super) fn check(
        &self,
        requests: &[CellRequest],
        answers: &mut Answers,
    ) -> Result<(), RunError> {
        let mut connection = Connection::closed(self.target, self.timeout, self.interrupted);
        let mut seen = BTreeSet::new();
        for request in requests {
            if seen.insert(request.key()) {
                self.check_one(&mut connection, request, answers)?;
            }
        }
        Ok(())
    }

    fn check_one(
        &self,
        connection: &mut Connection<'_>,
        request: &CellRequest,
        answers: &mut Answers,
    ) -> Result<(), RunError> {
        let fetched = self.fetch(connection, request)?;
        let answer = self.noted(request, &fetched)?;
        let (engine, path) = (self.engine.to_owned(), request.path.clone());
        match answers.get(&request.key()) {
            Some(expected) if *expected == answer => Ok(()),
            Some(expected) => Err(RunError::AnswersDiffer {
                engine,
                path,
                answer: in_words(&answer),
                expected: in_words(expected),
            }),
            None => {
                // Asked again: an answer that is never the same twice cannot be compared at all.
                let again = self.fetch(connection, request)?;
                if self.noted(request, &again)? != answer {
                    let cure = cure(&fetched.body, &again.body);
                    return Err(RunError::AnswerChanges { engine, path, cure });
                }
                answers.insert(request.key(), answer);
                Ok(())
            }
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

    /// What of an answer is compared and recorded.
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
                None => Err(unexpected("is no JSON, as its check expects".to_owned())),
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

fn in_words(answer: &Answer) -> String {
    let Answer { status, body_bytes, body_hash } = answer;
    format!("{body_bytes} bytes (status {status}, XXH3 {body_hash:032x})")
}

/// What to write into the plan, given two answers to the same request.
fn cure(one: &[u8], other: &[u8]) -> String {
    let parse = |body| serde_json::from_slice::<Value>(body).ok();
    if let (Some(one), Some(other)) = (parse(one), parse(other)) {
        let mut pointers = BTreeSet::new();
        differences(&one, &other, "", &mut pointers);
        if !pointers.contains("") {
            let pointers: Vec<String> = pointers.iter().map(|p| format!("{p:?}")).collect();
            return format!("answer = {{ json_ignore = [{}] }}", pointers.join(", "));
        }
    }
    "answer = \"status\", or answer = { regex = \"...\" } for what stays".to_owned()
}

/// JSON pointers to what differs; `*` for the elements of lists.
fn differences(one: &Value, other: &Value, at: &str, pointers: &mut BTreeSet<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            for key in one.keys().chain(other.keys()) {
                let (a, b) = (one.get(key), other.get(key));
                let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                match (a, b) {
                    (Some(a), Some(b)) => differences(a, b, &at, pointers),
                    _ => {
                        pointers.insert(at);
                    }
                }
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (a, b) in one.iter().zip(other) {
                differences(a, b, &format!("{at}/*"), pointers);
            }
        }
        _ if one != other => {
            pointers.insert(at.to_owned());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cure_names_what_changes() {
        let one = br#"{"time": 1, "rows": [{"id": 1, "at": "a"}, {"id": 2, "at": "b"}]}"#;
        let two = br#"{"time": 2, "rows": [{"id": 1, "at": "c"}, {"id": 2, "at": "b"}]}"#;
        let expected = r#"answer = { json_ignore = ["/rows/*/at", "/time"] }"#;
        assert_eq!(cure(one, two), expected);
        assert!(cure(b"<p>1</p>", b"<p>2</p>").starts_with("answer = \"status\""));
        assert!(cure(b"1", b"2").starts_with("answer = \"status\""));
    }
}
