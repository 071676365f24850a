//! `/api/openapi.json`: the document of all routes, made from the handlers; and the types of
//! answers that are written byte by byte, for the document only.
#![allow(dead_code, reason = "described, never built")]

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Serialize;
use utoipa::openapi::schema::{
    Array, ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type,
};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::openapi::{ContentBuilder, Object, OpenApi, Ref, RefOr, ResponseBuilder};
use utoipa::{IntoParams, IntoResponses, Modify, ToSchema};

use super::client::cookie_name;
use super::{App, Problem, etag};
use crate::imported_days::{DaySpan, DayState};
use crate::query::Grouping;
use crate::schema::Dimension;

/// The frame that the routes are put into.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Crossover dashboard",
        description = "Traffic of a company's blogs, grouped and filtered. Data is changed from \
                       the command line only.",
    ),
    components(schemas(Problem, Grouping, Dimension, Metrics, DaySpan, DayState)),
    tags(
        (name = "questions", description = "Sums of traffic"),
        (name = "catalog", description = "What there is to ask about"),
        (name = "session", description = "People who sign in; programs use keys"),
        (name = "server", description = "The server itself"),
    ),
    modifiers(&Schemes),
)]
pub(super) struct Frame;

/// The two ways to be let in.
struct Schemes;

impl Modify for Schemes {
    fn modify(&self, document: &mut OpenApi) {
        let components = document.components.get_or_insert_default();
        let bearer = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("An API key: crossover dashboard key add NAME"))
            .build();
        components.add_security_scheme("key", SecurityScheme::Http(bearer));
        components.add_security_scheme("session", cookie("crossover_session_..."));
    }
}

/// Signed in by a cookie of this name.
fn cookie(name: &str) -> SecurityScheme {
    SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(name)))
}

/// The document.
#[utoipa::path(
    get,
    path = "/api/openapi.json",
    tag = "server",
    responses(
        (status = 200, description = "This document", body = Object),
        (status = 304, description = "The client has it already (If-None-Match)"),
    ),
)]
pub(super) async fn get(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let mut document = super::DOCUMENT.clone();
    let components = document.components.get_or_insert_default();
    components.add_security_scheme("session", cookie(&cookie_name(&app, &headers)));
    etag::json(&headers, &document)
}

/// The answer to a question.
#[derive(Serialize, ToSchema)]
#[schema(as = Answer)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerDocument {
    /// The question, with its defaults.
    #[schema(value_type = Object)]
    query: (),
    /// Over all rows, before limit and offset.
    totals: Totals,
    /// How many rows there are, before limit and offset.
    row_count: u64,
    /// One for each key with traffic.
    rows: Vec<RowDocument>,
    /// With states=1: days of the period, and of that before, that were imported, by blog.
    #[schema(nullable = false)]
    states: Option<Vec<DaySpan>>,
}

/// Sums over all rows.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Totals {
    pageviews: i64,
    sessions: i64,
    engagement_seconds: i64,
    /// With count=articles: distinct articles with traffic.
    #[schema(nullable = false)]
    articles: Option<i64>,
    /// With compare: the period before.
    #[schema(nullable = false)]
    previous: Option<Metrics>,
}

/// Sums of an earlier period.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Metrics {
    pageviews: i64,
    sessions: i64,
    engagement_seconds: i64,
    /// With count=articles: distinct articles with traffic.
    #[schema(nullable = false)]
    articles: Option<i64>,
}

/// Sums of one key, or with split=country of one key and country.
#[derive(Serialize, ToSchema)]
#[schema(as = Row)]
#[serde(deny_unknown_fields)]
struct RowDocument {
    /// uuid, ISO day, Monday of the week, 2021-01, year, country code; of other dimensions the name.
    key: String,
    /// The value as people read it.
    label: String,
    /// With split=country: its ISO code.
    #[schema(nullable = false)]
    country: Option<String>,
    pageviews: i64,
    sessions: i64,
    engagement_seconds: i64,
    /// With count=articles: distinct articles with traffic.
    #[schema(nullable = false)]
    articles: Option<i64>,
    /// With compare: the same key, and the same country where rows are split, in the period before;
    /// time rows pair by position.
    #[schema(nullable = false)]
    previous: Option<Metrics>,
}

/// The parameters of a question; a test holds them against those that are read.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct QueryParameters {
    /// The first day that counts.
    #[param(schema_with = date)]
    start: String,
    /// The last day that counts.
    #[param(schema_with = date)]
    end: String,
    /// One blog; absent: all.
    blog: Option<String>,
    /// Any of these authors.
    author: Option<Vec<String>>,
    /// Any of these teams.
    team: Option<Vec<String>>,
    /// Any of these products.
    product: Option<Vec<String>>,
    /// Any of these computer languages.
    language: Option<Vec<String>>,
    /// Any of these human languages.
    human_language: Option<Vec<String>>,
    /// Any of these countries, by ISO code.
    country: Option<Vec<String>>,
    /// Any of these articles, by uuid.
    article: Option<Vec<String>>,
    /// None of these blogs.
    not_blog: Option<Vec<String>>,
    /// None of these authors.
    not_author: Option<Vec<String>>,
    /// None of these teams.
    not_team: Option<Vec<String>>,
    /// None of these products.
    not_product: Option<Vec<String>>,
    /// None of these computer languages.
    not_language: Option<Vec<String>>,
    /// None of these human languages.
    not_human_language: Option<Vec<String>>,
    /// None of these countries.
    not_country: Option<Vec<String>>,
    /// None of these articles.
    not_article: Option<Vec<String>>,
    /// Only articles published on this day or later.
    #[param(schema_with = date)]
    published_from: Option<String>,
    /// Only articles published on this day or earlier.
    #[param(schema_with = date)]
    published_to: Option<String>,
    /// Leave out articles published between this day ...
    #[param(schema_with = date)]
    not_published_from: Option<String>,
    /// ... and this one.
    #[param(schema_with = date)]
    not_published_to: Option<String>,
    /// None of these days of traffic, neither in the period nor in that before; the day beside one in
    /// the other period stays unless it is named too.
    #[param(schema_with = dates)]
    not_day: Option<Vec<String>>,
    /// allowed: a value that is not there is no error, nothing has it.
    #[param(schema_with = allowed)]
    unknown_values: Option<String>,
    /// grouped: a translation counts for its original.
    #[param(schema_with = translations)]
    translations: Option<String>,
    /// A row for each country.
    #[param(schema_with = split)]
    split: Option<String>,
    /// An earlier period beside each row and the totals: as many days right before, as many days
    /// whole weeks earlier, or 364 days earlier. Zeros where it has no traffic, also before the first
    /// day of the data: states=1 tells which days were imported.
    #[param(schema_with = compare)]
    compare: Option<String>,
    /// Distinct articles with traffic, beside each row and the totals.
    #[param(schema_with = count)]
    count: Option<String>,
    /// 1: which days of the period, and of that before, were imported, and how far, beside the rows;
    /// not with format=csv, which has no place for them.
    #[param(schema_with = one)]
    states: Option<String>,
    /// The order of the rows by a present value; - for the greatest first; ties by key. Default:
    /// -pageviews.
    #[param(schema_with = sort)]
    sort: Option<String>,
    /// Largest number of rows.
    #[param(minimum = 0)]
    limit: Option<u64>,
    /// Number of rows left out before the first one.
    #[param(minimum = 0)]
    offset: Option<u64>,
    /// The form of the answer.
    #[param(schema_with = format)]
    format: Option<String>,
}

/// Parts of the extent that are asked for.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DatasetParameters {
    /// 1: which days were imported, and how far.
    #[param(schema_with = one)]
    states: Option<String>,
}

/// Which values of a dimension are wanted.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ValuesParameters {
    /// A part of key, label or (of articles) URL, without regard to case and accents.
    search: Option<String>,
    /// Exactly these.
    key: Option<Vec<String>>,
    /// Largest number of values; default 50.
    #[param(minimum = 0, maximum = 1000)]
    limit: Option<u32>,
    /// Number of values left out before the first one.
    #[param(minimum = 0, maximum = 1_000_000_000)]
    offset: Option<u32>,
}

fn date() -> Object {
    let format = SchemaFormat::KnownFormat(KnownFormat::Date);
    ObjectBuilder::new().schema_type(Type::String).format(Some(format)).build()
}

fn words(words: &[&str]) -> Object {
    let words = words.iter().map(|word| (*word).to_owned());
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).build()
}

fn translations() -> Object {
    words(&["separate", "grouped"])
}

fn split() -> Object {
    words(&["country"])
}

fn compare() -> Object {
    words(&["previous", "previous_weekdays", "year"])
}

fn allowed() -> Object {
    words(&["allowed"])
}

fn one() -> Object {
    words(&["1"])
}

fn dates() -> Array {
    ArrayBuilder::new().items(date()).build()
}

fn count() -> Object {
    words(&["articles"])
}

fn sort() -> Object {
    words(&[
        "pageviews",
        "-pageviews",
        "sessions",
        "-sessions",
        "engagement_seconds",
        "-engagement_seconds",
        "key",
        "-key",
        "label",
        "-label",
    ])
}

fn format() -> Object {
    words(&["json", "csv"])
}

/// Answers of every reading route that are refusals.
pub(super) struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        let problem = |description: &str| {
            let schema = Ref::from_schema_name("Problem");
            let content = ContentBuilder::new().schema(Some(schema)).build();
            let response = ResponseBuilder::new()
                .description(description)
                .content("application/problem+json", content)
                .build();
            RefOr::T(response)
        };
        [
            ("400", "A parameter is missing, unknown or impossible; the answer names it"),
            ("401", "Neither signed in nor with a valid key"),
            ("429", "Too many requests, or queries at once; Retry-After says how long to wait"),
            ("503", "Over a limit, or the database is away; Retry-After says when to try again"),
        ]
        .into_iter()
        .map(|(status, description)| (status.to_owned(), problem(description)))
        .collect()
    }
}
