//! `GET /healthz`: 200 while the database answers, with engine, design and settings, so that
//! whoever measures knows what was measured; 503 otherwise. It uses a connection that no question
//! can occupy.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use super::{App, Problem};

/// A database that needs longer for one row does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Serialize)]
pub(super) struct Health {
    status: &'static str,
    engine: String,
    design: &'static str,
    settings: BTreeMap<String, String>,
}

pub(super) async fn get(State(app): State<Arc<App>>) -> Result<Json<Health>, Problem> {
    let detail = "the database does not answer";
    match tokio::time::timeout(PATIENCE, app.store.check()).await {
        Ok(Ok(())) => Ok(Json(Health {
            status: "ok",
            engine: app.store.engine().to_owned(),
            design: app.store.design().name(),
            settings: app.store.settings().iter().cloned().collect(),
        })),
        Ok(Err(error)) => {
            tracing::warn!("{detail}: {error}");
            Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail))
        }
        Err(_) => {
            tracing::warn!("{detail}: no row within {} s", PATIENCE.as_secs());
            Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail))
        }
    }
}
