//! `GET /api/dataset`, `/api/values/{dimension}`, `/api/articles/{uuid}`: the catalog.

use std::sync::Arc;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query as Parameters, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::document::{DatasetParameters, Refusals, ValuesParameters};
use super::{App, Problem, etag};
use crate::catalog::{Article, Dataset, ListedArticle, Values, Wanted};
use crate::query::quoted;
use crate::schema::{DIMENSIONS, Dimension};

/// The limit where none is given.
const LIMIT_DEFAULT: usize = 50;

/// More values than this are not given at once.
const LIMIT_MAX: usize = 1_000;

/// More values than this are in no dimension.
const OFFSET_MAX: usize = 1_000_000_000;

/// The extent of the data: days, blogs, numbers of rows.
#[utoipa::path(
    get,
    path = "/api/dataset",
    tag = "catalog",
    params(DatasetParameters),
    responses(
        (status = 200, description = "The extent", body = Dataset),
        (status = 304, description = "The client has it already (If-None-Match)"),
        Refusals,
    ),
    security(("key" = []), ("session" = []), ()),
)]
pub(super) async fn dataset(
    State(app): State<Arc<App>>,
    parameters: Result<Parameters<Vec<(String, String)>>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Parameters(pairs) = parameters.map_err(|error| bad_request(error.body_text()))?;
    check_names(&pairs, &["states"])?;
    let mut states = pairs.iter().filter(|(name, _)| name == "states").map(|(_, value)| value);
    if let Some(value) = states.clone().find(|value| *value != "1") {
        let detail = format!("states cannot be {}; it is 1, or left out", quoted(value));
        return Err(bad_request(detail).of("states"));
    }
    let mut dataset = app.catalog.dataset().await?;
    dataset.states = dataset.states.filter(|_| states.next().is_some());
    etag::json(&headers, &dataset)
}

/// The values of a dimension, by label.
#[utoipa::path(
    get,
    path = "/api/values/{dimension}",
    tag = "catalog",
    params(("dimension" = Dimension, Path, description = "The name of a filter"), ValuesParameters),
    responses(
        (status = 200, description = "The values", body = Values),
        (status = 304, description = "The client has them already (If-None-Match)"),
        Refusals,
        (status = 404, description = "No such dimension", body = Problem,
            content_type = "application/problem+json"),
    ),
    security(("key" = []), ("session" = []), ()),
)]
pub(super) async fn values(
    State(app): State<Arc<App>>,
    dimension: Result<Path<String>, PathRejection>,
    parameters: Result<Parameters<Vec<(String, String)>>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Path(name) = dimension.map_err(|error| bad_request(error.body_text()))?;
    let Parameters(pairs) = parameters.map_err(|error| bad_request(error.body_text()))?;
    let known = DIMENSIONS.iter().find(|known| known.name() == name);
    let dimension = known.ok_or_else(|| no_such_dimension(&name))?;
    etag::json(&headers, &app.catalog.values(*dimension, &wanted(pairs)?).await?)
}

/// All articles, in no order.
#[utoipa::path(
    get,
    path = "/api/articles",
    tag = "catalog",
    responses(
        (status = 200, description = "The articles", body = Vec<ListedArticle>),
        (status = 304, description = "The client has them already (If-None-Match)"),
        Refusals,
    ),
    security(("key" = []), ("session" = []), ()),
)]
pub(super) async fn articles(
    State(app): State<Arc<App>>,
    parameters: Result<Parameters<Vec<(String, String)>>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Parameters(pairs) = parameters.map_err(|error| bad_request(error.body_text()))?;
    check_names(&pairs, &[])?;
    etag::json(&headers, &app.catalog.articles().await?)
}

/// An article with its original and its translations.
#[utoipa::path(
    get,
    path = "/api/articles/{uuid}",
    tag = "catalog",
    params(("uuid" = String, Path, description = "The article's key in the query API")),
    responses(
        (status = 200, description = "The article", body = Article),
        (status = 304, description = "The client has it already (If-None-Match)"),
        Refusals,
        (status = 404, description = "No such article", body = Problem,
            content_type = "application/problem+json"),
    ),
    security(("key" = []), ("session" = []), ()),
)]
pub(super) async fn article(
    State(app): State<Arc<App>>,
    uuid: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Path(uuid) = uuid.map_err(|error| bad_request(error.body_text()))?;
    match app.catalog.article(&uuid).await? {
        Some(article) => etag::json(&headers, &article),
        None => {
            let detail = format!(
                "there is no article {}; /api/values/article?search= finds them by title",
                quoted(&uuid)
            );
            Err(Problem::new(StatusCode::NOT_FOUND, detail))
        }
    }
}

fn bad_request(detail: String) -> Problem {
    Problem::new(StatusCode::BAD_REQUEST, detail)
}

/// Refuses parameters that would change nothing: the answer would be read as if they had.
fn check_names(pairs: &[(String, String)], known: &[&'static str]) -> Result<(), Problem> {
    match pairs.iter().find(|(name, _)| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some((name, _)) => {
            let suggestion = engine::nearest(name, known.iter().copied());
            let detail = format!("there is no parameter {}{suggestion}", quoted(name));
            Err(bad_request(detail).of(name))
        }
    }
}

fn wanted(pairs: Vec<(String, String)>) -> Result<Wanted, Problem> {
    check_names(&pairs, &["search", "key", "limit", "offset"])?;
    let bad = |detail: String, name: &str| bad_request(detail).of(name);
    let mut wanted = Wanted { limit: LIMIT_DEFAULT, ..Wanted::default() };
    for (place, (name, _)) in pairs.iter().enumerate() {
        if name != "key" && pairs[..place].iter().any(|(earlier, _)| earlier == name) {
            return Err(bad(format!("{} is given twice", quoted(name)), name));
        }
    }
    for (name, value) in pairs {
        let number = |most: usize| match value.parse::<usize>() {
            Ok(number) if number <= most && !value.starts_with('+') => Ok(number),
            _ => {
                let value = quoted(&value);
                Err(bad(format!("{name} cannot be {value}; it is a number, 0 to {most}"), &name))
            }
        };
        match name.as_str() {
            "limit" => wanted.limit = number(LIMIT_MAX)?,
            "offset" => wanted.offset = number(OFFSET_MAX)?,
            "search" => wanted.search = value,
            _ => wanted.keys.push(value),
        }
    }
    Ok(wanted)
}

fn no_such_dimension(name: &str) -> Problem {
    let names: Vec<&str> = DIMENSIONS.iter().map(|known| known.name()).collect();
    let detail = format!(
        "there is no dimension {}{}; dimensions are {}",
        quoted(name),
        engine::nearest(name, names.iter().copied()),
        names.join(", ")
    );
    Problem::new(StatusCode::NOT_FOUND, detail)
}
