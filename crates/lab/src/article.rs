//! The article's own load for any server that speaks the query API, ours or a stranger's: nine
//! requests, each client in a random order of its own, averages per URL and over all queries.

use std::num::NonZeroU16;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::form_urlencoded;

use load::http::{Connection, HttpError, PreparedRequest, Target};
use load::{Expected, LoadError, OperationTotals, TrialSample, run};
use plan::{ConnectionUse, LoadOptions, Mode};
use record::Outcome;

/// The nine groupings that the article asks for.
pub const GROUPINGS: [&str; 9] = [
    "articles",
    "days",
    "products",
    "teams",
    "authors",
    "languages",
    "human_languages",
    "countries",
    "article_years",
];

/// The blog of the article, taken where the server does not tell its blogs.
const BLOG_OF_THE_ARTICLE: &str = "twilio";

/// Whom to ask, and for what.
#[derive(Clone)]
pub struct ArticleLoad {
    /// Base URL of the server.
    pub url: String,
    /// API key, sent as `Authorization: Bearer KEY`; `None`: no such header.
    pub key: Option<String>,
    /// Simultaneous clients; the article's script has 2 unless told.
    pub clients: NonZeroU16,
    /// First day of the period; in the article 2021-01-01.
    pub start: Date,
    /// Last day of the period; in the article's script 2021-12-31 unless told.
    pub end: Date,
    /// Only this blog; `None`: the one with most articles, or `twilio` if the server does not say.
    pub blog: Option<String>,
    pub seed: u64,
    pub timeout: Duration,
}

/// Results. Times are milliseconds and count connecting, as the article's curl does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArticleResult {
    /// Base URL of the server.
    pub url: String,
    pub blog: String,
    /// First day of the period.
    pub start: Date,
    /// Last day of the period.
    pub end: Date,
    pub clients: u16,
    pub seed: u64,
    /// One entry per URL, in the order of [`GROUPINGS`].
    pub requests: Vec<UrlAverage>,
    /// The total query average: the mean of all right answers; `None` if there was none.
    pub response_time_ms_mean: Option<f64>,
    /// Requests that failed, over all URLs.
    pub failures: u64,
}

/// One URL of the nine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UrlAverage {
    pub path: String,
    /// Requests sent: one per client.
    pub requests: usize,
    /// Mean of the right answers; `None` if there was none.
    pub response_time_ms_mean: Option<f64>,
    /// The kind of each failed request. `WrongAnswer` here: other bytes than the first client saw.
    pub failures: Vec<Outcome>,
}

/// A server that could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum ArticleError {
    #[error("the period ends on {end}, before it starts on {start}; exchange --start and --end")]
    EmptyPeriod { start: Date, end: Date },
    /// The key is missing or not accepted.
    #[error(
        "{url}: the server answers {status} to the API key; give a valid one with --key-file FILE"
    )]
    KeyRefused {
        /// Base URL of the server.
        url: String,
        /// 401 or 403.
        status: u16,
    },
    /// The server cannot be reached.
    #[error(transparent)]
    Http(HttpError),
    /// The load could not be run.
    #[error(transparent)]
    Load(LoadError),
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl From<HttpError> for ArticleError {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Interrupted => Self::Interrupted,
            error => Self::Http(error),
        }
    }
}

impl From<LoadError> for ArticleError {
    fn from(error: LoadError) -> Self {
        match error {
            LoadError::Interrupted => Self::Interrupted,
            error => Self::Load(error),
        }
    }
}

/// Sends the nine requests once per client, each on a connection of its own. What the right
/// answers are is not known: status 200, and the same bytes for every client.
///
/// # Errors
/// [`ArticleError`] where the server cannot be asked at all; single failures are in the result.
pub fn measure(
    load: &ArticleLoad,
    interrupted: &AtomicBool,
) -> Result<ArticleResult, ArticleError> {
    if load.end < load.start {
        return Err(ArticleError::EmptyPeriod { start: load.start, end: load.end });
    }
    let target = Target::parse(&load.url)?;
    let blog = match &load.blog {
        Some(blog) => blog.clone(),
        None => ask_for_blog(load, &target, interrupted)?,
    };
    let paths = GROUPINGS.map(|grouping| load.path(grouping, &[("blog", &blog)]));
    let requests = paths
        .iter()
        .zip(GROUPINGS)
        .map(|(path, grouping)| load.request(&target, grouping, path))
        .collect::<Result<Vec<_>, _>>()?;
    let options = LoadOptions {
        clients: load.clients.get(),
        mode: Mode::Passes(1),
        think_time: Duration::ZERO,
        connection: ConnectionUse::PerRequest,
        seed: load.seed,
        timeout: load.timeout,
        left_out: Vec::new(),
        client_cpus: None,
    };
    let expected = GROUPINGS.map(|_| Expected::Alike(200));
    let weights = [1; GROUPINGS.len()];
    let sample = run(&target, &requests, &weights, &expected, &options, interrupted)?;
    Ok(load.result(blog, paths, &sample))
}

impl ArticleLoad {
    fn path(&self, grouping: &str, parameters: &[(&str, &str)]) -> String {
        let query = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(parameters)
            .append_pair("start", &self.start.to_string())
            .append_pair("end", &self.end.to_string())
            .finish();
        format!("/api/query/{grouping}?{query}")
    }

    fn request(
        &self,
        target: &Target,
        name: &str,
        path: &str,
    ) -> Result<PreparedRequest, HttpError> {
        let key = self.key.iter().map(|key| ("Authorization".to_owned(), format!("Bearer {key}")));
        PreparedRequest::get(target, name, path, &key.collect::<Vec<_>>())
    }

    fn result(&self, blog: String, paths: [String; 9], sample: &TrialSample) -> ArticleResult {
        let means = sample.operations.iter().map(OperationTotals::mean_response_time_ns);
        let requests = (0u16..).zip(paths).zip(means).map(|((request, path), mean)| {
            let own = || sample.observations.iter().filter(move |one| one.request == request);
            let outcomes = own().map(|one| one.outcome);
            UrlAverage {
                path,
                requests: own().count(),
                response_time_ms_mean: mean.map(|mean| mean / 1e6),
                failures: outcomes.filter(|outcome| outcome.is_failure()).collect(),
            }
        });
        ArticleResult {
            url: self.url.clone(),
            blog,
            start: self.start,
            end: self.end,
            clients: self.clients.get(),
            seed: self.seed,
            requests: requests.collect(),
            response_time_ms_mean: sample.mean_response_time_ns().map(|mean| mean / 1e6),
            failures: sample.failures(),
        }
    }
}

/// The blog with most articles; `twilio` where the server has no such answer.
fn ask_for_blog(
    load: &ArticleLoad,
    target: &Target,
    interrupted: &AtomicBool,
) -> Result<String, ArticleError> {
    let path = load.path("blogs", &[("count", "articles")]);
    let request = load.request(target, "blogs", &path)?;
    let fetched = Connection::open(target, load.timeout, interrupted)?.fetch(&request)?;
    match fetched.answer.status {
        status @ (401 | 403) => Err(ArticleError::KeyRefused { url: load.url.clone(), status }),
        200 => Ok(blog_with_most_articles(&fetched.body)),
        _ => Ok(None),
    }
    .map(|blog| blog.unwrap_or_else(|| BLOG_OF_THE_ARTICLE.to_owned()))
}

fn blog_with_most_articles(body: &[u8]) -> Option<String> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let rows = answer.get("rows")?.as_array()?;
    let articles = |row: &Value| row.get("articles").and_then(Value::as_u64).unwrap_or(0);
    // Of equals the first, which has most pageviews.
    let row = rows.iter().rev().max_by_key(|row| articles(row))?;
    Some(row.get("key")?.as_str()?.to_owned())
}
