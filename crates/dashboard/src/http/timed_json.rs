//! JSON bodies with a time limit: a body that is not complete in time is rejected.

use std::sync::Arc;

use axum::Json;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde::de::DeserializeOwned;

use super::{App, Problem};

pub(super) struct TimedJson<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for TimedJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let limit = app.limits.body_time;
        match tokio::time::timeout(limit, Json::<T>::from_request(request, app)).await {
            Ok(Ok(Json(given))) => Ok(Self(given)),
            Ok(Err(rejection)) => Err(rejection.into()),
            Err(_) => {
                let seconds = limit.as_secs_f64();
                let detail = format!("the body was not there within {seconds} s; send it again");
                Err(Problem::new(StatusCode::REQUEST_TIMEOUT, detail))
            }
        }
    }
}
