//! The measuring client against a real server on the loopback interface: what it sends, and what
//! it makes of every way in which an answer can come or fail to come.

use std::io::Write;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use load::http::{Connection, HttpError, PreparedRequest, Target};
use record::Answer;
use xxhash_rust::xxh3::xxh3_128;

use testing::loopback::{After, Loopback, with_length};

static GOING_ON: AtomicBool = AtomicBool::new(false);
/// Longer than any test takes on any machine.
const LONG: Duration = Duration::from_secs(600);

fn get(target: &Target, path: &str) -> PreparedRequest {
    PreparedRequest::get(target, path, path, &[]).unwrap()
}

fn answer(status: u16, body: &[u8]) -> Answer {
    Answer { status, body_bytes: body.len() as u64, body_hash: xxh3_128(body) }
}

/// Sends one request to a server that writes `reply` and then closes.
fn exchange_with(reply: &'static [u8]) -> Result<Answer, HttpError> {
    let server = Loopback::serve(move |_, stream| {
        stream.write_all(reply).unwrap();
        After::Close
    });
    let target = Target::parse(&server.url()).unwrap();
    Connection::open(&target, LONG, &GOING_ON).unwrap().send(&get(&target, "/"))
}

#[test]
fn the_request_goes_out_as_prepared() {
    let (sender, heads) = mpsc::channel();
    let sender = Mutex::new(sender);
    let server = Loopback::serve(move |request, stream| {
        sender.lock().unwrap().send((request.head.clone(), request.body.clone())).unwrap();
        stream.write_all(&with_length(200, "")).unwrap();
        After::Keep
    });
    let target = Target::parse(&format!("{}/app/", server.url())).unwrap();
    let headers = [("Authorization".to_owned(), "Bearer k".to_owned())];
    let request = PreparedRequest::new(&target, "x", "POST", "/q?a=1", &headers, b"{}").unwrap();
    Connection::open(&target, LONG, &GOING_ON).unwrap().send(&request).unwrap();
    let (head, body) = heads.recv().unwrap();
    let expected = format!(
        "POST /app/q?a=1 HTTP/1.1\r\nAuthorization: Bearer k\r\nHost: {}\r\n\
         User-Agent: crossover/{}\r\nAccept: */*\r\nContent-Length: 2\r\n\r\n",
        server.address,
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!((head.as_str(), body.as_slice()), (expected.as_str(), b"{}".as_slice()));
}

#[test]
fn requests_follow_each_other_on_one_connection() {
    let server = Loopback::constant("hello");
    let target = Target::parse(&server.url()).unwrap();
    let mut connection = Connection::open(&target, LONG, &GOING_ON).unwrap();
    for _ in 0..3 {
        assert_eq!(connection.send(&get(&target, "/")).unwrap(), answer(200, b"hello"));
    }
    assert!(connection.is_open());
    assert_eq!((server.connections(), server.requests()), (1, 3));
}

#[test]
fn an_answer_may_come_byte_by_byte() {
    let server = Loopback::serve(|_, stream| {
        let reply = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: \"1\"\r\n\r\n\
            5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: t\r\n\r\n";
        for byte in reply {
            stream.write_all(std::slice::from_ref(byte)).unwrap();
        }
        After::Keep
    });
    let target = Target::parse(&server.url()).unwrap();
    let mut connection = Connection::open(&target, LONG, &GOING_ON).unwrap();
    assert_eq!(connection.send(&get(&target, "/")).unwrap(), answer(200, b"hello world"));
    let fetched = connection.fetch(&get(&target, "/")).unwrap();
    assert_eq!(fetched.answer, answer(200, b"hello world"));
    assert_eq!(fetched.body, b"hello world");
    assert!(fetched.headers.contains(&("etag".to_owned(), "\"1\"".to_owned())));
    assert_eq!(server.connections(), 1);
}

#[test]
fn a_body_larger_than_every_buffer_is_hashed_whole() {
    let body: String = (0..1_000_000).map(|number| format!("{number:08}")).collect();
    let expected = answer(200, body.as_bytes());
    let server = Loopback::serve(move |_, stream| {
        stream.write_all(&with_length(200, &body)).unwrap();
        After::Keep
    });
    let target = Target::parse(&server.url()).unwrap();
    let mut connection = Connection::open(&target, LONG, &GOING_ON).unwrap();
    assert_eq!(connection.send(&get(&target, "/")).unwrap(), expected);
    assert_eq!(connection.fetch(&get(&target, "/")).unwrap().answer, expected);
}

#[test]
fn a_connection_that_the_server_closes_can_be_opened_again() {
    let server = Loopback::serve(|_, stream| {
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
            .unwrap();
        After::Close
    });
    let target = Target::parse(&server.url()).unwrap();
    let mut connection = Connection::open(&target, LONG, &GOING_ON).unwrap();
    assert_eq!(connection.send(&get(&target, "/")).unwrap(), answer(200, b"x"));
    assert!(!connection.is_open());
    connection.connect().unwrap();
    assert_eq!(connection.send(&get(&target, "/")).unwrap(), answer(200, b"x"));
}

#[test]
fn without_a_length_the_body_ends_with_the_connection() {
    let got = exchange_with(b"HTTP/1.0 200 OK\r\n\r\nall of it").unwrap();
    assert_eq!(got, answer(200, b"all of it"));
}

#[test]
fn an_answer_cut_short_is_an_error() {
    for reply in [
        b"".as_slice(),
        b"HTTP/1.1 200 OK\r\nContent-",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    ] {
        let error = exchange_with(reply).unwrap_err();
        assert!(matches!(error, HttpError::Closed { .. }), "{reply:?}: {error}");
    }
}

#[test]
fn what_is_not_http_is_an_error() {
    for reply in [
        b"220 smtp.example ESMTP\r\n\r\n".as_slice(),
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\ntoo many",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
    ] {
        let error = exchange_with(reply).unwrap_err();
        assert!(matches!(error, HttpError::Malformed { .. }), "{reply:?}: {error}");
    }
    let endless: &'static [u8] =
        Vec::leak([b"HTTP/1.1 200 OK\r\n".to_vec(), b"X: y\r\n".repeat(20_000)].concat());
    assert!(matches!(exchange_with(endless), Err(HttpError::Malformed { .. })));
}

#[test]
fn a_reset_is_not_an_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target::listening(&listener.local_addr().unwrap().to_string()).unwrap();
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        // A close that does not wait sends a reset.
        rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
        let mut first = [0];
        assert_eq!(stream.peek(&mut first).unwrap(), 1);
    });
    let mut connection = Connection::open(&target, LONG, &GOING_ON).unwrap();
    let error = connection.send(&get(&target, "/")).unwrap_err();
    assert!(matches!(error, HttpError::Lost { .. }), "{error}");
    assert!(!connection.is_open());
    server.join().unwrap();
}

#[test]
fn a_server_that_never_answers_is_left_after_the_timeout() {
    let (finished, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let server = Loopback::serve(move |_, _| {
        let _ = wait.lock().unwrap().recv();
        After::Close
    });
    let target = Target::parse(&server.url()).unwrap();
    let limit = Duration::from_secs(1);
    let mut connection = Connection::open(&target, limit, &GOING_ON).unwrap();
    let error = connection.send(&get(&target, "/")).unwrap_err();
    assert!(matches!(error, HttpError::TimedOut { timeout, .. } if timeout == limit), "{error}");
    assert!(!connection.is_open());
    drop(finished);
}

#[test]
fn an_interruption_ends_the_waiting() {
    let interrupted = Arc::new(AtomicBool::new(false));
    let set_by_server = Arc::clone(&interrupted);
    let (finished, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let server = Loopback::serve(move |_, _| {
        set_by_server.store(true, Ordering::SeqCst);
        let _ = wait.lock().unwrap().recv();
        After::Close
    });
    let target = Target::parse(&server.url()).unwrap();
    let mut connection = Connection::open(&target, LONG, &interrupted).unwrap();
    assert!(matches!(connection.send(&get(&target, "/")), Err(HttpError::Interrupted)));
    drop(finished);
}

#[test]
fn nobody_listening_is_a_refusal_that_names_the_address() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let target = Target::listening(&address).unwrap();
    let Err(error) = Connection::open(&target, LONG, &GOING_ON) else { panic!("connected") };
    assert!(matches!(error, HttpError::Refused { .. }));
    assert!(error.to_string().starts_with(&address), "{error}");
}

#[test]
fn base_urls_that_cannot_be_used_are_refused() {
    for url in ["localhost:8080", "ftp://x/", "http://h/?q=1", "http://h/#f", "http://", ""] {
        let error = Target::parse(url).unwrap_err();
        assert!(matches!(error, HttpError::InvalidUrl { .. }), "{url}: {error}");
    }
    let error = Target::parse("http://user:secret@127.0.0.1/").unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
    let error = Target::parse("http://no-such-host.invalid/").unwrap_err();
    assert!(matches!(error, HttpError::UnknownHost { .. }), "{error}");
}

#[test]
fn invalid_requests_are_refused_without_showing_secrets() {
    let target = Target::parse("http://127.0.0.1:1").unwrap();
    for path in ["q", "/a b", "/caf\u{e9}", "/a#b", "/a\r\nX: y"] {
        assert!(PreparedRequest::get(&target, "x", path, &[]).is_err(), "{path:?}");
    }
    let header = ("Authorization".to_owned(), "Bearer secret\r\nX: y".to_owned());
    let error = PreparedRequest::get(&target, "x", "/", &[header]).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
    let header = ("Authorization".to_owned(), "Bearer secret".to_owned());
    let request = PreparedRequest::get(&target, "x", "/", &[header]).unwrap();
    assert!(!format!("{request:?}").contains("secret"));
}
