//! Short transactions on SQLite by a shared library, in client processes that hold no other.

use super::{SMALL, bench, bench_until_all_count};
use crate::own_sql::library::{DEBIAN, crashing, library};
use crate::place::{Place, error, read_json, text};

#[test]
fn every_mix_works_by_a_library_and_leaves_its_rows() {
    let place = Place::new();
    let theirs = match std::path::Path::new(DEBIAN).exists() {
        true => DEBIAN.to_owned(),
        false => library(&place),
    };
    let theirs = format!("sqlite[library={theirs},label=theirs]");
    let mixes = "read_only,read_write,point_select,write_only,update_index,update_non_index,insert,delete,\
                 secondary_index,join,join_misled,variable_rows,churn,encoding";
    let words = ["--on", "sqlite", "--on", &theirs, "--clients", "2", "--workload", mixes];
    let (output, trials) = bench_until_all_count(&place, &words);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    assert_eq!(trials.len(), 28);
    for trial in &trials {
        let counters = trial["counters"].as_object().unwrap();
        assert!(counters["client_round_trip_seconds"].as_f64().unwrap() > 0.0, "{trial}");
        assert!(trial["requests"].as_u64().unwrap() > 2, "{trial}");
    }
    let waited = trials.iter().filter(|one| one["counters"]["sqlite_busy_waits"].is_number());
    assert!(waited.count() > 0, "two writers never waited for each other");
    let run = read_json(&place.only_run().join("run.json"));
    for name in ["sqlite", "theirs"] {
        let engine = &run["engines"][name];
        let settings = engine["settings"].as_array().unwrap();
        let of = |name: &str| settings.iter().find(|one| one[0] == name).map(|one| &one[1]);
        assert!(of("compile options").unwrap().as_str().unwrap().contains("THREADSAFE"));
        assert_eq!(of("journal_mode").unwrap(), "wal", "{engine}");
        assert!(engine["version"].as_str().unwrap().starts_with("SQLite 3."), "{engine}");
    }
}

#[test]
fn a_library_is_loaded_before_tables_are_filled() {
    let place = Place::new();
    place.write("text.so", "SELECT 1");
    let wrong = format!("sqlite[library={}]", place.path("text.so").display());
    for more in [&["--clients", "1"][..], &["--clients", "1", "--dry-run"]] {
        let output = bench(&place, &[&["--on", "sqlite", "--on", &wrong], more].concat());
        assert_eq!(output.status.code(), Some(2), "{}", error(&output));
        assert!(error(&output).contains("name a shared library of SQLite"), "{}", error(&output));
    }
    assert!(place.runs().is_empty());
    let ours = format!("sqlite[library={},label=ours]", library(&place));
    let threads = ["--on", &ours, "--clients", "2", "--clients-as", "threads"];
    let said = place.refused(2, &[&["bench", "oltp"], &SMALL[..], &threads].concat());
    assert!(said.contains("drop each other's locks"), "{said}");
    let dry = ["--on", &ours, "--clients", "2", "--dry-run"];
    let shown = place.expect(0, &[&["bench", "oltp"], &SMALL[..], &dry].concat());
    let version = format!("ours: SQLite {}, ", rusqlite::version());
    assert!(shown.contains(&version), "{shown}");
}

#[test]
fn a_run_goes_on_without_a_library_that_crashes() {
    for when in ["-DAT_LOAD", "-DIN_CLIENT"] {
        let place = Place::new();
        let (crash, _) = crashing(&place, Some(when));
        let engine = format!("sqlite[library={crash},label=crash]");
        let words =
            ["--on", "sqlite", "--on", &engine, "--clients", "2", "--workload", "read_only"];
        let output = bench(&place, &words);
        let (said, answer) = (error(&output), text(&output.stdout));
        assert!(answer.contains("1 trial is void: "), "{answer}{said}");
        let statuses = place
            .trials()
            .into_iter()
            .map(|one| (one["engine"] == "crash", one["status"].to_string()));
        for (crashed, status) in statuses {
            match crashed {
                true => {
                    let told = status.contains(&crash) && status.contains("was killed by signal 6");
                    assert!(told, "{status}");
                }
                false => assert_eq!(status, "\"ok\"", "{said}"),
            }
        }
        assert_eq!(place.trials().len(), 2, "{said}");
    }
}
