//! Counted effects of random statements against a second reading of the tables, on SQLite and on a
//! real PostgreSQL alike.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use connect::postgres::thin::WaitLimits;
use engine::EngineKind;
use indicatif::ProgressBar;
use plan::{Placeholders, Statement};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use server::{Locations, PostgresServer, StartOptions};

use super::client::{SqlSession, run};
use super::postgres::PostgresSession;
use super::script::script;
use super::sqlite::{OpenMode, SqliteSession};
use super::value::AnswerValue;

static NEVER: AtomicBool = AtomicBool::new(false);

const TABLE: &str = "CREATE TABLE t (id INTEGER PRIMARY KEY, grp INTEGER NOT NULL, \
                     n INTEGER NOT NULL, name TEXT)";
const ROWS: i64 = 80;

/// A row by its key.
type Rows = BTreeMap<i64, Vec<AnswerValue>>;

fn rows(session: &mut dyn SqlSession) -> Rows {
    let table = session.query("SELECT id, grp, n, name FROM t").unwrap();
    let keyed = |row: Vec<AnswerValue>| match row[0] {
        AnswerValue::Integer(id) => (id, row),
        ref other => panic!("{other}"),
    };
    table.rows.into_iter().map(keyed).collect()
}

/// The rows that are there before or after, and not alike both times.
fn differing(before: &Rows, after: &Rows) -> u64 {
    let gone = before.keys().filter(|id| !after.contains_key(*id)).count();
    let new_or_changed = after.iter().filter(|(id, row)| before.get(*id) != Some(row)).count();
    (gone + new_or_changed) as u64
}

/// Random statements, each of which changes every row that it counts so that it can be seen.
struct Generator(Xoshiro256PlusPlus);

impl Generator {
    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.0.random_range(0..texts.len())]
    }

    fn condition(&mut self) -> &'static str {
        self.one_of(&[
            "id = :a",
            "id BETWEEN :a AND :a + :b",
            "grp = :b AND n < 3",
            "id IN (SELECT id FROM t WHERE grp = :b ORDER BY id LIMIT 3)",
            "name LIKE 'row 1%' AND id > :a",
            "name IS NULL OR id = :b",
        ])
    }

    fn step(&mut self) -> String {
        let condition = self.condition();
        let returning = self.one_of(&["", " RETURNING id", " RETURNING id, n"]);
        match self.0.random_range(0..5) {
            0 => format!("DELETE FROM t WHERE {condition}{returning}"),
            1 | 2 => {
                let also = self.one_of(&["", ", name = 'again'", ", name = NULL"]);
                format!("UPDATE t SET n = n + 1{also} WHERE {condition}{returning}")
            }
            3 => format!(
                "INSERT INTO t (id, grp, n, name) VALUES (:a, :b, 0, 'new') ON CONFLICT (id) DO \
                 NOTHING{returning}"
            ),
            _ => {
                let condition = self.one_of(&["", " WHERE t.n < 2", " WHERE t.grp = 3"]);
                format!(
                    "INSERT INTO t (id, grp, n, name) VALUES (:a, :b, 0, 'new'), (:a + 200, :b, 0, \
                     NULL) ON CONFLICT (id) DO UPDATE SET n = t.n + 1{condition}{returning}"
                )
            }
        }
    }
}

fn execute(
    session: &mut dyn SqlSession,
    kind: EngineKind,
    statement: &Statement,
    (id, values): (usize, &[AnswerValue]),
) -> (u64, Rows) {
    let names = ["a", "b"].map(str::to_owned);
    let mut script = script(statement, 0, kind, &Placeholders::new(), &names).unwrap();
    script.id = id;
    let before = rows(session);
    session.prepare(&script).unwrap();
    let seen = run(session, &script, values).unwrap();
    let after = rows(session);
    let (counted, changed) = (seen.changed_rows, differing(&before, &after));
    let text = &statement.text;
    match statement.transaction {
        false => assert_eq!(counted, changed, "{kind:?}: {text} {values:?}"),
        // Its two statements may have changed one row, or one what the other had changed.
        true => assert!(counted >= changed, "{kind:?}: {text} {values:?}"),
    }
    (counted, after)
}

#[test]
fn counted_effects_are_those_of_a_second_reading() {
    let folder = tempfile::tempdir().unwrap();
    // As root the server's account has to pass through.
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let data = folder.path().to_owned();
    let locations = Locations { data, ..Locations::detect().unwrap() };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let options = StartOptions::new("18").unwrap().temporary();
    let hidden = ProgressBar::hidden();
    let started = PostgresServer::start(&locations, options, &hidden, &NEVER);
    let server = runtime.block_on(started).unwrap();
    let limits = WaitLimits { timeout: Duration::from_secs(60), interrupted: &NEVER };
    let mut postgres = PostgresSession::connect(&server.url("crossover"), &[], limits).unwrap();
    let path = folder.path().join("t.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("VACUUM").unwrap();
    let (mut sqlite, _) = SqliteSession::open(&path, OpenMode::Write, std::iter::empty()).unwrap();

    let mut generator = Generator(Xoshiro256PlusPlus::seed_from_u64(testing::seed()));
    let (mut effects, mut without) = (0, 0);
    for number in 0..testing::repetitions(10) as usize {
        let sessions: [&mut dyn SqlSession; 2] = [&mut sqlite, &mut postgres];
        for session in sessions {
            session.query("DROP TABLE IF EXISTS t").unwrap();
            session.query(TABLE).unwrap();
            let filled = (1..=ROWS).map(|id| {
                let name = if id % 9 == 0 { "NULL".to_owned() } else { format!("'row {id}'") };
                format!("({id}, {}, {}, {name})", id % 7, id % 4)
            });
            let filled: Vec<String> = filled.collect();
            session.query(&format!("INSERT INTO t VALUES {}", filled.join(", "))).unwrap();
        }
        let transaction = generator.0.random_bool(0.2);
        let text = match transaction {
            true => format!("{};\n{}", generator.step(), generator.step()),
            false => generator.step(),
        };
        let statement =
            Statement { name: "random".to_owned(), text, transaction, ..Statement::default() };
        // The same statement twice: the second execution often finds nothing to do.
        let a = generator.0.random_range(1..=ROWS + 20);
        let values = [a, generator.0.random_range(0..9)].map(AnswerValue::Integer);
        for id in [2 * number, 2 * number + 1] {
            let ours = execute(&mut sqlite, EngineKind::Sqlite, &statement, (id, &values));
            let theirs = execute(&mut postgres, EngineKind::Postgres, &statement, (id, &values));
            assert_eq!(ours, theirs, "{} {values:?}", statement.text);
            if ours.0 == 0 { without += 1 } else { effects += 1 }
        }
    }
    assert!(effects > 5 && without > 0, "{effects} with an effect, {without} without");
    drop(postgres);
    runtime.block_on(server.stop()).unwrap();
}
