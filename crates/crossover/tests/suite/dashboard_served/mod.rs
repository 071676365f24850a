//! `crossover dashboard serve` as it is used: the link for the first account, accounts, a backup
//! while it serves, its end.

mod server;
mod shared_file;

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use self::server::{PASSWORD, Place, crossover, run};
use testing::dashboard::DashboardClient;

#[test]
fn the_first_start_invites_and_a_backup_can_be_served() {
    let place = Place::new();
    let server = place.serve();
    let token = server.said.split("/#setup=").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    let mut client = server.connect().unwrap();
    client.host = "dashboard.example".to_owned();
    let question = "/api/query/teams?start=2020-01-01&end=2022-12-31";
    assert_eq!(client.send("GET", question, "", "").unwrap().status, 401);
    let account = serde_json::json!({"token": token, "name": "ann", "password": PASSWORD});
    let made = client.post("/api/account", &account).unwrap();
    assert_eq!(made.status, 201, "{}", made.body);
    let cookie = format!("Cookie: {}\r\n", made.cookie.unwrap());
    let answer = client.send("GET", question, &cookie, "").unwrap();
    assert_eq!(answer.status, 200, "{}", answer.body);

    let copy = place.folder.path().join("copy.db");
    let made = run(&["dashboard", "backup", copy.to_str().unwrap(), "--database", &place.url()]);
    assert!(made.status.success(), "{made:?}");
    assert_eq!(String::from_utf8_lossy(&made.stdout).trim(), copy.display().to_string());
    drop(server);
    std::fs::rename(&copy, place.file()).unwrap();
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(place.folder.path().join(format!("dashboard.db{suffix}")));
    }
    let server = place.serve();
    assert!(!server.said.contains("#setup="), "there is an account");
    let mut client = server.connect().unwrap();
    client.host = "dashboard.example".to_owned();
    let again = client.send("GET", question, &cookie, "").unwrap();
    assert_eq!((again.status, again.body), (200, answer.body), "accounts and sessions come along");
}

/// SIGTERM is what managers of services send.
#[test]
fn a_stopped_server_succeeds_and_its_log_names_requests() {
    let place = Place::new();
    let (url, log) = (place.url(), ["--log-level", "info", "--log-format", "json"]);
    let words = ["dashboard", "serve", "--listen", "127.0.0.1:0", "--database", &url];
    let mut command = crossover(&[&words[..], &log].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let host = line.trim().trim_start_matches("http://").to_owned();
    let mut client = DashboardClient::connect(&host).unwrap();
    let health = client.send("GET", "/healthz", "X-Request-Id: trace-1\r\n", "").unwrap();
    assert_eq!(health.status, 200);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let entries = said.lines().filter_map(|line| line.parse::<serde_json::Value>().ok());
    let logged: Vec<_> = entries.filter(|entry| entry["id"] == "trace-1").collect();
    assert_eq!(logged.len(), 1, "{said}");
    assert_eq!((&logged[0]["path"], &logged[0]["status"]), (&"/healthz".into(), &200.into()));
}

#[test]
fn accounts_are_managed_without_passwords_in_arguments() {
    let place = Place::new();
    let secret = place.folder.path().join("password");
    std::fs::write(&secret, format!("{PASSWORD}\n")).unwrap();
    let (url, file) = (place.url(), secret.to_str().unwrap().to_owned());
    let account =
        |words: &[&str]| run(&[&["dashboard", "account"], words, &["--database", &url]].concat());
    let list = || {
        let listed = account(&["list", "--output-format", "json"]);
        String::from_utf8(listed.stdout).unwrap()
    };
    assert_eq!(list().trim(), "[]");
    assert!(account(&["add", "ann", "--password-file", &file]).status.success());
    assert!(list().contains("\"ann\""));
    let nobody_to_ask = account(&["add", "bob"]);
    assert_eq!(nobody_to_ask.status.code(), Some(2), "{nobody_to_ask:?}");
    std::fs::write(&secret, "short").unwrap();
    let short = account(&["password", "ann", "--password-file", &file]);
    assert_eq!(short.status.code(), Some(2), "{short:?}");
    assert!(account(&["remove", "ann"]).status.success());
    assert_eq!(list().trim(), "[]");
}

#[test]
fn a_backup_of_postgresql_is_refused_naming_its_own_tool() {
    let refused = run(&["dashboard", "backup", "copy.db", "--database", "postgresql://u@h/d"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("pg_dump") && said.contains("pg_restore"), "{said}");
}
