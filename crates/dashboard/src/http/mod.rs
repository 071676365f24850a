//! The dashboard over HTTP: the list of routes, and the server that answers them.

mod authorization;
mod health;
mod metrics;
mod page;
mod problem;
mod query;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

use crate::key::Key;
use crate::store::Store;

pub use problem::Problem;

/// Everything a request needs.
#[derive(Debug)]
pub struct App {
    store: Store,
    extra_key: Option<crate::key::KeyHash>,
    metrics: metrics::Metrics,
}

impl App {
    /// An application over `store`. `extra_key` is valid beside the keys of the database and is
    /// kept in memory only.
    #[must_use]
    pub fn new(store: Store, extra_key: Option<&Key>) -> Self {
        let metrics = metrics::Metrics::new(&store);
        Self { store, extra_key: extra_key.map(Key::hash), metrics }
    }
}

/// Every route there is.
pub fn router(app: App) -> Router {
    let app = Arc::new(app);
    let with_key = Router::new()
        .route("/api/query/{grouping}", get(query::get))
        .route_layer(from_fn_with_state(app.clone(), authorization::require_key));
    let open = Router::new()
        .route("/healthz", get(health::get))
        .route("/metrics", get(metrics::get))
        .fallback(get(page::get).fallback(problem::method_not_allowed));
    with_key
        .merge(open)
        .method_not_allowed_fallback(problem::method_not_allowed)
        .layer(from_fn_with_state(app.clone(), metrics::record))
        .with_state(app)
}

/// After the signal to stop, answers under way have this long to be finished and read.
const GRACE: Duration = Duration::from_secs(10);

/// Listens on `address` (`HOST:PORT`; port 0 takes a free one).
///
/// # Errors
/// [`Error::CannotListen`] with the reason and the way out.
pub async fn listen(address: &str) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(|error| {
        let address = address.to_owned();
        let reason = match error.kind() {
            io::ErrorKind::AddrInUse => {
                "the port is in use; stop the other program or choose another port (0 takes any)"
                    .to_owned()
            }
            io::ErrorKind::PermissionDenied => {
                "ports under 1024 need rights; choose a higher one".to_owned()
            }
            io::ErrorKind::AddrNotAvailable => {
                "this machine has no such address; 127.0.0.1 or 0.0.0.0 always work".to_owned()
            }
            io::ErrorKind::InvalidInput => "write HOST:PORT, for example 127.0.0.1:8080".to_owned(),
            _ => format!("{error}; write HOST:PORT, for example 127.0.0.1:8080"),
        };
        Error::CannotListen { address, reason }
    })
}

/// Answers requests until `stop` ends, then finishes those under way.
///
/// # Errors
/// [`Error::Serve`].
pub async fn serve(
    listener: TcpListener,
    app: App,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), Error> {
    let listener = listener.tap_io(|connection| {
        // Without it the end of an answer may wait 40 ms for the client's acknowledgement.
        if let Err(error) = connection.set_nodelay(true) {
            tracing::warn!("cannot set TCP_NODELAY: {error}");
        }
    });
    let (stopping, mut stopped) = tokio::sync::watch::channel(());
    let server = axum::serve(listener, router(app)).with_graceful_shutdown(async move {
        stop.await;
        drop(stopping);
    });
    let out_of_grace = async move {
        // Ends with an error when the sender is dropped, which is the signal.
        while stopped.changed().await.is_ok() {}
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        served = async { server.await } => served.map_err(Error::Serve),
        () = out_of_grace => Ok(()),
    }
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
    /// The operating system broke the server off.
    #[error("the server broke off: {0}")]
    Serve(io::Error),
}
