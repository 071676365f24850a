//! Derived statements on schemas of every kind; each of them runs.

use std::sync::atomic::AtomicBool;

use migrate::AuditOptions;
use proptest::prelude::*;

use super::super::pilot;
use super::*;

/// The statements derived for a database that `sql` makes, with values for their parameters.
fn derived(sql: &str) -> (Connection, Vec<MeasuredStatement>, Vec<MeasuredStatement>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA foreign_keys = off").unwrap();
    connection.execute_batch(sql).unwrap();
    let (progress, interrupted) = (indicatif::ProgressBar::hidden(), AtomicBool::new(false));
    let audit = migrate::audit(&path, &AuditOptions::default(), &progress, &interrupted).unwrap();
    let schema = migrate::schema(&connection).unwrap();
    let found = Tables::new(&schema, &audit).statements(&connection, |_| true).unwrap();
    let filled =
        found.iter().filter_map(|each| pilot::filled(each, &connection).unwrap()).collect();
    (connection, found, filled)
}

fn names(statements: &[MeasuredStatement]) -> Vec<&str> {
    statements.iter().map(|statement| statement.name.as_str()).collect()
}

#[test]
fn a_shop_is_asked_what_a_shop_asks() {
    let (_, found, _) = derived(
        "CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT, born REAL); \
         CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, \
             day TEXT); CREATE INDEX by_day ON orders(day); \
         CREATE VIEW recent AS SELECT * FROM orders; CREATE TABLE unused(id INTEGER); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) \
         INSERT INTO customers SELECT i, 'c' || (i % 4), i / 2.0 FROM n; \
         INSERT INTO orders SELECT a.id * 100 + b.id, a.id, 'day ' || b.id \
             FROM customers AS a, customers AS b;",
    );
    assert_eq!(
        names(&found),
        [
            "count orders",
            "orders by key",
            "orders joined to customers by customer_id",
            "customers with most orders by customer_id",
            "top 20 of orders by day",
            "orders by day, counted",
            "count customers",
            "customers by key",
            "customers by country, counted",
        ]
    );
}

#[test]
fn composite_keys_and_odd_names_are_quoted_and_joined_whole() {
    let (connection, found, filled) = derived(
        "CREATE TABLE \"Wei\"\"rd Töpfe\"(\"Key A\" TEXT, \"select\" INTEGER, v, \
             PRIMARY KEY(\"Key A\", \"select\")) WITHOUT ROWID; \
         CREATE TABLE child(\"place\", a TEXT, b INTEGER, \
             FOREIGN KEY(a, b) REFERENCES \"Wei\"\"rd Töpfe\"); \
         INSERT INTO \"Wei\"\"rd Töpfe\" VALUES ('it''s :key', 1, NULL), ('b', 2, 'x'); \
         INSERT INTO child VALUES (1, 'b', 2), (2, 'it''s :key', 1), (3, 'b', 2);",
    );
    assert!(names(&found).contains(&"child joined to Wei\"rd Töpfe by a, b"), "{found:?}");
    assert!(names(&found).contains(&"Wei\"rd Töpfe by Key A"), "{found:?}");
    assert_eq!(found.len(), filled.len());
    for statement in &filled {
        let mut prepared = connection.prepare(&statement.text).unwrap();
        assert!(prepared.exists([]).unwrap(), "{}", statement.text);
    }
    let joined = filled.iter().find(|each| each.name.contains("joined")).unwrap();
    let count: i64 = connection.query_row(&joined.text, [], |row| row.get(0)).unwrap();
    assert_eq!(count, 3);
}

#[test]
fn columns_that_compare_in_another_way_are_left_alone() {
    let (_, found, _) = derived(
        "CREATE TABLE a(name TEXT COLLATE NOCASE PRIMARY KEY, kind TEXT); \
         CREATE TABLE b(x TEXT REFERENCES a(name), at TIMESTAMP PRIMARY KEY); \
         INSERT INTO a VALUES ('X', 'k'), ('y', 'K'), ('z', 'k'), ('w', 'K'); \
         INSERT INTO b VALUES ('x', '2020-01-01 00:00:00');",
    );
    assert_eq!(names(&found), ["count a", "count b"]);
}

prop_compose! {
    fn table_name()(name in "[a-zA-Z \"'ä_:%{}]{1,9}") -> String { name }
}

prop_compose! {
    fn table()(
        name in table_name(),
        columns in prop::collection::vec((table_name(), 0..6_usize), 1..5),
        keys in 0..3_usize,
        without_rowid in any::<bool>(),
        rows in 0..4_usize,
        refers in prop::option::of(0..3_usize),
    ) -> (String, Vec<(String, usize)>, usize, bool, usize, Option<usize>) {
        (name, columns, keys, without_rowid, rows, refers)
    }
}

type Drawn = (String, Vec<(String, usize)>, usize, bool, usize, Option<usize>);

/// `CREATE TABLE` and rows for what was drawn; names are made distinct.
fn script(tables: &[Drawn]) -> String {
    const TYPES: [&str; 6] = ["INTEGER", "TEXT", "VARCHAR(40)", "REAL", "", "DATE"];
    let name = |place: usize| quote(&format!("{place}{}", tables[place].0));
    let column = |place: usize, at: usize| quote(&format!("{at}{}", tables[place].1[at].0));
    let mut sql = String::new();
    for (place, (_, columns, keys, without, rows, refers)) in tables.iter().enumerate() {
        let mut parts: Vec<String> = (0..columns.len())
            .map(|at| format!("{} {}", column(place, at), TYPES[columns[at].1]))
            .collect();
        let keys = (*keys).min(columns.len());
        let list = |of: usize, count: usize| {
            (0..count).map(|at| column(of, at)).collect::<Vec<_>>().join(", ")
        };
        if keys > 0 {
            parts.push(format!("PRIMARY KEY({})", list(place, keys)));
        }
        if let Some(parent) = refers.filter(|parent| *parent < tables.len()) {
            let wanted = tables[parent].2.min(tables[parent].1.len());
            if wanted > 0 && wanted <= columns.len() {
                let (own, parent) = (list(place, wanted), name(parent));
                parts.push(format!("FOREIGN KEY({own}) REFERENCES {parent}"));
            }
        }
        let without = if *without && keys > 0 { " WITHOUT ROWID" } else { "" };
        sql.push_str(&format!("CREATE TABLE {}({}){without};", name(place), parts.join(", ")));
        for row in 0..*rows {
            let values = columns.iter().map(|(_, kind)| match TYPES[*kind] {
                "INTEGER" => row.to_string(),
                "REAL" => format!("{row}.5"),
                "DATE" => format!("'2020-01-0{}'", row + 1),
                _ => format!("'{row}'"),
            });
            let values: Vec<String> = values.collect();
            sql.push_str(&format!("INSERT INTO {} VALUES({});", name(place), values.join(",")));
        }
        let first = column(place, columns.len() - 1);
        sql.push_str(&format!("CREATE INDEX \"i{place}\" ON {}({first});", name(place)));
    }
    sql
}

proptest! {
    #![proptest_config(testing::cases(64))]

    #[test]
    fn every_derived_statement_runs(tables in prop::collection::vec(table(), 1..4)) {
        let sql = script(&tables);
        let (connection, found, filled) = derived(&sql);
        let most = tables.iter().filter(|table| table.4 > 0).count();
        prop_assert!(found.iter().filter(|each| each.name.starts_with("count")).count() == most);
        for statement in filled {
            let mut prepared = connection.prepare(&statement.text).unwrap();
            prop_assert!(prepared.readonly());
            prop_assert_eq!(prepared.parameter_count(), 0);
            let mut rows = prepared.query([]).unwrap();
            while rows.next().unwrap().is_some() {}
        }
    }
}
