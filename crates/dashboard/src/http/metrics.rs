//! `GET /metrics`: requests by route and status, how long questions took, and what SQLite counted
//! meanwhile, for Prometheus.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::{App, Problem};
use crate::query::Grouping;
use crate::store::Store;

/// Upper bounds in seconds: from an answer out of a cache to a year on a slow disk.
const BUCKETS: [f64; 10] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct QueryLabels {
    grouping: &'static str,
}

/// What is counted, and the registry that prints it.
#[derive(Debug)]
pub(super) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    query_durations: Family<QueryLabels, Histogram, fn() -> Histogram>,
}

impl Metrics {
    pub(super) fn new(store: &Store) -> Self {
        let mut all = Registry::default();
        if let Some(sqlite) = store.sqlite_metrics() {
            sqlite.register(&mut all);
        }
        let registry = all.sub_registry_with_prefix("crossover");
        let requests = Family::default();
        registry.register("http_requests", "Requests by route and status", requests.clone());
        let new_histogram: fn() -> Histogram = || Histogram::new(BUCKETS);
        let query_durations = Family::new_with_constructor(new_histogram);
        registry.register_with_unit(
            "query_duration",
            "Time from a question to its whole answer",
            Unit::Seconds,
            query_durations.clone(),
        );
        Self { registry: all, requests, query_durations }
    }

    pub(super) fn answered(&self, grouping: Grouping, duration: Duration) {
        let labels = QueryLabels { grouping: grouping.name() };
        self.query_durations.get_or_create(&labels).observe(duration.as_secs_f64());
    }
}

/// Counts every request by the pattern of its route, so that strangers cannot invent labels.
pub(super) async fn record(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>();
    let route = matched.map_or("other", MatchedPath::as_str).to_owned();
    let response = next.run(request).await;
    let labels = RequestLabels { route, status: response.status().as_u16() };
    app.metrics.requests.get_or_create(&labels).inc();
    response
}

pub(super) async fn get(State(app): State<Arc<App>>) -> Result<impl IntoResponse, Problem> {
    let mut text = String::new();
    encode(&mut text, &app.metrics.registry).map_err(|error| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot write metrics: {error}"))
    })?;
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))], text))
}
