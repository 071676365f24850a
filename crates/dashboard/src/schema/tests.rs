//! The definition against SQLite itself.

use rusqlite::Connection;

use super::*;

fn dashboard() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    create_sqlite(&mut connection).unwrap();
    connection
}

#[test]
fn a_new_database_passes_the_check() {
    check_sqlite(&dashboard()).unwrap();
}

#[test]
fn facts_have_neither_a_rowid_nor_a_second_index() {
    let connection = dashboard();
    let without_rowid: bool = connection
        .query_row("SELECT wr FROM pragma_table_list WHERE name = 'traffic'", [], |row| row.get(0))
        .unwrap();
    assert!(without_rowid);
    let indexes: i64 = connection
        .query_row("SELECT count(*) FROM pragma_index_list('traffic')", [], |row| row.get(0))
        .unwrap();
    assert_eq!(indexes, 1, "the primary key only");
}

#[test]
fn every_reference_is_a_foreign_key() {
    let connection = dashboard();
    for table in TABLES {
        let expected = table.columns.iter().filter(|column| column.references.is_some()).count();
        let found: i64 = connection
            .query_row(
                "SELECT count(*) FROM pragma_foreign_key_list(?1)",
                [table.name.name()],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(usize::try_from(found).unwrap(), expected, "{}", table.name.name());
    }
}

#[test]
fn an_empty_database_gets_a_hint_to_init() {
    let error = check_sqlite(&Connection::open_in_memory().unwrap()).unwrap_err();
    assert!(matches!(error, Error::Empty));
    assert!(error.to_string().contains("crossover dashboard init"));
}

#[test]
fn making_it_twice_is_refused() {
    let error = create_sqlite(&mut dashboard()).unwrap_err();
    assert!(matches!(error, Error::Occupied { table: "blogs" }));
}

#[test]
fn the_first_difference_is_named() {
    let cases = [
        ("DROP TABLE traffic", "table traffic is missing"),
        ("ALTER TABLE teams ADD COLUMN city text", "column teams.city is unknown"),
        (
            "DROP INDEX articles_slug; ALTER TABLE articles DROP COLUMN slug",
            "column articles.slug is missing",
        ),
        (
            "DROP TABLE traffic;
             CREATE TABLE traffic (day integer NOT NULL, article_id integer NOT NULL,
             country_id integer NOT NULL, pageviews integer NOT NULL, sessions integer NOT NULL,
             engagement_seconds integer NOT NULL, PRIMARY KEY (article_id, day, country_id))",
            "the primary key of table traffic is (article_id, day, country_id), \
             not (day, article_id, country_id)",
        ),
        (
            "DROP TABLE blogs; CREATE TABLE blogs (id integer PRIMARY KEY, name TEXT NOT NULL)",
            "column blogs.name is declared text, not varchar(64)",
        ),
        (
            "DROP TABLE blogs; CREATE TABLE blogs (id integer PRIMARY KEY, name varchar(64))",
            "column blogs.name allows NULL, but must not",
        ),
    ];
    for (change, expected) in cases {
        let connection = dashboard();
        connection.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        connection.execute_batch(change).unwrap();
        match check_sqlite(&connection) {
            Err(Error::Different { difference }) => assert_eq!(difference, expected),
            other => panic!("{change}: {other:?}"),
        }
    }
}

#[test]
fn another_version_is_refused_whatever_else_differs() {
    let connection = dashboard();
    connection.execute_batch("UPDATE schema_version SET version = 7; DROP TABLE traffic").unwrap();
    let newer = check_sqlite(&connection).unwrap_err();
    assert!(matches!(newer, Error::Newer { found: 7 }), "{newer}");
    connection.execute("UPDATE schema_version SET version = 1", []).unwrap();
    let older = check_sqlite(&connection).unwrap_err();
    assert!(matches!(older, Error::Older { found: 1 }), "{older}");
    assert!(older.to_string().contains("crossover dashboard upgrade"), "{older}");
    connection.execute("DELETE FROM schema_version", []).unwrap();
    assert!(matches!(check_sqlite(&connection), Err(Error::NoVersion)));
}
