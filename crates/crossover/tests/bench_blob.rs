//! The blob experiment by the program itself, at tiny sizes: real SQLite files, folders and a managed
//! PostgreSQL; bytes that are wrong end it; mistakes are named.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod place;
mod schema;

use std::path::{Path, PathBuf};
use std::process::Output;

use place::Place;
use serde_json::Value;

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The report's document of `bench blob WORDS`, which must end well.
fn measured(place: &Place, words: &[&str]) -> Value {
    let words = [&["bench", "blob"], words, &["--output-format=json"]].concat();
    let output = place.run(&words);
    // One block decides nothing: exit code 3 is "done, undecided".
    let code = output.status.code();
    assert!(code == Some(0) || code == Some(3), "{words:?}: {}", error(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    schema::check_runs(&place.path("runs"));
    schema::check("report", &text)
}

fn trials(place: &Place) -> Vec<Value> {
    let runs = std::fs::read_dir(place.path("runs")).unwrap();
    let mut paths: Vec<PathBuf> = runs
        .flat_map(|run| std::fs::read_dir(run.unwrap().path().join("trials")).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap())
        .collect()
}

fn find<'a>(list: &'a Value, key: &str, value: &str) -> &'a Value {
    let found = list.as_array().unwrap().iter().find(|one| one[key] == value);
    found.unwrap_or_else(|| unreachable!("{value} is not in {list}"))
}

#[test]
fn every_form_is_read_and_overwritten_checked_and_told_as_the_article_tells_it() {
    let place = Place::new();
    let document = measured(
        &place,
        &[
            "--count=120",
            "--passes=2",
            "--replicates=1",
            "--on=sqlite",
            "--on=sqlite[access=blob_api]",
            "--on=sqlite[access=blob_api,mmap_size=100000000,label=mapped]",
            "--on=sqlite[journal_mode=wal,synchronous=normal,label=wal]",
            "--on=sqlite[journal_mode=off,synchronous=off,label=off]",
            "--on=sqlite[transaction=each]",
            "--on=dir[read=stdio]",
            "--on=dir[read=openat]",
            "--on=dir[fsync=on]",
            "--on=tree",
            "--on=sqlite+dir",
            "--on=postgres:18",
        ],
    );
    let trials = trials(&place);
    assert_eq!(trials.len(), 12 * 2);
    for trial in &trials {
        assert_eq!(trial["status"], "ok", "{trial}");
        let reads = trial["levels"]["operation"] == "read";
        // Two passes over 120 blobs, or two transactions of 12 updates.
        assert_eq!(trial["requests"], if reads { 240 } else { 24 });
        let bytes = trial["counters"]["blob_bytes"].as_f64().unwrap();
        let blobs = trial["requests"].as_f64().unwrap();
        assert!((8_000.0..=12_000.0).contains(&(bytes / blobs)), "{trial}");
        assert_eq!(trial["counters"].get("blob_checkpoint_seconds").is_some(), !reads);
    }
    let blob = &document["blob"];
    let ids: Vec<&str> = blob["pictures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|picture| picture["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["read_sql", "read_blob_api", "read_mmap", "update_wal", "update_off"]);
    for picture in blob["pictures"].as_array().unwrap() {
        let base = picture["base"].as_str().unwrap();
        assert!(picture["paragraph"].as_str().unwrap().starts_with(base), "{picture}");
        assert!(find(&picture["bars"], "engine", "tree")["ratio"]["value"].is_f64());
    }
    // 120 files of 8 to 12 kB fill their last blocks on average by half: they take more room.
    let room = &find(&blob["space"], "engine", "dir[read=stdio]");
    assert_eq!(room["blobs"], 120);
    assert!(room["allocated_bytes"].as_u64() > room["content_bytes"].as_u64());
    let files = find(&blob["times"], "engine", "dir[read=stdio]");
    let share = files["open_close_fraction"].as_f64().unwrap();
    assert!(share > 0.0 && share < 1.0, "{files}");
    let verdicts = blob["claims"].as_array().unwrap().iter();
    let missing: Vec<&Value> = verdicts.filter(|one| one["verdict"] == "not_measured").collect();
    assert_eq!(missing.len(), 1, "only cold caches were not measured: {missing:?}");
    for (engine, durability) in [
        ("sqlite", "survives_power_loss"),
        ("wal", "survives_program_crash"),
        ("off", "none"),
        ("dir[read=stdio]", "none"),
        ("postgres:18", "survives_power_loss"),
    ] {
        assert_eq!(find(&document["engines"], "name", engine)["durability"], durability);
    }
    let text = place.run(&["report", "latest", "--format=text"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    for part in ["Time per blob", "µs per blob", "Room on storage", "What the article claims"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn sizes_are_swept_and_large_blobs_are_fewer() {
    let place = Place::new();
    let words = [
        "size",
        "--sizes=1k,100k",
        "--count=400",
        "--total=2M",
        "--passes=1",
        "--replicates=5",
        "--no-bisection",
        "--on=dir[read=plain]",
        "--on=sqlite",
    ];
    let document = measured(&place, &words);
    let factor = find(&document["factors"], "name", "blob_bytes");
    assert_eq!(factor["levels"][1]["label"], "100 kB");
    for trial in trials(&place) {
        let size = trial["levels"]["blob_bytes"].as_f64().unwrap();
        let blobs = if size < 2_000.0 { 400 } else { 20 };
        let updates = trial["levels"]["operation"] == "update";
        assert_eq!(trial["requests"], if updates { blobs / 10 } else { blobs });
    }
    // One sweep of reads and one of updates.
    assert!(document["crossings"].as_array().unwrap().len() >= 2);
    let durabilities = document["engines"].as_array().unwrap().iter();
    assert!(durabilities.map(|one| &one["durability"]).all(|one| one == "none"));
}

#[test]
fn cold_trials_read_each_blob_once_and_say_how_cold_they_were() {
    let place = Place::new();
    let words = [
        "cold",
        "--count=50",
        "--passes=3",
        "--replicates=1",
        "--on=sqlite",
        "--on=dir[read=plain]",
    ];
    let document = measured(&place, &words);
    for trial in trials(&place) {
        let cold = trial["levels"]["cache"] == "cold";
        assert_eq!(trial["requests"], if cold { 50 } else { 150 });
        let resident = trial["counters"].get("blob_resident_before_fraction");
        assert_eq!(resident.is_some(), cold);
        assert!(resident.is_none_or(|share| share.as_f64().unwrap() <= 0.05));
    }
    assert!(document["conditions"].as_str().unwrap().contains("cold where it says so"));
    let run = std::fs::read_dir(place.path("runs")).unwrap().next().unwrap().unwrap().path();
    let run: Value = serde_json::from_slice(&std::fs::read(run.join("run.json")).unwrap()).unwrap();
    let settings = run["engines"]["sqlite (cache=cold)"]["settings"].to_string();
    assert!(settings.contains("data cold") || settings.contains("data and metadata cold"));
}

#[test]
fn readers_share_a_pass_and_durability_is_the_same_promise_everywhere() {
    let place = Place::new();
    let words = ["clients", "--count=90", "--passes=1", "--replicates=1", "--on=sqlite"];
    measured(&place, &words);
    for trial in trials(&place) {
        assert_eq!(trial["requests"], 90, "all clients together read each blob once");
    }
    let place = Place::new();
    let words =
        ["durability", "--count=40", "--passes=1", "--replicates=1", "--on=sqlite", "--on=dir"];
    let document = measured(&place, &words);
    let warnings = document["warnings"].to_string();
    assert!(!warnings.contains("durability_differs"), "{warnings}");
    let run = std::fs::read_dir(place.path("runs")).unwrap().next().unwrap().unwrap().path();
    let run: Value = serde_json::from_slice(&std::fs::read(run.join("run.json")).unwrap()).unwrap();
    for (start, promise) in [
        ("sqlite", "none"),
        ("dir", "none"),
        ("sqlite (durability=program_crash)", "survives_program_crash"),
        ("dir (durability=program_crash)", "survives_program_crash"),
        ("sqlite (durability=power_loss)", "survives_power_loss"),
        ("dir (durability=power_loss)", "survives_power_loss"),
        ("sqlite (durability=power_loss, transaction=each)", "survives_power_loss"),
    ] {
        assert_eq!(run["engines"][start]["durability"], promise, "{start}");
    }
    // Three promises, for all at once and for each blob, by both lines.
    assert_eq!(trials(&place).len(), 12);
}

/// The exported folder of a running experiment, once it is there.
fn exported(data: &Path) -> Option<PathBuf> {
    let runs = std::fs::read_dir(data.join("scratch")).ok()?.flatten();
    let inside = runs.flat_map(|run| std::fs::read_dir(run.path()).into_iter().flatten().flatten());
    let mut paths = inside.map(|entry| entry.path());
    paths.find(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("folder-"))
    })
}

/// Runs `words` with reads of 50 files, and changes a byte of one of them as soon as `ready`.
fn damaged(place: &Place, words: &[&str], ready: impl Fn() -> bool) {
    use std::os::unix::fs::FileExt as _;
    let reads = ["bench", "blob", "--count=50", "--operations=read", "--on=dir"];
    let mut child = place.command(&[&reads[..], words].concat()).spawn().unwrap();
    let folder = loop {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was damaged");
        match exported(&place.path("data")) {
            Some(folder) if ready() => break folder,
            _ => std::thread::yield_now(),
        }
    };
    let path = folder.join("000017");
    let other = std::fs::read(&path).unwrap()[5_000] ^ 1;
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[other], 5_000).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    assert!(error(&output).contains("dir: wrong bytes in blob 17"), "{}", error(&output));
}

#[test]
fn wrong_bytes_end_the_experiment() {
    // More blocks than it will come to: a turn after the damage finds it.
    damaged(&Place::new(), &["--passes=1", "--replicates=1000"], || true);
}

#[test]
fn wrong_bytes_in_the_last_trial_are_found_too_and_make_it_void() {
    let place = Place::new();
    // Written when the line has been checked and warmed: its only, long trial follows.
    let begun = || {
        let runs = std::fs::read_dir(place.path("runs")).into_iter().flatten().flatten();
        let mut texts = runs.map(|run| std::fs::read_to_string(run.path().join("run.json")));
        texts.any(|text| text.is_ok_and(|text| text.contains("content_bytes")))
    };
    damaged(&place, &["--passes=5000", "--replicates=1"], begun);
    let trials = trials(&place);
    let void = trials[0]["status"]["void"].as_str().unwrap();
    assert!(trials.len() == 1 && void.contains("wrong bytes in blob 17"), "{trials:?}");
}

#[test]
fn what_cannot_be_measured_is_refused_with_exit_code_2() {
    let place = Place::new();
    for (words, said) in [
        (&["--on=dir[read=fast]"][..], "read is none of stdio, plain, openat"),
        (&["--on=dir[fsnyc=on]"], "did you mean `fsync`?"),
        (&["--on=dir:/tmp"], "crossover blob run"),
        (&["--on=sqlite[page_size=512]"], "page_bytes under [blob]"),
        (&["--on=sqlite[mmap_siz=5]"], "mmap_siz"),
        (&["durability", "--on=sqlite[synchronous=off]"], "synchronous is set by blob.durability"),
        (&["durability", "--on=dir[fsync=on]"], "fsync is set by blob.durability"),
        (
            &["durability", "--on=sqlite[transaction=each]"],
            "transaction is set by blob.transaction",
        ),
        (&["cold", "--on=postgres:18"], "does not measure it cold"),
        (&["cold", "--operations=read"], "--operations goes with"),
        (&["--count=3"], "blob.count: `3` is no whole number from 16"),
        (&["--sizes=0"], "at least 1"),
    ] {
        let words = [&["bench", "blob"], words].concat();
        let output = place.run(&words);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", error(&output));
        assert!(error(&output).contains(said), "{words:?}: {}", error(&output));
    }
    assert!(!place.path("runs").exists());
}

#[test]
fn the_plan_that_is_printed_is_the_plan_that_runs() {
    let place = Place::new();
    let words =
        ["bench", "blob", "size", "--sizes=1k,10k", "--count=500", "--on=sqlite", "--on=tree"];
    let printed = place.run(&[&words[..], &["--print-plan"]].concat());
    assert_eq!(printed.status.code(), Some(0), "{}", error(&printed));
    std::fs::write(place.path("plan.toml"), &printed.stdout).unwrap();
    let preview = |words: &[&str]| {
        let output = place.run(&[words, &["--dry-run", "--seed=1"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(preview(&words), preview(&["bench", "plan.toml"]));
    assert!(preview(&words).contains("updates"));
}

#[test]
fn a_budget_too_small_for_intervals_is_told_before_anything_is_measured() {
    let place = Place::new();
    let told = |budget: &str| {
        let output = place.run(&["bench", "blob", budget, "--dry-run"]);
        assert_eq!(output.status.code(), Some(0), "{}", error(&output));
        error(&output)
    };
    let small = told("--budget=1m");
    assert!(
        small.contains("--budget 1m: 5 blocks take about") && small.contains("--on"),
        "{small}"
    );
    assert!(!told("--budget=10h").contains("--budget"));
}
