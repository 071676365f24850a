//! Counters by the names that trials give them, which only grow, and facts of a database.

use engine::PostgresUrl;
use record::Counters;
use tokio_postgres::Client;

use super::temporary_files::TemporaryFiles;

/// Those of the database that `url` leads to; none where the server does not answer. The log of
/// temporary files is exact where the statistics are late.
pub(crate) fn counters(
    url: &PostgresUrl,
    temporary_files: Option<&mut TemporaryFiles>,
    runtime: &tokio::runtime::Handle,
) -> Counters {
    let read = async {
        let client = connect::postgres::connect(url).await.ok()?;
        read_counters(&client).await.ok()
    };
    let mut counters = runtime.block_on(read).unwrap_or_default();
    if let Some(bytes) = temporary_files.and_then(|files| files.bytes().ok()) {
        counters.insert("postgres_temporary_bytes".to_owned(), bytes as f64);
    }
    counters
}

/// For the database of the connection; 9.6 to 18.
///
/// A server's processes report what they counted at most once a second, so a trial may hold a
/// little of the one before it, and lack a little of its own.
pub(super) async fn read_counters(client: &Client) -> Result<Counters, tokio_postgres::Error> {
    let version: i32 =
        client.query_one("SELECT current_setting('server_version_num')::int", &[]).await?.get(0);
    let row = client.query_one(&statement(version), &[]).await?;
    let mut counters = Counters::new();
    for (place, column) in row.columns().iter().enumerate() {
        if let Some(value) = row.try_get::<_, Option<f64>>(place)? {
            counters.insert(column.name().to_owned(), value);
        }
    }
    Ok(counters)
}

fn statement(version: i32) -> String {
    let checkpoints = match version {
        170_000.. => "SELECT num_timed + num_requested FROM pg_stat_checkpointer",
        _ => "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter",
    };
    // The place in the log counts every byte written to it; a standby writes none.
    let place = match version {
        100_000.. => "pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')",
        _ => "pg_xlog_location_diff(pg_current_xlog_insert_location(), '0/0')",
    };
    format!(
        "SELECT temp_bytes::float8 AS postgres_temporary_bytes,
                blks_hit::float8 AS postgres_blocks_hit,
                blks_read::float8 AS postgres_blocks_read,
                ({checkpoints})::float8 AS postgres_checkpoints,
                (SELECT sum(autovacuum_count + autoanalyze_count)::float8
                   FROM pg_stat_all_tables) AS postgres_autovacuum_runs,
                CASE WHEN pg_is_in_recovery() THEN NULL ELSE {place}::float8 END
                  AS postgres_wal_bytes
           FROM pg_stat_database WHERE datname = current_database()"
    )
}

/// Bytes of the database, and whether ANALYZE has left anything, if there are tables.
pub(crate) async fn facts(url: &PostgresUrl) -> Option<(u64, Option<bool>)> {
    let sql = "SELECT pg_database_size(current_database()),
                      EXISTS (SELECT FROM pg_stat_user_tables),
                      EXISTS (SELECT FROM pg_stats
                               WHERE schemaname NOT IN ('pg_catalog', 'information_schema'))";
    let client = connect::postgres::connect(url).await.ok()?;
    let row = client.query_one(sql, &[]).await.ok()?;
    let bytes = u64::try_from(row.get::<_, i64>(0)).ok()?;
    let (tables, statistics): (bool, bool) = (row.get(1), row.get(2));
    Some((bytes, tables.then_some(statistics)))
}
