//! Refusals of a MariaDB that cannot be had, reached or set as asked for.

use engine::EngineSpec;
use server::{MariadbOptions, MariadbServer};

use super::TIMEOUT;
use crate::error::DeployError;
use crate::options::HostOptions;

/// Refuses settings that the server does not take: it is started with them, and ended.
pub fn check_managed(
    engine: &EngineSpec,
    start: &MariadbOptions,
    options: &HostOptions<'_>,
) -> Result<(), DeployError> {
    options.progress.set_message(format!("trying {}", engine.label()));
    Ok(MariadbServer::start_with(options.locations, start, options.interrupted)?.stop()?)
}

/// Refuses a server that does not answer or does not take the session settings. How many
/// connections it lets in, if it tells.
pub fn check_yours(engine: &EngineSpec, url: &str) -> Result<Option<u64>, DeployError> {
    let mut connection = connect::mysql::connect(url, TIMEOUT)?;
    connect::mysql::session_settings(&mut connection, engine.engine_settings())?;
    let found = connect::mysql::variables(&mut connection, ["max_connections"].into_iter())?;
    Ok(found.first().and_then(|(_, value)| value.parse().ok()))
}
