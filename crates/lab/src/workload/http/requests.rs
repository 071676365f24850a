//! The requests of one cell: the plan's mix with its placeholders filled in.

use crate::http::{HttpError, PreparedRequest, Target};
use crate::plan::{AnswerCheck, Plan, PlanError, expand};
use crate::schedule::Levels;

/// One request with its path and headers written out.
pub(super) struct CellRequest {
    /// The request's name in the plan.
    pub name: String,
    /// Path and query.
    pub path: String,
    /// How its answer is judged.
    pub answer: AnswerCheck,
    headers: Vec<(String, String)>,
}

/// The requests of `levels`, in the order of the plan.
pub(super) fn of_cell(
    plan: &Plan,
    levels: &Levels,
    secret: &str,
) -> Result<Vec<CellRequest>, PlanError> {
    let mut values = plan.placeholders(levels)?;
    values.insert("secret".to_owned(), secret.to_owned());
    plan.requests
        .iter()
        .map(|request| {
            let headers = request.headers.iter().map(|(name, value)| {
                Ok((name.clone(), expand(value, "request.headers", &values)?))
            });
            Ok(CellRequest {
                name: request.name.clone(),
                path: expand(&request.path, "request.path", &values)?,
                answer: request.answer,
                headers: headers.collect::<Result<_, PlanError>>()?,
            })
        })
        .collect()
}

impl CellRequest {
    /// Encoded for `target`.
    pub(super) fn prepared(&self, target: &Target) -> Result<PreparedRequest, HttpError> {
        PreparedRequest::get(target, &self.name, &self.path, &self.headers)
    }
}
