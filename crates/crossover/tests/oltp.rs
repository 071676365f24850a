//! Workload oltp by the program itself, on SQLite, real releases of PostgreSQL, and MariaDB where its
//! server is installed: throughput over clients, rows checked after writes, mistakes named.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod place;
mod schema;

use std::path::PathBuf;
use std::process::Output;

use place::Place;
use serde_json::Value;
use server::{Locations, PostgresServer, StartOptions};

/// The least that a run can be asked for.
const SMALL: [&str; 9] = [
    "--table-size",
    "1000",
    "--time",
    "1s",
    "--warm-up",
    "1s",
    "--replicates",
    "1",
    "--checkpoints=any",
];

fn bench(place: &Place, words: &[&str]) -> Output {
    place.run(&[&["bench", "oltp"], &SMALL[..], words].concat())
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn runs(place: &Place) -> Vec<PathBuf> {
    let Ok(runs) = std::fs::read_dir(place.path("runs")) else { return Vec::new() };
    runs.map(|entry| entry.unwrap().path()).collect()
}

fn trials(place: &Place) -> Vec<Value> {
    let [run] = &runs(place)[..] else { panic!("not one run") };
    let entries = std::fs::read_dir(run.join("trials")).unwrap().map(|entry| entry.unwrap().path());
    let json = entries.filter(|path| path.extension().is_some_and(|ending| ending == "json"));
    json.map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()).collect()
}

/// Whether a trial counts. A disk that stalls leaves one of a second without an answer, which is
/// void then and says so.
fn counts(trial: &Value) -> bool {
    let why = trial["status"]["void"].as_str().unwrap_or_default();
    let stalled = why.starts_with("no transaction came to its end within 1 s");
    assert!(stalled || trial["status"] == "ok", "{trial}");
    !stalled
}

/// A server of the user's, whose database may be looked into by the test.
fn own_server(place: &Place) -> (PostgresServer, tokio::runtime::Runtime) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let locations = Locations { data: place.path("own"), ..Locations::detect().unwrap() };
    let options = StartOptions::new("18").unwrap().temporary();
    let (progress, never) =
        (indicatif::ProgressBar::hidden(), std::sync::atomic::AtomicBool::new(false));
    let start = PostgresServer::start(&locations, options, &progress, &never);
    (runtime.block_on(start).unwrap(), runtime)
}

fn execute(runtime: &tokio::runtime::Runtime, url: &engine::PostgresUrl, sql: &str) {
    runtime.block_on(async {
        let client = engine::postgres::connect(url).await.unwrap();
        client.batch_execute(sql).await.unwrap();
    });
}

#[test]
fn reads_and_writes_on_two_engines_make_a_report_of_throughput() {
    let place = Place::new();
    let words = ["--on", "postgres:13", "--on", "postgres:18", "--on", "sqlite"];
    let more = ["--clients", "1,2", "--workload", "read_only,read_write"];
    let json = ["--output-format", "json"];
    let output = bench(&place, &[&words[..], &more, &json].concat());
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    assert!(error(&output).contains("Expected duration"), "{}", error(&output));
    schema::check_runs(&place.path("runs"));
    let document = schema::check("report", &String::from_utf8(output.stdout).unwrap());

    assert_eq!(document["response"]["name"], "transactions_per_second");
    assert_eq!(document["response"]["lower_is_better"], false);
    let throughput = &document["throughput"];
    assert_eq!(throughput["scaling"].as_array().unwrap().len(), 6);
    let [step, _] = &throughput["steps"].as_array().unwrap()[..] else { panic!("{throughput}") };
    assert_eq!((&step["engine"], &step["before"]), (&"postgres:18".into(), &"postgres:13".into()));
    let release = &throughput["releases"][1];
    assert_eq!(
        (&release["branch"], &release["first_release"]),
        (&"18".into(), &"2025-09-25".into())
    );

    for trial in trials(&place).into_iter().filter(counts) {
        assert!(trial["requests_per_second"].as_f64().unwrap() > 0.0, "{trial}");
        // The trial's one second; what follows are the transactions under way at its end.
        let in_time = trial["answers_by_second"][0].as_f64();
        assert_eq!(in_time, trial["requests_per_second"].as_f64(), "{trial}");
        let counters = trial["counters"].as_object().unwrap();
        assert!(counters.contains_key("client_statements_per_second"), "{trial}");
        assert!(counters["client_round_trip_seconds"].as_f64().unwrap() < 1.0, "{trial}");
        let writes = trial["levels"]["mix"] == "read_write";
        let told = counters.keys().any(|name| name.ends_with("checkpoints_ended"));
        assert_eq!(told, writes, "{trial}");
    }
    let engines = &document["engines"];
    let of = |place: usize, name: &str| {
        let settings = engines[place]["settings"].as_array().unwrap();
        let found = settings.iter().find(|setting| setting["name"] == name);
        found.map(|setting| setting["value"].as_str().unwrap().to_owned())
    };
    assert_eq!(of(0, "data_checksums").as_deref(), Some("on"));
    assert_eq!(of(1, "data_checksums").as_deref(), Some("on"));
    assert!(of(0, "version()").unwrap().starts_with("PostgreSQL 13."));
    // What releases differ in is shown, and said.
    assert_eq!(of(0, "checkpoint_completion_target").as_deref(), Some("0.5"));
    assert_eq!(of(1, "checkpoint_completion_target").as_deref(), Some("0.9"));
    let warnings = document["warnings"].to_string();
    assert!(warnings.contains("checkpoint_completion_target is 0.5 in postgres:13"), "{warnings}");
    assert_eq!(of(0, "shared_buffers"), of(1, "shared_buffers"));

    for (form, expected) in
        [("markdown", "Peak performance at # of clients"), ("csv", "transactions_per_second")]
    {
        let file = place.path("shown");
        let words = ["report", "latest", "--format", form, "--output", file.to_str().unwrap()];
        let output = place.run(&words);
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(expected), "{form}: {text}");
    }
}

#[test]
fn every_mix_that_writes_leaves_the_rows_that_it_should() {
    let place = Place::new();
    let mixes =
        "write_only,update_index,update_non_index,insert,delete,churn,variable_rows,encoding";
    let output = bench(
        &place,
        &["--on", "sqlite", "--on", "postgres:18", "--clients", "2", "--workload", mixes],
    );
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let trials = trials(&place);
    assert_eq!(trials.len(), 16);
    assert!(trials.iter().all(|trial| counts(trial) || trial["failures"] == 0));
}

#[test]
fn mariadb_is_started_filled_restored_and_ended() {
    if let Err(error) = server::MariadbPrograms::find(None) {
        return eprintln!("skipped: {error}");
    }
    let place = Place::new();
    let more = ["--clients", "2", "--workload", "read_only,read_write"];
    let output = bench(&place, &[&["--on", "mariadb"][..], &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    for trial in trials(&place).into_iter().filter(counts) {
        assert!(trial["counters"]["mariadb_commits"].as_f64().unwrap() > 0.0, "{trial}");
    }
    let left = std::fs::read_dir(place.path("data/mariadb")).unwrap();
    assert_eq!(left.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count(), 0);
}

/// `CROSSOVER_TEST_MARIADB` names folders of unpacked releases as PATH names folders; `make prove`
/// fetches some.
#[test]
fn releases_of_mariadb_in_folders_are_measured_side_by_side() {
    let Some(folders) = std::env::var_os("CROSSOVER_TEST_MARIADB") else {
        return eprintln!("skipped: no folders in CROSSOVER_TEST_MARIADB");
    };
    let place = Place::new();
    let engines: Vec<String> = std::env::split_paths(&folders)
        .map(|folder| format!("--on=mariadb:{}", folder.display()))
        .collect();
    let mut words = vec!["--clients", "2", "--workload", "read_only,read_write"];
    words.extend(engines.iter().map(String::as_str));
    let output = bench(&place, &words);
    let trials = trials(&place);
    assert_eq!(trials.len(), 2 * engines.len(), "{}", error(&output));
    assert!(trials.iter().all(|trial| counts(trial) || trial["failures"] == 0));
}

#[test]
fn more_clients_than_a_server_lets_in_are_refused_before_anything_starts() {
    let place = Place::new();
    let output = bench(&place, &["--on", "postgres:18[max_connections=20]", "--clients", "64"]);
    assert_eq!(output.status.code(), Some(2));
    let said = error(&output);
    assert!(said.contains("64 clients are more than") && said.contains("is 20"), "{said}");
    assert!(runs(&place).is_empty());
    let output = bench(&place, &["--on", "postgres:97", "--clients", "1"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(error(&output).contains("97"), "{}", error(&output));
    let wrong = ["--on", "postgres:18", "--setting", "postgres.work_men=1MB", "--clients", "1"];
    let output = bench(&place, &wrong);
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("work_men"), "{}", error(&output));
}

#[test]
fn a_table_that_is_not_ours_is_left_alone_and_a_user_without_rights_is_told() {
    let place = Place::new();
    let (server, runtime) = own_server(&place);
    let url = server.url("crossover");
    execute(&runtime, &url, "CREATE TABLE sbtest1 (mine text); INSERT INTO sbtest1 VALUES ('x')");
    let output =
        bench(&place, &["--on", &url.expose(), "--clients", "1", "--workload", "read_only"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(error(&output).contains("sbtest1 that is not of this program"), "{}", error(&output));
    execute(&runtime, &url, "DELETE FROM sbtest1 WHERE mine = 'x'; DROP TABLE sbtest1");

    execute(&runtime, &url, "CREATE ROLE guest LOGIN; REVOKE CREATE ON SCHEMA public FROM public");
    let guest = url.with_user("guest").expose();
    let output = bench(&place, &["--on", &guest, "--clients", "1", "--workload", "read_only"]);
    assert_eq!(output.status.code(), Some(2), "{}", error(&output));
    assert!(error(&output).contains("guest may not make tables"), "{}", error(&output));

    let mixes = ["--clients", "2", "--workload", "read_only,read_write"];
    let output = bench(&place, &[&["--on", &url.expose()][..], &mixes].concat());
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    runtime.block_on(server.stop()).unwrap();
}

#[test]
fn a_budget_says_what_it_leaves_out() {
    let place = Place::new();
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/postgres-history.toml");
    let output = place.run(&["bench", plan, "--budget", "30m", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let said = error(&output);
    assert!(said.contains("left out") && said.contains("postgres:12"), "{said}");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(
        shown.contains("Expected duration: about") && !shown.contains("postgres:12"),
        "{shown}"
    );
}
