//! The article's experiment by the program itself, on a real PostgreSQL: interrupted, killed and
//! resumed without losing or repeating a trial, and every bad request refused by name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Child;

use crate::place::{Place, error, read_json, text};
use crate::schema;

const PERIODS: &str = "--periods=week,month";

impl Place {
    /// A dashboard of 80 articles.
    fn generate(&self) -> PathBuf {
        let database = self.path("small.db");
        let url = format!("sqlite://{}", database.display());
        let words = ["dashboard", "generate", "--articles=80", "--rows=20000", "--database", &url];
        let output = self.run(&words);
        assert!(output.status.success(), "{}", error(&output));
        database
    }

    fn bench(&self, data: &Path, more: &[&str]) -> Vec<String> {
        let mut words = vec![
            "bench".to_owned(),
            "dashboard".to_owned(),
            "--on=sqlite".to_owned(),
            "--on=postgres:18".to_owned(),
            PERIODS.to_owned(),
            "--clients=1,2".to_owned(),
            "--mode=article".to_owned(),
            format!("--data={}", data.display()),
        ];
        words.extend(more.iter().map(|word| (*word).to_owned()));
        words
    }

    /// Two runs of the same short plan: their names.
    fn two_runs(&self) -> [String; 2] {
        let data = format!("--data={}", self.generate().display());
        let bench = ["bench", "dashboard", "--on=sqlite", "--periods=week", "--clients=1"];
        let words = [&bench[..], &["--mode=article", "--replicates=1", &data]].concat();
        for _ in 0..2 {
            let output = self.run(&words);
            assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        }
        let name = |run: &PathBuf| run.file_name().unwrap().to_string_lossy().into_owned();
        let names: Vec<String> = self.runs().iter().map(name).collect();
        names.try_into().unwrap()
    }
}

/// The whole trials on disk, by file name.
fn recorded_trials(place: &Place) -> BTreeMap<String, Vec<u8>> {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let files = place.trial_files().into_iter();
    files.map(|path| (name(&path), std::fs::read(path).unwrap())).collect()
}

fn strings(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn signal(child: &Child, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn a_resumed_experiment_loses_and_repeats_no_trial() {
    let place = Place::new();
    let data = place.generate();
    let words = place.bench(&data, &["--replicates=3", "--seed=5"]);
    let mut child = place.command(&strings(&words)).spawn().unwrap();
    place.wait_for_trials(&mut child, 2);
    signal(&child, rustix::process::Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    assert!(
        error(&output).contains("interrupted; go on with `crossover bench --resume"),
        "{}",
        error(&output)
    );
    let before = recorded_trials(&place);
    let planned = 2 * 2 * 2 * 3;
    assert!(before.len() >= 2 && before.len() < planned);

    let killed = strings_of(&["bench", "dashboard", "--resume=latest"]);
    let mut child = place.command(&strings(&killed)).spawn().unwrap();
    place.wait_for_trials(&mut child, before.len() + 2);
    signal(&child, rustix::process::Signal::KILL);
    child.wait().unwrap();

    let changed = place.bench(&data, &["--replicates=4", "--seed=5", "--resume=latest"]);
    let output = place.run(&strings(&changed));
    assert_eq!(output.status.code(), Some(1));
    let message = "the plan's key `replicates` changed since it began";
    assert!(error(&output).contains(message), "{}", error(&output));

    let output = place.run(&["bench", "dashboard", "--resume=latest"]);
    // Three blocks give no verdict: done, with findings.
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let after = recorded_trials(&place);
    let names: Vec<String> = (1..=planned).map(|number| format!("{number:04}.json")).collect();
    assert_eq!(after.keys().cloned().collect::<Vec<_>>(), names);
    for (name, bytes) in &before {
        assert_eq!(&after[name], bytes, "{name} was measured again");
    }
    let text = text(&output.stdout);
    assert!(text.contains("3 blocks show values and no verdict"), "{text}");
    assert!(place.only_run().join("report.html").is_file());
    check_what_was_observed(&place.only_run(), &after);
    let scratch = std::fs::read_dir(place.path("data").join("scratch")).unwrap();
    let copies = scratch.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count();
    assert_eq!(copies, 0, "copies of the data are left");
    assert_eq!(running_servers(&place), "[]");
}

/// Counters of both engines in every trial, plans of PostgreSQL's first blocks, promises and sizes.
fn check_what_was_observed(run: &Path, trials: &BTreeMap<String, Vec<u8>>) {
    let mut plans = 0;
    for bytes in trials.values() {
        let trial: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        let counter = |name: &str| trial["counters"][name].as_f64();
        assert!(counter("client_voluntary_context_switches").is_some(), "{trial}");
        assert!(counter("server_voluntary_context_switches").is_some(), "{trial}");
        let is_sqlite = trial["engine"] == "sqlite";
        let own = if is_sqlite { "sqlite_cache_hits" } else { "postgres_blocks_hit" };
        assert!(counter(own).is_some(), "{trial}");
        for one in trial["plans"].as_array().unwrap() {
            plans += 1;
            let observed = one["plan"]["observed"]["hash"].is_string();
            assert_ne!(observed, is_sqlite, "{one}");
        }
    }
    // Nine requests, four treatments, two engines, twice.
    assert_eq!(plans, 9 * 4 * 2 * 2);
    let record = read_json(&run.join("run.json"));
    assert!(
        record["plans"]
            .as_object()
            .unwrap()
            .values()
            .all(|text| { text.as_str().unwrap().contains("(cost=") })
    );
    for engine in record["engines"].as_object().unwrap().values() {
        assert_eq!(engine["durability"], "survives_power_loss", "{engine}");
        assert_eq!(engine["statistics_present"], true, "{engine}");
        assert!(engine["data_bytes"].as_u64().unwrap() > 100_000, "{engine}");
    }
}

/// What `server list` says runs in this place's data folder.
fn running_servers(place: &Place) -> String {
    let output = place.run(&["server", "status", "--output-format=json"]);
    text(&output.stdout).trim().to_owned()
}

fn strings_of(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_changed_data_file_is_not_resumed() {
    let place = Place::new();
    let data = place.generate();
    let words = place.bench(&data, &["--replicates=2"]);
    let mut child = place.command(&strings(&words)).spawn().unwrap();
    place.wait_for_trials(&mut child, 1);
    signal(&child, rustix::process::Signal::INT);
    child.wait_with_output().unwrap();
    let connection = rusqlite::Connection::open(&data).unwrap();
    connection.execute("UPDATE articles SET title = 'other' WHERE id = 1", []).unwrap();
    drop(connection);
    let output = place.run(&["bench", "dashboard", "--resume=latest"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error(&output).contains("the data changed since it began"), "{}", error(&output));
}

#[test]
fn mistakes_are_named_before_anything_is_generated_or_started() {
    let place = Place::new();
    let cases: [(&[&str], i32, &str); 9] = [
        (&["--on=sqlight"], 2, "did you mean `sqlite`"),
        (&["--on=sqlite", "--periods=fortnight"], 2, "`fortnight` is not a period"),
        (&["--on=sqlite", "--start=2021-02-30"], 2, "`2021-02-30` is not a date"),
        (&["--on=sqlite", "--clients=0"], 2, "0"),
        (&["--on=sqlite", "--replicates=0"], 2, "replicates"),
        (&["--on=sqlite", "--mode=article", "--time=3s"], 2, "--time goes with steady trials"),
        (&["--on=sqlite", "--data=nothing.db"], 1, "nothing.db"),
        (&["--url=http://127.0.0.1:9", "--on=sqlite"], 2, "cannot be used with"),
        (&["--resume=20200101-000000-http-0000"], 1, "there is no run"),
    ];
    for (more, code, message) in cases {
        let mut words = vec!["bench", "dashboard"];
        words.extend(more);
        let output = place.run(&words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", error(&output));
        assert!(error(&output).contains(message), "{words:?}: {}", error(&output));
    }
    assert!(!place.path("runs").exists());
    assert!(!place.path("data").join("datasets").exists());
}

#[test]
fn unknown_settings_and_files_are_refused_before_a_trial() {
    let place = Place::new();
    let data = place.generate();
    for (engine, message) in [
        ("--on=postgres:18[wrk_mem=16MB]", "work_mem"),
        ("--on=sqlite[cash_size=100]", "cache_size"),
    ] {
        let data = format!("--data={}", data.display());
        let output = place.run(&["bench", "dashboard", engine, &data]);
        assert_eq!(output.status.code(), Some(2), "{}", error(&output));
        assert!(error(&output).contains(message), "{}", error(&output));
    }
    let text = place.path("text.db");
    std::fs::write(&text, "this is no database, but it is long enough to look like one").unwrap();
    let output =
        place.run(&["bench", "dashboard", "--on=sqlite", &format!("--data={}", text.display())]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error(&output).contains("not a SQLite database"), "{}", error(&output));
    for (more, code, message) in [
        ("--start=2030-01-01", 2, "the data lies between 2020-04-01 and 2022-06-26"),
        ("--blog=nosuch", 1, "nosuch"),
    ] {
        let data = format!("--data={}", data.display());
        let output = place.run(&["bench", "dashboard", "--on=sqlite", &data, more]);
        assert_eq!(output.status.code(), Some(code), "{}", error(&output));
        assert!(error(&output).contains(message), "{}", error(&output));
    }
    assert!(place.runs().is_empty(), "a run without a trial was left");
}

#[test]
fn two_runs_measured_in_turn_are_compared_by_block_pairs() {
    let place = Place::new();
    let [a, b] = &place.two_runs();
    let once = place.run(&["compare", a, b]);
    assert_eq!(once.status.code(), Some(3), "{}", error(&once));
    assert!(text(&once.stdout).contains("Ratios and no verdict"));

    let words = ["compare", a, b, "--rerun", "--replicates=2", "--output-format=json"];
    let compared = place.run(&words);
    // Two blocks are too few for a verdict.
    assert_eq!(compared.status.code(), Some(3), "{}", error(&compared));
    let json = schema::check("compare", &text(&compared.stdout));
    assert_eq!(json["design"], "interleaved");
    assert_eq!(json["rows"].as_array().unwrap().len(), 1);
    assert_eq!(json["rows"][0]["ratio"]["replicates"], 2);
    assert_eq!(json["rows"][0]["verdict"], "undecided");
    schema::check_runs(&place.path("runs"));
    let of = |side: &str| json[side][0]["id"].as_str().unwrap().to_owned();
    let begun: Vec<(String, String)> = [of("a"), of("b")]
        .into_iter()
        .flat_map(|run| {
            let folder = place.path("runs").join(&run).join("trials");
            (1..=2).map(move |trial| {
                let trial = read_json(&folder.join(format!("{trial:04}.json")));
                (trial["started"].as_str().unwrap().to_owned(), run.clone())
            })
        })
        .collect::<BTreeMap<_, _>>()
        .into_iter()
        .collect();
    for pair in begun.chunks(2) {
        assert_ne!(
            pair[0].1, pair[1].1,
            "each block of one beside a block of the other: {begun:?}"
        );
    }
    let resumed = place.run(&["compare", &of("a"), &of("b"), "--output-format=json"]);
    assert_eq!(
        schema::check("compare", &text(&resumed.stdout))["rows"][0]["ratio"],
        json["rows"][0]["ratio"]
    );
}

#[test]
fn an_interruption_of_two_runs_in_turn_asks_for_both_again() {
    let place = Place::new();
    let [a, b] = &place.two_runs();
    let words = ["compare", a, b, "--rerun", "--replicates=200"];
    let before = place.trial_files().len();
    let mut child = place.command(&words).spawn().unwrap();
    place.wait_for_trials(&mut child, before + 3);
    signal(&child, rustix::process::Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    let said = "interrupted; measure both again with `crossover compare --rerun`";
    assert!(error(&output).contains(said), "{}", error(&output));
    let compared = place.run(&["compare", a, b]);
    assert_eq!(
        compared.status.code(),
        Some(3),
        "the recorded runs are whole: {}",
        error(&compared)
    );
}

/// The report of an experiment on SQLite under two labels.
fn sqlite_under_two_labels(place: &Place, data: &Path, more: &[&str]) -> serde_json::Value {
    let data = format!("--data={}", data.display());
    let engines = ["bench", "dashboard", "--on=sqlite[label=one]", "--on=sqlite[label=other]"];
    let words = [&engines, more, &["--clients=1", "--output-format=json", &data]].concat();
    let output = place.run(&words);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", error(&output));
    let document = schema::check("report", &text(&output.stdout));
    let treatments = document["treatments"].as_array().unwrap();
    assert!(treatments.iter().all(|one| one["failures"] == 0 && one["void_trials"] == 0));
    document
}

#[test]
fn two_labels_of_an_engine_are_two_lines() {
    let place = Place::new();
    let data = place.generate();
    let one_block = ["--periods=week", "--replicates=1", "--mode=article"];
    let document = sqlite_under_two_labels(&place, &data, &one_block);
    let treatments = document["treatments"].as_array().unwrap();
    for label in ["one", "other"] {
        assert_eq!(treatments.iter().filter(|treatment| treatment["engine"] == label).count(), 1);
    }
}

fn is_none(verdict: &str) -> bool {
    verdict == "undecided"
}

#[test]
#[ignore = "make prove"]
fn proof_that_sqlite_equals_itself_under_two_labels() {
    let place = Place::new();
    let data = place.generate();
    let five_blocks = ["--periods=week,month", "--replicates=5", "--time=1s", "--no-bisection"];
    let shown = |one: &serde_json::Value| {
        one["ratio"]["verdict"].as_str().is_some_and(|verdict| !is_none(verdict))
    };
    let has_verdict = |_: &i32| {
        let document = sqlite_under_two_labels(&place, &data, &five_blocks);
        document["treatments"].as_array().unwrap().iter().any(shown)
    };
    let false_verdicts = (0..20).filter(has_verdict).count();
    println!("SQLite under two labels: {false_verdicts} of 20 experiments with a verdict");
    // 1 in 20 is expected; 3 or fewer in 98 of 100 such proofs.
    assert!(false_verdicts <= 3, "{false_verdicts}");
}
