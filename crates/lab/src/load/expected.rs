//! What an answer must be to count as right, and how a timed trial judges it.

use std::sync::{Arc, OnceLock};

use regex::bytes::Regex;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::Outcome;
use crate::http::{Answer, Keep};

/// What a request's answer must be to count as right.
#[derive(Clone, Debug)]
pub enum Expected {
    /// This status, and a body of this length and hash.
    Exact(Answer),
    /// This status, and the same body as this request's first answer of the trial: for servers
    /// whose answers are not known beforehand.
    Alike(u16),
    /// This status; any body.
    Status(u16),
    /// A JSON body that is this one when some of its values are left out: see [`without`].
    JsonWithout {
        /// Status, length and hash of what is left.
        answer: Answer,
        /// JSON pointers to what is left out.
        pointers: Arc<[String]>,
    },
    /// This status, and a body in which the expression matches somewhere.
    Matches {
        /// HTTP status.
        status: u16,
        /// The expression.
        regex: Regex,
    },
}

impl Expected {
    /// What must be kept of an answer to judge it.
    pub(super) fn keep(&self) -> Keep {
        match self {
            Self::Exact(_) | Self::Alike(_) => Keep::Hash,
            Self::Status(_) => Keep::Length,
            Self::JsonWithout { .. } | Self::Matches { .. } => Keep::Body,
        }
    }

    /// How this answer is to be recorded. `first` keeps the request's first answer of this status.
    pub(super) fn judge(&self, answer: &Answer, body: &[u8], first: &OnceLock<Answer>) -> Outcome {
        let status = match self {
            Self::Exact(answer) | Self::JsonWithout { answer, .. } => answer.status,
            Self::Alike(status) | Self::Status(status) | Self::Matches { status, .. } => *status,
        };
        if answer.status != status {
            return Outcome::Status(answer.status);
        }
        let right = match self {
            Self::Exact(expected) => answer == expected,
            Self::Alike(_) => answer == first.get_or_init(|| *answer),
            Self::Status(_) => true,
            Self::JsonWithout { answer, pointers } => without(body, pointers).is_some_and(|body| {
                answer.body_bytes == body.len() as u64 && answer.body_hash == xxh3_128(&body)
            }),
            Self::Matches { regex, .. } => regex.is_match(body),
        };
        if right { Outcome::Ok } else { Outcome::WrongAnswer }
    }
}

/// A JSON text without the values that the pointers (RFC 6901; `*` stands for every element or
/// key) name, written in one way whatever the order of keys and blanks was; `None` where it is no
/// JSON.
pub(crate) fn without(body: &[u8], pointers: &[String]) -> Option<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(body).ok()?;
    for pointer in pointers {
        let steps: Vec<String> = pointer
            .split('/')
            .skip(1)
            .map(|step| step.replace("~1", "/").replace("~0", "~"))
            .collect();
        remove(&mut value, &steps);
    }
    serde_json::to_vec(&value).ok()
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
    fn what_is_left_of_json_does_not_depend_on_order_blanks_or_ignored_values() {
        let pointers = ["/time".to_owned(), "/rows/*/id".to_owned(), "/a~1b/0".to_owned()];
        let one = br#"{"time": 1.5, "rows": [{"id": 1, "n": 2}, {"id": 2, "n": 3}], "a/b": [7]}"#;
        let two = br#"{"a/b":[8],"rows":[{"n":2,"id":9},{"n":3}],"time":"later"}"#;
        let other = br#"{"a/b":[8],"rows":[{"n":2},{"n":4}],"time":1.5}"#;
        assert_eq!(without(one, &pointers), without(two, &pointers));
        assert_ne!(without(one, &pointers), without(other, &pointers));
        assert_eq!(without(b"<html>", &pointers), None);
    }

    #[test]
    fn a_body_is_judged_by_what_is_left_of_it_or_by_an_expression() {
        let pointers: Arc<[String]> = ["/time".to_owned()].into();
        let body = without(br#"{"time": 1, "n": 2}"#, &pointers).unwrap();
        let answer =
            Answer { status: 200, body_bytes: body.len() as u64, body_hash: xxh3_128(&body) };
        let json = Expected::JsonWithout { answer, pointers };
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
