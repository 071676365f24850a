//! The routes, asked as a client would; one file for each.

mod health;
mod metrics;
mod page;
mod query;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use dashboard::http::{App, router};
use dashboard::key::Key;
use dashboard::store::{Options, Store};
use engine::DatabaseUrl;
use tower::ServiceExt as _;

use crate::database::TestDatabase;

/// Valid in memory in every application of these tests.
const KEY: &str = "crossover_of_the_tests";

pub async fn application(database: &TestDatabase) -> Router {
    over(&database.url).await
}

pub async fn over(database: &DatabaseUrl) -> Router {
    let store = Store::open(database, &Options::default()).await.unwrap();
    let key = Key::given(KEY).unwrap();
    router(App::new(store, Some(&key)))
}

pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl Reply {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

pub async fn get(application: &Router, path: &str) -> Reply {
    get_with(application, path, Some(&format!("Bearer {KEY}"))).await
}

pub async fn get_with(application: &Router, path: &str, authorization: Option<&str>) -> Reply {
    let mut request = Request::get(path);
    if let Some(authorization) = authorization {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    send(application, request.body(Body::empty()).unwrap()).await
}

pub async fn send(application: &Router, request: Request<Body>) -> Reply {
    let response = application.clone().oneshot(request).await.unwrap();
    let (parts, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    Reply {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    }
}
