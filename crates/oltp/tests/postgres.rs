//! Loads on a real PostgreSQL: what it says it was asked, conflicts provoked and counted, and
//! everything that can go wrong with a server under load.
#![expect(clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use oltp::{
    CharacterSet, Collation, Distribution, Driver, Error, Failure, LoadOptions, Mix, Sink,
    Statement, TableOptions, Target, Transaction, Until,
};
use support::{NEVER, Place, fill, passes, rows_added, run, sum, tables, try_run};

#[test]
fn every_mix_does_what_it_says_and_leaves_the_tables_whole() {
    let place = Place::new();
    let postgres = place.postgres(&[("deadlock_timeout", "10ms")]);
    support::every_mix(&postgres.target());
    oltp::remove(&postgres.target()).unwrap();
    let left = "SELECT relname FROM pg_class WHERE relname LIKE 'sb%' OR relname LIKE '%oltp%'";
    assert_eq!(postgres.rows(left), [""; 0]);
}

#[test]
fn the_oldest_release_does_the_same() {
    let place = Place::new();
    support::every_mix(&place.release("9.6", &[("deadlock_timeout", "10ms")]).target());
}

/// Executions by their text, as the server counted them.
fn counted(postgres: &support::Postgres) -> Vec<(String, u64)> {
    let sql = "SELECT query, calls FROM pg_stat_statements JOIN pg_database d ON d.oid = dbid \
               WHERE datname = 'crossover'";
    let rows = postgres.rows(sql);
    let pair = |row: &String| {
        let (query, calls) = row.rsplit_once('|').unwrap();
        (query.to_owned(), calls.parse().unwrap())
    };
    rows.iter().map(pair).collect()
}

#[test]
fn the_server_counts_the_statements_that_we_count() {
    let place = Place::new();
    let postgres = place.postgres(&[("shared_preload_libraries", "pg_stat_statements")]);
    postgres.rows("CREATE EXTENSION pg_stat_statements");
    let target = postgres.target();
    let tables = TableOptions { tables: 2, ..tables(Mix::ReadWrite, 1_000) };
    fill(&target, &tables);
    for driver in [Driver::Threads, Driver::EventLoops] {
        for mix in [Mix::ReadOnly, Mix::PointSelect, Mix::ReadWrite] {
            postgres.rows("SELECT pg_stat_statements_reset()");
            // One client cannot meet a conflict, so nothing is tried again.
            let clients = if mix == Mix::ReadWrite { 1 } else { 5 };
            let options = LoadOptions { driver, ..passes(mix, clients, 40) };
            let load = run(&target, &tables, &options);
            let transactions = u64::from(clients) * 40;
            let counted = counted(&postgres);
            let calls = |beginning: &str| -> u64 {
                let those = counted.iter().filter(|(query, _)| query.starts_with(beginning));
                those.map(|(_, calls)| calls).sum()
            };
            let executions = |statement: Statement| {
                load.statements.get(&statement).map_or(0, |one| one.executions)
            };
            let times = if mix == Mix::PointSelect { 1 } else { 10 };
            assert_eq!(executions(Statement::PointSelect), times * transactions);
            let selects: u64 = counted
                .iter()
                .filter(|(query, _)| query.starts_with("SELECT c FROM") && query.ends_with("id=$1"))
                .map(|(_, calls)| calls)
                .sum();
            assert_eq!(selects, times * transactions, "{mix}");
            if mix != Mix::PointSelect {
                for (beginning, statement) in [
                    ("SELECT SUM(k)", Statement::SumRange),
                    ("SELECT DISTINCT c", Statement::DistinctRange),
                ] {
                    assert_eq!(calls(beginning), transactions, "{mix}, {beginning}");
                    assert_eq!(executions(statement), transactions, "{mix}, {beginning}");
                }
            }
            let writes = if mix == Mix::ReadWrite { transactions } else { 0 };
            for beginning in ["UPDATE sbtest1 SET k", "UPDATE sbtest1 SET c", "DELETE", "INSERT"] {
                let other = beginning.replace("sbtest1", "sbtest2");
                let both = if other == beginning { 0 } else { calls(&other) };
                assert_eq!(calls(beginning) + both, writes, "{mix}, {beginning}");
            }
            assert_eq!(sum(&load, |client| client.statements), transactions * mix.statements());
        }
    }
}

/// Transactions that the server has committed, when all clients have gone.
fn committed(postgres: &support::Postgres) -> i64 {
    let others = "SELECT count(*) FROM pg_stat_activity \
                  WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
    while postgres.rows_in("postgres", others) != ["0"] {}
    let sql = "SELECT xact_commit FROM pg_stat_database WHERE datname = 'crossover'";
    postgres.rows_in("postgres", sql)[0].parse().unwrap()
}

#[test]
fn the_server_commits_the_transactions_that_we_count() {
    let place = Place::new();
    let postgres = place.postgres(&[("autovacuum", "off")]);
    let tables = tables(Mix::ReadOnly, 1_000);
    fill(&postgres.target(), &tables);
    for (mix, driver) in [(Mix::ReadOnly, Driver::Threads), (Mix::PointSelect, Driver::EventLoops)]
    {
        let commits = |count| {
            let before = committed(&postgres);
            let options = LoadOptions { driver, ..passes(mix, 3, count) };
            assert_eq!(run(&postgres.target(), &tables, &options).first_failure, None);
            committed(&postgres) - before
        };
        // What a load commits besides, before it begins, is the same each time.
        assert_eq!(commits(50) - commits(10), 3 * 40, "{mix}");
    }
}

#[test]
fn deadlocks_are_tried_again_and_counted() {
    let place = Place::new();
    let postgres = place.postgres(&[("deadlock_timeout", "10ms")]);
    let tables = tables(Mix::WriteOnly, 4);
    for driver in [Driver::Threads, Driver::EventLoops] {
        fill(&postgres.target(), &tables);
        let distribution = Distribution::Uniform;
        let options = LoadOptions { driver, distribution, ..passes(Mix::WriteOnly, 6, 60) };
        let load = run(&postgres.target(), &tables, &options);
        assert_eq!(load.first_failure, None);
        assert_eq!(sum(&load, |client| client.transactions), 6 * 60);
        assert!(sum(&load, |client| client.retries.deadlocks) > 0);
        oltp::invariants(&postgres.target(), &tables, &[Mix::WriteOnly], 0, &NEVER).unwrap();
    }
    let deadlocks = "SELECT deadlocks > 0 FROM pg_stat_database WHERE datname = 'crossover'";
    assert_eq!(postgres.rows(deadlocks), ["t"]);
}

#[test]
fn serialisation_failures_are_tried_again_and_counted() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let target = postgres.with_session(&[("default_transaction_isolation", "repeatable read")]);
    let tables = tables(Mix::UpdateIndex, 1);
    fill(&target, &tables);
    let load = run(&target, &tables, &passes(Mix::UpdateIndex, 8, 200));
    assert_eq!(load.first_failure, None);
    let transactions = sum(&load, |client| client.transactions);
    assert_eq!(transactions, 8 * 200);
    assert!(sum(&load, |client| client.retries.serialization_failures) > 0);
    // Each of them has added one, whatever was tried again.
    let before: u64 = 1;
    assert_eq!(postgres.rows("SELECT k FROM sbtest1"), [(before + transactions).to_string()]);
}

#[test]
fn more_clients_than_the_server_takes_are_named_and_none_stays() {
    let place = Place::new();
    let postgres = place.postgres(&[("max_connections", "10")]);
    let tables = tables(Mix::PointSelect, 10);
    fill(&postgres.target(), &tables);
    for driver in [Driver::Threads, Driver::EventLoops] {
        let options = LoadOptions { driver, ..passes(Mix::PointSelect, 40, 1) };
        let refusal = try_run(&postgres.target(), &tables, &options).unwrap_err();
        assert!(matches!(refusal, Error::Connect { clients: 40, .. }), "{refusal}");
        assert!(refusal.to_string().contains("max_connections"), "{refusal}");
    }
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE backend_type = 'client backend' AND query LIKE '%sbtest%'";
    let mut left = postgres.rows(waiting);
    // The server hears of the closed sockets in its own time.
    while left != ["1"] {
        left = postgres.rows(waiting);
    }
}

/// Says so when it has seen a transaction.
struct Tells(mpsc::Sender<()>);

impl Sink for Tells {
    type Kept = ();

    fn observe(&mut self, _transaction: &Transaction) {
        let _ = self.0.send(());
    }

    fn end(self) {}
}

#[test]
fn a_server_that_stops_in_mid_load_ends_it_and_says_why() {
    for (driver, clients) in [(Driver::Threads, 3), (Driver::EventLoops, 20)] {
        let place = Place::new();
        let mut postgres = place.postgres(&[("deadlock_timeout", "10ms")]);
        let (target, tables) = (postgres.target(), tables(Mix::ReadWrite, 1_000));
        fill(&target, &tables);
        let until = Until::Time(Duration::from_secs(3_600));
        let options = LoadOptions { driver, until, ..passes(Mix::ReadWrite, clients, 1) };
        let (sender, seen) = mpsc::channel();
        let load = std::thread::scope(|scope| {
            let begin = || Tells(sender.clone());
            let load = scope.spawn(move || oltp::run(&target, &tables, &options, &begin, &NEVER));
            for _ in 0..100 {
                seen.recv().unwrap();
            }
            postgres.stop();
            load.join().unwrap().unwrap()
        });
        assert!(load.clients.iter().all(|client| client.ended_by == Some(Failure::Lost)));
        let (failure, text) = load.first_failure.unwrap();
        assert_eq!(failure, Failure::Lost);
        assert!(text.contains("terminating connection"), "{text}");
    }
}

#[test]
fn an_answer_that_does_not_come_ends_its_client() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let tables = tables(Mix::UpdateIndex, 1);
    fill(&postgres.target(), &tables);
    let (locked, is_locked) = mpsc::channel();
    let (release, released) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let url = postgres.server.as_ref().unwrap().url("crossover");
        scope.spawn(move || {
            use engine::postgres::thin::{Connection, Patience};
            let patience = Patience { timeout: Duration::from_secs(60), interrupted: &NEVER };
            let mut holder = Connection::connect(&url, &[], patience).unwrap();
            holder.query("BEGIN; UPDATE sbtest1 SET c = 'held'", |_| {}).unwrap();
            locked.send(()).unwrap();
            released.recv().unwrap();
        });
        is_locked.recv().unwrap();
        for driver in [Driver::Threads, Driver::EventLoops] {
            let timeout = Duration::from_millis(200);
            let options = LoadOptions { driver, timeout, ..passes(Mix::UpdateIndex, 2, 1) };
            let load = run(&postgres.target(), &tables, &options);
            assert!(load.clients.iter().all(|one| one.ended_by == Some(Failure::TimedOut)));
            assert_eq!(sum(&load, |client| client.transactions), 0);
        }
        release.send(()).unwrap();
    });
}

#[test]
fn the_user_can_stop_it() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let tables = tables(Mix::PointSelect, 100);
    fill(&postgres.target(), &tables);
    for clients in [2, 20] {
        let until = Until::Time(Duration::from_secs(3_600));
        let options = LoadOptions { until, ..passes(Mix::PointSelect, clients, 1) };
        let interrupted = AtomicBool::new(false);
        let (sender, seen) = mpsc::channel();
        std::thread::scope(|scope| {
            let begin = || Tells(sender.clone());
            let (target, tables, interrupted) = (postgres.target(), &tables, &interrupted);
            let load = scope
                .spawn(move || oltp::run(&target, tables, &options, &begin, interrupted).map(drop));
            seen.recv().unwrap();
            interrupted.store(true, Ordering::Relaxed);
            assert!(matches!(load.join().unwrap(), Err(Error::Interrupted)));
        });
    }
}

#[test]
fn a_table_that_is_not_ours_is_refused_and_left() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let (target, tables) = (postgres.target(), tables(Mix::ReadOnly, 10));
    let missing = try_run(&target, &tables, &passes(Mix::ReadOnly, 1, 1)).unwrap_err();
    assert!(matches!(missing, Error::NotFilled { .. }), "{missing}");
    postgres.rows("CREATE TABLE sbtest1 (mine int); INSERT INTO sbtest1 VALUES (42)");
    let refusal = oltp::fill(&target, &tables, &|_, _| {}, &NEVER).unwrap_err();
    assert!(matches!(refusal, Error::ForeignTable { .. }) && refusal.is_usage(), "{refusal}");
    let refusal = try_run(&target, &tables, &passes(Mix::ReadOnly, 1, 1)).unwrap_err();
    assert!(matches!(refusal, Error::ForeignTable { .. }), "{refusal}");
    assert_eq!(postgres.rows("SELECT mine FROM sbtest1"), ["42"]);

    // A marked table that somebody has replaced by his own.
    postgres.rows("DROP TABLE sbtest1");
    fill(&target, &tables);
    postgres.rows("DROP TABLE sbtest1; CREATE TABLE sbtest1 (mine int)");
    let refusal = oltp::fill(&target, &tables, &|_, _| {}, &NEVER).unwrap_err();
    assert!(refusal.to_string().contains("id, k, c, pad"), "{refusal}");
    assert_eq!(postgres.rows("SELECT count(mine) FROM sbtest1"), ["0"]);
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
fn other_rows_and_other_sessions_than_the_first_give_other_loads() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let url = postgres.server.as_ref().unwrap().tcp_url("crossover").unwrap();
    let tcp = Target::Postgres { url, session: Vec::new() };
    let tables = tables(Mix::ReadWrite, 1_000);
    fill(&tcp, &tables);
    for driver in [Driver::Threads, Driver::EventLoops] {
        let load = run(&tcp, &tables, &LoadOptions { driver, ..passes(Mix::ReadWrite, 4, 10) });
        assert_eq!(sum(&load, |client| client.transactions), 40);
        assert!(load.round_trip > Duration::ZERO && load.connect_time > Duration::ZERO);
    }
}

#[test]
fn many_clients_share_few_threads() {
    let place = Place::new();
    let postgres = place.postgres(&[("max_connections", "300")]);
    let (target, tables) = (postgres.target(), tables(Mix::ReadOnly, 1_000));
    fill(&target, &tables);
    let load = run(&target, &tables, &passes(Mix::ReadOnly, 250, 4));
    assert!(load.threads <= std::thread::available_parallelism().unwrap().get());
    assert!(load.clients.iter().all(|client| client.transactions == 4));
    let reads = load.statements[&Statement::SimpleRange];
    assert_eq!(reads.executions, 1_000);
    // Ranges at the end of the table are shorter.
    assert!(reads.rows > 90 * 1_000 && reads.rows <= 100 * 1_000, "{reads:?}");
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
        let target = Target::Postgres { url, session: Vec::new() };
        for collation in [Collation::Bytes, Collation::Language] {
            let tables = TableOptions { character_set, collation, ..tables(Mix::Encoding, 400) };
            fill(&target, &tables);
            for client in [CharacterSet::Utf8, CharacterSet::Latin2] {
                let options = LoadOptions { character_set: client, ..passes(Mix::Encoding, 2, 30) };
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
fn the_planner_takes_towns_and_their_postal_codes_for_independent() {
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
        assert_eq!(load.statements[&Statement::DeleteOldest].rows, 40);
        added += rows_added(&load);
    }
    assert_eq!(added, 0);
    oltp::invariants(&target, &tables, &[Mix::Churn], added, &NEVER).unwrap();
    assert_eq!(postgres.rows("SELECT min(id) > 100, count(*) FROM sbtest1"), ["t|200"]);
}
