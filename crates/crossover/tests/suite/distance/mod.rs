//! Distance to a server, by the program itself: relays that delay, keep every byte, and end with the
//! run; what they are refused for.

mod bytes;

use std::collections::BTreeMap;

use record::read_observations;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::place::{Place, error, read_json, text};

// Delays are long: what a relay adds on a machine that runs other tests must be under a fifth of them.

/// Holds five blocks of one statement without a distance and at one.
const TRY_SECONDS: u64 = 75;

const DATA: &str = "
    CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
      INSERT INTO items SELECT i, 'item ' || i FROM n;";

fn place(engines: &str, trial: &str, factors: &str) -> Place {
    let place = Place::new();
    let data = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    data.execute_batch(DATA).unwrap();
    let plan = format!(
        "title = \"own\"\nworkload = \"sql\"\nengines = {engines}\ndata = \"shop.db\"\n\
         replicates = 1\nseed = 7\ntrial = {{ {trial} }}\nfactors = {{ {factors} }}\n\
         [[statement]]\nname = \"one\"\ntext = \"SELECT name FROM items WHERE id = :id\"\n\
         parameters = {{ id = {{ range = [1, 100] }} }}\n"
    );
    place.write("plan.toml", &plan);
    place
}

/// Relays with a delay that no other test has.
fn relays(delay_ns: &str) -> Vec<i32> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let entry = entry.unwrap();
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let words: Vec<&str> = line.split('\0').collect();
        (words.get(1..3)? == ["relay", delay_ns]).then_some(pid)
    });
    processes.collect()
}

fn level(trial: &Value) -> f64 {
    trial["levels"]["delay_ms"].as_f64().unwrap()
}

#[test]
fn each_statement_takes_a_round_trip_longer() {
    let engines = r#"["sqlite", "postgres:18"]"#;
    let trial = r#"mode = "passes", passes = 20"#;
    let place = place(engines, trial, "clients = [1], delay_ms = [0, 100.000123]");
    // The way to a server's Unix socket is never encrypted, nor is the one through a relay.
    let output =
        place.command(&["bench", "plan.toml"]).env("PGSSLMODE", "require").output().unwrap();
    // One block gives no verdict.
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let mut shortest = BTreeMap::new();
    for trial in place.trials() {
        assert_eq!((&trial["status"], &trial["failures"]), (&"ok".into(), &0.into()), "{trial}");
        let number = trial["number"].as_u64().unwrap();
        let file = format!("trials/{number:04}.observations.zst");
        let observed = read_observations(&place.only_run().join(file)).unwrap();
        let least = observed.iter().map(|one| one.response_time_ns).min().unwrap();
        let engine = trial["engine"].as_str().unwrap().to_owned();
        let is_far = level(&trial) > 0.0;
        assert_eq!(trial["counters"]["relay_cpu_seconds"].is_number(), is_far, "{trial}");
        assert_eq!(trial["counters"]["relay_bytes"].as_f64().is_some_and(|it| it > 0.0), is_far);
        shortest.insert((engine, is_far), least);
    }
    let far = ("postgres:18".to_owned(), true);
    assert_eq!(shortest.len(), 3, "SQLite has no distance: {shortest:?}");
    assert!(shortest[&far] >= 100_000_123, "{shortest:?}");
    let relay = read_json(&place.only_run().join("run.json"))["relay"].clone();
    assert_eq!(relay["round_trips"], 500, "{relay}");
    assert!(relay["added_us_high"].as_f64() >= relay["added_us"].as_f64(), "{relay}");
    assert!(error(&output).contains("the relay itself adds"), "{}", error(&output));
    let said = text(&output.stdout);
    assert!(said.contains("Each ms of distance costs a statement on PostgreSQL 18"), "{said}");
    assert!(relays("100000123").is_empty());
}

#[test]
fn a_relay_that_is_killed_voids_its_trial() {
    let trial = r#"mode = "steady", time = "1s""#;
    let factors = "clients = [1, 2], delay_ms = [100.000321]";
    let place = place(r#"["postgres:18"]"#, trial, factors);
    let mut child = place.command(&["bench", "plan.toml"]).spawn().unwrap();
    place.wait_for_trials(&mut child, 1);
    for pid in relays("100000321") {
        kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let void = "1 trial is void: the relay that makes the distance: it has ended";
    assert!(said.contains(void), "{said}");
    let trials = place.trials();
    let status: Vec<String> = trials.iter().map(|trial| trial["status"].to_string()).collect();
    assert!(status.iter().any(|one| one.contains("relay")), "{status:?}");
    assert!(relays("100000321").is_empty());
}

#[test]
fn distances_that_cannot_be_measured_are_refused() {
    let both = r#"["sqlite", "postgres:18"]"#;
    let refusal = |engines: &str, delays: &str| {
        let trial = r#"mode = "passes", passes = 2"#;
        let place = place(engines, trial, &format!("delay_ms = {delays}"));
        let said = place.refused(2, &["bench", "plan.toml"]);
        assert!(place.runs().is_empty(), "{said}");
        said
    };
    assert!(refusal(r#"["sqlite"]"#, "[0, 1]").contains("SQLite has no distance"));
    assert!(refusal(both, "[0, -1]").contains("not between 0 and 1000 ms"));
    assert!(refusal(both, "[0, 1001]").contains("not between 0 and 1000 ms"));
    let said = refusal(both, "[0, 0.001]");
    assert!(said.contains("a delay of 0.001 ms is under 5 times"), "{said}");
}

#[test]
fn a_try_answers_at_each_distance() {
    let place = Place::new();
    let data = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    data.execute_batch(DATA).unwrap();
    drop(data);
    place.write("one.sql", "SELECT name FROM items WHERE id = 7");
    let words = ["shop.db", "--sql=one.sql", "--no-tuned", "--delay=100.000789ms,0"];
    let output = place.try_with_five_blocks(TRY_SECONDS, &words);
    let said = text(&output.stdout);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{said}{}", error(&output));
    let far = "At 100.000789 ms of distance, unchanged SQLite is enough: it is not slower";
    for part in [
        "At 0 ms of distance, ",
        far,
        "Each ms of distance costs a statement on PostgreSQL 18",
        "The table and the changes are those at 0 ms of distance.",
    ] {
        assert!(said.split_whitespace().collect::<Vec<_>>().join(" ").contains(part), "{said}");
    }
    let plan = std::fs::read_to_string(place.path("try-shop.toml")).unwrap();
    assert!(plan.contains("delay_ms = [100.000789, 0]"), "{plan}");
    assert!(relays("100000789").is_empty());
}

#[test]
fn the_flag_of_each_command_is_the_factor() {
    let place = Place::new();
    place.write("one.sql", "SELECT 1");
    let plan = |words: &[&str]| {
        let more = ["--on=postgres:18", "--delay=0,500us,5ms", "--print-plan"];
        place.expect(0, &[words, &more].concat()).split_whitespace().collect::<String>()
    };
    let swept = "swept=\"linear\"bisect=true";
    for words in [
        &["bench", "sql", "--sql=one.sql"][..],
        &["bench", "oltp", "--clients=1"],
        &["bench", "http", "--start=serve {listen} {database_url}", "--request=/"],
    ] {
        let plan = plan(words);
        assert!(plan.contains("levels=[0.0,0.5,5.0]") && plan.contains(swept), "{plan}");
    }
    let several = plan(&["bench", "oltp", "--clients=1,2"]);
    assert!(several.contains("delay_ms=[0.0,0.5,5.0]"), "{several}");
}

#[test]
fn transactions_take_as_many_round_trips_as_statements() {
    let place = Place::new();
    let words = [
        "bench",
        "oltp",
        "--on=postgres:18",
        "--workload=read_only",
        "--table-size=1000",
        "--time=3s",
        "--warm-up=1s",
        "--replicates=1",
        "--clients=1",
        "--delay=40.000456ms",
        "--seed=7",
    ];
    let output = place.run(&words);
    let said = error(&output);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{said}");
    let trials = place.trials();
    let trial = &trials[0];
    assert_eq!(trial["status"], "ok", "{trial}");
    // A transaction of 14 statements, with BEGIN and COMMIT.
    assert!(trial["response_time_ms_mean"].as_f64().unwrap() >= 40.000_456 * 14.0, "{trial}");
    assert!(relays("40000456").is_empty());
}
