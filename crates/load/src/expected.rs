//! Expected answers: the conditions of a right one, and how a timed trial judges it.

use std::sync::{Arc, OnceLock};

use regex::bytes::Regex;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use crate::http::Keep;
use record::Answer;
use record::Outcome;

/// A condition on a request's answer.
#[derive(Clone, Debug)]
pub enum Expected {
    /// This status, and a body of this length and hash.
    Exact(Answer),
    /// This status, and the same body as this request's first answer of the trial: for servers
    /// whose answers are not known beforehand.
    Alike(u16),
    Status(u16),
    /// A JSON body that means this one.
    Json {
        /// Status, length and hash of what [`Meaning::of`] leaves of it.
        answer: Answer,
        /// The parts of it that have a meaning.
        meaning: Meaning,
    },
    /// This status, and a body in which the expression matches somewhere.
    Matches {
        status: u16,
        regex: Regex,
    },
}

/// The parts of a JSON text that have a meaning.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    /// JSON pointers (RFC 6901; `*` stands for every element or key) to values without one.
    pub ignored: Arc<[String]>,
    /// The order of lists has none, as that of rows which nothing sorts.
    pub any_order: bool,
}

impl Expected {
    /// The part of an answer that must be kept to judge it.
    pub(super) fn keep(&self) -> Keep {
        match self {
            Self::Exact(_) | Self::Alike(_) => Keep::Hash,
            Self::Status(_) => Keep::Length,
            Self::Json { .. } => Keep::HashAndBody,
            Self::Matches { .. } => Keep::Body,
        }
    }

    /// The outcome that is recorded for this answer. `first` keeps the request's first right answer
    /// of this status.
    pub(super) fn judge(&self, answer: &Answer, body: &[u8], first: &OnceLock<Answer>) -> Outcome {
        let status = match self {
            Self::Exact(answer) | Self::Json { answer, .. } => answer.status,
            Self::Alike(status) | Self::Status(status) | Self::Matches { status, .. } => *status,
        };
        if answer.status != status {
            return Outcome::Status(answer.status);
        }
        let right = match self {
            Self::Exact(expected) => answer == expected,
            Self::Alike(_) => answer == first.get_or_init(|| *answer),
            Self::Status(_) => true,
            // The same bytes mean the same: most answers need not be parsed.
            Self::Json { .. } if first.get() == Some(answer) => true,
            Self::Json { answer: expected, meaning } => {
                let right = meaning.of(body).is_some_and(|body| {
                    let hash = xxh3_128(&body);
                    expected.body_bytes == body.len() as u64 && expected.body_hash == hash
                });
                if right {
                    first.get_or_init(|| *answer);
                }
                right
            }
            Self::Matches { regex, .. } => regex.is_match(body),
        };
        if right { Outcome::Ok } else { Outcome::WrongAnswer }
    }
}

impl Meaning {
    /// The parts of a JSON text that have a meaning, written in one way whatever the order of keys
    /// and the blanks were; `None` where it is not JSON.
    pub fn of(&self, body: &[u8]) -> Option<Vec<u8>> {
        let mut value: Value = serde_json::from_slice(body).ok()?;
        for pointer in self.ignored.iter() {
            let steps: Vec<String> = pointer
                .split('/')
                .skip(1)
                .map(|step| step.replace("~1", "/").replace("~0", "~"))
                .collect();
            remove(&mut value, &steps);
        }
        if self.any_order {
            sort(&mut value);
        }
        serde_json::to_vec(&value).ok()
    }
}

/// Sorts every list by the text of its elements.
fn sort(value: &mut Value) {
    match value {
        Value::Array(elements) => {
            elements.iter_mut().for_each(sort);
            elements.sort_by_cached_key(Value::to_string);
        }
        Value::Object(fields) => fields.values_mut().for_each(sort),
        _ => {}
    }
}

fn remove(value: &mut Value, steps: &[String]) {
    let [step, rest @ ..] = steps else { return };
    let last = rest.is_empty();
    match value {
        Value::Object(fields) if step == "*" && last => fields.clear(),
        Value::Array(elements) if step == "*" && last => elements.clear(),
        Value::Object(fields) if step == "*" => {
            fields.values_mut().for_each(|field| remove(field, rest));
        }
        Value::Array(elements) if step == "*" => {
            elements.iter_mut().for_each(|element| remove(element, rest));
        }
        Value::Object(fields) if last => {
            fields.remove(step);
        }
        Value::Object(fields) => {
            if let Some(field) = fields.get_mut(step) {
                remove(field, rest);
            }
        }
        Value::Array(elements) => {
            let element = step.parse::<usize>().ok().and_then(|index| elements.get_mut(index));
            match element {
                // Removed, the elements behind it would answer to other pointers.
                Some(element) if last => *element = Value::Null,
                Some(element) => remove(element, rest),
                None => {}
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_compared_without_order_blanks_and_ignored_values() {
        let ignored = ["/time".to_owned(), "/rows/*/id".to_owned(), "/a~1b/0".to_owned()];
        let meaning = Meaning { ignored: ignored.into(), any_order: false };
        let one = br#"{"time": 1.5, "rows": [{"id": 1, "n": 2}, {"id": 2, "n": 3}], "a/b": [7]}"#;
        let two = br#"{"a/b":[8],"rows":[{"n":2,"id":9},{"n":3}],"time":"later"}"#;
        let other = br#"{"a/b":[8],"rows":[{"n":2},{"n":4}],"time":1.5}"#;
        assert_eq!(meaning.of(one), meaning.of(two));
        assert_ne!(meaning.of(one), meaning.of(other));
        assert_eq!(meaning.of(b"<html>"), None);
    }

    #[test]
    fn rows_in_another_order_are_equal_where_order_is_ignored() {
        let (one, two) = (b"[[1, {\"a\": 1}], [2, null]]", b"[[2, null], [1, {\"a\": 1}]]");
        let any_order = Meaning { any_order: true, ..Meaning::default() };
        assert_eq!(any_order.of(one), any_order.of(two));
        assert_ne!(Meaning::default().of(one), Meaning::default().of(two));
        assert_ne!(any_order.of(b"[1, 1, 2]"), any_order.of(b"[1, 2, 2]"));
    }

    #[test]
    fn a_body_is_judged_by_what_is_left_of_it_or_by_an_expression() {
        let meaning = Meaning { ignored: ["/time".to_owned()].into(), any_order: false };
        let body = meaning.of(br#"{"time": 1, "n": 2}"#).unwrap();
        let answer =
            Answer { status: 200, body_bytes: body.len() as u64, body_hash: xxh3_128(&body) };
        let json = Expected::Json { answer, meaning };
        let regex = Regex::new("(?i)sum: [0-9]+").unwrap();
        let matches = Expected::Matches { status: 200, regex };
        let judge = |expected: &Expected, status, body: &[u8]| {
            let answer = Answer { status, body_bytes: 0, body_hash: 0 };
            expected.judge(&answer, body, &OnceLock::new())
        };
        assert_eq!(judge(&json, 200, br#"{"n":2,"time":3}"#), Outcome::Ok);
        assert_eq!(judge(&json, 200, br#"{"n":3,"time":1}"#), Outcome::WrongAnswer);
        assert_eq!(judge(&json, 200, b"no JSON"), Outcome::WrongAnswer);
        assert_eq!(judge(&json, 500, br#"{"n":2}"#), Outcome::Status(500));
        assert_eq!(judge(&matches, 200, b"<b>Sum: 12</b>\xff"), Outcome::Ok);
        assert_eq!(judge(&matches, 200, b"Sum: none"), Outcome::WrongAnswer);
    }
}
