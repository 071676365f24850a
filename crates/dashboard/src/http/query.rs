//! `GET /api/query/{grouping}`: one query, one answer. Headers describe the engine's work; the body
//! is the same from every engine.

use std::sync::Arc;
use std::time::Instant;

use axum::Extension;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query as Parameters, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use tokio::sync::OwnedSemaphorePermit;

use super::client::RequestClient;
use super::document::{AnswerDocument, QueryParameters, Refusals};
use super::share::until_sent;
use super::{App, Problem, etag};
use crate::answer;
use crate::cache::{CacheKey, CachedAnswer, Lookup};
use crate::database::Deadline;
use crate::query::{Grouping, Query, quoted};

/// Sums of the traffic of a period, grouped and filtered.
#[utoipa::path(
    get,
    path = "/api/query/{grouping}",
    tag = "questions",
    params(
        ("grouping" = Grouping, Path, description = "What each row stands for"),
        QueryParameters,
    ),
    responses(
        (status = 200, description = "The answer, the same from every engine", content(
            (AnswerDocument = "application/json"),
            (String = "text/csv"),
        ), headers(
            ("crossover-engine" = String, description = "The engine and its exact version"),
            ("crossover-design" = String, description = "daily or rollup"),
            ("crossover-rows-read" = String,
                description = "Rows added up when the answer was made"),
            ("crossover-answer-cache" = String, description = "hit, miss or off"),
            ("server-timing" = String, description = "Milliseconds, as query;dur=1.234"),
            ("etag" = String, description = "Names the body"),
        )),
        (status = 304, description = "The client has it already (If-None-Match)"),
        Refusals,
        (status = 404, description = "No such grouping", body = Problem,
            content_type = "application/problem+json"),
    ),
    security(("key" = []), ("session" = []), ()),
)]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Extension(client): Extension<RequestClient>,
    grouping: Result<Path<String>, PathRejection>,
    parameters: Result<Parameters<Vec<(String, String)>>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let begin = Instant::now();
    let unreadable = |text: String| Problem::new(StatusCode::BAD_REQUEST, text);
    let Path(name) = grouping.map_err(|error| unreadable(error.body_text()))?;
    let Parameters(pairs) = parameters.map_err(|error| unreadable(error.body_text()))?;
    let grouping = Grouping::named(&name).ok_or_else(|| no_such_grouping(&name))?;
    let (answer, lookup, permit) = answer(&app, &client, Query::parse(grouping, &pairs)?).await?;
    let duration = begin.elapsed();
    app.metrics.answered(grouping, lookup, duration);
    let body = until_sent(answer.body, permit);
    let mut response = etag::tagged(&headers, &answer.etag, answer.content_type, body);
    let described = [
        ("crossover-engine", app.store.engine().to_owned()),
        ("crossover-design", answer.design.name().to_owned()),
        ("crossover-rows-read", answer.rows_read.to_string()),
        ("crossover-answer-cache", cache_text(lookup).to_owned()),
        ("server-timing", format!("query;dur={:.3}", duration.as_secs_f64() * 1_000.0)),
    ];
    for (name, text) in described {
        // A version that no header can carry is left out.
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    Ok(response)
}

/// `off` where there is no cache.
pub(super) fn cache_text(lookup: Option<Lookup>) -> &'static str {
    match lookup {
        None => "off",
        Some(Lookup::Hit) => "hit",
        Some(Lookup::Miss) => "miss",
    }
}

/// The answer, from the cache if there is one, with the permit that it took to make it. The version
/// is read before the answer is made: whatever changes in between makes an entry that no request
/// finds.
async fn answer(
    app: &App,
    client: &RequestClient,
    query: Query,
) -> Result<(CachedAnswer, Option<Lookup>, Option<OwnedSemaphorePermit>), Problem> {
    // One deadline for all waits of the request; dropped with it, it stops the work.
    let (deadline, _waiting) = app.store.deadline();
    let question = match &app.cache {
        Some(_) => CacheKey::of(&query, app.store.data_version().await?),
        None => None,
    };
    let Some((cache, question)) = app.cache.as_ref().zip(question) else {
        let permit = app.shares.permit(client, &deadline).await?;
        return Ok((make(app, query, deadline).await?, None, Some(permit)));
    };
    if let Some(kept) = cache.kept(&question) {
        return Ok((kept, Some(Lookup::Hit), None));
    }
    // Before an answer is promised to all requests for it: they must not wait for a client that
    // waits for a permit of its own.
    let permit = app.shares.permit(client, &deadline).await?;
    let make = make(app, query, deadline.clone());
    let (kept, lookup) = cache.answer(&question, &deadline, make).await?;
    Ok((kept, Some(lookup), Some(permit)))
}

async fn make(app: &App, query: Query, deadline: Deadline) -> Result<CachedAnswer, answer::Error> {
    let answer = app.store.answer_within(query, deadline).await?;
    Ok(CachedAnswer {
        content_type: answer.content_type,
        etag: etag::etag_of(&answer.body),
        body: answer.body.into(),
        rows_read: answer.rows_read,
        design: answer.design,
    })
}

fn no_such_grouping(name: &str) -> Problem {
    let names: Vec<&str> = Grouping::ALL.iter().map(|one| one.name()).collect();
    let detail = format!(
        "there is no grouping {}{}; groupings are {}",
        quoted(name),
        engine::nearest(name, names.iter().copied()),
        names.join(", ")
    );
    Problem::new(StatusCode::NOT_FOUND, detail)
}
