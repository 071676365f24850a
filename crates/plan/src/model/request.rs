//! `[[request]]`: one request of workload `http`, and what is expected of its answer.

use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

use crate::{Headers, PlanError};

/// One request of the mix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// A short name for tables; method (where it is not GET) and path where there is none.
    #[serde(default)]
    pub name: String,
    #[serde(default = "get", skip_serializing_if = "is_get")]
    pub method: String,
    /// Path and query, with placeholders.
    pub path: String,
    /// How often it is sent in a round.
    #[serde(default = "one")]
    pub weight: u32,
    /// The check of the answer.
    #[serde(default)]
    pub answer: AnswerCheck,
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
    /// The body, with placeholders.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
}

fn one() -> u32 {
    1
}

fn get() -> String {
    "GET".to_owned()
}

/// Whether requests of this method must not change anything (RFC 9110, section 9.2.1).
pub fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

fn is_get(method: &String) -> bool {
    method == "GET"
}

/// How an answer is judged. Its status must be one of success (200 to 299) and always the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerCheck {
    /// The same bytes from every engine, every time.
    #[default]
    Exact,
    Status,
    /// The same JSON from every engine, every time, but for the values that these JSON pointers
    /// (RFC 6901, with `*` for every element) name.
    JsonIgnore(Vec<String>),
    /// The same JSON from every engine, every time, but for the order of its lists: for rows that
    /// nothing sorts.
    JsonAnyOrder,
    /// A body in which this expression matches.
    Regex(String),
}

impl Request {
    /// A GET of `path` as often as any other.
    #[must_use]
    pub fn get(path: &str) -> Self {
        Self {
            name: String::new(),
            method: get(),
            path: path.to_owned(),
            weight: 1,
            answer: AnswerCheck::Exact,
            headers: Headers::default(),
            body: String::new(),
        }
    }

    /// Every text in which a placeholder may stand, with its key within the request.
    pub fn texts(&self) -> impl Iterator<Item = (String, &str)> {
        let headers = self.headers.texts().map(|(key, value)| (format!("headers.{key}"), value));
        [("path".to_owned(), self.path.as_str()), ("body".to_owned(), self.body.as_str())]
            .into_iter()
            .chain(headers)
    }

    /// Gives the request a name if it has none; refuses one that no server could answer.
    pub(crate) fn resolve(&mut self, index: usize) -> Result<(), PlanError> {
        if self.name.is_empty() {
            self.name = match self.method.as_str() {
                "GET" => self.path.clone(),
                method => format!("{method} {}", self.path),
            };
        }
        let impossible = |key: &str, message: String| {
            Err(PlanError::impossible(&format!("request.{index}.{key}"), message))
        };
        let name = &self.name;
        if self.weight == 0 {
            return impossible("weight", format!("is 0 for {name}"));
        }
        if !self.path.starts_with(['/', '{']) {
            let message = format!(
                "`{}` must start with /; the server's address belongs to engines or application",
                self.path
            );
            return impossible("path", message);
        }
        let upper = |method: &str| method.bytes().all(|byte| byte.is_ascii_uppercase());
        if self.method.is_empty() || !upper(&self.method) {
            let message = format!("`{}` of {name} is none; write GET, POST, ...", self.method);
            return impossible("method", message);
        }
        match &self.answer {
            AnswerCheck::Regex(text) => match Regex::new(text) {
                Ok(_) => Ok(()),
                Err(error) => impossible("answer.regex", format!("of {name}: {error}")),
            },
            AnswerCheck::JsonIgnore(pointers) => {
                match pointers.iter().enumerate().find(|(_, pointer)| !pointer.starts_with('/')) {
                    None => Ok(()),
                    Some((place, pointer)) => impossible(
                        &format!("answer.json_ignore.{place}"),
                        format!("`{pointer}` of {name} is not a JSON pointer; write \"/time\""),
                    ),
                }
            }
            AnswerCheck::Exact | AnswerCheck::Status | AnswerCheck::JsonAnyOrder => Ok(()),
        }
    }
}
