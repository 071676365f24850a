//! Recorded runs by the program itself: listed, removed, reported in every form, compared. The runs
//! are written here, file by file, so that what they must show is known.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod schema;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

const PLAN: &str = r#"
title = "Which of two?"
workload = "http"
engines = ["sqlite[label=one]", "sqlite[label=other]"]
replicates = 5
[factors]
clients = [1, 2]
[application]
start = ["app"]
[[request]]
name = "all"
path = "/"
"#;

struct Runs {
    folder: TempDir,
}

/// A run to be written.
struct Sitting<'a> {
    id: &'a str,
    /// Times everything that it took.
    factor: f64,
    /// Spread of the blocks.
    noise: f64,
    data: &'a str,
    plan: &'a str,
    interleaved_with: Option<&'a str>,
}

impl<'a> Sitting<'a> {
    fn new(id: &'a str, factor: f64) -> Self {
        Self { id, factor, noise: 0.01, data: "d", plan: PLAN, interleaved_with: None }
    }
}

impl Runs {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("runs")
    }

    fn write(&self, sitting: &Sitting<'_>) -> PathBuf {
        let run = self.path().join(sitting.id);
        std::fs::create_dir_all(run.join("trials")).unwrap();
        std::fs::write(run.join("plan.toml"), sitting.plan).unwrap();
        std::fs::write(run.join("run.json"), run_json(sitting).to_string()).unwrap();
        let mut number = 0;
        for block in 1..=5 {
            for (engine, base) in [("one", 10.0), ("other", 20.0)] {
                for clients in [1.0, 2.0] {
                    number += 1;
                    // A wobble that no two trials and no two runs share.
                    let wobble =
                        (number * 7919 + sitting.id.len() * 31 + id_number(sitting.id)) % 101;
                    let noise = 1.0 + sitting.noise * (wobble as f64 / 50.0 - 1.0);
                    let mean = base * clients * sitting.factor * noise;
                    let trial = trial_json(number, block, engine, clients, mean);
                    let path = run.join("trials").join(format!("{number:04}.json"));
                    std::fs::write(path, trial.to_string()).unwrap();
                }
            }
        }
        run
    }

    fn crossover(&self, words: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_crossover"))
            .args(words)
            .current_dir(self.folder.path())
            .env_remove("CROSSOVER_RUNS")
            .output()
            .unwrap()
    }

    /// Standard output, where the exit code is `code`.
    fn expect(&self, code: i32, words: &[&str]) -> String {
        let output = self.crossover(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", error(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard error, where the exit code is `code`.
    fn refused(&self, code: i32, words: &[&str]) -> String {
        let output = self.crossover(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", error(&output));
        assert!(output.stdout.is_empty());
        error(&output)
    }
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn id_number(id: &str) -> usize {
    id.bytes().map(usize::from).sum::<usize>() * 17
}

fn run_json(sitting: &Sitting<'_>) -> Value {
    let cells = [json!({"clients": 1.0}), json!({"clients": 2.0})];
    json!({
        "schema_version": 1,
        "id": sitting.id,
        "started": format!("{}-{}-{}T08:00:00Z", &sitting.id[..4], &sitting.id[4..6], &sitting.id[6..8]),
        "finished": null,
        "complete": true,
        "seed": 7,
        "command_line": "crossover bench plan.toml",
        "crossover_version": "0.1.0",
        "program_digest": "p",
        "data_digest": sitting.data,
        "environment": {
            "cpu_model": "a processor", "cpus": 2, "memory_bytes": 1 << 30, "swap_bytes": 0,
            "operating_system": null, "kernel": "Linux", "kernel_command_line": null,
            "idle_governor": null, "frequency_governor": null, "clock_source": null,
            "virtualisation": null, "data_directory": "/data", "file_system": null,
            "fdatasync_ms": null, "crossover_version": "0.1.0", "build_profile": "release",
            "rust_version": "r", "sqlite_version": "3", "sqlite_compile_options": [],
        },
        "engines": {},
        "rounds": [{ "cells": cells, "blocks": 5 }],
        "resumed": [],
        "answers": {},
        "interleaved_with": sitting.interleaved_with,
    })
}

/// As release 0.1.0 wrote it: everything newer is left out.
fn trial_json(number: usize, block: usize, engine: &str, clients: f64, mean: f64) -> Value {
    json!({
        "number": number, "block": block, "engine": engine, "levels": { "clients": clients },
        "status": "ok", "started": "2026-11-01T08:00:00Z", "wall_seconds": 1.0, "requests": 100,
        "failures": 0, "first_failure": null, "response_time_ms_mean": mean,
        "requests_per_second": 1000.0 / mean, "cpu_seconds_per_request": mean / 1000.0,
        "cores_used": 1.0, "client_cores_used": 0.01, "steal_fraction": 0.0,
        "other_cores_used": 0.0, "server_resident_bytes": null,
        "by_request": [{ "name": "all", "requests": 100, "response_time_ms_mean": mean }],
    })
}

#[test]
fn runs_are_listed_filtered_and_removed() {
    let runs = Runs::new();
    assert_eq!(runs.expect(0, &["runs", "--output-format=json"]), "[]\n");
    let old = runs.write(&Sitting::new("20261001-080000-http-0001", 1.0));
    runs.write(&Sitting::new("20261101-080000-http-0002", 1.0));
    schema::check_runs(&runs.path());
    let listed = runs.expect(0, &["runs", "--output-format=json"]);
    let all = schema::check("runs", &listed);
    assert_eq!(all[0]["id"], "20261101-080000-http-0002", "the newest first");
    assert_eq!((&all[0]["blocks"], &all[0]["complete"]), (&json!(5), &json!(true)));
    assert!(all[0]["verdict"].as_str().unwrap().starts_with("one is faster"), "{all}");
    let count = |words: &[&str]| {
        let words = [&["runs", "--output-format=csv"], words].concat();
        runs.expect(0, &words).lines().count() - 1
    };
    assert_eq!((count(&["WHICH"]), count(&["--since=2026-10-15"]), count(&["nothing"])), (2, 1, 0));
    assert_eq!((count(&["--workload=http"]), count(&["--workload=sql"])), (2, 0));
    assert!(runs.expect(0, &["runs"]).contains("Which of two?"));
    let message = runs.refused(2, &["runs", "--since=yesterday-ish"]);
    assert!(message.contains("neither a date"), "{message}");

    let message = runs.refused(2, &["runs", "remove", "20261001-080000-http-0001"]);
    assert!(message.contains("--yes"), "{message}");
    let removed = runs.expect(0, &["runs", "remove", "20261001-080000-http-0001", "--yes"]);
    assert_eq!(removed, "20261001-080000-http-0001\n");
    assert!(!old.exists());
    assert_eq!(count(&[]), 1);
}

#[test]
fn only_what_is_certainly_a_run_is_removed() {
    let runs = Runs::new();
    let run = runs.write(&Sitting::new("20261101-080000-http-0002", 1.0));
    let renamed = runs.path().join("mine");
    std::fs::rename(&run, &renamed).unwrap();
    std::os::unix::fs::symlink(&renamed, runs.path().join("link")).unwrap();
    let other = runs.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let broken = runs.write(&Sitting::new("20261102-080000-http-0003", 1.0));
    std::fs::write(broken.join("run.json"), "{").unwrap();
    for (name, reason) in [
        ("mine", "belongs to the run 20261101-080000-http-0002"),
        ("link", "it is a link"),
        ("../other", "there is no run"),
        ("20261102-080000-http-0003", "cannot be read"),
    ] {
        let message = runs.refused(1, &["runs", "remove", name, "--yes"]);
        assert!(message.contains(reason), "{message}");
    }
    assert!(renamed.join("run.json").is_file() && other.is_dir() && broken.is_dir());
}

#[test]
fn a_run_that_is_being_measured_is_neither_removed_nor_resumed() {
    let runs = Runs::new();
    let id = "20261101-080000-http-0002";
    let run = runs.write(&Sitting::new(id, 1.0));
    // As the laboratory holds it while it measures.
    let measuring = std::fs::File::open(&run).unwrap();
    measuring.try_lock().unwrap();
    let message = runs.refused(1, &["runs", "remove", id, "--yes"]);
    assert!(message.contains("is being measured"), "{message}");
    let message = runs.refused(1, &["bench", "--resume", id]);
    assert!(message.contains("is being measured"), "{message}");
    drop(measuring);
    runs.expect(0, &["runs", "remove", id, "--yes"]);
    assert!(!run.exists());
}

#[test]
fn a_report_has_every_form_and_several_runs_stand_side_by_side() {
    let runs = Runs::new();
    let run = runs.write(&Sitting::new("20261101-080000-http-0001", 1.0));
    runs.write(&Sitting::new("20261101-080000-http-0002", 3.0));
    let one = "20261101-080000-http-0001";
    let both = [one, "20261101-080000-http-0002"];
    assert_eq!(runs.expect(0, &["report", one]).trim(), run.join("report.html").to_str().unwrap());
    let page = runs.expect(0, &["report", both[0], both[1], "--common-axes"]);
    let page = std::fs::read_to_string(page.trim()).unwrap();
    assert!(page.contains("\"common_axes\":true") && page.contains(both[1]));

    let document = schema::check("report", &runs.expect(0, &["report", one, "--format=json"]));
    assert_eq!(document["treatments"].as_array().unwrap().len(), 4);
    let words = ["report", both[0], both[1], "--format=json"];
    assert_eq!(
        schema::check("report", &runs.expect(0, &words))["documents"][1]["run"]["id"],
        both[1]
    );

    let csv = runs.expect(0, &["report", both[0], both[1], "--format=csv"]);
    assert_eq!(csv.lines().count(), 1 + 2 * 4);
    assert!(csv.starts_with("run,clients,engine,response_time_ms_mean,low,high,"), "{csv}");
    let csv = runs.expect(0, &["report", one, "--format=csv", "--rows=trial"]);
    assert_eq!(csv.lines().count(), 1 + 20);
    let markdown = runs.expect(0, &["report", one, "--format=markdown"]);
    assert!(markdown.starts_with("# Which of two?\n"), "{markdown}");
    assert!(markdown.contains("| Clients   | Engine | "), "{markdown}");
    let text = runs.expect(0, &["report", both[0], both[1], "--format=text"]);
    assert!(text.contains(&format!("{}, ms", both[1])), "{text}");
    let file = runs.expect(0, &["report", one, "--format=markdown", "--output=out.md"]);
    assert_eq!(std::fs::read_to_string(file.trim()).unwrap(), markdown);
    for (words, reason) in [
        (["report", one, "--common-axes"], "several runs"),
        (["report", one, "--rows=trial"], "--format csv"),
    ] {
        assert!(runs.refused(2, &words).contains(reason));
    }
}

#[test]
fn a_record_cut_short_or_newer_is_named_and_an_older_one_is_read() {
    let runs = Runs::new();
    let id = "20261101-080000-http-0001";
    let run = runs.write(&Sitting::new(id, 1.0));
    let cut = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        std::fs::write(path, &text[..text.len() / 2]).unwrap();
        text
    };
    let whole = cut(&run.join("trials/0003.json"));
    let message = runs.refused(1, &["report", id]);
    assert!(message.contains("0003.json is damaged") && message.contains("--resume"), "{message}");
    let listed = schema::check("runs", &runs.expect(0, &["runs", "--output-format=json"]));
    assert_eq!((&listed[0]["readable"], &listed[0]["id"]), (&json!(false), &json!(id)));
    std::fs::write(run.join("trials/0003.json"), whole).unwrap();

    let whole = cut(&run.join("run.json"));
    assert!(runs.refused(1, &["report", id]).contains("run.json is damaged"));
    let mut newer: Value = serde_json::from_str(&whole).unwrap();
    newer["schema_version"] = json!(2);
    newer["environment"] = json!("of another form");
    std::fs::write(run.join("run.json"), newer.to_string()).unwrap();
    let message = runs.refused(1, &["compare", id, "latest"]);
    assert!(message.contains("newer Crossover") && message.contains("update"), "{message}");

    let mut older: Value = serde_json::from_str(&whole).unwrap();
    older.as_object_mut().unwrap().remove("interleaved_with");
    older["rounds"][0].as_object_mut().unwrap().remove("blocks");
    std::fs::write(run.join("run.json"), older.to_string()).unwrap();
    let document = schema::check("report", &runs.expect(0, &["report", id, "--format=json"]));
    assert_eq!(document["warnings"][0]["kind"], "shared_cores", "not incomplete: {document}");
    std::fs::remove_file(run.join("plan.toml")).unwrap();
    assert!(runs.refused(1, &["report", id]).contains("plan.toml"));
}

#[test]
fn one_sitting_per_side_gives_ratios_and_no_verdict() {
    let runs = Runs::new();
    let (a, b) = ("20261101-080000-http-000a", "20261102-080000-http-000b");
    runs.write(&Sitting::new(a, 1.0));
    runs.write(&Sitting::new(b, 1.5));
    let compared = runs.expect(3, &["compare", a, b, "--output-format=json"]);
    let compared = schema::check("compare", &compared);
    assert_eq!(compared["design"], "too_few_sittings");
    for row in compared["rows"].as_array().unwrap() {
        let ratio = row["ratio"]["value"].as_f64().unwrap();
        assert!((ratio - 1.5).abs() < 0.05, "{row}");
        assert!(row["verdict"].is_null() && row["ratio"]["low"].is_null(), "{row}");
    }
    let text = runs.expect(3, &["compare", a, b, "--fail-on-regression=5%"]);
    assert!(text.contains("Ratios and no verdict") && text.contains("--rerun"), "{text}");
    // The same two, measured block by block in one sitting.
    runs.write(&Sitting { interleaved_with: Some(b), ..Sitting::new(a, 1.0) });
    runs.write(&Sitting { interleaved_with: Some(a), ..Sitting::new(b, 1.5) });
    let compared = runs.expect(0, &["compare", a, b, "--output-format=json"]);
    let compared = schema::check("compare", &compared);
    assert_eq!(
        (&compared["design"], &compared["rows"][0]["verdict"]),
        (&json!("interleaved"), &json!("slower"))
    );
    runs.expect(99, &["compare", a, b, "--fail-on-regression=5%"]);
    runs.expect(0, &["compare", b, a, "--fail-on-regression=5%"]);
}

#[test]
fn two_blocks_in_one_sitting_show_ratios_and_no_interval() {
    let runs = Runs::new();
    let (a, b) = ("20261101-080000-http-000a", "20261102-080000-http-000b");
    for (id, other) in [(a, b), (b, a)] {
        let run = runs.write(&Sitting { interleaved_with: Some(other), ..Sitting::new(id, 1.0) });
        for number in 9..=20 {
            std::fs::remove_file(run.join(format!("trials/{number:04}.json"))).unwrap();
        }
    }
    let text = runs.expect(3, &["compare", a, b]);
    assert!(text.contains("Ratios and no verdict after 2 blocks: at least 5"), "{text}");
    assert!(text.contains("the smallest and the largest") && !text.contains("95%"), "{text}");
}

#[test]
fn a_treatment_that_fails_is_named_and_passes_no_threshold() {
    let runs = Runs::new();
    let (a, b) = ("20261101-080000-http-000a", "20261102-080000-http-000b");
    runs.write(&Sitting { interleaved_with: Some(b), ..Sitting::new(a, 1.0) });
    let run = runs.write(&Sitting { interleaved_with: Some(a), ..Sitting::new(b, 1.0) });
    let compare = ["compare", a, b, "--fail-on-regression=5%", "--output-format=json"];
    runs.expect(0, &compare);
    // One wrong answer of `other` with 2 clients.
    let path = run.join("trials/0004.json");
    let mut trial: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((&trial["engine"], &trial["levels"]["clients"]), (&json!("other"), &json!(2.0)));
    trial["failures"] = json!(1);
    std::fs::write(&path, trial.to_string()).unwrap();
    let compared = schema::check("compare", &runs.expect(3, &compare));
    assert_eq!(compared["rows"].as_array().unwrap().len(), 3);
    let warning = &compared["warnings"][0];
    assert_eq!(warning["kind"], "left_out");
    assert!(warning["message"].as_str().unwrap().ends_with(": other, 2 clients."), "{warning}");
}

#[test]
fn a_treatment_that_stands_in_several_cells_is_compared_once() {
    let runs = Runs::new();
    let (a, b) = ("20261101-080000-http-000a", "20261102-080000-http-000b");
    let plan = PLAN.replace("label=other", "cache_size={cache},label=other");
    let plan = plan.replace("clients = [1, 2]", "clients = [1, 2]\ncache = [-2000, -4000]");
    for (id, other) in [(a, b), (b, a)] {
        let sitting =
            Sitting { plan: &plan, interleaved_with: Some(other), ..Sitting::new(id, 1.0) };
        let run = runs.write(&sitting);
        let cell = |clients: f64, cache: f64| json!({ "clients": clients, "cache": cache });
        let mut record = run_json(&sitting);
        record["rounds"][0]["cells"] =
            json!(
                [cell(1.0, -2000.0), cell(1.0, -4000.0), cell(2.0, -2000.0), cell(2.0, -4000.0),]
            );
        std::fs::write(run.join("run.json"), record.to_string()).unwrap();
        for trial in std::fs::read_dir(run.join("trials")).unwrap() {
            let path = trial.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let mut trial: Value = serde_json::from_str(&text).unwrap();
            trial["levels"]["cache"] = json!(-2000.0);
            std::fs::write(&path, trial.to_string()).unwrap();
        }
    }
    // `one` knows no cache; `other` was measured with the first one only.
    let compared = runs.expect(3, &["compare", a, b, "--output-format=json"]);
    let compared = schema::check("compare", &compared);
    let engines: Vec<&str> = compared["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["engine_a"].as_str().unwrap())
        .collect();
    assert_eq!(engines, ["one", "one", "other", "other"]);
    let message = compared["warnings"][0]["message"].as_str().unwrap();
    assert_eq!(message.matches("other, ").count(), 2, "{message}");
}

#[test]
fn several_sittings_per_side_have_verdicts() {
    let runs = Runs::new();
    let days = ["01", "02", "03"];
    let side = |letter: &str, factor: f64, noise: f64| -> String {
        let ids: Vec<String> =
            days.iter().map(|day| format!("202611{day}-080000-http-{letter}")).collect();
        for (id, drift) in ids.iter().zip([1.0 - noise, 1.0, 1.0 + noise]) {
            runs.write(&Sitting::new(id, factor * drift));
        }
        ids.join(",")
    };
    let (a, same, slow, noisy) = (
        side("000a", 1.0, 0.002),
        side("000b", 1.001, 0.002),
        side("000c", 1.2, 0.002),
        side("000d", 1.04, 0.05),
    );
    let verdicts = |b: &str, code: i32, more: &[&str]| -> Vec<String> {
        let words = [&["compare", &a, b, "--output-format=json"], more].concat();
        let compared = schema::check("compare", &runs.expect(code, &words));
        assert_eq!(compared["design"], "several_sittings");
        let rows = compared["rows"].as_array().unwrap();
        rows.iter().map(|row| row["verdict"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(verdicts(&slow, 0, &[]), ["slower"; 4]);
    assert_eq!(verdicts(&slow, 99, &["--fail-on-regression=5%"]), ["slower"; 4]);
    assert_eq!(verdicts(&same, 0, &["--equivalent-within=3%"]), ["equivalent"; 4]);
    assert_eq!(verdicts(&same, 0, &["--fail-on-regression=5%"]), ["undecided"; 4]);
    assert_eq!(verdicts(&noisy, 3, &["--fail-on-regression=5%"]), ["undecided"; 4]);
}

#[test]
fn runs_of_different_work_are_refused_and_other_differences_are_said() {
    let runs = Runs::new();
    let a = "20261101-080000-http-000a";
    runs.write(&Sitting::new(a, 1.0));
    let other_data = Sitting { data: "e", ..Sitting::new("20261102-080000-http-000b", 1.0) };
    runs.write(&other_data);
    let plan = PLAN.replace("\"all\"", "\"some\"");
    let other_work = Sitting { plan: &plan, ..Sitting::new("20261103-080000-http-000c", 1.0) };
    runs.write(&other_work);
    // The same names, but the plan's constants ask for something else.
    let plan = PLAN.replace("path = \"/\"", "path = \"/?blog={blog}\"");
    let asked = |blog: &str| format!("{plan}[constants]\nblog = \"{blog}\"\n");
    let [one_blog, other_blog] = ["one", "other"].map(asked);
    let one_blog = Sitting { plan: &one_blog, ..Sitting::new("20261103-080000-http-000e", 1.0) };
    let other_blog =
        Sitting { plan: &other_blog, ..Sitting::new("20261103-080000-http-000f", 1.0) };
    runs.write(&one_blog);
    runs.write(&other_blog);
    let message = runs.refused(2, &["compare", one_blog.id, other_blog.id]);
    assert!(message.contains("different work"), "{message}");
    for (b, reason) in
        [(other_data.id, "different data"), (other_work.id, "different work"), (a, "named twice")]
    {
        let message = runs.refused(2, &["compare", a, b]);
        assert!(message.contains(reason), "{message}");
    }
    let renamed = PLAN.replace("label=other", "label=third");
    let third = Sitting { plan: &renamed, ..Sitting::new("20261104-080000-http-000d", 1.0) };
    let run = runs.write(&third);
    for trial in std::fs::read_dir(run.join("trials")).unwrap() {
        let path = trial.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap().replace("\"other\"", "\"third\"");
        std::fs::write(path, text).unwrap();
    }
    let text =
        std::fs::read_to_string(run.join("run.json")).unwrap().replace("a processor", "another");
    std::fs::write(run.join("run.json"), text).unwrap();
    let text = runs.expect(3, &["compare", a, third.id]);
    assert!(text.contains("other of side A is compared with third of side B"), "{text}");
    assert!(text.contains("different machines"), "{text}");
}
