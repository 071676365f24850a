//! What the server counts beside what the load counts, and conflicts that are provoked.

use std::time::Duration;

use oltp::{Driver, OltpLoadOptions, OltpTarget};
use plan::oltp::{Distribution, Mix, MixStatement, TableOptions};

use super::support::{NEVER, Place, Postgres, fill, passes, run, sum, tables};

/// Executions by their text, as the server counted them.
fn counted(postgres: &Postgres) -> Vec<(String, u64)> {
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
            let options = OltpLoadOptions { driver, ..passes(mix, clients, 40) };
            let load = run(&target, &tables, &options);
            let transactions = u64::from(clients) * 40;
            let counted = counted(&postgres);
            let calls = |beginning: &str| -> u64 {
                let those = counted.iter().filter(|(query, _)| query.starts_with(beginning));
                those.map(|(_, calls)| calls).sum()
            };
            let executions = |statement: MixStatement| {
                load.statements.get(&statement).map_or(0, |one| one.executions)
            };
            let times = if mix == Mix::PointSelect { 1 } else { 10 };
            assert_eq!(executions(MixStatement::PointSelect), times * transactions);
            let selects: u64 = counted
                .iter()
                .filter(|(query, _)| query.starts_with("SELECT c FROM") && query.ends_with("id=$1"))
                .map(|(_, calls)| calls)
                .sum();
            assert_eq!(selects, times * transactions, "{mix}");
            if mix != Mix::PointSelect {
                for (beginning, statement) in [
                    ("SELECT SUM(k)", MixStatement::SumRange),
                    ("SELECT DISTINCT c", MixStatement::DistinctRange),
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
fn committed(postgres: &Postgres) -> i64 {
    postgres.wait_until_gone("true");
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
            let options = OltpLoadOptions { driver, ..passes(mix, 3, count) };
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
        let options = OltpLoadOptions { driver, distribution, ..passes(Mix::WriteOnly, 6, 60) };
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
fn both_drivers_do_every_transaction_over_tcp() {
    let place = Place::new();
    let postgres = place.postgres(&[]);
    let url = postgres.server.as_ref().unwrap().tcp_url("crossover").unwrap();
    let tcp = OltpTarget::Postgres { url, session: Vec::new(), behind_pool: None };
    let tables = tables(Mix::ReadWrite, 1_000);
    fill(&tcp, &tables);
    for driver in [Driver::Threads, Driver::EventLoops] {
        let load = run(&tcp, &tables, &OltpLoadOptions { driver, ..passes(Mix::ReadWrite, 4, 10) });
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
    let reads = load.statements[&MixStatement::SimpleRange];
    assert_eq!(reads.executions, 1_000);
    // Ranges at the end of the table are shorter.
    assert!(reads.rows > 90 * 1_000 && reads.rows <= 100 * 1_000, "{reads:?}");
}
