//! The requests of one cell: the plan's mix with its placeholders filled in.

use std::collections::BTreeSet;

use regex::bytes::Regex;
use xxhash_rust::xxh3::xxh3_64;

use load::http::{HttpError, PreparedRequest, Target};
use load::{Expected, Meaning};
use plan::Levels;
use plan::{AnswerCheck, Placeholders, Plan, PlanError, Request, expand, is_safe};
use record::Answer;

/// One request with its path, headers and body written out.
pub(super) struct CellRequest {
    /// The request's name in the plan.
    pub name: String,
    pub path: String,
    /// How its answer is judged.
    pub check: Check,
    method: String,
    headers: Vec<(String, String)>,
    body: String,
    /// Further parts that bear on its answer: headers and the check. Nothing for a plain request.
    variant: String,
}

/// [`AnswerCheck`], ready for use.
#[derive(Clone)]
pub(super) enum Check {
    Exact,
    Status,
    Json(Meaning),
    Regex(Regex),
}

/// The requests of `levels`, in the order of the plan.
pub(super) fn of_cell(
    plan: &Plan,
    levels: &Levels,
    secret: &str,
) -> Result<Vec<CellRequest>, PlanError> {
    let mut values = plan.placeholders(levels)?;
    values.insert("secret".to_owned(), secret.to_owned());
    // A key of the user's own; in no record.
    if let Ok(key) = std::env::var("CROSSOVER_KEY") {
        values.entry("key".to_owned()).or_insert(key);
    }
    plan.requests
        .iter()
        .map(|request| {
            let variant = variant(request, &values)?;
            let headers = request.headers.iter().map(|(name, value)| {
                Ok((name.to_owned(), expand(value, "request.headers", &values)?))
            });
            Ok(CellRequest {
                name: request.name.clone(),
                method: request.method.clone(),
                path: expand(&request.path, "request.path", &values)?,
                check: Check::of(&request.answer)?,
                headers: headers.collect::<Result<_, PlanError>>()?,
                body: expand(&request.body, "request.body", &values)?,
                variant,
            })
        })
        .collect()
}

/// Of the headers those that carry a secret are left out: it differs from run to run, and what it
/// opens does not.
fn variant(request: &Request, values: &Placeholders) -> Result<String, PlanError> {
    let is_secret = |value: &str| value.contains("{secret}") || value.contains("{key}");
    let mut variant = String::new();
    for (name, value) in request.headers.iter().filter(|(_, value)| !is_secret(value)) {
        let value = expand(value, "request.headers", values)?;
        variant.push_str(&format!("{}: {value}\n", name.to_ascii_lowercase()));
    }
    if request.answer != AnswerCheck::Exact {
        variant.push_str(&format!("{:?}", request.answer));
    }
    Ok(variant)
}

/// The first of those that are one and the same.
pub(super) fn distinct(mut requests: Vec<CellRequest>) -> Vec<CellRequest> {
    let mut seen = BTreeSet::new();
    requests.retain(|request| seen.insert(request.key()));
    requests
}

impl CellRequest {
    /// Encoded for `target`.
    pub(super) fn prepared(&self, target: &Target) -> Result<PreparedRequest, HttpError> {
        let body = self.body.as_bytes();
        PreparedRequest::new(target, &self.name, &self.method, &self.path, &self.headers, body)
    }

    pub(super) fn only_reads(&self) -> bool {
        is_safe(&self.method)
    }

    /// For messages: `POST /orders`.
    pub(super) fn label(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Whether more than the form of its answer is expected.
    pub(super) fn compares_bodies(&self) -> bool {
        matches!(self.check, Check::Exact | Check::Json(_))
    }

    /// Its name among all requests of a run: the path, and the parts that a plain GET does not
    /// have. Hashed, since a header may hold a secret.
    pub(super) fn key(&self) -> String {
        let mut key = match self.method.as_str() {
            "GET" => self.path.clone(),
            method => format!("{method} {}", self.path),
        };
        for part in [&self.body, &self.variant] {
            if !part.is_empty() {
                key.push_str(&format!(" {:016x}", xxh3_64(part.as_bytes())));
            }
        }
        key
    }

    /// The answer that a timed trial expects: `answer` as the untimed pass noted it.
    pub(super) fn expected(&self, answer: Answer) -> Expected {
        let status = answer.status;
        match &self.check {
            Check::Exact => Expected::Exact(answer),
            Check::Status => Expected::Status(status),
            Check::Json(meaning) => Expected::Json { answer, meaning: meaning.clone() },
            Check::Regex(regex) => Expected::Matches { status, regex: regex.clone() },
        }
    }
}

impl Check {
    fn of(answer: &AnswerCheck) -> Result<Self, PlanError> {
        Ok(match answer {
            AnswerCheck::Exact => Self::Exact,
            AnswerCheck::Status => Self::Status,
            AnswerCheck::JsonIgnore(pointers) => {
                Self::Json(Meaning { ignored: pointers.clone().into(), any_order: false })
            }
            AnswerCheck::JsonAnyOrder => {
                Self::Json(Meaning { any_order: true, ..Meaning::default() })
            }
            AnswerCheck::Regex(text) => {
                Self::Regex(Regex::new(text).map_err(|error| PlanError::Impossible {
                    key: "request.answer.regex".to_owned(),
                    message: error.to_string(),
                })?)
            }
        })
    }
}
