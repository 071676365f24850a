//! Applications by their URL: one that does not answer is named while it is waited for, one over TLS is
//! trusted by its certificate.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use super::report;
use crate::place::{Place, error};

/// The first line that a run says of what it waits for; the run is ended then.
fn waits(place: &Place, url: &str) -> String {
    let words = ["bench", "http", "--on", url, "--request=/x"];
    let mut child = Ended(place.command(&words).spawn().unwrap());
    let lines = BufReader::new(child.0.stderr.take().unwrap()).lines();
    let mut said = lines.map(Result::unwrap).filter(|line| line.starts_with("waiting for "));
    said.next().unwrap()
}

/// A program that is stopped with its test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_url_that_refuses_connections_is_named_in_the_wait() {
    let place = Place::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = waits(&place, &format!("http://{closed}"));
    assert!(said.contains("connection refused"), "{said}");
}

#[test]
fn a_self_signed_certificate_is_named_and_then_trusted() {
    let place = Place::new();
    place.write("tls.py", include_str!("tls.py"));
    let certificate = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../load/src/http/test_certificate");
        format!("{folder}/{name}.pem")
    };
    let mut server = Command::new("python3")
        .arg(place.path("tls.py"))
        .args([certificate("own_authority"), certificate("own_authority_key")])
        .stdout(Stdio::piped())
        .spawn()
        .map(Ended)
        .unwrap();
    let mut port = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut port).unwrap();
    let url = format!("https://localhost:{}", port.trim());
    let said = waits(&place, &url);
    assert!(said.contains("certificate") && said.contains("--ca-file"), "{said}");

    let words = ["bench", "http", "--on", &url, "--request=/x", "--time=1s", "--replicates=1"];
    let trusted = ["--output-format=json", "--ca-file", &certificate("own_authority")];
    report(&place.run(&[&words[..], &trusted].concat()));
    let none = place.run(&[&words[..], &["--ca-file=none.pem"]].concat());
    assert_eq!(none.status.code(), Some(2), "{}", error(&none));
}
