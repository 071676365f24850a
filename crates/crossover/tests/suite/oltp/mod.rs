//! Workload oltp by the program itself, on SQLite, real releases of PostgreSQL, and MariaDB where its
//! server is installed: throughput over clients, rows checked after writes, mistakes named.

mod library;
mod mariadb;

use std::process::Output;
use std::sync::atomic::AtomicBool;

use oltp::OltpTarget;
use plan::oltp::TableOptions;
use serde_json::Value;
use server::{Locations, MariadbPrograms, PostgresServer, StartOptions};

use crate::place::{Place, error, read_json, text};
use crate::schema;

/// A machine that stalls does so now and then; one that always does is slower than it may be.
const ATTEMPTS_MAX: usize = 20;
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

/// Runs until every trial counts, and none has failures. A disk that stalls leaves one with a
/// second without an answer, whose rows are not checked. It alone is forgotten and measured again,
/// as after a run that was cut off.
fn bench_until_all_count(place: &Place, words: &[&str]) -> (Output, Vec<Value>) {
    let mut output = bench(place, words);
    for _ in 0..ATTEMPTS_MAX {
        let mut counting = Vec::new();
        let mut stalled = false;
        for path in place.trial_files() {
            let trial = read_json(&path);
            let why = trial["status"]["void"].as_str().unwrap_or_default();
            if why.starts_with("no transaction came to its end within 1 s") {
                std::fs::remove_file(path).unwrap();
                stalled = true;
            } else {
                assert_eq!(trial["status"], "ok", "{trial}");
                assert_eq!(trial["failures"], 0, "{trial}");
                counting.push(trial);
            }
        }
        if !stalled {
            return (output, counting);
        }
        let record = place.only_run().join("run.json");
        let mut run = read_json(&record);
        run["complete"] = false.into();
        std::fs::write(&record, run.to_string()).unwrap();
        output = bench(place, &[words, &["--resume", "latest"]].concat());
    }
    panic!("no transaction comes to its end: {}", error(&output));
}

/// A server of the user's, whose database may be looked into by the test.
fn own_server(place: &Place) -> (PostgresServer, tokio::runtime::Runtime) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let locations = Locations { data: place.path("own"), ..Locations::detect().unwrap() };
    let options = StartOptions::new("18").unwrap().temporary();
    let (progress, never) = (indicatif::ProgressBar::hidden(), AtomicBool::new(false));
    let start = PostgresServer::start(&locations, options, &progress, &never);
    (runtime.block_on(start).unwrap(), runtime)
}

/// The only value of the first row.
fn number(runtime: &tokio::runtime::Runtime, url: &engine::PostgresUrl, sql: &str) -> i64 {
    runtime.block_on(async {
        let client = connect::postgres::connect(url).await.unwrap();
        client.query_one(sql, &[]).await.unwrap().get(0)
    })
}

/// A setting in a report, by the place of its engine.
fn setting(document: &Value, engine: usize, name: &str) -> Option<String> {
    let settings = document["engines"][engine]["settings"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["name"] == name);
    found.map(|setting| setting["value"].as_str().unwrap().to_owned())
}

/// The first seed with which the trials of the only turn come in this order.
fn seed_of_order(place: &Place, words: &[&str], order: &[&str]) -> String {
    let is_it = |seed: &String| {
        let dry = ["--dry-run", "--output-format", "json", "--seed", seed.as_str()];
        let output = bench(place, &[words, &dry].concat());
        let preview: Value = serde_json::from_slice(&output.stdout).unwrap();
        let trials = preview["order"][0]["starts"][0]["treatments"].as_array().unwrap();
        let mut pairs = trials.iter().zip(order);
        trials.len() == order.len()
            && pairs.all(|(one, mix)| one.as_str().unwrap().contains(&mix.replace('_', " ")))
    };
    (1..).map(|seed: u32| seed.to_string()).find(is_it).unwrap()
}

fn execute(runtime: &tokio::runtime::Runtime, url: &engine::PostgresUrl, sql: &str) {
    runtime.block_on(async {
        let client = connect::postgres::connect(url).await.unwrap();
        client.batch_execute(sql).await.unwrap();
    });
}

#[test]
fn reads_and_writes_on_two_engines_make_a_report_of_throughput() {
    let place = Place::new();
    let words = ["--on", "postgres:13", "--on", "postgres:18", "--on", "sqlite"];
    let more = ["--clients", "1,2", "--workload", "read_write,read_only", "--clients-as=threads"];
    let json = ["--output-format", "json"];
    let (output, trials) = bench_until_all_count(&place, &[&words[..], &more, &json].concat());
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    assert_eq!(trials.len(), 12);
    schema::check_runs(&place.path("runs"));
    let document = schema::check("report", &text(&output.stdout));

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

    for trial in trials {
        assert!(trial["requests_per_second"].as_f64().unwrap() > 0.0, "{trial}");
        // The trial's one second; what follows are the transactions under way at its end.
        let in_time = trial["answers_by_second"][0].as_f64();
        assert_eq!(in_time, trial["requests_per_second"].as_f64(), "{trial}");
        let counters = trial["counters"].as_object().unwrap();
        assert!(counters.contains_key("client_statements_per_second"), "{trial}");
        assert!(counters["client_round_trip_seconds"].as_f64().unwrap() > 0.0, "{trial}");
        let writes = trial["levels"]["mix"] == "read_write";
        let told = counters.keys().any(|name| name.ends_with("checkpoints_ended"));
        assert_eq!(told, writes, "{trial}");
        let images = counters.contains_key("postgres_full_page_images");
        assert_eq!(images, trial["engine"] == "postgres:18", "{trial}");
    }
    let of = |engine: usize, name: &str| setting(&document, engine, name);
    assert_eq!(of(0, "data_checksums").as_deref(), Some("on"));
    assert_eq!(of(1, "data_checksums").as_deref(), Some("on"));
    assert!(of(0, "version()").unwrap().starts_with("PostgreSQL 13."));
    assert!(of(1, "compiled with").unwrap().starts_with('-'));
    assert!(of(1, "jit").unwrap().ends_with("(not available in this build)"));
    // What releases differ in is shown, and said.
    assert_eq!(of(0, "checkpoint_completion_target").as_deref(), Some("0.5"));
    assert_eq!(of(1, "checkpoint_completion_target").as_deref(), Some("0.9"));
    let warnings = document["warnings"].to_string();
    assert!(
        warnings.contains("checkpoint_completion_target is 0.5 in PostgreSQL 13"),
        "{warnings}"
    );
    assert_eq!(of(0, "shared_buffers"), of(1, "shared_buffers"));

    for (form, expected) in
        [("markdown", "Peak at # of clients"), ("csv", "transactions_per_second")]
    {
        let file = place.path("shown");
        let words = ["report", "latest", "--format", form, "--output", file.to_str().unwrap()];
        let output = place.run(&words);
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains(expected), "{form}: {text}");
        // As the plan has them, not as the alphabet has.
        assert!(text.find("| read_write") <= text.find("| read_only"), "{form}: {text}");
    }
}

#[test]
fn every_mix_that_writes_leaves_the_rows_that_it_should() {
    let place = Place::new();
    let mixes =
        "write_only,update_index,update_non_index,insert,delete,churn,variable_rows,encoding";
    let words = ["--on", "sqlite", "--on", "postgres:18", "--clients", "2", "--workload", mixes];
    let words = [&words[..], &["--transport", "tcp", "--clients-as=processes"]].concat();
    let (output, trials) = bench_until_all_count(&place, &words);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    assert_eq!(trials.len(), 16);
    let shown = text(&output.stdout);
    assert!(shown.contains("servers of Crossover's by TCP on this machine"), "{shown}");
}

#[test]
fn too_many_clients_are_refused_before_anything_starts() {
    let place = Place::new();
    let output = bench(&place, &["--on", "postgres:18[max_connections=20]", "--clients", "64"]);
    assert_eq!(output.status.code(), Some(2));
    let said = error(&output);
    assert!(said.contains("64 clients are more than") && said.contains("is 20"), "{said}");
    assert!(place.runs().is_empty());
    let output = bench(&place, &["--on", "postgres:97", "--clients", "1"]);
    assert_ne!(output.status.code(), Some(0));
    assert!(error(&output).contains("97"), "{}", error(&output));
    let wrong = ["--on", "postgres:18", "--setting", "postgres.work_men=1MB", "--clients", "1"];
    let output = bench(&place, &wrong);
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("work_men"), "{}", error(&output));
    let old = ["--on", "postgres:9.6[collation=language]", "--workload", "encoding"];
    let output = bench(&place, &old);
    assert_eq!(output.status.code(), Some(2));
    assert!(error(&output).contains("ICU came with release 10"), "{}", error(&output));
}

#[test]
fn foreign_tables_are_kept_and_missing_rights_are_reported() {
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

/// Rows are inserted, other tables read, and then the first: as filled, without those
/// inserted before.
fn changes_are_remembered(place: &Place, address: &str, target: &OltpTarget) {
    let mixes = ["insert", "join", "read_only"];
    let list = mixes.join(",");
    let words = ["--on", address, "--clients", "1", "--workload", list.as_str()];
    let seed = seed_of_order(place, &words, &mixes);
    let output = bench(place, &[&words[..], &["--seed", seed.as_str()]].concat());
    assert_eq!(place.trials().len(), 3, "{}", error(&output));
    let tables = TableOptions { table_size: 1_000, ..TableOptions::default() };
    oltp::invariants(target, &tables, &[], 0, &AtomicBool::new(false)).unwrap();
}

#[test]
fn changes_on_the_users_server_are_filled_again() {
    let place = Place::new();
    let (server, runtime) = own_server(&place);
    let url = server.url("crossover");
    let target = OltpTarget::Postgres { url: url.clone(), session: Vec::new(), behind_pool: None };
    changes_are_remembered(&place, &url.expose(), &target);
    runtime.block_on(server.stop()).unwrap();
}

#[test]
fn a_server_lost_in_mid_trial_is_named_and_the_trial_void() {
    let place = Place::new();
    let (server, runtime) = own_server(&place);
    let url = server.url("crossover");
    let address = url.expose();
    let output = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let load = ["--clients", "3", "--workload", "read_only", "--time", "10m"];
            let small = ["--table-size", "1000", "--replicates", "1", "--on", address.as_str()];
            place.run(&[&["bench", "oltp"], &load[..], &small].concat())
        });
        // Only the load looks single rows up: a hundred transactions of ten.
        let lookups = "SELECT coalesce(sum(idx_scan), 0)::bigint FROM pg_stat_user_tables \
                       WHERE relname = 'sbtest1'";
        while !run.is_finished() && number(&runtime, &url, lookups) < 1000 {}
        runtime.block_on(server.stop()).unwrap();
        run.join().unwrap()
    });
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    let [trial] = &place.trials()[..] else { panic!("{}", error(&output)) };
    let why = trial["status"]["void"].as_str().unwrap();
    assert!(why.contains("3 of 3 clients ended before their time"), "{why}");
    assert!(error(&output).contains("go on with `crossover bench --resume"), "{}", error(&output));
}

#[test]
fn engines_of_several_character_sets_stand_in_one_experiment() {
    let place = Place::new();
    let mut engines = vec![
        "postgres:18",
        "postgres:18[character_set=latin2,collation=language]",
        "postgres:18[character_set=latin2,client_character_set=latin2]",
        "sqlite",
        "sqlite[character_set=utf16]",
    ];
    if MariadbPrograms::find(None).is_ok() {
        engines.extend(["mariadb", "mariadb[character_set=latin2]"]);
    }
    let mut words = vec!["--clients", "2", "--workload", "encoding", "--clients-as=processes"];
    words.extend(engines.iter().flat_map(|engine| ["--on", *engine]));
    words.extend(["--output-format", "json"]);
    let (output, trials) = bench_until_all_count(&place, &words);
    assert_eq!(trials.len(), engines.len());
    let document = schema::check("report", &text(&output.stdout));
    for (place, engine) in engines.iter().enumerate() {
        assert_eq!(document["engines"][place]["name"], *engine);
        let texts = setting(&document, place, "texts").unwrap();
        let stored = ["latin2", "utf16"].into_iter().find(|set| engine.contains(set));
        assert!(texts.contains(&format!("stored in {}", stored.unwrap_or("utf8"))), "{texts}");
    }
    assert_eq!(setting(&document, 1, "initdb").as_deref(), Some("LATIN2 C checksums"));
    assert_eq!(setting(&document, 4, "encoding").as_deref(), Some("UTF-16le"));
}

#[test]
fn a_budget_says_what_it_leaves_out() {
    let place = Place::new();
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/postgres-history.toml");
    let output = place.run(&["bench", plan, "--budget", "30m", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let said = error(&output);
    assert!(said.contains("left out") && said.contains("postgres:12"), "{said}");
    let shown = text(&output.stdout);
    assert!(shown.contains("Duration: ") && !shown.contains("postgres:12"), "{shown}");
}
