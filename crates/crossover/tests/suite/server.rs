//! `crossover server` as a user types it: one thing on standard output, mistakes in one line with
//! their exit code, nothing running afterwards.

use serde_json::{Value, json};

use crate::place::{Place, error, text};

/// `crossover server` with `arguments`.
fn words<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&["server"], arguments].concat()
}

fn succeed(place: &Place, arguments: &[&str]) -> String {
    place.expect(0, &words(arguments))
}

fn refused(place: &Place, code: i32, arguments: &[&str]) -> String {
    place.refused(code, &words(arguments))
}

/// The document that it prints.
fn document(place: &Place, arguments: &[&str]) -> Value {
    let words = [arguments, &["--output-format", "json"]].concat();
    serde_json::from_str(&succeed(place, &words)).unwrap()
}

#[test]
fn offline_nothing_is_fetched_and_what_is_there_is_named() {
    let place = Place::new();
    for engine in ["postgres:9.6", "mariadb:10.1"] {
        let mut command = place.command(&words(&["start", engine, "--offline"]));
        if engine.starts_with("mariadb") {
            command = place.command(&["bench", "oltp", "--on", engine, "--offline"]);
        }
        // A folder that the servers' account reaches.
        let output = command.env("CROSSOVER_CACHE_DIR", place.path("cache")).output().unwrap();
        let said = error(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("cannot be fetched (--offline forbids it)"), "{said}");
        assert!(said.contains("copy the cache folder"), "{said}");
        let cached = place.path("cache").join(engine.split(':').next().unwrap_or_default());
        let fetched = std::fs::read_dir(cached).unwrap().flatten();
        let names: Vec<_> = fetched.map(|entry| entry.file_name()).collect();
        assert!(names.iter().all(|name| name.as_encoded_bytes().ends_with(b".lock")), "{names:?}");
    }
}

#[test]
fn a_server_is_started_seen_reached_and_stopped() {
    let place = Place::new();
    let started = place.run(&words(&["start", "postgres:18[work_mem=16MB]"]));
    assert_eq!(started.status.code(), Some(0), "{}", error(&started));
    let url = text(&started.stdout);
    assert!(url.starts_with("postgresql://postgres@/crossover?host=/"), "{url}");
    assert_eq!(url.lines().count(), 1);
    assert!(error(&started).contains("work_mem = 16MB"), "{}", error(&started));

    let status = document(&place, &["status"]);
    assert_eq!(status[0]["url"], url.trim());
    assert_eq!(status[0]["settings"]["work_mem"], "16MB");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let value = runtime.block_on(async {
        let client = connect::postgres::connect(&url.trim().parse().unwrap()).await.unwrap();
        let row = client.query_one("SHOW work_mem", &[]).await.unwrap();
        row.get::<_, String>(0)
    });
    assert_eq!(value, "16MB");

    // Asked for as it runs, it is named again; with other settings it would not be what was asked.
    assert_eq!(succeed(&place, &["start", "postgres:18[work_mem=16MB]"]), url);
    // Asked for without settings, the running server is taken.
    let other = succeed(&place, &["start", "postgres:18", "--database-name", "other"]);
    assert_eq!(other, url.replace("/crossover?", "/other?"));
    runtime.block_on(connect::postgres::connect(&other.trim().parse().unwrap())).unwrap();
    for (arguments, said) in [
        (&["start", "postgres:18[work_mem=1MB]"][..], "already running with work_mem=16MB"),
        (&["start", "postgres:18", "--server-cpus", "0"], "running with other --server-cpus"),
        (&["start", "postgres:18[work_mem=16MB]", "--tcp"], "already running without --tcp"),
    ] {
        let message = refused(&place, 1, arguments);
        let remedy = "crossover server stop 18.";
        assert!(message.contains(said) && message.contains(remedy), "{message}");
    }
    succeed(&place, &["stop", "postgres:18"]);
    let started = succeed(&place, &["start", "postgres:18"]);
    assert_eq!(started, url, "it stays from start to start");
    succeed(&place, &["stop", "postgres:18"]);
    assert_eq!(document(&place, &["status"]), json!([]));
    refused(&place, 1, &["stop", "postgres:18"]);
}

#[test]
fn only_the_server_of_a_killed_run_is_stopped() {
    let place = Place::new();
    let status = || document(&place, &["status"]);
    let bench = ["bench", "oltp", "--on", "postgres:18", "--table-size", "1000", "--time", "60s"];
    let mut run = place.command(&bench).stderr(std::process::Stdio::null()).spawn().unwrap();
    let server = loop {
        assert!(run.try_wait().unwrap().is_none(), "the run ended");
        if let Some(server) = status().as_array().unwrap().first() {
            break server.clone();
        }
    };
    assert_eq!(server["lifetime"], "with_owner");
    let left = place.run(&words(&["stop", "--all"]));
    assert_eq!(left.status.code(), Some(0), "{}", error(&left));
    assert!(error(&left).contains("left alone"), "{}", error(&left));
    refused(&place, 1, &["stop", server["name"].as_str().unwrap()]);
    run.kill().unwrap();
    run.wait().unwrap();

    let orphan = &status()[0];
    assert_eq!((&orphan["lifetime"], &orphan["pid"]), (&"orphan".into(), &server["pid"]));
    succeed(&place, &["stop", "--all"]);
    assert_eq!(status(), json!([]));
}

#[test]
fn mistakes_are_one_line_with_their_exit_code() {
    let place = Place::new();
    for (engine, code, expected) in [
        ("postgers:18", 2, "did you mean `postgres`"),
        ("postgres:18[work_mem=1MB", 2, "not closed"),
        ("sqlite", 2, "not a server that Crossover starts"),
        ("mariadb", 2, "not a server that Crossover starts"),
        ("postgres:18[work_men=1MB]", 2, "did you mean `work_mem`"),
        ("postgres:/nonexistent", 2, "/nonexistent is not a folder with PostgreSQL's programs"),
    ] {
        let message = refused(&place, code, &["start", engine]);
        assert!(message.contains(expected), "{engine}: {message}");
    }
}

#[test]
fn kept_data_is_listed_with_sizes_and_removed_when_unused() {
    let place = Place::new();
    let of_kind = |kind: &str| -> Vec<Value> {
        let rows = document(&place, &["list"]);
        rows.as_array().unwrap().iter().filter(|row| row["kind"] == kind).cloned().collect()
    };
    succeed(&place, &["start", "postgres:18"]);
    std::fs::create_dir(place.path("data/datasets")).unwrap();
    place.write("data/datasets/some.db", "12345");
    assert_eq!(of_kind("dataset")[0]["bytes"], 5);
    let data = of_kind("data");
    assert!(data[0]["bytes"].as_u64().unwrap() > 10_000_000, "{data:?}");

    // Somebody has to say yes; a server that runs keeps its data; a wrong name is told.
    assert!(refused(&place, 2, &["remove", "all"]).contains("--yes"));
    assert!(refused(&place, 1, &["remove", "18", "--yes"]).contains("crossover server stop"));
    assert!(refused(&place, 2, &["remove", "17", "--yes"]).contains("some.db"));
    assert_eq!((of_kind("data").len(), of_kind("dataset").len()), (1, 1));

    succeed(&place, &["stop"]);
    let removed = succeed(&place, &["remove", "postgres:18", "--yes"]);
    let folder = data[0]["folder"].as_str().unwrap();
    assert_eq!(removed, format!("{folder}\n"));
    assert!(!std::path::Path::new(folder).exists());
    assert_eq!((of_kind("data").len(), of_kind("dataset").len()), (0, 1));
    succeed(&place, &["remove", "all", "--yes"]);
    assert!(of_kind("dataset").is_empty());
}
