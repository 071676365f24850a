//! The routes, asked as a client would; one file for each.

mod cache;
mod catalog;
mod document;
mod health;
mod limits;
mod metrics;
mod page;
mod query;
mod session;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use dashboard::account::AccessControl;
use dashboard::catalog::DataCatalog;
use dashboard::http::{self, App, router};
use dashboard::key::ApiKey;
use dashboard::store::{self, DashboardStore};
use engine::DatabaseUrl;
use tower::ServiceExt as _;

use crate::database::TestDatabase;

/// Valid in memory in every application of these tests.
const KEY: &str = "crossover_of_the_tests";

pub async fn application(database: &TestDatabase) -> Router {
    over(&database.url).await
}

pub async fn over(database: &DatabaseUrl) -> Router {
    served(database, &store::Options::default(), http::Options::default()).await
}

/// With the key of these tests.
pub async fn served(
    database: &DatabaseUrl,
    questions: &store::Options,
    options: http::Options,
) -> Router {
    let options = http::Options { extra_key: Some(ApiKey::given(KEY).unwrap()), ..options };
    router(app(database, questions, &options).await)
}

pub async fn app(
    database: &DatabaseUrl,
    questions: &store::Options,
    options: &http::Options,
) -> App {
    let store = DashboardStore::open(database, questions).await.unwrap();
    let access = AccessControl::open(database).await.unwrap();
    let catalog = DataCatalog::open(database).await.unwrap();
    App::new(store, access, catalog, options)
}

pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }

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
        body: String::from_utf8_lossy(&body).into_owned(),
    }
}
