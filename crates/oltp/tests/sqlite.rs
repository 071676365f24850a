//! Loads on real SQLite files.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::time::Duration;

use oltp::{Failure, OltpLoadOptions, OltpTarget, Until};
use plan::oltp::{CharacterSet, Collation, Mix, MixStatement, TableOptions};
use rusqlite::Connection;
use support::{NEVER, Place, fill, passes, run, sum, tables, try_run};

/// The file, as anybody may open it.
fn connect(place: &Place) -> Connection {
    let OltpTarget::Sqlite { path, .. } = place.sqlite() else { unreachable!() };
    Connection::open(path).unwrap()
}

fn value<T: rusqlite::types::FromSql>(place: &Place, sql: &str) -> T {
    connect(place).query_row(sql, [], |row| row.get(0)).unwrap()
}

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
    let load = run(&target, &tables, &OltpLoadOptions { until, ..passes(Mix::ReadWrite, 3, 1) });
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
    let holder = connect(&place);
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy_timeout = Duration::from_millis(2);
    let options = OltpLoadOptions { busy_timeout, ..passes(Mix::UpdateIndex, 1, 1) };
    let load = run(&target, &tables, &options);
    assert_eq!(load.clients[0].retries.lock_timeouts, 999);
    assert_eq!(load.clients[0].failures[&Failure::LockTimeout], 1);
    assert!(load.first_failure.unwrap().1.contains("locked"));
}

#[test]
fn what_waits_when_the_time_is_over_is_cancelled_and_counted() {
    let place = Place::new();
    let (target, tables) = (place.sqlite(), tables(Mix::WriteOnly, 500));
    fill(&target, &tables);
    let holder = connect(&place);
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    for mix in [Mix::UpdateIndex, Mix::WriteOnly] {
        let busy_timeout = Duration::from_secs(3_600);
        let options = OltpLoadOptions { busy_timeout, ..passes(mix, 3, 1) };
        support::ends_though_rows_are_held(&target, &tables, options);
    }
    holder.execute_batch("ROLLBACK").unwrap();
    oltp::invariants(&target, &tables, &[], 0, &NEVER).unwrap();
}

#[test]
fn churn_leaves_no_old_row_in_any_table() {
    let place = Place::new();
    let tables = TableOptions { tables: 2, ..tables(Mix::Churn, 200) };
    let target = place.sqlite();
    fill(&target, &tables);
    let load = run(&target, &tables, &passes(Mix::Churn, 2, 10));
    assert_eq!(load.statements[&MixStatement::DeleteOldest].rows, 40);
    for table in ["sbtest1", "sbtest2"] {
        assert_eq!(value::<u32>(&place, &format!("SELECT min(id) FROM {table}")), 21);
    }
    oltp::invariants(&target, &tables, &[Mix::Churn], 0, &NEVER).unwrap();
}

#[test]
fn a_full_disk_ends_the_load_and_says_so() {
    let place = Place::new();
    let tables = tables(Mix::Insert, 500);
    fill(&place.sqlite(), &tables);
    let OltpTarget::Sqlite { path, .. } = place.sqlite() else { panic!() };
    let pages: i64 = value(&place, "PRAGMA page_count");
    let pragmas = vec![("max_page_count".to_owned(), (pages + 4).to_string())];
    let target = OltpTarget::Sqlite { path, pragmas, library: None };
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
    let own = "DROP TABLE sbtest1; CREATE TABLE sbtest1 (id INTEGER PRIMARY KEY, k, c, pad)";
    connect(&place).execute_batch(own).unwrap();
    let refusal = oltp::fill(&target, &tables, &|_, _| {}, &NEVER).unwrap_err();
    assert!(refusal.is_usage() && refusal.to_string().contains("sbtest1"), "{refusal}");
    assert_eq!(value::<u32>(&place, "SELECT count(*) FROM sbtest1"), 0);
}

#[test]
fn texts_are_stored_in_utf16_and_other_sets_are_refused() {
    let place = Place::new();
    let utf16 = TableOptions { character_set: CharacterSet::Utf16, ..tables(Mix::Encoding, 300) };
    fill(&place.sqlite(), &utf16);
    assert_eq!(value::<String>(&place, "PRAGMA encoding"), "UTF-16le");
    let load = run(&place.sqlite(), &utf16, &passes(Mix::Encoding, 2, 20));
    assert_eq!(load.first_failure, None);
    oltp::invariants(&place.sqlite(), &utf16, &[Mix::Encoding], 0, &NEVER).unwrap();

    let language = TableOptions { collation: Collation::Language, ..utf16 };
    let refusal = oltp::fill(&place.sqlite(), &language, &|_, _| {}, &NEVER).unwrap_err();
    assert!(refusal.is_usage() && refusal.to_string().contains("bytes"), "{refusal}");
    let latin2 =
        OltpLoadOptions { character_set: CharacterSet::Latin2, ..passes(Mix::Encoding, 1, 1) };
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
