//! `crossover server` as a user types it: one thing on standard output, mistakes in one line with
//! their exit code, nothing running afterwards.

use std::os::unix::fs::PermissionsExt;

use assert_cmd::Command;

/// A data directory of its own; releases come from the shared cache.
struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // As root the servers' account has to pass through.
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(directory.path(), open).unwrap();
        Self { directory }
    }

    fn server(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("crossover").unwrap();
        command.arg("server").args(arguments).env("CROSSOVER_DATA_DIR", self.directory.path());
        command
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A failed test must not leave a server running.
        let _ = self.server(&["stop", "--all"]).output();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn a_server_is_started_seen_reached_and_stopped() {
    let place = Place::new();
    let started = place.server(&["start", "postgres:18[work_mem=16MB]"]).assert().success();
    let url = text(&started.get_output().stdout);
    assert!(url.starts_with("postgresql://postgres@/crossover?host=/"), "{url}");
    assert_eq!(url.lines().count(), 1);
    assert!(text(&started.get_output().stderr).contains("work_mem = 16MB"));

    let status = place.server(&["status", "--output-format", "json"]).assert().success();
    let status: serde_json::Value = serde_json::from_slice(&status.get_output().stdout).unwrap();
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
    let again = place.server(&["start", "postgres:18[work_mem=16MB]"]).assert().success();
    assert_eq!(text(&again.get_output().stdout), url);
    // Without settings it is wanted as it is.
    let other = ["start", "postgres:18", "--database-name", "other"];
    let other = text(&place.server(&other).assert().success().get_output().stdout);
    assert_eq!(other, url.replace("/crossover?", "/other?"));
    runtime.block_on(connect::postgres::connect(&other.trim().parse().unwrap())).unwrap();
    for (words, told) in [
        (&["start", "postgres:18[work_mem=1MB]"][..], "already running with work_mem=16MB"),
        (&["start", "postgres:18", "--server-cpus", "0"], "running with other --server-cpus"),
        (&["start", "postgres:18[work_mem=16MB]", "--tcp"], "already running without --tcp"),
    ] {
        let refused = place.server(words).assert().code(1);
        let message = text(&refused.get_output().stderr);
        assert!(
            message.contains(told) && message.contains("crossover server stop 18."),
            "{message}"
        );
    }
    place.server(&["stop", "postgres:18"]).assert().success();
    let started = place.server(&["start", "postgres:18"]).assert().success();
    assert_eq!(text(&started.get_output().stdout), url, "it stays from start to start");
    place.server(&["stop", "postgres:18"]).assert().success();
    let status = place.server(&["status", "--output-format", "json"]).assert().success();
    assert_eq!(text(&status.get_output().stdout), "[]\n");
    place.server(&["stop", "postgres:18"]).assert().code(1);
}

#[test]
fn only_the_server_of_a_killed_run_is_stopped() {
    let place = Place::new();
    let status = || -> serde_json::Value {
        let status = place.server(&["status", "--output-format", "json"]).assert().success();
        serde_json::from_slice(&status.get_output().stdout).unwrap()
    };
    let bench = ["bench", "oltp", "--on", "postgres:18", "--table-size", "1000", "--time", "60s"];
    let mut run = std::process::Command::new(assert_cmd::cargo::cargo_bin("crossover"))
        .args(bench)
        .args(["--runs", place.directory.path().join("runs").to_str().unwrap()])
        .env("CROSSOVER_DATA_DIR", place.directory.path())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let server = loop {
        assert!(run.try_wait().unwrap().is_none(), "the run ended");
        if let Some(server) = status().as_array().unwrap().first() {
            break server.clone();
        }
    };
    assert_eq!(server["lifetime"], "with_owner");
    let left = place.server(&["stop", "--all"]).assert().success();
    assert!(text(&left.get_output().stderr).contains("left alone"));
    place.server(&["stop", server["name"].as_str().unwrap()]).assert().code(1);
    run.kill().unwrap();
    run.wait().unwrap();

    let orphan = &status()[0];
    assert_eq!((&orphan["lifetime"], &orphan["pid"]), (&"orphan".into(), &server["pid"]));
    place.server(&["stop", "--all"]).assert().success();
    assert_eq!(status(), serde_json::json!([]));
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
        let refused = place.server(&["start", engine]).assert().code(code);
        let message = text(&refused.get_output().stderr);
        assert!(message.contains(expected), "{engine}: {message}");
        assert!(refused.get_output().stdout.is_empty());
    }
}

#[test]
fn kept_data_is_listed_with_sizes_and_removed_when_unused() {
    let place = Place::new();
    let json = |arguments: &[&str]| -> serde_json::Value {
        let words = [arguments, &["--output-format", "json"]].concat();
        let output = place.server(&words).assert().success();
        serde_json::from_slice(&output.get_output().stdout).unwrap()
    };
    let of_kind = |kind: &str| -> Vec<serde_json::Value> {
        let rows = json(&["list"]);
        rows.as_array().unwrap().iter().filter(|row| row["kind"] == kind).cloned().collect()
    };
    place.server(&["start", "postgres:18"]).assert().success();
    let datasets = place.directory.path().join("datasets");
    std::fs::create_dir(&datasets).unwrap();
    std::fs::write(datasets.join("some.db"), "12345").unwrap();
    assert_eq!(of_kind("dataset")[0]["bytes"], 5);
    let data = of_kind("data");
    assert!(data[0]["bytes"].as_u64().unwrap() > 10_000_000, "{data:?}");

    // Somebody has to say yes; a server that runs keeps its data; a wrong name is told.
    let refused = place.server(&["remove", "all"]).assert().code(2);
    assert!(text(&refused.get_output().stderr).contains("--yes"));
    let refused = place.server(&["remove", "18", "--yes"]).assert().code(1);
    assert!(text(&refused.get_output().stderr).contains("crossover server stop"));
    let refused = place.server(&["remove", "17", "--yes"]).assert().code(2);
    assert!(text(&refused.get_output().stderr).contains("some.db"));
    assert_eq!((of_kind("data").len(), of_kind("dataset").len()), (1, 1));

    place.server(&["stop"]).assert().success();
    let removed = place.server(&["remove", "postgres:18", "--yes"]).assert().success();
    let folder = data[0]["folder"].as_str().unwrap();
    assert_eq!(text(&removed.get_output().stdout), format!("{folder}\n"));
    assert!(!std::path::Path::new(folder).exists());
    assert_eq!((of_kind("data").len(), of_kind("dataset").len()), (0, 1));
    place.server(&["remove", "all", "--yes"]).assert().success();
    assert!(of_kind("dataset").is_empty());
}
