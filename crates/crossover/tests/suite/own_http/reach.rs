//! Applications that use another database than the one that is measured, or none: nothing is measured,
//! and nothing of theirs is written to.

use super::{ADDRESS, ENGINES, MISSPELT, OwnApplication, report, warnings};

#[test]
fn an_application_with_its_own_file_is_not_measured() {
    let application = OwnApplication::new();
    let before = application.own_file();
    for (engine, looked_at) in [("sqlite", "/trial.db"), ("postgres:18", "crossover_trial")] {
        let mix = ["--request=/count", "--request=POST /item", "--body={\"price\": 4}"];
        let more = [&mix[..], &["--environment", MISSPELT, "--answer=status"]].concat();
        let said = application.refusal(engine, "", &more);
        let beginning = format!("error: {engine}: the application asked nothing of the database");
        assert!(said.contains(&beginning), "{said}");
        let own = application.place.path("own.db").canonicalize().unwrap().display().to_string();
        for part in [looked_at, &own, "environment.DATABSE_URL", "nothing but GET and HEAD"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert_eq!(application.own_file(), before, "{engine}");
    }
}

/// Nothing but the relay sees whether an application with a database of its own uses the other.
#[test]
fn an_application_that_passes_the_relay_by_is_refused() {
    let application = OwnApplication::new();
    let more = ["--request=/count", "--own-database", "--environment", MISSPELT, "--delay=100ms"];
    let said = application.refusal("postgres:18", "", &more);
    assert!(said.contains("nothing went through it, so no distance was measured"), "{said}");
    assert!(said.contains("hand it {database_url}"), "{said}");
}

/// Nothing but a look at its database can show where its writes would go.
#[test]
fn writes_alone_wait_until_their_database_is_seen() {
    let application = OwnApplication::new();
    let before = application.own_file();
    let writes = ["--request=POST /item", "--body={\"price\": 4}"];
    for engine in ENGINES {
        for environment in [MISSPELT, ADDRESS] {
            let more = [&writes[..], &["--environment", environment]].concat();
            let said = application.refusal(engine, "", &more);
            assert!(said.contains("add a GET that reads the database"), "{said}");
            assert_eq!(application.own_file(), before, "{engine}");
        }
    }
    // Its start shows it, by the path that says whether it is ready.
    let more = [&writes[..], &["--environment", ADDRESS, "--ready=/count"]].concat();
    report(&application.bench(&ENGINES, "", &more));
    assert_eq!(application.own_file(), before);
}

/// Reads at the right database say nothing of where a write goes: it is sent once, to be looked at.
#[test]
fn a_write_to_another_database_ends_the_run() {
    for engine in ENGINES {
        let application = OwnApplication::new();
        let mix = ["--request=/count", "--request=POST /item", "--body={\"price\": 4}"];
        let more = [&mix[..], &["--environment", ADDRESS, "--answer=status"]].concat();
        let said = application.refusal(engine, "writes to its own file", &more);
        assert!(said.contains("POST /item was answered, but nothing "), "{said}");
        let own = rusqlite::Connection::open(application.place.path("own.db")).unwrap();
        let rows: i64 = own.query_row("SELECT count(*) FROM item", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 3, "two were there, one was written");
    }
}

#[test]
fn requests_at_the_database_leave_no_doubt() {
    let application = OwnApplication::new();
    let more = ["--environment", ADDRESS, "--request=/count"];
    let report = report(&application.bench(&ENGINES, "", &more));
    for kind in ["answered_without_engine", "reach_out_of_sight"] {
        assert_eq!(warnings(&report, kind), [""; 0]);
    }
}

#[test]
fn answers_of_a_cache_are_measured_and_counted() {
    let application = OwnApplication::new();
    let more = ["--environment", ADDRESS, "--request=/count 3", "--request=/first"];
    let report = report(&application.bench(&ENGINES, "keeps answers", &more));
    let said = warnings(&report, "answered_without_engine");
    assert_eq!(said.len(), 2, "{said:?}");
    for message in &said {
        assert!(message.contains(" 25% of the requests used the database"), "{message}");
    }
}

#[test]
fn an_application_that_loads_all_at_its_start_is_not_measured() {
    let application = OwnApplication::new();
    let more = ["--environment", ADDRESS, "--request=/count"];
    for engine in ENGINES {
        let said = application.refusal(engine, "loads all at its start", &more);
        assert!(said.contains("was used while the application started"), "{said}");
    }
}

#[test]
fn an_applications_own_database_is_measured_on_request() {
    let application = OwnApplication::new();
    let more = ["--request=/count", "--own-database"];
    let report = report(&application.bench(&ENGINES, "", &more));
    let said = warnings(&report, "reach_out_of_sight");
    assert!(said[0].contains("SQLite") && said[0].contains("PostgreSQL 18"), "{said:?}");
}
