//! Database with its data, settled and ready for connections.

use std::path::PathBuf;

use engine::DatabaseUrl;
use record::EngineRecord;
use server::PostgresServer;

use crate::address::Address;
use crate::error::DeployError;
use crate::observe::temporary_files::TemporaryFiles;
use crate::template::Template;

/// A database with its data, settled and ready for connections.
pub struct Database {
    pub record: EngineRecord,
    pub url: DatabaseUrl,
    /// Folders or files with the data; none where they are out of sight.
    pub data_paths: Vec<PathBuf>,
    /// A server of the user's: its processes are not ours to count or to stop.
    pub out_of_sight: bool,
    pub(crate) server: Option<PostgresServer>,
    /// Of a server that we started, unless the plan sets what it logs.
    pub(crate) temporary_files: Option<TemporaryFiles>,
    /// The template of this copy; none where it is the filled database itself.
    pub(crate) template: Option<Template>,
}

impl Database {
    /// The first process of a server that we started.
    pub fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(PostgresServer::pid)
    }

    pub fn address(&self) -> Address {
        let listening = self.server.as_ref().zip(match &self.url {
            DatabaseUrl::Postgres(url) => url.database(),
            DatabaseUrl::Sqlite(_) => None,
        });
        match listening {
            Some((server, name)) => Address { url: self.url.clone(), tcp: server.tcp_url(name) },
            None => Address::of(self.url.clone()),
        }
    }

    /// The exact release of a server that we started.
    pub fn exact_version(&self) -> Option<&str> {
        self.server.as_ref().map(PostgresServer::exact_version)
    }

    /// Whether the server still runs, if one was started for it. An application that lives on
    /// without its database only answers with errors.
    pub fn check_alive(&mut self) -> Result<(), DeployError> {
        let Some(server) = &mut self.server else { return Ok(()) };
        if server.is_running() {
            return Ok(());
        }
        Err(DeployError::Ended {
            engine: self.record.name.clone(),
            last_words: server.last_words(),
        })
    }

    /// Stops the server, if one was started for it.
    pub fn retire(self, runtime: &tokio::runtime::Handle) -> Result<(), DeployError> {
        if let Some(server) = self.server {
            runtime.block_on(server.stop())?;
        }
        Ok(())
    }
}
