//! Expressions that migration carries: on PostgreSQL each has, for every row, the value that SQLite
//! computes.

use migrate::MigrateOptions;
use rusqlite::types::Value;

use crate::support::{File, Target};

/// JSON and what only looks like it, both letter cases, signs that patterns know, beyond ASCII.
const TEXTS: [&str; 44] = [
    "",
    " ",
    "a",
    "A",
    "Ab",
    "aB ",
    " ab",
    "abc",
    "é",
    "É",
    "ß",
    "İ",
    "日本語",
    "🦀",
    "e\u{301}",
    "a%b",
    "a_b",
    "[x]",
    "x]",
    "a-b",
    "a^",
    "it's",
    "a\\b",
    "a.b",
    "line\nbreak",
    "tab\t",
    "007",
    "-1",
    "1.50",
    "{}",
    "[1, 2",
    "[1,2]",
    "{\"a\":\"\\ud800\"}",
    "{\"a\":1,}",
    "{'a':1}",
    "1e5",
    "01",
    "NaN",
    "true",
    "TRUE",
    " 1 ",
    "\"\\u0000\"",
    "\"raw\ttab\"",
    "\u{feff}1",
];

const OTHER_TEXTS: [&str; 5] = ["", "a", "A", "É", "abc"];

fn of_every_kind() -> File {
    let file = File::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b VARCHAR(9), k TEXT COLLATE NOCASE, \
         n INTEGER, m NUMERIC, r REAL, f BOOLEAN)",
    );
    let text = |texts: &[&str], place: usize| match place % (texts.len() + 1) {
        0 => Value::Null,
        place => Value::Text(texts[place - 1].to_owned()),
    };
    let numbers = [0, 1, -1, 5, 100, i64::MAX, i64::MIN + 1].map(Value::Integer);
    let decimals = [0.5, -2.25, 1.5, 1e15].map(Value::Real);
    let of = |values: &[Value], place: usize| match place % (values.len() + 1) {
        0 => Value::Null,
        place => values[place - 1].clone(),
    };
    let mut mixed = numbers[..5].to_vec();
    mixed.extend(decimals.clone());
    let booleans = [Value::Integer(0), Value::Integer(1)];
    let mut connection = file.connection();
    let transaction = connection.transaction().unwrap();
    for place in 0..720 {
        let row = [
            text(&TEXTS, place),
            text(&OTHER_TEXTS, place / 3),
            text(&TEXTS, place * 7 + 1),
            of(&numbers, place / 2),
            of(&mixed, place / 5),
            of(&decimals, place / 7),
            of(&booleans, place / 11),
        ];
        let insert = "INSERT INTO t(a, b, k, n, m, r, f) VALUES (?, ?, ?, ?, ?, ?, ?)";
        transaction.execute(insert, rusqlite::params_from_iter(row)).unwrap();
    }
    transaction.commit().unwrap();
    file
}

/// SQLite's value for each row.
fn of_source(file: &File, expression: &str) -> Vec<Value> {
    let connection = file.connection();
    let sql = format!("SELECT {expression} FROM t NOT INDEXED ORDER BY id");
    let mut statement = connection.prepare(&sql).unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

/// PostgreSQL's value for each row, for the expression of the index's part or its WHERE.
async fn of_target(target: &Target, index: &str, is_condition: bool) -> Vec<Option<String>> {
    let of_part = "pg_get_indexdef(indexrelid, 1, false)";
    let of_where = "pg_get_expr(indpred, indrelid)";
    let written = if is_condition { of_where } else { of_part };
    let sql =
        format!("SELECT {written} FROM pg_index WHERE indexrelid = to_regclass('public.{index}')");
    let found = target.texts(&sql).await;
    assert_eq!(found.len(), 1, "{index} is not carried over");
    let expression = &found[0];
    let sql = format!("SELECT ({expression})::text FROM t ORDER BY id");
    let rows = target.client.query(&sql, &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

fn is_same(source: &Value, target: Option<&str>) -> bool {
    match (source, target) {
        (Value::Null, None) => true,
        (Value::Integer(number), Some("true" | "false")) => {
            (*number == 1) == (target == Some("true"))
        }
        (Value::Integer(number), Some(text)) => text.parse() == Ok(i128::from(*number)),
        (Value::Real(number), Some(text)) => text.parse() == Ok(*number),
        (Value::Text(text), Some(other)) => text == other,
        _ => false,
    }
}

/// Moves all rows with an index for each expression, and compares what each engine computes.
async fn compare(target: &Target, forms: &[&str], are_conditions: bool) {
    let file = of_every_kind();
    for (number, form) in forms.iter().enumerate() {
        file.run(&match are_conditions {
            true => format!("CREATE INDEX i{number} ON t(id) WHERE {form}"),
            false => format!("CREATE INDEX i{number} ON t({form})"),
        });
    }
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    for (number, form) in forms.iter().enumerate() {
        let source = of_source(&file, form);
        let carried = of_target(target, &format!("i{number}"), are_conditions).await;
        assert_eq!(source.len(), carried.len());
        let values = of_source(&file, "quote(a) || ' ' || quote(b) || ' ' || quote(n)");
        for ((own, other), row) in source.iter().zip(&carried).zip(values) {
            assert!(is_same(own, other.as_deref()), "{form}: {own:?} {other:?} of {row:?}");
        }
    }
}

#[tokio::test]
async fn conditions_hold_for_the_same_rows() {
    let target = Target::new().await;
    let forms = [
        // Texts that SQLite reads as numbers.
        "n >= '0'",
        "m >= '0'",
        "m < '1.50'",
        "r > '-2.25'",
        "n <> '007'",
        "f = '1'",
        "n BETWEEN '-1' AND '5'",
        "m IN ('0.5', 100)",
        "n > '-0.5'",
        // IS of values and NULLs.
        "a IS b",
        "a IS NOT b",
        "n IS 5",
        "n IS '5'",
        "a IS NOT 'a'",
        "f IS TRUE",
        "f IS NOT 0",
        "k IS 'A'",
        "n IS NOT m",
        "a IS NOT DISTINCT FROM b",
        "NOT (a IS DISTINCT FROM b)",
        "coalesce(a, b) IS NULL",
        // Patterns.
        "a GLOB 'a*'",
        "a GLOB '*'",
        "a GLOB ''",
        "a NOT GLOB '?'",
        "a GLOB '[a-c]*'",
        "a GLOB '[^a-z]*'",
        "a GLOB '*[]x]*'",
        "a GLOB '*[-a]*'",
        "a GLOB '*.*'",
        "a GLOB '*\\*'",
        "k GLOB 'A*'",
        "a GLOB '[0-9][0-9][0-9]'",
        "a GLOB '[à-ü]*'",
        "a GLOB '*[^x]'",
        "a GLOB '*''*'",
        "lower(a) GLOB 'a?'",
        "a GLOB '*^*'",
        "a GLOB '??'",
        "a GLOB '*[%_]*'",
        // Functions.
        "length(a) > length(b)",
        "lower(a) = lower(b)",
        "coalesce(a, '') <> ''",
        "ifnull(n, 0) >= 0",
        "coalesce(m, 0.5) < 1",
        "coalesce(f, 0) = 1",
        "a || b = 'aa'",
        "substr(a, 1, 1) = 'a'",
        "abs(n) > 1",
        "abs(r) <= 2.25",
        "coalesce(k, b) > 'B'",
        "ifnull(r, 0) > 0.1",
        "printf('%s', a) LIKE 'a%'",
        "trim(lower(a)) IN ('ab', '')",
    ];
    compare(&target, &forms, true).await;
}

#[tokio::test]
async fn values_of_indexes_are_the_same() {
    let target = Target::new().await;
    let forms = [
        "lower(a)",
        "upper(a)",
        "lower(k)",
        "length(a)",
        "length(lower(k))",
        "trim(a)",
        "rtrim(a)",
        "coalesce(a, b)",
        "ifnull(a, 'none')",
        "coalesce(n, 0)",
        "coalesce(m, 0)",
        "coalesce(r, 0)",
        "coalesce(k, a, '')",
        "a || b",
        "a || '-' || n",
        "n || 1",
        "lower(a) || upper(b)",
        "-1 || a",
        "substr(a, 2)",
        "substr(a, 1, 1)",
        "substr(a, 2, 0)",
        "substr(a, 3, 2147483647)",
        "substring(a || b, 2, 3)",
        "abs(n)",
        "abs(m)",
        "abs(r)",
        "abs(length(a))",
        "printf('%s', a)",
        "printf('%d', n)",
        "printf('%s/%d%%', k, n)",
        "format('%s', n)",
        "printf('n %d: ''%s''', length(a), a)",
    ];
    compare(&target, &forms, false).await;
}

#[tokio::test]
async fn json_validity_is_the_same_since_release_16() {
    let Some(target) = Target::since(16).await else { return };
    let forms =
        ["json_valid(a)", "NOT json_valid(a)", "json_valid(k) AND n > 0", "json_valid(a || b)"];
    compare(&target, &forms, true).await;
    // The one difference: SQLite reads no deeper.
    for (depth, expected) in [(1000, true), (1001, false)] {
        let nested = format!("'{}{}'", "[".repeat(depth), "]".repeat(depth));
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let sql = format!("SELECT json_valid({nested})");
        assert_eq!(connection.query_row(&sql, [], |row| row.get::<_, bool>(0)), Ok(expected));
        assert_eq!(target.texts(&format!("SELECT ({nested} IS JSON)::text")).await, ["true"]);
    }
}

#[tokio::test]
async fn generated_columns_stay_generated() {
    let Some(target) = Target::since(12).await else { return };
    let file = File::new(
        "CREATE TABLE person(id INTEGER PRIMARY KEY, first TEXT, last TEXT, n INT, \
         whole TEXT AS (first || ' ' || last), \
         login VARCHAR(40) GENERATED ALWAYS AS (lower(coalesce(first, '?'))) STORED UNIQUE, \
         size INT AS (length(first)), is_big BOOLEAN AS (n > 5), is_a INT AS (first GLOB 'A*'), \
         doubled INT AS (n * 2), of_login TEXT AS (upper(login))); \
         INSERT INTO person(first, last, n) VALUES ('Ada', 'L', 3), ('Émile', NULL, 9), \
         (NULL, 'x', NULL)",
    );
    let report = target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    let lost: Vec<_> = report.findings.iter().filter_map(|each| each.column.as_deref()).collect();
    assert_eq!(lost, ["doubled", "of_login"]);
    assert!(report.verification.unwrap().is_equal());
    target.run("INSERT INTO person(first, last, n) VALUES ('Bo', 'B', 6)").await;
    let rows = "SELECT concat_ws('/', whole, login, size, is_big, is_a, doubled, of_login) \
                FROM person ORDER BY id";
    assert_eq!(
        target.texts(rows).await,
        ["Ada L/ada/3/f/1/6/ADA", "Émile/5/t/0/18/ÉMILE", "?/?", "Bo B/bo/2/t/0"]
    );
}

#[tokio::test]
async fn values_of_another_expression_are_blockers_with_a_remedy() {
    let Some(target) = Target::since(12).await else { return };
    let file = File::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, g TEXT COLLATE NOCASE AS (lower(a)) STORED); \
         INSERT INTO t(a) VALUES ('x'), ('Y'); PRAGMA writable_schema = on; \
         UPDATE sqlite_schema SET sql = replace(sql, 'lower(a)', 'upper(a)'); \
         PRAGMA writable_schema = off",
    );
    let report = file.audit(&[]).unwrap();
    let found: Vec<_> =
        report.findings.iter().filter(|each| each.kind == "stored_values").collect();
    assert_eq!((found.len(), found[0].count), (1, 2), "{report:?}");
    assert_eq!(found[0].examples[0].row, "rowid 1");
    let options = MigrateOptions { verify: false, ..MigrateOptions::default() };
    let error = target.migrate(&file, &options).await.unwrap_err().to_string();
    let (_, remedy) = found[0].fix.split_once("in the source: ").unwrap();
    assert!(error.contains(remedy), "{error}");
    file.run(remedy);
    target.migrate(&file, &options).await.unwrap();
    assert_eq!(target.texts("SELECT g FROM t ORDER BY id").await, ["X", "Y"]);
}

#[tokio::test]
async fn a_unique_key_of_an_expression_refuses_what_sqlite_refuses() {
    let target = Target::new().await;
    let file = File::new(
        "CREATE TABLE person(id INTEGER PRIMARY KEY, email TEXT, team INT); \
         CREATE UNIQUE INDEX by_email ON person(team DESC, lower(email)) WHERE team IS NOT NULL; \
         INSERT INTO person VALUES (1, 'É', 1), (2, 'é', 1), (3, 'a', 1), (4, 'A', 2), (5, 'A', NULL), \
         (6, 'a', NULL)",
    );
    assert!(!file.audit(&[]).unwrap().blocks());
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
    target.run("INSERT INTO person VALUES (7, 'A', 3)").await;
    let refused = target.client.batch_execute("INSERT INTO person VALUES (8, 'A', 1)").await;
    let code = refused.unwrap_err().code().cloned();
    assert_eq!(code, Some(tokio_postgres::error::SqlState::UNIQUE_VIOLATION));
}

#[tokio::test]
async fn entries_of_an_expression_that_are_too_long_are_found_before() {
    let file = File::new(
        "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b TEXT); CREATE INDEX i ON t(a || b); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 250) \
         INSERT INTO t SELECT 1, group_concat(printf('%x', i * 2654435761 % 4294967291), ''), \
         group_concat(printf('%x', i * 2246822519 % 4294967291), '') FROM n",
    );
    let report = file.audit(&[]).unwrap();
    let found: Vec<&str> = report.findings.iter().map(|each| each.kind).collect();
    assert!(found.contains(&"long_index_entry"), "{report:?}");
    let target = Target::new().await;
    target.migrate(&file, &MigrateOptions::default()).await.unwrap_err();
    file.run("UPDATE t SET a = substr(a, 1, 500), b = substr(b, 1, 500)");
    target.migrate(&file, &MigrateOptions::default()).await.unwrap();
}
