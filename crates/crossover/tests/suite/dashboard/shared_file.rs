//! A served file that other programs open and close. The last program to close a SQLite database
//! removes its log, and other programs know the server by its locks alone.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use testing::dashboard::Server;

use super::small::{PASSWORD, SmallDashboard};
use crate::place::error;

enum Written {
    Session,
    Key(String),
    /// The traffic of a day, counted from 1970-01-01.
    Day(i64),
}

/// So many write at the same time.
const WRITERS: usize = 20;

/// The first day of the imports.
const FIRST_DAY: i64 = 7_305;

fn write(
    SmallDashboard { place, url }: &SmallDashboard,
    server: &Server,
    writer: usize,
    number: usize,
) -> Option<Written> {
    let succeeds = |words: &[&str]| place.run(words).status.success();
    match writer % 3 {
        0 => {
            let body = serde_json::json!({"name": "ann", "password": PASSWORD});
            // A busy machine may be too late with its answer.
            let reply = server.connect().unwrap().post("/api/session", &body).ok()?;
            (reply.status == 200).then_some(Written::Session)
        }
        1 => {
            let name = format!("key {writer} {number}");
            let is_added = succeeds(&["dashboard", "key", "add", &name, "--database", url]);
            is_added.then_some(Written::Key(name))
        }
        _ => {
            let day = FIRST_DAY + (number * WRITERS + writer) as i64;
            let epoch = jiff::civil::date(1970, 1, 1);
            let date = epoch.checked_add(jiff::Span::new().days(day)).unwrap();
            let file = format!("traffic-{writer}.csv");
            let header = "date,url,country,pageviews,sessions,engagement_seconds";
            let row = format!("{date},https://example.com/{writer},DE,1,1,1");
            place.write(&file, &format!("{header}\n{row}\n"));
            let words = ["dashboard", "import", "traffic", &file, "--database", url];
            succeeds(&words).then_some(Written::Day(day))
        }
    }
}

/// What a person at the shell, the migration and a backup script do with the file of a server.
fn open_and_close(SmallDashboard { place, url }: &SmallDashboard, round: u32) {
    let file = place.path("dashboard.db").display().to_string();
    let copy = place.path("copy.db");
    let opened = match round % 3 {
        0 => {
            Command::new("sqlite3").args([&file, "SELECT count(*) FROM traffic"]).output().unwrap()
        }
        1 => place.run(&["audit", &file]),
        _ => place.run(&["dashboard", "backup", "copy.db", "--database", url]),
    };
    let said = error(&opened);
    assert!(matches!(opened.status.code(), Some(0 | 3)), "round {round}: {said}");
    let mut files = vec![PathBuf::from(&file)];
    files.extend(["-wal", "-shm"].map(|ending| PathBuf::from(format!("{file}{ending}"))));
    if copy.exists() {
        files.push(copy.clone());
    }
    for file in files {
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
    let _ = std::fs::remove_file(copy);
}

#[test]
fn acknowledged_rows_survive_other_programs_on_the_file() {
    if Command::new("sqlite3").arg("-version").output().is_err() {
        return testing::skip("there is no sqlite3");
    }
    let dashboard = SmallDashboard::new();
    let place = &dashboard.place;
    place.write("password", &format!("{PASSWORD}\n"));
    let ann = ["dashboard", "account", "add", "ann", "--password-file", "password"];
    place.expect(0, &[&ann[..], &["--database", &dashboard.url]].concat());
    let server = dashboard.serve();
    let done = AtomicBool::new(false);
    let until_done = |writer| {
        let numbers = (0..).take_while(|_| !done.load(Ordering::Relaxed));
        numbers.filter_map(|number| write(&dashboard, &server, writer, number)).collect::<Vec<_>>()
    };
    let written: Vec<Written> = std::thread::scope(|scope| {
        let until_done = &until_done;
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || until_done(writer))).collect();
        (0..testing::repetitions(25)).for_each(|round| open_and_close(&dashboard, round));
        done.store(true, Ordering::Relaxed);
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    drop(server);
    check(&dashboard, &written);
}

/// Everything is in the file, and the file is sound.
fn check(dashboard: &SmallDashboard, written: &[Written]) {
    let database = rusqlite::Connection::open(dashboard.place.path("dashboard.db")).unwrap();
    let sound: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
    let has = |sql: &str, value: &dyn rusqlite::ToSql| -> bool {
        database.query_row(sql, [value], |row| row.get::<_, i64>(0)).unwrap() > 0
    };
    let (mut sessions, mut keys, mut days) = (0_i64, 0, 0);
    for one in written {
        match one {
            Written::Session => sessions += 1,
            Written::Key(name) => {
                keys += 1;
                assert!(has("SELECT count(*) FROM api_keys WHERE name = ?1", name), "{name}");
            }
            Written::Day(day) => {
                days += 1;
                let sql = "SELECT count(*) FROM unmatched_traffic WHERE day = ?1";
                assert!(has(sql, day), "day {day}");
            }
        }
    }
    assert!(sessions > 0 && keys > 0 && days > 0, "{sessions} sessions, {keys} keys, {days} days");
    let count = "SELECT count(*) FROM sessions WHERE length(token_hash) > ?1";
    let kept: i64 = database.query_row(count, [0], |row| row.get(0)).unwrap();
    assert!(kept >= sessions, "{kept} of {sessions} sessions");
}
