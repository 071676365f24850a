//! Tables as every mix leaves them, in every release and encoding, and differences that are found.

use oltp::{Error, OltpLoadOptions, OltpTarget};
use plan::oltp::{CharacterSet, Collation, Mix, MixStatement, TableOptions};

use super::support::{NEVER, Place, every_mix, fill, passes, rows_added, run, tables, try_run};

#[test]
fn every_mix_does_what_it_says_and_leaves_the_tables_whole() {
    let place = Place::new();
    let postgres = place.postgres(&[("deadlock_timeout", "10ms")]);
    every_mix(&postgres.target());
    oltp::remove(&postgres.target()).unwrap();
    let left = "SELECT relname FROM pg_class WHERE relname LIKE 'sb%' OR relname LIKE '%oltp%'";
    assert_eq!(postgres.rows(left), [""; 0]);
}

#[test]
fn the_oldest_release_does_the_same() {
    let place = Place::new();
    every_mix(&place.release("9.6", &[("deadlock_timeout", "10ms")]).target());
}

#[test]
fn what_was_filled_is_known_and_differences_are_found() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let (target, tables) = (postgres.target(), tables(Mix::ReadOnly, 500));
    fill(&target, &tables);
    assert_eq!(oltp::find(&target, tables.schema).unwrap(), Some(tables.clone()));
    let others = TableOptions { seed: 2, ..tables };
    let refusal = try_run(&target, &others, &passes(Mix::ReadOnly, 1, 1)).unwrap_err();
    assert!(matches!(refusal, Error::OtherTables { .. }), "{refusal}");

    let check = |mixes: &[Mix], rows_added| {
        let checked = oltp::invariants(&target, &tables, mixes, rows_added, &NEVER);
        checked.map_err(|error| error.to_string())
    };
    postgres.rows("UPDATE sbtest1 SET k = k + 1 WHERE id = 77");
    assert_eq!(check(&[Mix::UpdateIndex], 0), Ok(()));
    assert!(check(&[], 0).unwrap_err().contains("row 77: k"));
    postgres.rows("DELETE FROM sbtest1 WHERE id = 78");
    assert!(check(&[Mix::ReadWrite], 0).unwrap_err().contains("row 78 is missing"));
    assert_eq!(check(&[Mix::UpdateIndex, Mix::Delete], -1), Ok(()));
    assert!(check(&[Mix::UpdateIndex, Mix::Delete], 0).unwrap_err().contains("499 rows"));
}

#[test]
fn hungarian_text_is_stored_and_sent_in_either_encoding() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    postgres.rows(
        "CREATE DATABASE second ENCODING 'LATIN2' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    );
    for (database, character_set) in
        [("crossover", CharacterSet::Utf8), ("second", CharacterSet::Latin2)]
    {
        let url = postgres.server.as_ref().unwrap().url(database);
        let target = OltpTarget::Postgres { url, session: Vec::new(), behind_pool: None };
        for collation in [Collation::Bytes, Collation::Language] {
            let tables = TableOptions { character_set, collation, ..tables(Mix::Encoding, 400) };
            fill(&target, &tables);
            for client in [CharacterSet::Utf8, CharacterSet::Latin2] {
                let options =
                    OltpLoadOptions { character_set: client, ..passes(Mix::Encoding, 2, 30) };
                assert_eq!(run(&target, &tables, &options).first_failure, None);
                // What arrived are the words that were sent, whatever their bytes.
                let strange = "SELECT count(*) FROM sbtext WHERE line ~ '[^a-záéíóöőúüű ]'";
                assert_eq!(postgres.rows_in(database, strange), ["0"]);
            }
            oltp::invariants(&target, &tables, &[Mix::Encoding], 0, &NEVER).unwrap();
        }
        let wrong = TableOptions {
            character_set: match character_set {
                CharacterSet::Utf8 => CharacterSet::Latin2,
                _ => CharacterSet::Utf8,
            },
            ..tables(Mix::Encoding, 4)
        };
        let refusal = oltp::fill(&target, &wrong, &|_, _| {}, &NEVER).unwrap_err();
        assert!(refusal.to_string().contains("TEMPLATE template0"), "{refusal}");
    }
}

#[test]
fn the_planner_takes_towns_and_postal_codes_as_independent() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    fill(&postgres.target(), &tables(Mix::JoinMisled, 100_000));
    let condition = "FROM sbcustomer WHERE town = 'Szeged 0' AND postal_code = 1000";
    let found: f64 = postgres.rows(&format!("SELECT count(*) {condition}"))[0].parse().unwrap();
    let plan = postgres.rows(&format!("EXPLAIN SELECT * {condition}"))[0].clone();
    let estimate = plan.split("rows=").nth(1).unwrap().split(' ').next().unwrap();
    let estimate: f64 = estimate.parse().unwrap();
    assert!(found > 50.0 && estimate * 20.0 < found, "{plan}, in truth {found}");
}

#[test]
fn churn_goes_on_where_it_ended() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let (target, tables) = (postgres.target(), tables(Mix::Churn, 200));
    fill(&target, &tables);
    let mut added = 0;
    for _ in 0..3 {
        let load = run(&target, &tables, &passes(Mix::Churn, 2, 10));
        assert_eq!(load.statements[&MixStatement::DeleteOldest].rows, 40);
        added += rows_added(&load);
    }
    assert_eq!(added, 0);
    oltp::invariants(&target, &tables, &[Mix::Churn], added, &NEVER).unwrap();
    assert_eq!(postgres.rows("SELECT min(id) > 100, count(*) FROM sbtest1"), ["t|200"]);
}
