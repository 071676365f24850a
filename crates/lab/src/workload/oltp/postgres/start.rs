//! Equal start settings of all releases, and refusals before anything is filled.

use engine::{EngineKind, EngineSpec, PostgresUrl, Settings};
use plan::oltp::{CharacterSet, Schema};
use server::{InitdbChoices, PostgresServer, StartOptions};

use crate::error::RunError;
use crate::workload::oltp::check_clients;
use host::HostOptions;
use host::postgres::MAINTENANCE;
use host::{self, DeployError};
use plan::{Checkpoints, ConnectionBy, Oltp, Plan, PlanError};

/// PostgreSQL's default of `max_connections`.
const CONNECTIONS: u16 = 100;
/// Our own connections beside the clients: one looks at the counters, one cancels.
const OWN_CONNECTIONS: u64 = 2;
/// All connections beside the clients: ours, and what the server keeps for superusers.
const EXTRA_CONNECTIONS: u16 = 10;

/// Refuses a release that is not available, and settings that it does not take or that no release
/// of the plan has.
pub(in crate::workload::oltp) fn check_managed(
    plan: &Plan,
    engine: &EngineSpec,
    oltp: &Oltp,
    options: &HostOptions<'_>,
) -> Result<(), RunError> {
    host::check(engine, options)?;
    let start = start_options(plan, engine, oltp)?;
    let unknown_to = |engine: &EngineSpec| -> Result<Vec<String>, RunError> {
        let start = start_options(plan, engine, oltp)?;
        let unknown = PostgresServer::unknown_of(
            options.locations,
            &start,
            options.progress,
            options.interrupted,
        );
        Ok(options.runtime.block_on(unknown).map_err(DeployError::from)?)
    };
    let unknown = unknown_to(engine)?;
    let mut nowhere = unknown;
    let others = plan.engines.iter().filter(|other| StartOptions::for_engine(other).is_ok());
    for other in others {
        if nowhere.is_empty() {
            break;
        }
        let bare = EngineSpec { source: other.source.clone(), settings: Settings::default() };
        match unknown_to(&bare) {
            Ok(unknown_there) => nowhere.retain(|name| unknown_there.contains(name)),
            // It is refused in its own turn, or its release is a placeholder that may know them.
            Err(_) => nowhere.clear(),
        }
    }
    if let Some(name) = nowhere.first() {
        let message = format!("{name}: no release of this plan has such a setting");
        return Err(PlanError::impossible("oltp.settings.postgres", message).into());
    }
    let mut all = start.settings.iter().chain(&start.common_settings);
    let connections = all.find(|(name, _)| name.eq_ignore_ascii_case("max_connections"));
    if let Some(allowed) = connections.and_then(|(_, value)| value.parse().ok()) {
        // Ours are among those that are kept for superusers.
        check_clients(plan, &engine.label(), allowed, 3)?;
    }
    Ok(())
}

/// Refuses a release that does not order by language: that has no collations of ICU's.
pub(in crate::workload::oltp) fn check_language(
    plan: &Plan,
    engine: &EngineSpec,
    oltp: &Oltp,
    options: &HostOptions<'_>,
) -> Result<(), RunError> {
    let start = start_options(plan, engine, oltp)?;
    let check =
        PostgresServer::check(options.locations, &start, options.progress, options.interrupted);
    let release = options.runtime.block_on(check).map_err(DeployError::from)?;
    if release.version.components() >= [10].as_slice() {
        return Ok(());
    }
    let engine = engine.label();
    let message = format!("{engine} does not order by language: ICU came with release 10");
    Err(PlanError::impossible("engines", message).into())
}

/// Refuses a server that lets in too few clients, or a user who may not make tables.
pub(in crate::workload::oltp) fn check_yours(
    plan: &Plan,
    engine: &EngineSpec,
    url: &PostgresUrl,
    options: &HostOptions<'_>,
) -> Result<(), RunError> {
    host::check(engine, options)?;
    let sql = "SELECT current_setting('max_connections')::int8,
                      current_setting('superuser_reserved_connections')::int8,
                      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false),
                      current_user::text, current_database()::text";
    let asked: Result<(i64, i64, bool, String, String), connect::Error> =
        options.runtime.block_on(async {
            let client = connect::postgres::connect(url).await?;
            let row = client.query_one(sql, &[]).await?;
            Ok((row.get(0), row.get(1), row.get(2), row.get(3), row.get(4)))
        });
    let (allowed, reserved, may_create, user, database) = asked.map_err(DeployError::from)?;
    let count = |number: i64| u64::try_from(number).unwrap_or(0);
    check_clients(plan, &engine.label(), count(allowed), count(reserved) + OWN_CONNECTIONS)?;
    if !may_create {
        let message = format!(
            "{}: {user} may not make tables in database {database}: GRANT CREATE ON SCHEMA \
             public TO {user}, or name another user",
            engine.label()
        );
        return Err(PlanError::impossible("engines", message).into());
    }
    Ok(())
}

/// How a managed release is started: the same for all of them, as far as they know it.
pub(super) fn start_options(
    plan: &Plan,
    engine: &EngineSpec,
    oltp: &Oltp,
) -> Result<StartOptions, DeployError> {
    let mut options = StartOptions::for_engine(engine)?;
    let mut common = oltp.settings_of(EngineKind::Postgres);
    let mut unless_told = |name: &str, value: String| {
        if !common.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            common.push((name.to_owned(), value));
        }
    };
    let most = plan.most_clients();
    if most.saturating_add(EXTRA_CONNECTIONS) > CONNECTIONS {
        unless_told("max_connections", most.saturating_add(4 * EXTRA_CONNECTIONS).to_string());
    }
    match oltp.checkpoints {
        Some(Checkpoints::Between) => {
            unless_told("checkpoint_timeout", "1d".to_owned());
            unless_told("max_wal_size", "64GB".to_owned());
        }
        Some(Checkpoints::Sustained) => unless_told("checkpoint_timeout", "30s".to_owned()),
        None => {}
    }
    options.common_settings = common;
    options.initdb = InitdbChoices {
        encoding: match oltp.character_set {
            CharacterSet::Latin2 => "LATIN2".to_owned(),
            CharacterSet::Utf8 | CharacterSet::Utf16 => "UTF8".to_owned(),
        },
        locale: oltp.initdb.locale.clone(),
        data_checksums: oltp.initdb.data_checksums,
    };
    options.tcp = plan.connections()?.contains(&ConnectionBy::Tcp);
    options.database = MAINTENANCE.to_owned();
    // Databases in it are named by their family of tables.
    let tables = format!("oltp {}", oltp.table_options(Schema::Sbtest));
    options.data_digest = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(tables.as_bytes()));
    Ok(options)
}
