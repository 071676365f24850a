//! Connections to a port at which something other than PostgreSQL answers.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener};

use engine::PostgresUrl;

/// A web server, as far as it gets with what is no request.
fn web_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let _ = client.read(&mut [0; 1024]);
            let _ = client.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
            // What is left unread would reset the connection before the answer is there.
            let _ = client.shutdown(Shutdown::Write);
            let _ = client.read_to_end(&mut Vec::new());
        }
    });
    port
}

#[tokio::test]
async fn a_web_server_is_called_no_postgresql() {
    let port = web_server();
    for more in ["", "?sslmode=disable"] {
        let url: PostgresUrl =
            format!("postgresql://ann@127.0.0.1:{port}/shop{more}").parse().unwrap();
        let said = connect::postgres::connect(&url).await.unwrap_err().to_string();
        assert!(said.contains(&format!("PostgreSQL at 127.0.0.1:{port}: ")), "{said}");
        assert!(said.contains("correct host and port"), "{more}: {said}");
    }
}
