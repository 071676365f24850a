//! Tests on real servers: plans of a statement at several values, an application's plans from the
//! log, counters of the oldest and the newest release.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use server::{Locations, PostgresServer, StartOptions};
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use super::activity::SessionActivity;
use super::counters::read_counters;
use super::*;
use crate::activity::{Activity as _, Sight};
use load::resource::ServerSide;

/// Days 0 to 1999, twenty rows each.
const TABLE: &str = "
    CREATE TABLE facts AS
        SELECT i / 20 AS day, i AS amount, repeat('x', 60) AS text FROM generate_series(0, 39999) i;
    CREATE INDEX facts_day ON facts (day);
    ANALYZE facts";

async fn start(version: &str) -> (PostgresServer, Client) {
    let mut options = StartOptions::new(version).unwrap().temporary();
    let (name, value) = temporary_files::SETTING;
    options.settings.push((name.to_owned(), value.to_owned()));
    let (progress, interrupted) = (ProgressBar::hidden(), AtomicBool::new(false));
    let locations = Locations::detect().unwrap();
    let server = PostgresServer::start(&locations, options, &progress, &interrupted).await.unwrap();
    let client = connect::postgres::connect(&server.url("crossover")).await.unwrap();
    client.batch_execute(TABLE).await.unwrap();
    (server, client)
}

/// The answer of EXPLAIN, to judge by. With `parameters` it is the plan for these values.
async fn explain(client: &Client, sql: &str, parameters: &[&(dyn ToSql + Sync)]) -> String {
    let rows = client.query(&format!("EXPLAIN {sql}"), parameters).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect::<Vec<String>>().join("\n")
}

fn period(days: i32) -> String {
    format!("SELECT sum(amount), 'of {days}' FROM facts WHERE day >= 100 AND day < 100 + {days}")
}

#[tokio::test]
async fn plans_of_two_periods_are_equal_until_a_scan_is_chosen() {
    let (server, client) = start("18").await;
    let plan = async |days| explain(&client, &period(days), &[]).await;
    let (week, month, all) = (plan(7).await, plan(31).await, plan(1_900).await);
    assert!(week.contains("facts_day") && all.contains("Seq Scan"), "{week}\n{all}");
    assert_ne!(week, month);
    assert_eq!(shape(&week), shape(&month), "{week}\n{month}");
    assert_ne!(shape(&week), shape(&all));
    let days = [&107i32 as &(dyn ToSql + Sync)];
    let prepared = "SELECT sum(amount), 'of 7' FROM facts WHERE day >= 100 AND day < $1";
    let prepared = explain(&client, prepared, &days).await;
    assert_eq!(shape(&prepared), shape(&week), "{prepared}");
    server.stop().await.unwrap();
}

/// The test takes the application's part: it connects as the role and sends queries.
#[tokio::test]
async fn only_plans_of_the_explained_role_are_in_the_log() {
    for version in ["9.6", "18"] {
        let (server, client) = start(version).await;
        auto_explain::create_role(&client, None).await.unwrap();
        let mut log = auto_explain::ServerLog::open(&server.log_path()).unwrap();
        let url = server.url("crossover").with_user(auto_explain::ROLE);
        let application = connect::postgres::connect(&url).await.unwrap();
        client.query(&period(7), &[]).await.unwrap();
        assert!(log.plans().unwrap().is_empty());
        application.query(&period(7), &[]).await.unwrap();
        let week = log.plans().unwrap();
        assert_eq!(week.len(), 1, "{week:?}");
        application.query(&period(1_900), &[]).await.unwrap();
        let all = log.plans().unwrap();
        let explained = explain(&client, &period(7), &[]).await;
        assert_eq!(shape(&week[0]), shape(&explained));
        assert_ne!(shape(&week[0]), shape(&all[0]));
        drop(application);
        auto_explain::drop_role(&client).await.unwrap();
        server.stop().await.unwrap();
    }
}

#[test]
fn statements_and_short_sessions_are_seen_on_every_release() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let unknown = ServerSide { roots: Vec::new() };
    for version in ["9.6", "14", "18"] {
        let (server, client) = runtime.block_on(start(version));
        let url = server.url("crossover");
        let session = || runtime.block_on(connect::postgres::connect(&url)).unwrap();
        let ask = |client: &Client, sql| runtime.block_on(client.batch_execute(sql)).unwrap();
        drop(client);
        let mut activity = SessionActivity::watch(&url, runtime.handle()).unwrap();
        assert_eq!(activity.sight(&unknown), Sight::Unused, "{version}");
        ask(&session(), "SELECT count(*) FROM facts");
        assert_eq!(activity.sight(&unknown), Sight::Used, "{version}: a session that is gone");
        let stays = session();
        activity.begin();
        assert_eq!(activity.sight(&unknown), Sight::Unused, "{version}: a session at rest");
        ask(&stays, "SELECT 1");
        assert_eq!(activity.sight(&unknown), Sight::Used, "{version}: a session that stays");
        drop((stays, activity));
        runtime.block_on(server.stop()).unwrap();
    }
}

#[tokio::test]
async fn a_spilling_sort_is_counted_on_oldest_and_newest_release() {
    for version in ["9.6", "18"] {
        let (server, client) = start(version).await;
        let before = read_counters(&client).await.unwrap();
        let mut files = temporary_files::TemporaryFiles::open(&server.log_path()).unwrap();
        let sorting = connect::postgres::connect(&server.url("crossover")).await.unwrap();
        sorting.batch_execute("SET work_mem = '64kB'").await.unwrap();
        sorting.batch_execute("SELECT * FROM facts ORDER BY text, amount").await.unwrap();
        // The log knows at once what the statistics views tell later.
        let logged = files.bytes().unwrap() as f64;
        assert!(logged > 1e6, "{version}: {logged}");
        sorting.batch_execute("CREATE TABLE more AS SELECT * FROM facts").await.unwrap();
        // A process reports what it counted when it ends, at the latest; the checkpointer by itself.
        drop(sorting);
        client.batch_execute("CHECKPOINT").await.unwrap();
        let grown = |after: &std::collections::BTreeMap<String, f64>, name: &str| {
            after[name] - before[name]
        };
        let mut after = read_counters(&client).await.unwrap();
        for _ in 0..1_000 {
            if grown(&after, "postgres_temporary_bytes") > 0.0
                && grown(&after, "postgres_checkpoints") > 0.0
            {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            after = read_counters(&client).await.unwrap();
        }
        assert_eq!(grown(&after, "postgres_temporary_bytes"), logged, "{version}");
        assert!(grown(&after, "postgres_wal_bytes") > 1e6, "{version}: {after:?}");
        assert!(grown(&after, "postgres_blocks_hit") > 100.0, "{version}: {after:?}");
        assert!(grown(&after, "postgres_checkpoints") >= 1.0, "{version}: {after:?}");
        assert!(after.contains_key("postgres_autovacuum_runs"));
        server.stop().await.unwrap();
    }
}
