//! Workload oltp on MariaDB: servers that the program starts, releases in folders, a server of the
//! user's.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use oltp::OltpTarget;
use server::{Locations, MariadbPrograms, MariadbServer};

use super::{bench, bench_until_all_count, changes_are_remembered};
use crate::place::{Place, error};

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

/// `CROSSOVER_TEST_MARIADB` names folders of unpacked releases as PATH names folders; `make prove`
/// fetches some.
#[test]
fn releases_of_mariadb_in_folders_are_measured_side_by_side() {
    let Some(folders) = std::env::var_os("CROSSOVER_TEST_MARIADB") else {
        return testing::skip("no folders in CROSSOVER_TEST_MARIADB");
    };
    let place = Place::new();
    let engines: Vec<String> = std::env::split_paths(&folders)
        .map(|folder| format!("--on=mariadb:{}", folder.display()))
        .collect();
    let mut words = vec!["--clients", "2", "--workload", "read_only,read_write"];
    words.extend(engines.iter().map(String::as_str));
    let (output, trials) = bench_until_all_count(&place, &words);
    assert_eq!(trials.len(), 2 * engines.len(), "{}", error(&output));
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
