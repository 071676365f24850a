//! Database with its data, settled and ready for connections.

use std::path::PathBuf;
use std::time::Duration;

use engine::{DatabaseUrl, EngineSpec, PostgresUrl};
use record::{Counters, EngineRecord};
use server::PostgresServer;

use crate::address::Address;
use crate::error::DeployError;
use crate::postgres::{self, Administration, ManagedPostgres};
use crate::site::Site;
use crate::sqlite;
use crate::template::Template;

/// A database with its data, settled and ready for connections.
pub struct Database {
    pub record: EngineRecord,
    pub url: DatabaseUrl,
    /// Folders or files with the data; none where they are out of sight.
    pub data_paths: Vec<PathBuf>,
    /// A server of the user's: its processes are not ours to count or to stop.
    pub out_of_sight: bool,
    pub(crate) engine: EngineSpec,
    pub(crate) managed: Option<ManagedPostgres>,
    /// The template of this copy; none where it is the filled database itself.
    pub(crate) template: Option<Template>,
}

impl Database {
    pub(crate) fn new(engine: &EngineSpec, url: DatabaseUrl, record: EngineRecord) -> Self {
        Self {
            record: EngineRecord { name: engine.label(), ..record },
            url,
            data_paths: Vec::new(),
            out_of_sight: false,
            engine: engine.clone(),
            managed: None,
            template: None,
        }
    }

    fn server(&self) -> Option<&PostgresServer> {
        self.managed.as_ref().map(|managed| &managed.server)
    }

    /// The first process of a server that we started.
    pub fn pid(&self) -> Option<u32> {
        self.server().map(PostgresServer::pid)
    }

    pub fn address(&self) -> Address {
        let listening = self.server().zip(match &self.url {
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
        self.server().map(PostgresServer::exact_version)
    }

    /// Where a server that we started writes its log.
    pub fn server_log(&self) -> Option<PathBuf> {
        self.server().map(PostgresServer::log_path)
    }

    /// Makes the copy of a database that may be changed again, with statistics of its own and
    /// nothing left to write. A filled database is a template: nothing that is measured writes to
    /// it, and each copy is checked against what was noted when the template was filled.
    pub fn renew(&mut self, site: &Site<'_>) -> Result<(), DeployError> {
        match self.template.clone() {
            None => {}
            Some(Template::Sqlite { path, contents }) => {
                site.progress.set_message(format!("copying the data of {}", self.record.name));
                let copy = sqlite::copy_of_trial(site);
                self.compare(contents, sqlite::copy_for_trial(&path, &copy)?)?;
                self.url = DatabaseUrl::Sqlite(copy.clone());
                self.data_paths = vec![copy];
            }
            Some(Template::Postgres { url, version, data_directory, contents }) => {
                site.progress.set_message(format!("copying the data of {}", self.record.name));
                let template = url.database().unwrap_or_default();
                let server = self.administration_at(site, &url).of_server();
                let copy = server.copy(template, &version)?;
                self.compare(contents, copy.contents()?)?;
                self.data_paths = vec![copy.folder(&data_directory)?];
                self.url = DatabaseUrl::Postgres(copy.address);
            }
        }
        match &self.url {
            DatabaseUrl::Sqlite(path) => sqlite::settle(&self.engine, path),
            DatabaseUrl::Postgres(url) => self.administration_at(site, url).settle(&self.engine),
        }
    }

    /// The server of a PostgreSQL, for statements of the laboratory's own.
    pub fn administration<'a>(&self, site: &Site<'a>) -> Option<Administration<'a>> {
        match &self.url {
            DatabaseUrl::Postgres(url) => Some(self.administration_at(site, url)),
            DatabaseUrl::Sqlite(_) => None,
        }
    }

    fn administration_at<'a>(&self, site: &Site<'a>, url: &PostgresUrl) -> Administration<'a> {
        Administration::new(site, &self.engine, url.clone())
    }

    fn compare(&self, template: String, copy: String) -> Result<(), DeployError> {
        if template == copy {
            return Ok(());
        }
        Err(DeployError::CopyDiffers { engine: self.record.name.clone(), template, copy })
    }

    /// Removes the copy, as far as the server still answers.
    pub fn drop_copy(&self, site: &Site<'_>) {
        match &self.template {
            Some(Template::Postgres { url, .. }) => {
                let _ = self.administration_at(site, url).of_server().drop_copy();
            }
            Some(Template::Sqlite { .. }) => {
                let _ = engine::sqlite::file::remove(&sqlite::copy_of_trial(site));
            }
            None => {}
        }
    }

    /// Brings what a writing trial has left unwritten to its place, which belongs to the trial. How
    /// long that took; none on a server of the user's where we may not.
    pub fn checkpoint(&self, site: &Site<'_>) -> Result<Option<Duration>, DeployError> {
        match &self.url {
            DatabaseUrl::Sqlite(path) => sqlite::checkpoint(path).map(Some),
            DatabaseUrl::Postgres(url) => match self.administration_at(site, url).checkpoint() {
                Err(DeployError::Statement { source, .. })
                    if self.out_of_sight && matches!(*source, engine::Error::Postgres(_)) =>
                {
                    Ok(None)
                }
                made => made.map(Some),
            },
        }
    }

    /// The engine's own counters; none of SQLite, which only connections count for.
    pub fn counters(&mut self, runtime: &tokio::runtime::Handle) -> Counters {
        match self.url.clone() {
            DatabaseUrl::Postgres(url) => self.counters_at(&url, runtime),
            DatabaseUrl::Sqlite(_) => Counters::new(),
        }
    }

    /// Those of another database of the same server, which `url` leads to.
    pub fn counters_at(&mut self, url: &PostgresUrl, runtime: &tokio::runtime::Handle) -> Counters {
        let managed = self.managed.as_mut();
        let temporary_files = managed.and_then(|managed| managed.temporary_files.as_mut());
        postgres::counters(url, temporary_files, runtime)
    }

    /// Notes size and statistics. Facts that cannot be read stay unknown; the next use of the
    /// database will report why.
    pub(crate) fn note_facts(&mut self, runtime: &tokio::runtime::Handle) {
        let facts = match &self.url {
            DatabaseUrl::Sqlite(path) => sqlite::facts(path),
            DatabaseUrl::Postgres(url) => runtime.block_on(postgres::facts(url)),
        };
        if let Some((bytes, statistics)) = facts {
            self.record.data_bytes = Some(bytes);
            self.record.statistics_present = statistics;
        }
    }

    /// Whether the server still runs, if one was started for it. An application that lives on
    /// without its database only answers with errors.
    pub fn check_alive(&mut self) -> Result<(), DeployError> {
        let Some(ManagedPostgres { server, .. }) = &mut self.managed else { return Ok(()) };
        if server.is_running() {
            return Ok(());
        }
        let (engine, last_log_lines) = (self.record.name.clone(), server.last_log_lines());
        Err(DeployError::Ended { engine, last_log_lines })
    }

    /// Stops the server, if one was started for it.
    pub fn retire(self, runtime: &tokio::runtime::Handle) -> Result<(), DeployError> {
        if let Some(managed) = self.managed {
            runtime.block_on(managed.server.stop())?;
        }
        Ok(())
    }
}
