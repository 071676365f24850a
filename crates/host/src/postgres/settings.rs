//! Settings as a server has them, for the record of a run.

use tokio_postgres::{Client, Error};

/// Settings that bear on most results; shown for every PostgreSQL beside those of the plan.
const SHOWN: [&str; 10] = [
    "shared_buffers",
    "work_mem",
    "effective_cache_size",
    "max_parallel_workers_per_gather",
    "random_page_cost",
    "jit",
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "data_checksums",
];

/// Settings that bear on short transactions; releases differ in the defaults of most of these.
pub const OF_SHORT_TRANSACTIONS: [&str; 25] = [
    "autovacuum",
    "autovacuum_vacuum_cost_delay",
    "autovacuum_vacuum_cost_limit",
    "autovacuum_vacuum_insert_scale_factor",
    "backend_flush_after",
    "bgwriter_delay",
    "bgwriter_flush_after",
    "bgwriter_lru_maxpages",
    "block_size",
    "checkpoint_completion_target",
    "checkpoint_flush_after",
    "checkpoint_timeout",
    "default_transaction_isolation",
    "effective_io_concurrency",
    "huge_pages",
    "io_method",
    "max_connections",
    "max_wal_size",
    "min_wal_size",
    "update_process_title",
    "wal_buffers",
    "wal_compression",
    "wal_level",
    "wal_segment_size",
    "wal_sync_method",
];

/// Version and the settings that bear on most results, then `further` ones; those that the release
/// does not have are left out.
pub(super) async fn read(
    client: &Client,
    further: &[String],
) -> Result<(String, Vec<(String, String)>), Error> {
    let version: String = client.query_one("SHOW server_version", &[]).await?.get(0);
    let mut settings = named(client, &SHOWN.map(str::to_owned)).await?;
    // The setting says "on" even where the build has no JIT compiler to use.
    if let Some((_, jit)) = settings.iter_mut().find(|(name, _)| name == "jit") {
        let available: bool = client.query_one("SELECT pg_jit_available()", &[]).await?.get(0);
        if !available {
            jit.push_str(" (not available in this build)");
        }
    }
    for (name, value) in named(client, further).await? {
        if !settings.iter().any(|(known, _)| *known == name) {
            settings.push((name, value));
        }
    }
    Ok((format!("PostgreSQL {version}"), settings))
}

async fn named(client: &Client, names: &[String]) -> Result<Vec<(String, String)>, Error> {
    let sql = "SELECT name, current_setting(name) FROM pg_settings
                WHERE lower(name) = ANY($1) ORDER BY name";
    let rows = client.query(sql, &[&names]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

pub(super) async fn read_build(client: &Client) -> Result<Vec<(String, String)>, Error> {
    let version: String = client.query_one("SELECT version()", &[]).await?.get(0);
    let mut build = vec![("version()".to_owned(), version)];
    let flags = "SELECT setting FROM pg_config WHERE name = 'CFLAGS'";
    // Only a superuser may see it.
    if let Ok(Some(row)) = client.query_opt(flags, &[]).await {
        build.push(("compiled with".to_owned(), row.get(0)));
    }
    Ok(build)
}
