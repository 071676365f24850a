//! `requests = { file = "urls.txt" }` or `{ from_log = "access.log" }`: many requests at once, read
//! when the plan is resolved, so that the plan kept with a run holds the requests themselves.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::model::access_log::{self, LoggedMix};
use crate::{AnswerCheck, Headers, PlanError, Request};

/// Where further requests come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestSource {
    /// A list, one request per line: `[METHOD] PATH [WEIGHT]`, the path or a whole URL; blank
    /// lines and lines that begin with `#` are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// An access log of nginx or Apache, common or combined format: its requests, weighted by how
    /// often they stand there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_log: Option<PathBuf>,
    /// The methods to take from the log.
    #[serde(default = "safe_methods")]
    pub methods: Vec<String>,
    /// Limit on the different requests of the log; the most frequent ones are kept.
    #[serde(default = "hundred")]
    pub most: usize,
    /// How all their answers are judged.
    #[serde(default)]
    pub answer: AnswerCheck,
    /// Headers of all of them.
    #[serde(default, skip_serializing_if = "Headers::is_empty")]
    pub headers: Headers,
}

/// Those that change nothing (RFC 9110, section 9.2.1), so they can be repeated.
fn safe_methods() -> Vec<String> {
    ["GET", "HEAD"].map(str::to_owned).to_vec()
}

fn hundred() -> usize {
    100
}

impl RequestSource {
    /// One that takes what is usual from an access log.
    #[must_use]
    pub fn of_log(path: PathBuf) -> Self {
        Self { from_log: Some(path), ..Self::of(None) }
    }

    /// One that reads a list.
    #[must_use]
    pub fn of_file(path: PathBuf) -> Self {
        Self::of(Some(path))
    }

    fn of(file: Option<PathBuf>) -> Self {
        Self { file, methods: safe_methods(), most: hundred(), ..Self::default() }
    }

    /// Paths that are relative begin at the folder of the plan.
    pub(crate) fn resolve_paths_from(&mut self, plan: &Path) {
        let folder = plan.parent().unwrap_or(Path::new(""));
        for path in [&mut self.file, &mut self.from_log].into_iter().flatten() {
            *path = folder.join(&*path);
        }
    }

    /// The requests, and a sentence on what was taken and left out.
    pub(crate) fn read(&self) -> Result<(Vec<Request>, String), PlanError> {
        let (path, mix) = match (&self.file, &self.from_log) {
            (Some(path), None) => {
                let text = read(path)?;
                (
                    path,
                    list(&text)
                        .map_err(|message| wrong(format!("{}, {message}", path.display())))?,
                )
            }
            (None, Some(path)) => {
                let text = read(path)?;
                (path, access_log::read(&text, &self.methods, self.most))
            }
            _ => return Err(wrong("needs either file or from_log")),
        };
        let said = mix.in_words(path);
        if mix.requests.is_empty() {
            return Err(wrong(format!("{}: no request can be taken; {said}", path.display())));
        }
        let mut requests = mix.requests;
        for request in &mut requests {
            request.answer = self.answer.clone();
            request.headers.clone_from(&self.headers);
        }
        Ok((requests, said))
    }
}

/// Bytes that are not UTF-8 are in logs; the lines that hold them are left out.
fn read(path: &Path) -> Result<String, PlanError> {
    let bytes =
        std::fs::read(path).map_err(|source| wrong(format!("{}: {source}", path.display())))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn wrong(message: impl Into<String>) -> PlanError {
    PlanError::impossible("requests", message)
}

fn list(text: &str) -> Result<LoggedMix, String> {
    let mut mix = LoggedMix::default();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        mix.lines += 1;
        let request = line.parse();
        mix.requests.push(request.map_err(|error| format!("line {}: {error}", index + 1))?);
    }
    Ok(mix)
}

impl FromStr for Request {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a request; write [METHOD] PATH [WEIGHT]");
        listed(text).ok_or_else(wrong)
    }
}

fn listed(line: &str) -> Option<Request> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_method = |word: &str| word.bytes().all(|byte| byte.is_ascii_uppercase());
    let (method, rest) = match words.as_slice() {
        [method, rest @ ..] if is_method(method) => (*method, rest),
        rest => ("GET", rest),
    };
    let (target, weight) = match rest {
        [target] => (*target, 1),
        [target, weight] => (*target, weight.parse().ok().filter(|weight| *weight > 0)?),
        _ => return None,
    };
    let path = access_log::path_of(target)?;
    Some(Request { method: method.to_owned(), weight, ..Request::get(&path) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_holds_paths_and_urls_with_methods_and_weights() {
        let mix = list("# mine\n\n/a?b=c\nPOST /d 3\nhttps://host:81/e#top 2\n").unwrap();
        let read: Vec<_> = mix
            .requests
            .iter()
            .map(|one| (one.method.as_str(), one.path.as_str(), one.weight))
            .collect();
        assert_eq!(read, [("GET", "/a?b=c", 1), ("POST", "/d", 3), ("GET", "/e", 2)]);
    }

    #[test]
    fn a_line_that_is_no_request_is_named() {
        for line in ["relative/path", "/a 0", "/a 1 2", "GET", "https://"] {
            let error = list(&format!("/\n{line}\n")).unwrap_err();
            assert!(error.starts_with("line 2: `"), "{error}");
        }
    }
}
