//! `crossover dashboard serve` as it is used: the link for the first account, accounts, a backup
//! while it serves, its end.

use std::io::{BufRead as _, BufReader};

use testing::dashboard::DashboardClient;

use super::small::{PASSWORD, SmallDashboard};
use crate::place::{Place, error};

#[test]
fn the_first_start_invites_and_a_backup_can_be_served() {
    let dashboard = SmallDashboard::new();
    let server = dashboard.serve();
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

    let place = &dashboard.place;
    let copy = place.path("copy.db").display().to_string();
    let made = place.expect(0, &["dashboard", "backup", &copy, "--database", &dashboard.url]);
    assert_eq!(made.trim(), copy);
    drop(server);
    std::fs::rename(&copy, place.path("dashboard.db")).unwrap();
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(place.path(&format!("dashboard.db{suffix}")));
    }
    let server = dashboard.serve();
    assert!(!server.said.contains("#setup="), "there is an account");
    let mut client = server.connect().unwrap();
    client.host = "dashboard.example".to_owned();
    let again = client.send("GET", question, &cookie, "").unwrap();
    assert_eq!((again.status, again.body), (200, answer.body), "accounts and sessions come along");
}

/// SIGTERM is what managers of services send.
#[test]
fn a_stopped_server_succeeds_and_its_log_names_requests() {
    let SmallDashboard { place, url } = SmallDashboard::new();
    let log = ["--log-level", "info", "--log-format", "json"];
    let words = ["dashboard", "serve", "--listen", "127.0.0.1:0", "--database", &url];
    let mut child = place.command(&[&words[..], &log].concat()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let host = line.trim().trim_start_matches("http://").to_owned();
    let mut client = DashboardClient::connect(&host).unwrap();
    let health = client.send("GET", "/healthz", "X-Request-Id: trace-1\r\n", "").unwrap();
    assert_eq!(health.status, 200);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = error(&output);
    assert!(output.status.success(), "{said}");
    let entries = said.lines().filter_map(|line| line.parse::<serde_json::Value>().ok());
    let logged: Vec<_> = entries.filter(|entry| entry["id"] == "trace-1").collect();
    assert_eq!(logged.len(), 1, "{said}");
    assert_eq!((&logged[0]["path"], &logged[0]["status"]), (&"/healthz".into(), &200.into()));
}

#[test]
fn accounts_are_managed_without_passwords_in_arguments() {
    let SmallDashboard { place, url } = SmallDashboard::new();
    place.write("password", &format!("{PASSWORD}\n"));
    let account = |code, words: &[&str]| {
        place.expect(code, &[&["dashboard", "account"], words, &["--database", &url]].concat())
    };
    let list = || account(0, &["list", "--output-format", "json"]);
    assert_eq!(list().trim(), "[]");
    account(0, &["add", "ann", "--password-file", "password"]);
    assert!(list().contains("\"ann\""));
    // There is no terminal that could ask for the password.
    account(2, &["add", "bob"]);
    place.write("password", "short");
    account(2, &["password", "ann", "--password-file", "password"]);
    account(0, &["remove", "ann"]);
    assert_eq!(list().trim(), "[]");
}

#[test]
fn a_backup_of_postgresql_is_refused_naming_its_own_tool() {
    let words = ["dashboard", "backup", "copy.db", "--database", "postgresql://u@h/d"];
    let said = Place::new().refused(2, &words);
    assert!(said.contains("pg_dump") && said.contains("pg_restore"), "{said}");
}
