//! `GET /healthz`: 200 while the database answers, 503 otherwise. It uses a connection that no
//! question can occupy.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;

use super::{App, Problem};

/// A database that needs longer for one row does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) async fn get(State(app): State<Arc<App>>) -> Result<&'static str, Problem> {
    let detail = "the database does not answer";
    match tokio::time::timeout(PATIENCE, app.store.check()).await {
        Ok(Ok(())) => Ok("ok\n"),
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
