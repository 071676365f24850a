//! A private server on a copy of what was filled once in a run.

use std::path::PathBuf;

use load::resource::MemoryGroup;
use mysql::prelude::Queryable as _;
use server::{MariadbOptions, MariadbServer};

use super::TIMEOUT;
use crate::database::Template;
use crate::error::DeployError;
use crate::site::Site;

/// A server whose data directory is a copy, renewed by a new start.
pub struct ManagedMariadb<'a> {
    site: &'a Site<'a>,
    options: MariadbOptions,
    /// Of the data, to be read before load is offered.
    databases: Vec<String>,
    server: MariadbServer,
}

impl<'a> ManagedMariadb<'a> {
    /// Starts a server on a copy of the data that `key` names. They are filled first where they are
    /// not there yet, outside of the limit on memory, which is for what is measured.
    pub fn start<E: From<DeployError>>(
        site: &'a Site<'a>,
        options: MariadbOptions,
        key: &str,
        databases: Vec<String>,
        fill: impl FnOnce(&MariadbServer) -> Result<(), E>,
    ) -> Result<Self, E> {
        let hash = xxhash_rust::xxh3::xxh3_64(key.as_bytes());
        let kept = site.scratch.join(format!("mariadb-{hash:016x}"));
        if !kept.is_dir() {
            let _outside =
                site.memory.map(MemoryGroup::step_out).transpose().map_err(DeployError::from)?;
            // On how many processors it is filled makes no difference.
            let server = start(site, &MariadbOptions { cpus: None, ..options.clone() })?;
            fill(&server)?;
            server.stop_and_keep(&kept).map_err(DeployError::from)?;
        }
        let note = kept.with_extension("contents");
        let options = MariadbOptions { data: Some(kept), ..options };
        let server = start(site, &options)?;
        let started = Self { site, options, databases, server };
        let contents = started.read_tables()?;
        if !note.exists() {
            let io = |source| DeployError::Io { path: note.clone(), source };
            std::fs::write(&note, &contents).map_err(io)?;
        }
        started.compare(contents)?;
        Ok(started)
    }

    /// A new server on a new copy, inside the limit on memory.
    pub fn renew(self) -> Result<Self, DeployError> {
        let Self { site, options, databases, server } = self;
        server.stop()?;
        let _inside = site.memory.map(MemoryGroup::enter).transpose()?;
        let server = start(site, &options)?;
        let started = Self { site, options, databases, server };
        started.compare(started.read_tables()?)?;
        Ok(started)
    }

    /// Refuses a copy that holds anything other than the first one did.
    fn compare(&self, contents: String) -> Result<(), DeployError> {
        let Some(kept) = &self.options.data else { return Ok(()) };
        let note = kept.with_extension("contents");
        let noted = std::fs::read_to_string(&note);
        let noted = noted.map_err(|source| DeployError::Io { path: note, source })?;
        Template { place: kept, contents: noted }.compare("MariaDB", contents)
    }

    /// Reads tables and indexes once. A checksum reads rows, and of indexes the key alone. The
    /// checksums.
    fn read_tables(&self) -> Result<String, DeployError> {
        let mut checksums = Vec::new();
        let read = |database: &String| -> Result<(), connect::Error> {
            let mut connection = connect::mysql::connect(&self.url(database), TIMEOUT)?;
            // Our names need no quotes.
            let tables: Vec<String> = connection.query("SHOW TABLES")?;
            let sql = format!("CHECKSUM TABLE {}", tables.join(", "));
            let found: Vec<(String, Option<u64>)> = connection.query(sql)?;
            checksums.extend(found.into_iter().map(|(table, checksum)| {
                let checksum = checksum.map_or("none".to_owned(), |checksum| checksum.to_string());
                format!("{table} with checksum {checksum}")
            }));
            let indexes: Vec<(String, String)> = connection.query(
                "SELECT DISTINCT table_name, index_name FROM information_schema.statistics \
                 WHERE table_schema = database() AND index_name <> 'PRIMARY'",
            )?;
            for (table, index) in indexes {
                let sql = format!("SELECT count(*) FROM {table} FORCE INDEX ({index})");
                connection.query_drop(sql)?;
            }
            Ok(())
        };
        self.databases.iter().try_for_each(read)?;
        Ok(checksums.join(", "))
    }

    #[must_use]
    pub fn url(&self, database: &str) -> String {
        self.server.url(database)
    }

    #[must_use]
    pub fn pid(&self) -> u32 {
        self.server.pid()
    }

    #[must_use]
    pub fn data_directory(&self) -> PathBuf {
        self.server.data_directory()
    }

    /// Settings that the server was started with.
    #[must_use]
    pub fn settings(&self) -> &[(String, String)] {
        &self.options.settings
    }

    pub fn check_alive(&mut self, engine: &str) -> Result<(), DeployError> {
        if self.server.is_running() {
            return Ok(());
        }
        let (engine, last_log_lines) = (engine.to_owned(), self.server.last_log_lines());
        Err(DeployError::Ended { engine, last_log_lines })
    }

    pub fn stop(self) -> Result<(), DeployError> {
        Ok(self.server.stop()?)
    }
}

fn start(site: &Site<'_>, options: &MariadbOptions) -> Result<MariadbServer, DeployError> {
    Ok(MariadbServer::start_with(site.locations, options, site.interrupted)?)
}
