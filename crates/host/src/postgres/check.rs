//! Refusals of a PostgreSQL that cannot be had or set as asked for, before anything is measured.

use engine::{EngineSpec, PostgresUrl};
use server::{PostgresServer, StartOptions};

use super::pool::check_pool;
use crate::HostOptions;
use crate::error::DeployError;
use crate::filling::DATABASE;

/// A release is fetched, its settings are tried by the server's own check.
pub(crate) fn check_managed(
    engine: &EngineSpec,
    options: &HostOptions<'_>,
) -> Result<(), DeployError> {
    let HostOptions { locations, progress, interrupted, runtime } = *options;
    check_pool(engine)?;
    let start = StartOptions::for_engine(engine)?;
    runtime.block_on(PostgresServer::check(locations, &start, progress, interrupted))?;
    let Some(setting) = jit_setting(engine) else { return Ok(()) };
    // Only a running server tells, so it runs once on an empty directory.
    let available: Result<bool, DeployError> = runtime.block_on(async {
        let start = start.temporary();
        let server = PostgresServer::start(locations, start, progress, interrupted).await?;
        let available = jit_is_available(&server.url(DATABASE)).await;
        server.stop().await?;
        Ok(available?)
    });
    refuse_unless(available?, engine, setting)
}

pub(crate) fn check_yours(
    engine: &EngineSpec,
    url: &PostgresUrl,
    options: &HostOptions<'_>,
) -> Result<(), DeployError> {
    let set = url.with_session_settings(engine.engine_settings());
    options.runtime.block_on(connect::postgres::connect(&set))?;
    let Some(setting) = jit_setting(engine) else { return Ok(()) };
    refuse_unless(options.runtime.block_on(jit_is_available(url))?, engine, setting)
}

/// The setting that asks for JIT.
fn jit_setting(engine: &EngineSpec) -> Option<&str> {
    let asks_for_jit = |(name, value): &(&str, &str)| {
        let off = ["off", "false", "no", "0"].contains(&value.to_lowercase().as_str());
        name.to_lowercase().starts_with("jit") && !off
    };
    engine.engine_settings().find(asks_for_jit).map(|(name, _)| name)
}

async fn jit_is_available(url: &PostgresUrl) -> Result<bool, connect::Error> {
    let client = connect::postgres::connect(url).await?;
    Ok(client.query_one("SELECT pg_jit_available()", &[]).await?.get(0))
}

/// Refuses JIT where the build has no compiler for it: the server would say `on` and do nothing.
fn refuse_unless(available: bool, engine: &EngineSpec, setting: &str) -> Result<(), DeployError> {
    if available {
        return Ok(());
    }
    let why = "pg_jit_available() is false, the build has no JIT compiler";
    let (engine, setting) = (engine.label(), setting.to_owned());
    Err(DeployError::NoEffect { engine, setting, why })
}
