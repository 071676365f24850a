//! Connections to a port that takes them and answers nothing: they end, with the way out.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use connect::postgres::thin::{ThinConnection, WaitLimits};
use engine::PostgresUrl;

/// The kernel takes connections to it, and nothing is ever read.
fn silent() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

fn url(hosts: &str, more: &str) -> PostgresUrl {
    format!("postgresql://ann@{hosts}/shop?connect_timeout=1{more}").parse().unwrap()
}

#[tokio::test]
async fn a_silent_port_is_given_up() {
    let (_listener, port) = silent();
    for more in ["", "&sslmode=disable"] {
        let error = connect::postgres::connect(&url(&format!("127.0.0.1:{port}"), more)).await;
        let expected = format!("127.0.0.1:{port}: no answer within 1 s: check host, port");
        let error = error.unwrap_err().to_string();
        assert!(error.contains(&expected), "{error}");
    }
}

#[tokio::test]
async fn each_host_has_its_own_time() {
    let ((_one, first), (_other, second)) = (silent(), silent());
    let both = url(&format!("127.0.0.1:{first},127.0.0.1:{second}"), "");
    let error = connect::postgres::connect(&both).await.unwrap_err().to_string();
    assert!(error.contains(&format!("127.0.0.1:{second}: no answer within 1 s")), "{error}");
    // What nothing listens at is worth less than what does not answer.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let unused = listener.local_addr().unwrap().port();
    drop(listener);
    let both = url(&format!("127.0.0.1:{first},127.0.0.1:{unused}"), "");
    let error = connect::postgres::connect(&both).await.unwrap_err().to_string();
    assert!(error.contains(&format!("127.0.0.1:{first}: no answer")), "{error}");
}

#[test]
fn the_measuring_client_gives_it_up_too() {
    let (_listener, port) = silent();
    let interrupted = AtomicBool::new(false);
    let limits = WaitLimits { timeout: Duration::from_secs(1), interrupted: &interrupted };
    for more in ["", "&sslmode=disable"] {
        let url = url(&format!("127.0.0.1:{port}"), more);
        let error = ThinConnection::connect(&url, &[], limits).err().unwrap().to_string();
        assert!(error.contains("no answer in time") || error.contains("1s"), "{error}");
    }
}
