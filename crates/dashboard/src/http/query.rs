//! `GET /api/query/{grouping}`: one question, one answer. What the engine did stands in headers;
//! the body is the same from every engine.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query as Parameters, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::IntoResponse;

use super::{App, Problem};
use crate::query::{Grouping, Query, quoted};

pub(super) async fn get(
    State(app): State<Arc<App>>,
    grouping: Result<Path<String>, PathRejection>,
    parameters: Result<Parameters<Vec<(String, String)>>, QueryRejection>,
) -> Result<impl IntoResponse, Problem> {
    let begin = Instant::now();
    let unreadable = |text: String| Problem::new(StatusCode::BAD_REQUEST, text);
    let Path(name) = grouping.map_err(|error| unreadable(error.body_text()))?;
    let Parameters(pairs) = parameters.map_err(|error| unreadable(error.body_text()))?;
    let grouping = Grouping::named(&name).ok_or_else(|| no_such_grouping(&name))?;
    let answer = app.store.answer(Query::parse(grouping, &pairs)?).await?;
    let duration = begin.elapsed();
    app.metrics.answered(grouping, duration);
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    let described = [
        ("crossover-engine", app.store.engine().to_owned()),
        ("crossover-design", app.store.design().name().to_owned()),
        ("crossover-rows-read", answer.rows_read.to_string()),
        ("server-timing", format!("query;dur={:.3}", duration.as_secs_f64() * 1_000.0)),
    ];
    for (name, text) in described {
        // A version that no header can carry is left out.
        if let Ok(value) = HeaderValue::from_str(&text) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    Ok((headers, answer.body))
}

fn no_such_grouping(name: &str) -> Problem {
    let names = Grouping::ALL.map(|(known, _)| known);
    let detail = format!(
        "there is no grouping {}{}; groupings are {}",
        quoted(name),
        engine::nearest(name, names),
        names.join(", ")
    );
    Problem::new(StatusCode::NOT_FOUND, detail)
}
