//! `GET /healthz`: 200 while the database answers, with engine, design and settings for
//! measurements; 503 otherwise. It uses a connection that no query can occupy.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use super::{App, Problem};

/// A database that needs longer for one row does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// How the server is.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Health {
    /// Always `ok`.
    status: &'static str,
    /// The engine and its exact version.
    engine: String,
    /// How questions are answered.
    design: &'static str,
    /// Settings of the engine that bear on the time of answers.
    settings: BTreeMap<String, String>,
}

/// Whether the database answers.
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "server",
    responses(
        (status = 200, description = "It does", body = Health),
        (status = 503, description = "It does not", body = Problem,
            content_type = "application/problem+json"),
    ),
)]
pub(super) async fn get(State(app): State<Arc<App>>) -> Result<Json<Health>, Problem> {
    match tokio::time::timeout(PATIENCE, app.store.check()).await {
        Ok(Ok(())) => Ok(Json(Health {
            status: "ok",
            engine: app.store.engine().to_owned(),
            design: app.store.design().name(),
            settings: app.store.settings().iter().cloned().collect(),
        })),
        Ok(Err(error)) => {
            tracing::warn!("{DETAIL}: {error}");
            Err(away())
        }
        Err(_) => {
            tracing::warn!("{DETAIL}: no row within {} s", PATIENCE.as_secs());
            Err(away())
        }
    }
}

const DETAIL: &str = "the database does not answer";

fn away() -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, DETAIL).retry_after(PATIENCE)
}
