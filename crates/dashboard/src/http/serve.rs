//! The server: accepts connections, gives each a limited time to send its request, and finishes the
//! requests under way at the end.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use super::client_stream::ClientStream;
use super::limits::Limits;
use super::share::{Shares, half};
use super::{App, Error, router};

/// After the signal to stop, answers under way have this long to be finished and read.
const GRACE: Duration = Duration::from_secs(10);

/// The wait after a failure to accept (no file descriptor left).
const PAUSE: Duration = Duration::from_millis(100);

/// Listens on `address` (`HOST:PORT`; port 0 takes a free one).
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

/// Answers requests until `stop` ends, then finishes those under way. A connection that fails
/// does not concern other connections.
pub async fn serve(
    listener: TcpListener,
    app: App,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    let limits = app.limits;
    // Behind a proxy every client has the address of the proxy.
    let each = if app.behind_proxy { limits.connections } else { half(limits.connections) };
    serve_within(listener, router(app), stop, limits, Shares::of(each)).await;
}

async fn serve_within(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
    limits: Limits,
    addresses: Shares<IpAddr>,
) {
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(limits.connections));
    tokio::pin!(stop);
    loop {
        // Further connections wait in the system's queue.
        let next = async {
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            () = &mut stop => break,
            next = next => next,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // Closed at once: to wait for its share it would need a place.
        let Some(share) = addresses.take(&address.ip().to_canonical()) else {
            tracing::debug!("closed a connection of {address}, which has its share of them");
            continue;
        };
        let connection = connection(stream, address, router.clone(), limits);
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            // Dropped in reverse order: with the place, the address has its share again.
            let _place = place;
            let _share = share;
            if let Err(error) = watched.await {
                tracing::debug!("a connection ended early: {error}");
            }
        });
    }
    drop(listener);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(GRACE) => {}
    }
}

fn connection(
    stream: TcpStream,
    address: SocketAddr,
    router: Router,
    limits: Limits,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    // Without it the end of an answer may wait 40 ms for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::warn!("cannot set TCP_NODELAY: {error}");
    }
    let answer = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(address));
        let router = router.clone();
        async move { Ok::<Response, Infallible>(answer(router, request).await) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .serve_connection(TokioIo::new(ClientStream::new(stream, limits)), answer)
}

async fn answer(router: Router, request: hyper::Request<Incoming>) -> Response {
    match router.oneshot(request.map(Body::new)).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU8, Ordering};

    use axum::body::Bytes;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpSocket;

    use super::*;

    const SHORT: Duration = Duration::from_millis(200);
    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n";

    fn here() -> Router {
        Router::new().route("/", get(async || "here"))
    }

    /// The server with its address, and what stops it.
    async fn start(
        router: Router,
        limits: Limits,
    ) -> (SocketAddr, tokio::sync::oneshot::Sender<()>) {
        let listener = listen("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        tokio::spawn(async move {
            let stopped = async { stopped.await.unwrap_or_default() };
            let addresses = Shares::of(half(limits.connections));
            serve_within(listener, router, stopped, limits, addresses).await;
        });
        (address, stop)
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_never_ends_its_request_loses_its_connection() {
        let limits = Limits { head_time: SHORT, ..Limits::default() };
        let (address, _stop) = start(here(), limits).await;
        let mut slow = TcpStream::connect(address).await.unwrap();
        slow.write_all(b"GET / HTTP/1.1\r\nHost: here\r\nX-Slow: ").await.unwrap();
        let mut told = Vec::new();
        // Ends only when the server closes the connection.
        let _ = slow.read_to_end(&mut told).await;
        assert!(!String::from_utf8_lossy(&told).contains("200 OK"), "{told:?}");
        let mut quick = TcpStream::connect(address).await.unwrap();
        quick.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        quick.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("here"), "{answer}");
    }

    #[tokio::test]
    async fn an_idle_connection_does_not_keep_the_server_from_stopping() {
        let (address, stop) = start(here(), Limits::default()).await;
        let mut idle = TcpStream::connect(address).await.unwrap();
        idle.write_all(REQUEST).await.unwrap();
        let mut first = [0; 12];
        idle.read_exact(&mut first).await.unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
        stop.send(()).unwrap();
        let mut rest = Vec::new();
        // Ends when the server has closed it, long before the client has to say anything.
        idle.read_to_end(&mut rest).await.unwrap();
    }

    #[tokio::test]
    async fn an_answer_under_way_is_finished_after_the_signal_to_stop() {
        let (begun, has_begun) = tokio::sync::oneshot::channel::<()>();
        let (finish, finished) = tokio::sync::oneshot::channel::<()>();
        let ends = Arc::new(Mutex::new(Some((begun, finished))));
        let slow = move || {
            let (begun, finished) = ends.lock().unwrap().take().unwrap();
            begun.send(()).unwrap();
            async move { finished.await.map_or("broken off", |()| "whole") }
        };
        let (address, stop) = start(Router::new().route("/", get(slow)), Limits::default()).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(REQUEST).await.unwrap();
        has_begun.await.unwrap();
        stop.send(()).unwrap();
        // Until no further connection is accepted.
        while TcpStream::connect(address).await.is_ok() {}
        finish.send(()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("whole"), "{answer}");
    }

    #[tokio::test]
    async fn a_client_that_reads_nothing_loses_its_connection() {
        let (held, given_up) = tokio::sync::oneshot::channel::<()>();
        let held = Arc::new(Mutex::new(Some(held)));
        let endless = move || {
            let held = held.lock().unwrap().take();
            let piece = move || {
                let _held = &held;
                Ok::<_, Infallible>(Bytes::from_static(&[b'x'; 4_096]))
            };
            ready(Body::from_stream(futures_util::stream::repeat_with(piece)))
        };
        let limits = Limits { stall_time: SHORT, ..Limits::default() };
        let (address, _stop) = start(Router::new().route("/", get(endless)), limits).await;
        let mut idle = TcpStream::connect(address).await.unwrap();
        idle.write_all(REQUEST).await.unwrap();
        // Ends only when the server drops the rest of the answer.
        assert!(given_up.await.is_err());
    }

    #[tokio::test]
    async fn a_request_that_is_too_large_gets_its_error() {
        let limits = Limits { linger_time: Duration::from_secs(3_600), ..Limits::default() };
        let (address, _stop) = start(here(), limits).await;
        let mut client = TcpStream::connect(address).await.unwrap();
        let bytes = vec![b'x'; 64 << 20];
        let head =
            format!("POST / HTTP/1.1\r\nHost: here\r\nContent-Length: {}\r\n\r\n", bytes.len());
        client.write_all(head.as_bytes()).await.unwrap();
        client.write_all(&bytes).await.unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 405"), "{answer}");
    }

    #[tokio::test]
    async fn a_client_that_never_ends_its_body_loses_its_connection() {
        let limits = Limits { linger_time: SHORT, ..Limits::default() };
        let (address, _stop) = start(here(), limits).await;
        let mut endless = TcpStream::connect(address).await.unwrap();
        let head = b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n";
        endless.write_all(head).await.unwrap();
        // Ends only when the server closes the connection.
        while endless.write_all(b"1\r\nx\r\n").await.is_ok() {}
    }

    #[tokio::test]
    async fn connections_beyond_the_limit_wait_until_one_ends() {
        let asked = Arc::new(AtomicU8::new(b'0'));
        let count = move || ready(vec![asked.fetch_add(1, Ordering::Relaxed)]);
        let limits = Limits { connections: 1, ..Limits::default() };
        let (address, _stop) = start(Router::new().route("/", get(count)), limits).await;
        let mut first = TcpStream::connect(address).await.unwrap();
        first.write_all(REQUEST).await.unwrap();
        assert_eq!(body(&mut first).await, b'0');
        let mut second = TcpStream::connect(address).await.unwrap();
        second.write_all(REQUEST).await.unwrap();
        first.write_all(REQUEST).await.unwrap();
        assert_eq!(body(&mut first).await, b'1', "the second one waits");
        drop(first);
        assert_eq!(body(&mut second).await, b'2');
    }

    #[tokio::test]
    async fn one_address_leaves_places_to_others() {
        // Idle connections stay for longer than any test.
        let head_time = Duration::from_secs(24 * 60 * 60);
        let limits = Limits { connections: 2, head_time, ..Limits::default() };
        let (address, _stop) = start(Router::new().route("/", get(async || "x")), limits).await;
        let connect = async |last: u8| {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(SocketAddr::from(([127, 0, 0, last], 0))).unwrap();
            socket.connect(address).await.unwrap()
        };
        let ask = async |client: &mut TcpStream| {
            client.write_all(REQUEST).await.unwrap();
            body(client).await
        };
        let mut first = connect(1).await;
        assert_eq!(ask(&mut first).await, b'x');
        // Ends only when the server closes it.
        assert_eq!(connect(1).await.read_to_end(&mut Vec::new()).await.unwrap(), 0);
        assert_eq!(ask(&mut connect(2).await).await, b'x');
        assert_eq!(ask(&mut first).await, b'x');
    }

    /// The only byte of an answer's body.
    async fn body(client: &mut TcpStream) -> u8 {
        let mut head: Vec<u8> = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(client.read_u8().await.unwrap());
        }
        client.read_u8().await.unwrap()
    }
}
