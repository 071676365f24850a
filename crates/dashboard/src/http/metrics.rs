//! `GET /metrics` for Prometheus: requests by route and status, queries by grouping with their
//! times and cache hits, limits that were reached, SQLite's counters.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{Extensions, HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use super::client::require_local_or_known;
use super::query::cache_text;
use super::{App, Problem};
use crate::cache::Lookup;
use crate::query::Grouping;
use crate::store::DashboardStore;

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

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CacheLabels {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LimitLabels {
    limit: &'static str,
}

/// The counters, and the registry that prints them.
#[derive(Debug)]
pub(super) struct ServerMetrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    query_durations: Family<QueryLabels, Histogram, fn() -> Histogram>,
    answers: Family<CacheLabels, Counter>,
    limits: Family<LimitLabels, Counter>,
    cache_bytes: Gauge,
}

impl ServerMetrics {
    pub(super) fn new(store: &DashboardStore) -> Self {
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
        let answers = Family::default();
        let help = "Answers by the cache's part in them: hit, miss, off";
        registry.register("answers", help, answers.clone());
        let limits = Family::default();
        let help = "Requests refused by a limit: query_time, query_concurrency, query_share, \
                    rate, sign_in";
        registry.register("limits_reached", help, limits.clone());
        let cache_bytes = Gauge::default();
        registry.register_with_unit(
            "answer_cache",
            "Size of the answers kept",
            Unit::Bytes,
            cache_bytes.clone(),
        );
        Self { registry: all, requests, query_durations, answers, limits, cache_bytes }
    }

    pub(super) fn requested(&self, route: String, status: u16) {
        self.requests.get_or_create(&RequestLabels { route, status }).inc();
    }

    pub(super) fn answered(&self, grouping: Grouping, lookup: Option<Lookup>, duration: Duration) {
        let labels = QueryLabels { grouping: grouping.name() };
        self.query_durations.get_or_create(&labels).observe(duration.as_secs_f64());
        self.answers.get_or_create(&CacheLabels { result: cache_text(lookup) }).inc();
    }

    pub(super) fn limited(&self, limit: &'static str) {
        self.limits.get_or_create(&LimitLabels { limit }).inc();
    }
}

/// Counters for Prometheus: for programs of this machine, and for holders of keys.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses(
        (status = 200, description = "Counters", body = String,
            content_type = "application/openmetrics-text"),
        (status = 401, description = "From another machine, without a valid key", body = Problem,
            content_type = "application/problem+json"),
        (status = 503, description = "The database is away", body = Problem,
            content_type = "application/problem+json"),
    ),
    security((), ("key" = []), ("session" = [])),
)]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    extensions: Extensions,
) -> Result<Response, Problem> {
    require_local_or_known(&app, &headers, &extensions).await?;
    let bytes = app.cache.as_ref().map_or(0, |cache| cache.bytes());
    app.metrics.cache_bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    let mut text = String::new();
    encode(&mut text, &app.metrics.registry).map_err(|error| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot write metrics: {error}"))
    })?;
    let content_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(content_type))], text).into_response())
}
