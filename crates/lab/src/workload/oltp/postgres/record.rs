//! Record of a PostgreSQL of workload `oltp`: its release, its build, and the settings that bear on
//! short transactions, so that differences between releases can be listed.

use engine::{EngineKind, EngineSpec};
use server::InitdbChoices;
use tokio_postgres::{Client, Error};

use super::{PostgresHost, database_of};
use crate::error::RunError;
use crate::workload::oltp::planned_schemas;
use host::observe::durability;
use host::{DeployError, read_settings};
use plan::Levels;
use record::EngineRecord;

/// Shown beside what every workload shows; releases differ in the defaults of most of these.
const SHOWN: [&str; 25] = [
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

pub(super) fn observe(
    host: &PostgresHost<'_>,
    engine: &EngineSpec,
    initdb: &InitdbChoices,
) -> Result<EngineRecord, RunError> {
    let plan = host.site.plan;
    let schema = planned_schemas(plan)?.into_iter().next().unwrap_or_default();
    let url = match host.server {
        Some(_) => host.address.with_database(&database_of(schema)),
        None => host.address.clone(),
    };
    // The plan's own too: a server of the user's has them in its own way.
    let common = plan.oltp_at(&Levels::new())?.settings_of(EngineKind::Postgres);
    let mut names: Vec<String> = common.into_iter().map(|(name, _)| name.to_lowercase()).collect();
    names.extend(SHOWN.map(str::to_owned));
    let asked = host.site.runtime.block_on(async {
        let client = engine::postgres::connect(&url).await?;
        let (version, mut settings) = read_settings(&client).await?;
        for (name, value) in shown(&client, &names).await? {
            if !settings.iter().any(|(known, _)| *known == name) {
                settings.push((name, value));
            }
        }
        let row =
            client.query_one("SELECT version(), pg_database_size(current_database())", &[]).await?;
        settings.push(("version()".to_owned(), row.get(0)));
        let flags = "SELECT setting FROM pg_config WHERE name = 'CFLAGS'";
        // Only a superuser may see it.
        if let Ok(Some(row)) = client.query_opt(flags, &[]).await {
            settings.push(("compiled with".to_owned(), row.get(0)));
        }
        Ok::<_, engine::Error>((version, settings, row.get::<_, i64>(1)))
    });
    let (version, mut settings, bytes) = asked.map_err(DeployError::from)?;
    if let Some(server) = &host.server {
        for (name, value) in server.settings_read_back() {
            settings.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            settings.push((name.clone(), value.clone()));
        }
        let unknown = server.unknown_settings().iter();
        settings.extend(unknown.map(|name| (name.clone(), "not in this release".to_owned())));
        settings.push(("initdb".to_owned(), initdb.describe()));
    }
    Ok(EngineRecord {
        name: engine.label(),
        version,
        durability: durability(EngineKind::Postgres, &settings),
        settings,
        statistics_present: Some(true),
        data_bytes: u64::try_from(bytes).ok(),
        ..EngineRecord::default()
    })
}

/// Settings by name; those that the release does not have are left out.
async fn shown(client: &Client, names: &[String]) -> Result<Vec<(String, String)>, Error> {
    let sql = "SELECT name, current_setting(name) FROM pg_settings
                WHERE lower(name) = ANY($1) ORDER BY name";
    let rows = client.query(sql, &[&names]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}
