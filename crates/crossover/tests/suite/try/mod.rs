//! `crossover try` from end to end on real files: a clean one that is written to meanwhile, one
//! with both faults of the article, odd names and rows that PostgreSQL refuses, every bad input.

mod alone;
mod budget;
mod logs;
mod writes;

use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use serde_json::Value;

use self::budget::{BUDGET_SECONDS, BUDGET_TUNED_SECONDS};
use crate::place::{Place, error, text};

impl Place {
    fn database(&self, name: &str, sql: &str) -> Connection {
        let connection = Connection::open(self.path(name)).unwrap();
        connection.execute_batch("PRAGMA foreign_keys = off").unwrap();
        connection.execute_batch(sql).unwrap();
        connection
    }

    /// Nothing of the try is left in the data folder, and no server runs.
    fn assert_nothing_left(&self) {
        let kept = std::fs::read_dir(self.path("data").join("try")).into_iter().flatten().flatten();
        let folders = kept.filter(|entry| entry.path().is_dir()).count();
        assert_eq!(folders, 0, "a place is left");
        let output = self.run(&["server", "list", "--output-format=json"]);
        let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
        let data = rows.as_array().unwrap().iter().filter(|row| row["kind"] == "data").count();
        assert_eq!(data, 0, "{rows}");
    }
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| unreachable!("{}", error(output)))
}

/// Statements in the report's table.
fn measured(told: &Value) -> Vec<&str> {
    let rows = told["report"]["steps"]["rows"].as_array().unwrap().iter();
    rows.filter_map(|row| row["statement"].as_str()).collect()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|each| each["name"].as_str().unwrap()).collect()
}

#[test]
fn a_file_with_a_concurrent_writer_is_tried_in_all_steps() {
    let place = Place::new();
    let connection = place.database(
        "shop.db",
        "PRAGMA journal_mode = wal; \
         CREATE TABLE customers(id INTEGER PRIMARY KEY, country TEXT); \
         CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers, \
             day TEXT); CREATE INDEX by_day ON orders(day); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
         INSERT INTO customers SELECT i, 'c' || (i % 9) FROM n; \
         INSERT INTO orders SELECT id, id, 'day ' || (id % 30) FROM customers;",
    );
    let stop = AtomicBool::new(false);
    let output = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            // Both tables grow, then shrink: a slow machine does not get more rows.
            let grow = "BEGIN; INSERT INTO customers(country) VALUES ('new'); \
                        INSERT INTO orders SELECT max(id), max(id), 'today' FROM customers; COMMIT";
            let shrink = "BEGIN; DELETE FROM orders WHERE id = (SELECT max(id) FROM orders); \
                          DELETE FROM customers WHERE id = (SELECT max(id) FROM customers); COMMIT";
            let mut steps = (0..1000).map(|_| grow).chain((0..1000).map(|_| shrink)).cycle();
            while !stop.load(Ordering::Relaxed) {
                connection.execute_batch(steps.next().unwrap()).unwrap();
                std::thread::yield_now();
            }
            connection
        });
        let words = ["shop.db", "--output-format=json"];
        let output = place.try_with_five_blocks(BUDGET_TUNED_SECONDS, &words);
        stop.store(true, Ordering::Relaxed);
        drop(writer.join().unwrap());
        output
    });
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", error(&output));
    let told = json(&output);
    // One moment of the file: both tables got their rows in the same transactions.
    let moved = told["moved"][0]["migration"]["tables"].as_array().unwrap();
    assert!(moved[0]["rows"].as_u64().unwrap() >= 2000);
    assert_eq!(moved[0]["rows"], moved[1]["rows"]);
    let proof = &told["moved"][0]["migration"]["verification"]["tables"][0];
    assert_eq!(proof["equal"], true);
    assert!(told["sqlite_size"]["file_bytes"].as_u64().unwrap() > 50_000);
    assert!(told["moved"][0]["size"]["table_bytes"].as_u64().unwrap() > 50_000);

    let steps = &told["report"]["steps"];
    let measured = measured(&told);
    for name in ["count orders", "orders by key", "orders joined to customers by customer_id"] {
        assert!(measured.contains(&name), "{measured:?}");
    }
    // Each engine unchanged and with its settings, and the one against the other at their best.
    let engines = steps["engines"].as_array().unwrap();
    assert_eq!(
        (&engines[0]["engine"], &engines[1]["engine"]),
        (&"SQLite".into(), &"postgres:18".into())
    );
    for engine in engines {
        assert_eq!(engine["steps"][0], "unchanged");
    }
    let rows = steps["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| !row["best"].as_array().unwrap().is_empty()).unwrap();
    let ratio = &row["best"][0]["ratio"];
    assert!(ratio["low"].as_f64() <= ratio["value"].as_f64());
    assert!(ratio["replicates"].as_u64().unwrap() >= 5, "{ratio}");
    // One answer: in the report, in its page and in the list of runs.
    let headline = told["report"]["summary"]["headline"].as_str().unwrap();
    assert!(headline.contains("SQLite"), "{headline}");
    let listed = place.run(&["runs", "--output-format=json"]);
    assert_eq!(json(&listed)[0]["verdict"], headline, "{}", json(&listed));
    place.assert_nothing_left();

    // The plan is one that bench takes, and a second try touches neither it nor the first.
    let plan = told["plan"].as_str().unwrap();
    assert_eq!(plan, "try-shop.toml");
    let output = place.run(&["bench", plan, "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
}

#[test]
fn an_index_is_proposed_and_named_as_the_smallest_step() {
    let place = Place::new();
    drop(place.database(
        "shop.db",
        "CREATE TABLE visits(id INTEGER PRIMARY KEY, visitor INTEGER, page TEXT); \
         CREATE TABLE alembic_version(version_num VARCHAR(32) PRIMARY KEY); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) \
         INSERT INTO visits SELECT i, i % 10000, 'page ' || (i % 7) FROM n;",
    ));
    let before = std::fs::read(place.path("shop.db")).unwrap();
    place.write("by visitor.sql", "SELECT id, page FROM visits WHERE visitor = 77 ORDER BY id");
    let output =
        place.try_with_five_blocks(BUDGET_TUNED_SECONDS, &["shop.db", "--sql=by visitor.sql"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", error(&output));
    let text = text(&output.stdout);
    // Whether the unchanged file is enough is left to the machine: its scan or PostgreSQL's.
    assert!(text.contains("with 1 index"), "{text}");
    // Verdict first, table second, then what to do, the plan last.
    let parts = ["PostgreSQL 18", "Mean ms", "CREATE INDEX visits_visitor", "Notes:", "Plan: "];
    let places: Vec<usize> = parts
        .iter()
        .map(|part| text.find(part).unwrap_or_else(|| unreachable!("{part}: {text}")))
        .collect();
    assert!(places.is_sorted(), "{text}");
    let told = error(&output);
    assert!(told.contains("Moved into PostgreSQL 18") && told.contains("verified"), "{told}");
    let advice = "A SQLAlchemy database, by its table alembic_version: make its tables by";
    assert!(told.contains(&format!("2 tables, 100,000 rows; {advice}")), "{told}");
    let types = "by the file alone; --make-tables would give integer for integer (2 columns).";
    assert!(text.contains(types), "{text}");
    assert!(told.contains("Copies take up to"), "{told}");
    assert_eq!(std::fs::read(place.path("shop.db")).unwrap(), before, "the file was changed");
    place.assert_nothing_left();

    // The plan repeats all steps on the file itself; nothing else is left beside it.
    let plan = std::fs::read_to_string(place.path("try-shop.toml")).unwrap();
    let index = "CREATE INDEX visits_visitor ON visits(visitor)";
    assert_eq!(plan.matches(index).count(), 2, "on both engines: {plan}");
    let left = std::fs::read_dir(place.path("")).unwrap().flatten();
    let left: Vec<String> = left.map(|one| one.file_name().into_string().unwrap()).collect();
    let ours = left.iter().filter(|name| name.starts_with("try-")).count();
    assert_eq!(ours, 1, "{left:?}");
    let output = place.run(&["bench", "try-shop.toml", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));

    // The run keeps the answer: what `report` says is what `try` said.
    let again = place.expect(0, &["report", "latest", "--format=text"]);
    let headline = |text: &str| text.lines().nth(2).unwrap().to_owned();
    assert_eq!(headline(&again), headline(&text));
    assert!(again.contains("Notes:") && again.contains(advice), "{again}");
}

#[test]
fn blockers_are_reported_and_the_rest_is_measured() {
    let place = Place::new();
    let connection = place.database(
        "found.db",
        "CREATE TABLE Articles(\"Id\" INTEGER PRIMARY KEY, uuid INTEGER NOT NULL UNIQUE, \
             \"Slug\" VARCHAR(20) NOT NULL, Note TEXT); \
         CREATE TABLE \"Daily Visits\"(day INTEGER, \"Article\" INTEGER REFERENCES \
             Articles(\"Id\"), visits INTEGER, PRIMARY KEY(day, \"Article\")) WITHOUT ROWID; \
         CREATE VIEW busy AS SELECT * FROM \"Daily Visits\" WHERE visits > 90; \
         CREATE TABLE broken(what TEXT); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) \
         INSERT INTO Articles SELECT i, printf('%08x-0000-4000-8000-%012x', i, i * 7), \
             'slug-' || i, NULL FROM n; \
         INSERT INTO \"Daily Visits\" SELECT d.Id, a.Id, a.Id % 97 FROM Articles AS a, \
             Articles AS d WHERE d.Id <= 3; \
         UPDATE Articles SET Slug = Slug || '-which-is-much-too-long' WHERE Id IN (3, 5); \
         UPDATE Articles SET Note = char(97, 0, 98) WHERE Id = 7; \
         INSERT INTO broken VALUES (char(0)), ('whole');",
    );
    drop(connection);
    let before = std::fs::read(place.path("found.db")).unwrap();
    place.write(
        "slow.sql",
        "-- the busiest\nSELECT slug, sum(visits) FROM articles JOIN [daily visits] ON article \
         = id\nGROUP BY slug ORDER BY 2 DESC, 1 LIMIT 5;\n\
         SELECT count(*) FROM busy;\n\
         SELECT count(*) FROM broken;\n\
         SELECT julianday('2020-01-01') FROM articles LIMIT 1;\n\
         SELECT count(*) FROM articles WHERE slug LIKE 'SLUG%';\n",
    );
    let words = ["found.db", "--sql=slow.sql", "--no-tuned", "--output-format=json"];
    let output = place.try_within(BUDGET_SECONDS, &words);
    assert_eq!(output.status.code(), Some(3), "{}", error(&output));
    let told = json(&output);
    let kinds = told["findings"].as_array().unwrap().iter();
    let blockers = kinds.filter(|finding| finding["severity"] == "blocker").count();
    assert_eq!(blockers, 4, "{}", told["findings"]);
    let remedies = &told["remedies"];
    let mappings = remedies["mappings"].as_array().unwrap().iter();
    let mut mappings: Vec<&str> = mappings.map(|rule| rule.as_str().unwrap()).collect();
    mappings.sort_unstable();
    assert_eq!(mappings, ["Articles.Slug=varchar(32)", "Articles.uuid=uuid"]);
    // One article with a NUL character, and its three days of visits, are left out on both sides.
    let refused = serde_json::json!({ "Articles": 1, "Daily Visits": 3, "broken": 1 });
    assert_eq!(remedies["refused_rows"], refused);
    assert_eq!(remedies["tables_not_measured"], serde_json::json!(["broken"]));
    let rows = told["moved"][0]["migration"]["tables"].as_array().unwrap().iter();
    let rows: Vec<u64> = rows.map(|table| table["rows"].as_u64().unwrap()).collect();
    assert_eq!(rows, [999, 2997, 1]);

    assert!(measured(&told).contains(&"slow:2"), "{told}");
    let left_out = &told["not_measured"];
    assert_eq!(names(left_out), ["slow:5", "slow:4", "slow:6", "slow:7"], "{left_out}");
    assert!(left_out[0]["why"].as_str().unwrap().contains("it reads broken"), "{left_out}");
    let why = left_out[2]["why"].as_str().unwrap();
    assert!(why.contains("julianday") && why.contains("slow.postgres.sql"), "{why}");
    // SQLite's LIKE takes capitals for small letters, PostgreSQL's does not.
    assert!(left_out[3]["why"].as_str().unwrap().starts_with("answers differ"), "{left_out}");
    assert_eq!(std::fs::read(place.path("found.db")).unwrap(), before, "the file was changed");
    place.assert_nothing_left();

    // The plan measures the copy without the refused rows, which is kept beside it.
    let plan = std::fs::read_to_string(place.path("try-found.toml")).unwrap();
    assert!(plan.contains("try-found.db") && plan.contains("1 of Articles"), "{plan}");
    let count = |sql: &str| -> i64 {
        let copy = Connection::open(place.path("try-found.db")).unwrap();
        copy.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!(count("SELECT count(*) FROM \"Daily Visits\""), 2997);
    let output = place.run(&["bench", "try-found.toml", "--dry-run"]);
    assert_eq!(output.status.code(), Some(0), "{}", error(&output));
}

#[test]
fn impossible_tries_are_refused_in_one_line_at_once() {
    let place = Place::new();
    drop(place.database("shop.db", "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (1)"));
    drop(place.database("views.db", "CREATE VIEW v AS SELECT 1"));
    drop(place.database("rows.db", "CREATE TABLE t(a INTEGER)"));
    place.write("empty.db", "");
    place.write("text.db", "this is not a database, although it is long enough to be one");
    place.write("writes.sql", "SELECT 1;\n\nDELETE FROM t;");
    place.write("wrong.sql", "SELECT a\nFROM t\nWHERE b = 1");
    place.write("asks.sql", "SELECT a FROM t WHERE a = :id");
    place.write("empty.log", "Started\nnothing of SQL\n");
    place.write("other.log", "(0.001) SELECT * FROM missing; args=(); alias=default\n");
    let cases: [(&[&str], i32, &str); 25] = [
        (&["nothing.db"], 1, "no such file: nothing.db"),
        (&["empty.db"], 1, "it is empty"),
        (&["text.db"], 1, "or it is encrypted"),
        (&["views.db"], 1, "views.db holds no table"),
        (&["rows.db"], 1, "rows.db holds no row"),
        (&["shop.db", "--on=postgres:99"], 2, "there is no archive of PostgreSQL 99"),
        (&["shop.db", "--on=postgres:18[work_men=1MB]"], 2, "did you mean `work_mem`"),
        (&["shop.db", "--on=sqlite[cash_size=9]"], 2, "did you mean `cache_size`"),
        (&["shop.db", "--on=postgresql://localhost/x"], 2, "a server that Crossover starts"),
        (
            &["shop.db", "--on=sqlite[cache_size=-9]"],
            2,
            "name a PostgreSQL beside it, or only --on",
        ),
        (&["shop.db", "--sql=none.sql"], 2, "there is no file none.sql"),
        (&["shop.db", "--sql=writes.sql"], 2, "writes.sql, line 3: DELETE is not a query"),
        (&["shop.db", "--sql=wrong.sql"], 2, "wrong.sql, line 3: SQLite: no such column: b"),
        (&["shop.db", "--sql=asks.sql"], 2, "asks.sql, line 1: it takes the parameter :id"),
        (&["shop.db", "--sql-log=none.log"], 2, "--sql-log: there is no file none.log"),
        (&["shop.db", "--sql-log=empty.log"], 2, "2 lines, no line with a statement; expected are"),
        (&["shop.db", "--sql-log=other.log"], 2, "SQLite: no such table: missing"),
        (&["shop.db", "--sql=shop.db"], 2, "name another file than the database shop.db"),
        (&["shop.db", "--sql-log=shop.db"], 2, "--sql-log: name another file than the database"),
        (&["shop.db", "--budget=soon"], 2, "`soon` is not a duration"),
        (
            &["shop.db", "--budget=10s"],
            2,
            "--budget 10s is too short: starting the engines for five blocks",
        ),
        (&["shop.db", "--delay=1us"], 2, "a delay of 0.001 ms is under 5 times"),
        (&["shop.db", "--enough=p42 < 1ms"], 2, "`p42 < 1ms` is not a bound: write"),
        (&["shop.db", "--enough=mean < 1"], 2, "`mean < 1` is not a bound: write"),
        (&["shop.db", "--on=postgres:newer"], 2, "is not a folder with PostgreSQL's programs"),
    ];
    for (more, code, message) in cases {
        let output = place.run(&[&["try"], more].concat());
        assert_eq!(output.status.code(), Some(code), "{more:?}: {}", error(&output));
        assert!(error(&output).contains(message), "{more:?}: {}", error(&output));
        assert!(output.stdout.is_empty(), "{more:?}");
    }
    place.assert_nothing_left();
    assert!(!place.path("runs").exists());
}

#[test]
fn a_disk_without_room_is_told_before_anything_is_copied() {
    let place = Place::new();
    drop(place.database("shop.db", "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (1)"));
    // The file claims more room than any disk has; its pages are where they were.
    let file = std::fs::File::options().write(true).open(place.path("shop.db")).unwrap();
    file.set_len(8 << 40).unwrap();
    let output = place.run(&["try", "shop.db"]);
    assert_eq!(output.status.code(), Some(1));
    let told = error(&output);
    assert!(told.contains("not enough room") && told.contains("CROSSOVER_DATA_DIR"), "{told}");
    place.assert_nothing_left();
}

#[test]
fn an_interrupted_try_leaves_nothing_behind() {
    let place = Place::new();
    drop(place.database(
        "shop.db",
        "CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT); \
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) \
         INSERT INTO t SELECT i, 'b' || i FROM n;",
    ));
    let mut child = place.command(&["try", "shop.db"]).spawn().unwrap();
    place.wait_for_trials(&mut child, 1);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(error(&output).contains("interrupted; nothing is left behind"), "{}", error(&output));
    place.assert_nothing_left();
    assert!(place.runs().is_empty(), "a run is left");
    assert!(!place.path("try-shop.toml").exists());
}
