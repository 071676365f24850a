//! Disturbed experiments: blobs are changed, or dropped from the page cache, during a trial.

use std::path::{Path, PathBuf};

use super::find;
use crate::place::{Place, error};

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
fn wrong_bytes_in_the_last_trial_make_it_void() {
    let place = Place::new();
    // Written when the line has been checked and warmed: its only, long trial follows.
    let begun = || {
        let runs = std::fs::read_dir(place.path("runs")).into_iter().flatten().flatten();
        let mut texts = runs.map(|run| std::fs::read_to_string(run.path().join("run.json")));
        texts.any(|text| text.is_ok_and(|text| text.contains("content_bytes")))
    };
    damaged(&place, &["--passes=5000", "--replicates=1"], begun);
    let trials = place.trials();
    let void = trials[0]["status"]["void"].as_str().unwrap();
    assert!(trials.len() == 1 && void.contains("wrong bytes in blob 17"), "{trials:?}");
}

#[test]
fn files_of_a_killed_run_are_not_measured_when_it_is_resumed() {
    let place = Place::new();
    let words = ["bench", "blob", "--count=50", "--operations=read", "--on=dir"];
    let words = [&words[..], &["--passes=1", "--replicates=10"]].concat();
    let mut child = place.command(&words).spawn().unwrap();
    place.wait_for_trials(&mut child, 1);
    child.kill().unwrap();
    child.wait().unwrap();
    for file in std::fs::read_dir(exported(&place.path("data")).unwrap()).unwrap() {
        std::fs::write(file.unwrap().path(), "cut off").unwrap();
    }
    let output = place.run(&["bench", "--resume=latest"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    let trials = place.trials();
    assert_eq!(trials.len(), 10);
    assert!(trials.iter().all(|trial| trial["status"] == "ok"), "{trials:?}");
}

/// Without a sync, which waits for all that others write to the same disk: the files are synced.
fn drop_pages(folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for file in entries.filter_map(|entry| std::fs::File::open(entry.path()).ok()) {
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    }
}

#[test]
fn warm_reads_from_storage_are_repeated_then_reported() {
    // What lies in a file system of memory cannot be dropped.
    let place = Place::on_disk();
    let words = ["bench", "blob", "--operations=read", "--on=dir", "--count=50"];
    // Large ones: on a busy machine dropping a file can take as long as many small reads.
    let words = [&words[..], &["--sizes=256K", "--passes=300", "--replicates=1"]].concat();
    let mut child = place.command(&words).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        // Whatever was just read is gone again; at the end the folder is too.
        match exported(&place.path("data")) {
            Some(folder) => drop_pages(&folder),
            None => std::thread::yield_now(),
        }
    }
    let trials = place.trials();
    assert_eq!((trials.len(), &trials[0]["status"]), (1, &"ok".into()), "{trials:?}");
    assert_eq!(trials[0]["counters"]["blob_offers_again"], 2.0);
    let report = place.run(&["report", "latest", "--format=json"]);
    let document: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    let warning = find(&document["warnings"], "kind", "not_warm")["message"].as_str().unwrap();
    assert!(warning.contains("a folder of files up to"), "{warning}");
}
