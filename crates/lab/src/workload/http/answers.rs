//! The untimed pass: every distinct request once, its whole answer compared with what any engine
//! answered before. It warms the engine too.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::requests::CellRequest;
use crate::http::{Answer, Connection, Fetched, HttpError, Target};
use crate::load::Expected;
use crate::plan::AnswerCheck;
use crate::run::RunError;
use crate::workload::Answers;

/// How much of a refusal is shown.
const BODY_CHARACTERS: usize = 300;

/// Sends every distinct request of `requests` and notes or compares its answer.
pub(super) fn check(
    engine: &str,
    target: &Target,
    requests: &[CellRequest],
    answers: &mut Answers,
    timeout: Duration,
    interrupted: &AtomicBool,
) -> Result<(), RunError> {
    let mut connection = Connection::closed(target, timeout, interrupted);
    let mut seen = BTreeSet::new();
    for request in requests {
        if !seen.insert(&request.path) {
            continue;
        }
        let fetched = fetch(&mut connection, target, request).map_err(|source| {
            RunError::Request { engine: engine.to_owned(), path: request.path.clone(), source }
        })?;
        if fetched.answer.status != 200 {
            return Err(RunError::Refused {
                engine: engine.to_owned(),
                path: request.path.clone(),
                status: fetched.answer.status,
                body: String::from_utf8_lossy(&fetched.body)
                    .chars()
                    .take(BODY_CHARACTERS)
                    .collect(),
            });
        }
        compare(engine, request, fetched.answer, answers)?;
    }
    Ok(())
}

fn fetch(
    connection: &mut Connection<'_>,
    target: &Target,
    request: &CellRequest,
) -> Result<Fetched, HttpError> {
    let prepared = request.prepared(target)?;
    if !connection.is_open() {
        connection.connect()?;
    }
    connection.fetch(&prepared)
}

fn compare(
    engine: &str,
    request: &CellRequest,
    answer: Answer,
    answers: &mut Answers,
) -> Result<(), RunError> {
    match answers.get(&request.path) {
        None => {
            answers.insert(request.path.clone(), answer);
            Ok(())
        }
        Some(expected) if request.answer == AnswerCheck::Status || *expected == answer => Ok(()),
        Some(expected) => Err(RunError::AnswersDiffer {
            engine: engine.to_owned(),
            path: request.path.clone(),
            answer: in_words(&answer),
            expected: in_words(expected),
        }),
    }
}

fn in_words(answer: &Answer) -> String {
    format!("{} bytes (XXH3 {:032x})", answer.body_bytes, answer.body_hash)
}

/// What a timed trial holds each answer against.
pub(super) fn expected(request: &CellRequest, answers: &Answers) -> Expected {
    match (request.answer, answers.get(&request.path)) {
        (AnswerCheck::Exact, Some(answer)) => Expected::Exact(*answer),
        _ => Expected::Status(200),
    }
}
