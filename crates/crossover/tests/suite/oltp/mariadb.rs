//! Workload oltp on MariaDB: servers that the program starts, releases that it fetches, a server of
//! the user's.

use std::path::PathBuf;
use std::process::Output;
use std::sync::atomic::AtomicBool;

use oltp::OltpTarget;
use server::{Locations, MariadbPrograms, MariadbServer};
use testing::loopback::Loopback;

use super::{bench, bench_until_all_count, changes_are_remembered};
use crate::place::{Place, error, read_json};

#[test]
fn mariadb_is_started_filled_restored_and_ended() {
    if let Err(error) = MariadbPrograms::find(None) {
        return testing::skip(&error.to_string());
    }
    let place = Place::new();
    let more = ["--clients", "2", "--workload", "read_only,read_write"];
    let words = [&["--on", "mariadb"][..], &more].concat();
    let (output, trials) = bench_until_all_count(&place, &words);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
    assert_eq!(trials.len(), 2);
    let commits = trials.iter().map(|trial| trial["counters"]["mariadb_commits"].as_f64().unwrap());
    assert!(commits.sum::<f64>() > 0.0, "{trials:?}");
    let left = std::fs::read_dir(place.path("data/mariadb")).unwrap();
    assert_eq!(left.filter(|entry| entry.as_ref().unwrap().path().is_dir()).count(), 0);
}

/// One release, which is fetched once and kept; all of them as a proof.
#[test]
fn releases_of_mariadb_are_fetched_and_measured() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return testing::skip("releases of MariaDB are for Linux on x86-64");
    }
    let releases: &[&str] = match testing::prove() {
        true => &["mariadb:10.1", "mariadb:10.2", "mariadb:10.11", "mariadb:11.4"],
        false => &["mariadb:10.1"],
    };
    let place = Place::new();
    let mut words = vec!["--clients", "2", "--workload", "read_only,read_write"];
    words.extend(releases.iter().flat_map(|release| ["--on", release]));
    let (output, trials) = bench_until_all_count(&place, &words);
    assert_eq!(trials.len(), 2 * releases.len(), "{}", error(&output));
    let run = read_json(&place.only_run().join("run.json"));
    let version = run["engines"]["mariadb:10.1"]["version"].as_str().unwrap();
    assert_eq!(version, "MariaDB 10.1.23");
}

/// The answer of a run with an empty cache and a registry at this address.
fn refused_from(place: &Place, registry: &str, engine: &str) -> Output {
    let words = ["bench", "oltp", "--on", engine, "--clients", "1", "--replicates", "1"];
    let mut command = place.command(&words);
    command.env("CROSSOVER_CACHE_DIR", place.path("cache"));
    command.env("CROSSOVER_MARIADB_MIRROR", registry).output().unwrap()
}

#[test]
fn a_release_that_cannot_be_had_is_refused_with_a_way_out() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return testing::skip("releases of MariaDB are for Linux on x86-64");
    }
    let place = Place::new();
    let registry = Loopback::constant("not an archive");
    for (address, engine, code, expected) in [
        (registry.url().as_str(), "mariadb:10.5", 2, "there are 10.1.23, 10.2.11, 10.11.5, 11.4.5"),
        (
            &registry.url(),
            "mariadb:11.4",
            1,
            "archive of MariaDB 11.4.5 does not match its checksum",
        ),
        // Nothing listens there.
        ("http://127.0.0.1:9", "mariadb:10.11", 1, "MariaDB 10.11.5 is not in the cache"),
    ] {
        let output = refused_from(&place, address, engine);
        assert_eq!(output.status.code(), Some(code), "{}", error(&output));
        assert!(error(&output).contains(expected), "{engine}: {}", error(&output));
    }
    assert!(!place.path("cache/mariadb/11.4.5").exists());
}

/// The note of what the data held when they were filled, once it is written.
fn contents_note(place: &Place) -> Option<PathBuf> {
    let runs = std::fs::read_dir(place.path("data/scratch")).ok()?.flatten();
    let inside = runs.flat_map(|run| std::fs::read_dir(run.path()).into_iter().flatten().flatten());
    let is_note = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "contents");
    let note = inside.map(|entry| entry.path()).find(is_note)?;
    std::fs::metadata(&note).is_ok_and(|note| note.len() > 0).then_some(note)
}

#[test]
fn a_copy_that_differs_from_its_template_is_not_measured() {
    if let Err(error) = MariadbPrograms::find(None) {
        return testing::skip(&error.to_string());
    }
    let place = Place::new();
    let words = ["--on", "mariadb", "--clients", "1,2,4", "--workload", "insert"];
    let output = std::thread::scope(|scope| {
        let run = scope.spawn(|| bench(&place, &words));
        while !run.is_finished() {
            // A new server starts for each trial that writes, on a copy that is compared.
            if let Some(note) = contents_note(&place) {
                let other = note.with_extension("other");
                std::fs::write(&other, "oltp_sbtest.sbtest1 with checksum 1").unwrap();
                std::fs::rename(other, note).unwrap();
                break;
            }
            std::thread::yield_now();
        }
        run.join().unwrap()
    });
    assert_eq!(output.status.code(), Some(1), "{}", error(&output));
    let told = error(&output);
    let noted = "the data as filled oltp_sbtest.sbtest1 with checksum 1;";
    assert!(told.contains(noted) && told.contains("MariaDB: the copy of its data holds"), "{told}");
}

#[test]
fn changes_on_the_users_mariadb_are_filled_again() {
    let programs = match MariadbPrograms::find(None) {
        Ok(programs) => programs,
        Err(error) => return testing::skip(&error.to_string()),
    };
    let place = Place::new();
    let locations = Locations { data: place.path("own"), ..Locations::detect().unwrap() };
    let never = AtomicBool::new(false);
    let server = MariadbServer::start(&locations, &programs, &[], &never).unwrap();
    let url = server.url("test");
    let target = OltpTarget::Mysql { url: url.clone(), session: Vec::new() };
    changes_are_remembered(&place, &url, &target);
    server.stop().unwrap();
}
