//! Loads on real SQLite files.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::Duration;

use oltp::{CharacterSet, Collation, Failure, LoadOptions, Mix, TableOptions, Target, Until};
use support::{NEVER, Place, fill, passes, run, sum, tables, try_run};

#[test]
fn every_mix_does_what_it_says_and_leaves_the_tables_whole() {
    let place = Place::new();
    support::every_mix(&place.sqlite());
}

#[test]
fn writers_wait_for_each_other_and_the_waits_are_counted() {
    let place = Place::new();
    let (target, tables) = (place.sqlite(), tables(Mix::ReadWrite, 500));
    fill(&target, &tables);
    let load = run(&target, &tables, &passes(Mix::ReadWrite, 8, 100));
    assert_eq!(load.first_failure, None);
    assert_eq!(sum(&load, |client| client.transactions), 800);
    assert!(sum(&load, |client| client.busy_waits) > 0);
    oltp::invariants(&target, &tables, &[Mix::ReadWrite], 0, &NEVER).unwrap();
}

#[test]
fn the_shortest_time_has_an_answer_of_every_client() {
    let place = Place::new();
    let (target, tables) = (place.sqlite(), tables(Mix::ReadWrite, 500));
    fill(&target, &tables);
    let until = Until::Time(Duration::from_nanos(1));
    let load = run(&target, &tables, &LoadOptions { until, ..passes(Mix::ReadWrite, 3, 1) });
    assert!(load.clients.iter().all(|client| client.transactions >= 1), "{:?}", load.clients);
    assert!(!load.wall_time.is_zero());
    // None of them ended in it, so there was no throughput.
    assert_eq!(load.transactions_per_second, 0.0);
}

#[test]
fn a_lock_that_is_not_given_is_asked_for_again_and_counted() {
    let place = Place::new();
    let (target, tables) = (place.sqlite(), tables(Mix::UpdateIndex, 500));
    fill(&target, &tables);
    let Target::Sqlite { path, .. } = &target else { panic!() };
    let holder = rusqlite::Connection::open(path).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy_timeout = Duration::from_millis(2);
    let options = LoadOptions { busy_timeout, ..passes(Mix::UpdateIndex, 1, 1) };
    let load = run(&target, &tables, &options);
    assert_eq!(load.clients[0].retries.lock_timeouts, 999);
    assert_eq!(load.clients[0].failures[&Failure::LockTimeout], 1);
    assert!(load.first_failure.unwrap().1.contains("locked"));
}

#[test]
fn a_full_disk_ends_the_load_and_says_so() {
    let place = Place::new();
    let tables = tables(Mix::Insert, 500);
    fill(&place.sqlite(), &tables);
    let Target::Sqlite { path, .. } = place.sqlite() else { panic!() };
    let pages: i64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA page_count", [], |row| row.get(0))
        .unwrap();
    let pragmas = vec![("max_page_count".to_owned(), (pages + 4).to_string())];
    let target = Target::Sqlite { path, pragmas };
    let load = run(&target, &tables, &passes(Mix::Insert, 2, 10_000));
    assert!(load.clients.iter().all(|client| client.ended_by == Some(Failure::DiskFull)));
    let (failure, text) = load.first_failure.unwrap();
    assert!(failure == Failure::DiskFull && text.contains("full"), "{text}");
}

#[test]
fn a_table_put_in_the_place_of_ours_is_refused_and_left() {
    let place = Place::new();
    let (target, tables) = (place.sqlite(), tables(Mix::Insert, 10));
    fill(&target, &tables);
    let Target::Sqlite { path, .. } = &target else { panic!() };
    let connection = rusqlite::Connection::open(path).unwrap();
    let own = "DROP TABLE sbtest1; CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, k, c, pad)";
    connection.execute_batch(own).unwrap();
    let refusal = oltp::fill(&target, &tables, &|_, _| {}, &NEVER).unwrap_err();
    assert!(refusal.is_usage() && refusal.to_string().contains("sbtest1"), "{refusal}");
    let left: u32 =
        connection.query_row("SELECT count(*) FROM sbtest1", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn texts_can_be_stored_in_utf16_and_what_sqlite_has_not_is_refused() {
    let place = Place::new();
    let utf16 = TableOptions { character_set: CharacterSet::Utf16, ..tables(Mix::Encoding, 300) };
    fill(&place.sqlite(), &utf16);
    let Target::Sqlite { path, .. } = place.sqlite() else { panic!() };
    let encoding: String = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA encoding", [], |row| row.get(0))
        .unwrap();
    assert_eq!(encoding, "UTF-16le");
    let load = run(&place.sqlite(), &utf16, &passes(Mix::Encoding, 2, 20));
    assert_eq!(load.first_failure, None);
    oltp::invariants(&place.sqlite(), &utf16, &[Mix::Encoding], 0, &NEVER).unwrap();

    let language = TableOptions { collation: Collation::Language, ..utf16 };
    let refusal = oltp::fill(&place.sqlite(), &language, &|_, _| {}, &NEVER).unwrap_err();
    assert!(refusal.is_usage() && refusal.to_string().contains("bytes"), "{refusal}");
    let latin2 = LoadOptions { character_set: CharacterSet::Latin2, ..passes(Mix::Encoding, 1, 1) };
    assert!(try_run(&place.sqlite(), &utf16, &latin2).unwrap_err().is_usage());
}

#[test]
fn options_that_go_with_nothing_are_refused() {
    let place = Place::new();
    let options = passes(Mix::ReadOnly, 0, 1);
    let refusal = try_run(&place.sqlite(), &tables(Mix::ReadOnly, 10), &options).unwrap_err();
    assert!(refusal.is_usage() && refusal.to_string().contains("client"), "{refusal}");
    let options = passes(Mix::Join, 1, 1);
    let refusal = try_run(&place.sqlite(), &tables(Mix::ReadOnly, 10), &options).unwrap_err();
    assert!(refusal.to_string().contains("orders"), "{refusal}");
    let refusal = "read_onyl".parse::<Mix>().unwrap_err().to_string();
    assert!(refusal.contains("did you mean `read_only`"), "{refusal}");
}
