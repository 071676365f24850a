//! A managed server started, and filled where it is not yet.

use std::path::PathBuf;

use engine::{EngineSpec, PostgresUrl};
use plan::{ConnectionBy, Levels};
use server::{PostgresServer, StartOptions};

use super::administration::Administration;
use super::temporary_files::{self, TemporaryFiles};
use crate::address::{Address, needs_tcp};
use crate::error::DeployError;
use crate::filling::DATABASE;
use crate::site::Site;

/// Starts a server. Where `is_filled` does not find the data, `fill` makes them, outside of the
/// limit on memory: that is for what is measured, and filling may take what it needs.
pub fn start<E: From<DeployError>>(
    site: &Site<'_>,
    options: &StartOptions,
    is_filled: impl FnOnce(&PostgresServer) -> Result<bool, E>,
    fill: impl FnOnce(&PostgresServer) -> Result<(), E>,
) -> Result<PostgresServer, E> {
    let start = || {
        let (progress, interrupted) = (site.progress, site.interrupted);
        let start = PostgresServer::start(site.locations, options.clone(), progress, interrupted);
        site.runtime.block_on(start).map_err(DeployError::from)
    };
    let stop =
        |server: PostgresServer| site.runtime.block_on(server.stop()).map_err(DeployError::from);
    let server = start()?;
    if is_filled(&server)? {
        return Ok(server);
    }
    let Some(group) = site.memory else {
        fill(&server)?;
        return Ok(server);
    };
    stop(server)?;
    let outside = group.step_out().map_err(DeployError::from)?;
    let unlimited = start()?;
    fill(&unlimited)?;
    stop(unlimited)?;
    drop(outside);
    Ok(start()?)
}

/// A server with the plan's data.
#[derive(Debug)]
pub(crate) struct ManagedPostgres {
    pub server: PostgresServer,
    pub url: PostgresUrl,
    /// Unless the plan sets what it logs.
    pub temporary_files: Option<TemporaryFiles>,
}

/// Starts `engine`, filled by the plan's commands.
pub(crate) fn managed(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
) -> Result<ManagedPostgres, DeployError> {
    let mut options = StartOptions::for_engine(engine)?;
    options.data_digest = site.filling(engine, levels)?;
    options.cpus = site.plan.server_cpus_at(levels)?;
    options.database = DATABASE.to_owned();
    options.tcp = needs_tcp(site.plan) || site.plan.connections()?.contains(&ConnectionBy::Tcp);
    let (name, value) = temporary_files::SETTING;
    let logs_as_told = options.settings.iter().any(|(set, _)| set == name);
    if !logs_as_told {
        options.settings.push((name.to_owned(), value.to_owned()));
    }
    let fill = |server: &PostgresServer| {
        site.one_off.time(|| {
            let (url, tcp) = (server.url(DATABASE), server.tcp_url(DATABASE));
            let address = Address::of_server(&url, tcp.as_ref());
            site.prepare(engine, levels, &address)?;
            let contents = Administration::new(site, engine, url).contents()?;
            Ok::<_, DeployError>(server.mark_data_ready(&contents)?)
        })
    };
    let server = start(site, &options, |server| Ok(server.data_is_ready()), fill)?;
    let log = server.log_path();
    let temporary_files = (!logs_as_told).then(|| TemporaryFiles::open(&log).ok()).flatten();
    Ok(ManagedPostgres { url: server.url(DATABASE), server, temporary_files })
}

impl ManagedPostgres {
    /// The contents that were noted when the template was filled; a program that filled it ahead
    /// may have noted nothing.
    pub fn contents_when_filled(
        &self,
        administration: &Administration<'_>,
    ) -> Result<String, DeployError> {
        let noted = self.server.data_note()?;
        if !noted.is_empty() {
            return Ok(noted);
        }
        let contents = administration.contents()?;
        self.server.mark_data_ready(&contents)?;
        Ok(contents)
    }

    pub fn data_directory(&self) -> PathBuf {
        self.server.data_directory()
    }
}
