//! The dashboard over HTTP: the list of routes, and the server that answers them.

mod catalog;
mod client;
mod client_stream;
mod document;
mod etag;
mod health;
mod limits;
mod manual;
mod metrics;
mod observe;
mod page;
mod problem;
mod query;
mod rate;
mod serve;
mod session;
mod share;
mod sign_in_limit;
mod timed_json;

use std::num::NonZeroU32;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use tower_http::CompressionLevel;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::SizeAbove;
use utoipa::OpenApi as _;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::account::AccessControl;
use crate::cache::AnswerCache;
use crate::catalog::DataCatalog;
use crate::key::{ApiKey, KeyHash};
use crate::store::DashboardStore;

pub use limits::Limits;
pub use problem::Problem;
pub use serve::{listen, serve};

/// A smaller body is sent uncompressed: compression would save no packet.
const COMPRESSED_FROM_BYTES: u64 = 1_024;

/// No body that is asked for is larger.
const BODY_MAX_BYTES: usize = 16 * 1_024;

/// Options of the server.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Valid beside the keys of the database, and kept in memory only.
    pub extra_key: Option<ApiKey>,
    /// Whether reading needs neither key nor account.
    pub is_public: bool,
    /// The size of the answer cache; 0 for none.
    pub answer_cache_bytes: u64,
    /// Requests of each client in a minute.
    pub rate_limit: Option<NonZeroU32>,
    /// Cookies for https only, whatever a proxy says.
    pub secure_cookies: bool,
    /// A proxy in front names the client (`X-Forwarded-For`, `-Proto`, `-Host`); without one, a
    /// client could name any.
    pub behind_proxy: bool,
    pub limits: Limits,
}

/// The state shared by all requests.
#[derive(Debug)]
pub struct App {
    store: DashboardStore,
    access: AccessControl,
    catalog: DataCatalog,
    extra_key: Option<KeyHash>,
    cache: Option<AnswerCache>,
    rate: Option<rate::Buckets<client::RequestClient>>,
    shares: share::Shares<client::RequestClient>,
    sign_ins: sign_in_limit::SignInLimit,
    metrics: metrics::ServerMetrics,
    public: bool,
    secure_cookies: bool,
    behind_proxy: bool,
    limits: Limits,
}

impl App {
    /// An application over `store`, with the catalog and the accounts beside it.
    #[must_use]
    pub fn new(
        store: DashboardStore,
        access: AccessControl,
        catalog: DataCatalog,
        options: &Options,
    ) -> Self {
        let minute = Duration::from_secs(60);
        Self {
            metrics: metrics::ServerMetrics::new(&store),
            shares: share::Shares::of(share::half(store.concurrency())),
            store,
            access,
            catalog,
            extra_key: options.extra_key.as_ref().map(ApiKey::hash),
            cache: AnswerCache::new(options.answer_cache_bytes),
            rate: options.rate_limit.map(|limit| rate::Buckets::new(limit.get(), minute)),
            sign_ins: sign_in_limit::SignInLimit::new(),
            public: options.is_public,
            secure_cookies: options.secure_cookies,
            behind_proxy: options.behind_proxy,
            limits: options.limits,
        }
    }
}

/// Routes for identified clients.
fn reading() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(query::get))
        .routes(routes!(catalog::dataset))
        .routes(routes!(catalog::values))
        .routes(routes!(catalog::articles))
        .routes(routes!(catalog::article))
}

/// Routes for all clients.
fn open() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(document::Frame::openapi())
        .routes(routes!(session::get, session::sign_in, session::sign_out))
        .routes(routes!(session::make_first_account))
        .routes(routes!(document::get))
        .routes(routes!(manual::get))
        .routes(routes!(health::get))
        .routes(routes!(metrics::get))
}

/// The document of the routes, made of the same list, so none can be missing.
static DOCUMENT: LazyLock<OpenApi> = LazyLock::new(|| open().merge(reading()).into_openapi());

/// Every route there is.
pub fn router(app: App) -> Router {
    let app = Arc::new(app);
    let for_clients = reading().route_layer(from_fn_with_state(app.clone(), client::require));
    let (routes, _) = open().merge(for_clients).split_for_parts();
    let compression = CompressionLayer::new()
        .quality(CompressionLevel::Fastest)
        .compress_when(SizeAbove::new(COMPRESSED_FROM_BYTES));
    routes
        .fallback(get(page::get).fallback(problem::method_not_allowed))
        .method_not_allowed_fallback(problem::method_not_allowed)
        .layer(DefaultBodyLimit::max(BODY_MAX_BYTES))
        .layer(compression)
        .layer(from_fn_with_state(app.clone(), observe::observe))
        .with_state(app)
}

/// Why the dashboard cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason}")]
    CannotListen {
        /// The address as written.
        address: String,
        /// The reason and the way out.
        reason: String,
    },
}
