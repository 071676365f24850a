//! Own SQL by the program itself, on SQLite and a real PostgreSQL (and MariaDB where its server is
//! installed): answers compared, differences and mistakes named, writes on copies only.

mod booleans;
mod fixed_work;
pub mod library;
mod steps;
mod twist;
mod versions;
mod writing;

use serde_json::Value;

use crate::place::{Place, error, read_json};

/// Data of every type that engines have in common, and NULLs.
const DATA: &str = "
    CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born DATE, score REAL,
                         photo BLOB, member BOOLEAN NOT NULL);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, person_id INTEGER NOT NULL REFERENCES people,
                         placed DATETIME NOT NULL, amount NUMERIC(10,2) NOT NULL, note TEXT);
    CREATE INDEX orders_person ON orders (person_id);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200)
      INSERT INTO people SELECT i, 'näme ' || i, date('1970-01-01', '+' || i * 37 || ' days'),
                                CASE WHEN i % 5 THEN i / 3.0 END,
                                CASE WHEN i % 4 THEN unhex('00ff' || printf('%04x', i)) END, i % 2
        FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO orders SELECT i, 1 + i * 7 % 200, datetime('2021-01-01', '+' || i || ' hours'),
                                i % 977 + 0.25, CASE WHEN i % 3 THEN 'note ''' || i END
        FROM n;";

/// A place with the shop's file.
fn shop() -> Place {
    let place = Place::new();
    rusqlite::Connection::open(place.path("shop.db")).unwrap().execute_batch(DATA).unwrap();
    place
}

impl Place {
    /// Two passes over `statements` on both engines in one block.
    fn plan(&self, statements: &str) {
        self.plan_on(r#"["sqlite", "postgres:18"]"#, r#"mode = "passes", passes = 2"#, statements);
    }

    fn plan_on(&self, engines: &str, trial: &str, statements: &str) {
        let text = format!(
            "title = \"own\"\nworkload = \"sql\"\nengines = {engines}\ndata = \"shop.db\"\n\
             replicates = 1\nseed = 7\ntrial = {{ {trial} }}\n{statements}"
        );
        self.write("plan.toml", &text);
    }

    /// Carries the plan out, which must fail with `code`; its messages.
    fn fails(&self, code: i32) -> String {
        let output = self.run(&["bench", "plan.toml"]);
        assert_eq!(output.status.code(), Some(code), "{}", error(&output));
        error(&output)
    }
}

/// Statements that touch every type, parameters of every source, a transaction, a factor.
const STATEMENTS: &str = r#"
factors = { least = [1, 100], clients = [2] }

[[statement]]
name = "types"
text = "SELECT id, name, born, score, photo, member FROM people WHERE id = :id"
parameters = { id = { query = "SELECT id FROM people WHERE id % 2 = 1" } }
answer = { key = ["id"] }

[[statement]]
name = "join"
text = """
SELECT p.name, count(*), sum(o.amount), avg(o.amount) AS mean, min(o.placed)
FROM orders o JOIN people p ON p.id = o.person_id
WHERE o.amount >= {least} AND p.id <= :least GROUP BY p.name"""
digits = 8      # MariaDB's average of decimals has four digits more than they have

[[statement]]
name = "both"
file = "both.sql"
transaction = true
weight = 2
parameters = { id = { range = [1, 200] }, note = { list = ["note '2", "it's :none"] } }
answer = "ordered"
"#;

/// Two statements as one transaction.
const BOTH: &str = "SELECT note FROM orders WHERE person_id = :id ORDER BY id;\n\
                    SELECT id FROM orders WHERE note = :note ORDER BY id;\n";

#[test]
fn the_same_statements_have_the_same_answers_on_both_engines() {
    let place = shop();
    place.write("both.sql", BOTH);
    place.plan(STATEMENTS);
    let output = place.run(&["bench", "plan.toml"]);
    // One block gives no verdict: done, with findings.
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let trials = place.trials();
    assert_eq!(trials.len(), 4);
    for trial in &trials {
        assert_eq!(trial["status"], "ok", "{trial}");
        assert_eq!(trial["failures"], 0, "{trial}");
        // Two clients, two passes, a round of four.
        assert_eq!(trial["requests"], 16, "{trial}");
        let counter =
            if trial["engine"] == "sqlite" { "sqlite_cache_hits" } else { "postgres_blocks_hit" };
        assert!(trial["counters"][counter].is_number(), "{trial}");
        let plans = trial["plans"].as_array().unwrap();
        assert!(plans.iter().all(|one| one["plan"]["observed"].is_object()), "{trial}");
    }
    let run = read_json(&place.only_run().join("run.json"));
    let plans: Vec<&str> =
        run["plans"].as_object().unwrap().values().map(|p| p.as_str().unwrap()).collect();
    assert!(plans.iter().any(|plan| plan.contains("SEARCH")), "{plans:?}");
    assert!(plans.iter().any(|plan| plan.contains("Scan")), "{plans:?}");
    let kept = std::fs::read_to_string(place.only_run().join("plan.toml")).unwrap();
    assert!(kept.contains("SELECT note FROM orders"), "the plan holds the file's text: {kept}");
}

/// The tables in MariaDB's words; rows are copied by the test.
const MARIADB: [&str; 2] = [
    "CREATE TABLE people (id INT PRIMARY KEY, name VARCHAR(50) NOT NULL, born DATE, score DOUBLE,
                          photo BLOB, member BOOLEAN NOT NULL) CHARACTER SET utf8mb4",
    "CREATE TABLE orders (id INT PRIMARY KEY, person_id INT NOT NULL,
                          placed DATETIME NOT NULL, amount DECIMAL(10,2) NOT NULL,
                          note VARCHAR(50), INDEX (person_id)) CHARACTER SET utf8mb4",
];

/// Copies the rows of the place's database.
fn fill_mariadb(place: &Place, url: &str) {
    use mysql::prelude::Queryable as _;
    let mut target = connect::mysql::connect(url, std::time::Duration::from_secs(60)).unwrap();
    for table in MARIADB {
        target.query_drop(table).unwrap();
    }
    let source = rusqlite::Connection::open(place.path("shop.db")).unwrap();
    for (table, columns) in [("people", 6), ("orders", 5)] {
        let mut statement = source.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let value = |row: &rusqlite::Row<'_>, column| match row.get_ref(column).unwrap() {
            rusqlite::types::ValueRef::Null => mysql::Value::NULL,
            rusqlite::types::ValueRef::Integer(integer) => mysql::Value::Int(integer),
            rusqlite::types::ValueRef::Real(double) => mysql::Value::Double(double),
            rusqlite::types::ValueRef::Text(bytes) | rusqlite::types::ValueRef::Blob(bytes) => {
                mysql::Value::Bytes(bytes.to_vec())
            }
        };
        let rows = statement.query_map([], |row| {
            Ok((0..columns).map(|column| value(row, column)).collect::<Vec<_>>())
        });
        let rows: Vec<Vec<mysql::Value>> = rows.unwrap().map(Result::unwrap).collect();
        let marks = vec!["?"; columns].join(", ");
        target.query_drop("BEGIN").unwrap();
        target.exec_batch(format!("INSERT INTO {table} VALUES ({marks})"), rows).unwrap();
        target.query_drop("COMMIT").unwrap();
    }
}

#[test]
fn the_same_statements_have_the_same_answers_on_mariadb() {
    let programs = match server::MariadbPrograms::find(None) {
        Ok(programs) => programs,
        Err(error) => return testing::skip(&error.to_string()),
    };
    let place = shop();
    let data = place.path("data");
    let locations = server::Locations { data, ..server::Locations::detect().unwrap() };
    let never = std::sync::atomic::AtomicBool::new(false);
    let server = server::MariadbServer::start(&locations, &programs, &[], &never).unwrap();
    let connection = connect::mysql::connect(&server.url(""), std::time::Duration::from_secs(60));
    mysql::prelude::Queryable::query_drop(&mut connection.unwrap(), "CREATE DATABASE shop")
        .unwrap();
    fill_mariadb(&place, &server.url("shop"));

    place.write("both.sql", BOTH);
    let engines = format!(r#"["sqlite:shop.db", "{}[label=mariadb]"]"#, server.url("shop"));
    place.plan_on(&engines, r#"mode = "passes", passes = 2"#, STATEMENTS);
    let plan = std::fs::read_to_string(place.path("plan.toml")).unwrap();
    place.write("plan.toml", &plan.replace("data = \"shop.db\"", "data = \"present\""));
    let output = place.run(&["bench", "plan.toml"]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    for trial in place.trials() {
        assert_eq!((&trial["status"], &trial["failures"]), (&"ok".into(), &0.into()), "{trial}");
    }
    let run = read_json(&place.only_run().join("run.json"));
    let mariadb = &run["engines"]["mariadb"];
    assert!(mariadb["version"].as_str().unwrap().starts_with("MariaDB "), "{mariadb}");
    assert_eq!(mariadb["durability"], "survives_power_loss", "{mariadb}");
    let plans: Vec<&Value> = run["plans"].as_object().unwrap().values().collect();
    assert!(plans.iter().any(|plan| plan.as_str().unwrap().contains("query_block")), "{plans:?}");
    server.stop().unwrap();
}

#[test]
fn a_planted_difference_stops_the_run_and_is_shown() {
    let place = shop();
    let sum = "SELECT person_id, sum(amount) AS total FROM orders\n\
               WHERE person_id < :id GROUP BY 1";
    place.write("sum.sql", sum);
    let other = "sum(amount) + CASE person_id WHEN 3 THEN 0.5 ELSE 0 END";
    place.write("sum.postgres.sql", &sum.replace("sum(amount)", other));
    let statement = r#"
[[statement]]
file = "sum.sql"
parameters = { id = { list = [5] } }
answer = { key = ["person_id"] }
"#;
    place.plan(statement);
    let message = place.fails(1);
    assert!(message.contains("answers differ: sum with id = 5: of one key "), "{message}");
    let remedy = r#"ignore_columns = ["total"]"#;
    for part in ["sqlite has (3, ", "postgres:18 has (3, ", ": they differ in total;", remedy] {
        assert!(message.contains(part), "{message}");
    }
    place.plan(&format!("{statement}{remedy}"));
    assert_eq!(place.run(&["bench", "plan.toml"]).status.code(), Some(3));
    place.plan(&statement.replace("answer", "ignore_columns = [\"totals\"]\nanswer"));
    let message = place.fails(2);
    assert!(
        message.contains("totals is not a column of the answer; there are person_id"),
        "{message}"
    );

    // What the rows are is then not looked at.
    place.plan(&statement.replace(r#"{ key = ["person_id"] }"#, r#""count""#));
    let output = place.run(&["bench", "plan.toml"]);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
}

#[test]
fn mistakes_are_named_with_file_and_line() {
    let place = shop();
    let mistake = |engine: &str, text: &str, more: &str| {
        place.write("bad.sql", text);
        let statement = format!("[[statement]]\nfile = \"bad.sql\"\n{more}\n");
        let engines = format!("[\"{engine}\"]");
        place.plan_on(&engines, r#"mode = "passes", passes = 1"#, &statement);
        place.fails(2)
    };
    let said = mistake("postgres:18", "SELECT id\nFROM orders\nWHERE idd = 1", "");
    assert!(said.contains("bad.sql, line 3: postgres:18: column \"idd\" does not exist"), "{said}");
    let word = "parameters = { id = { list = [\"x\"] } }";
    let said = mistake("postgres:18", "-- one\nSELECT id FROM orders WHERE id = :id", word);
    let expected = "bad.sql, line 1: postgres:18: invalid input syntax for type";
    assert!(said.contains(expected), "{said}");
    let said = mistake("sqlite", "SELECT\n nope FROM orders", "");
    assert!(said.contains("bad.sql, line 2: sqlite: no such column: nope"), "{said}");
    let said = mistake("sqlite", "SELECT id FROM orders\nWHERE id = :id", "");
    assert!(said.contains("bad.sql, line 1: :id has no values"), "{said}");
    let said = mistake("sqlite", "SELECT 1;\nSELECT 2", "");
    assert!(said.contains("bad.sql, line 2: a second statement begins here"), "{said}");
    let said = mistake("sqlite", "SELECT id FROM orders\nWHERE id = ?", "");
    assert!(
        said.contains("bad.sql, line 2: nothing gives ? a value; write :NAME instead"),
        "{said}"
    );
    let said = mistake("postgres:18", "SELECT id FROM orders WHERE id = $1 OR id = :id", word);
    assert!(said.contains("bad.sql, line 1: nothing gives $1 a value"), "{said}");
    let none = "parameters = { id = { query = \"SELECT id FROM orders WHERE id < 0\" } }";
    let said = mistake("sqlite", "SELECT :id", none);
    assert!(said.contains("the query of parameter id has no rows"), "{said}");
    let said = mistake("sqlite:shop.db", "DELETE FROM orders", "");
    assert!(said.contains("bad changes data, and sqlite:shop.db is yours and only read"), "{said}");
    let said = mistake("sqlite:shop.db[journal_mode=wal]", "SELECT 1", "");
    assert!(said.contains("journal_mode changes nothing there: your own database"), "{said}");
    let said = mistake("sqlite[page_size=512]", "SELECT 1", "");
    assert!(said.contains("page_size changes nothing there: a copy of data"), "{said}");
    let said = mistake("mariadb", "SELECT 1", "");
    assert!(said.contains("fill your own MariaDB and name its URL"), "{said}");
    let query = "parameters = { id = { query = \"SELECT id FROM orders WHERE id < ?\" } }";
    let statement = format!("[[statement]]\nname = \"a\"\ntext = \"SELECT :id\"\n{query}\n");
    place.plan_on("[\"sqlite\"]", r#"mode = "passes", passes = 1"#, &statement);
    let said = place.fails(1);
    assert!(said.contains("it has 1 parameter that nothing gives a value"), "{said}");
    assert!(place.runs().is_empty(), "a run without a trial was left");
}
