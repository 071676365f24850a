//! PostgreSQL for workload `oltp`: releases that Crossover starts, made alike, and servers of the
//! user's. A managed cluster is filled once and kept; trials that write get a copy by CREATE
//! DATABASE ... TEMPLATE.

mod record;
mod start;
mod watch;

use std::collections::HashSet;
use std::path::PathBuf;

use ::oltp::{OltpTarget, Schema, TableOptions};
use engine::{EngineSpec, PostgresUrl};
use server::{InitdbChoices, PostgresServer};

use super::engine::OltpEngine;
use super::watch::{Silent, Watch};
use super::{SETTLE_AT_MOST, of_engine, planned_schemas, schema_name, written_schemas};
use crate::error::RunError;
use ::record::EngineRecord;
use host::prewarm;
use host::{DeployError, Site, TRIAL, copy_statement, drop_statements};
use load::resource::ServerSide;
use plan::Levels;
use plan::Oltp;

use record::observe;
use start::start_options;
pub(super) use start::{check_language, check_managed, check_yours};
use watch::PostgresWatch;
const ADMINISTRATION: &str = "postgres";

fn database_of(schema: Schema) -> String {
    format!("oltp_{}", schema_name(schema))
}

/// Settings of sessions stand in the address.
fn target(url: PostgresUrl) -> OltpTarget {
    OltpTarget::Postgres { url, session: Vec::new() }
}

/// A server with filled databases.
pub(super) struct PostgresHost<'a> {
    site: &'a Site<'a>,
    label: String,
    record: EngineRecord,
    /// Of any database of a managed server; otherwise of the user's.
    address: PostgresUrl,
    /// None: a server of the user's.
    server: Option<PostgresServer>,
    side: Option<ServerSide>,
    data_paths: Vec<PathBuf>,
    /// Families of tables that trials have changed: in the copy, or on the user's server.
    changed: HashSet<Schema>,
}

impl<'a> PostgresHost<'a> {
    pub(super) fn managed(
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
        oltp: &Oltp,
    ) -> Result<Self, RunError> {
        let mut options = start_options(site.plan, engine, oltp)?;
        options.cpus = site.plan.server_cpus_at(levels)?;
        let start = || {
            let options = options.clone();
            let start =
                PostgresServer::start(site.locations, options, site.progress, site.interrupted);
            site.runtime.block_on(start).map_err(DeployError::from)
        };
        let mut host = Self::of(site, engine, start()?);
        let tables: Vec<TableOptions> =
            planned_schemas(site.plan)?.into_iter().map(|one| oltp.table_options(one)).collect();
        if !host.holds(&tables)? {
            match site.memory {
                None => host.fill(&tables)?,
                // The limit is for what is measured; filling may take what it needs.
                Some(group) => {
                    host.stop()?;
                    let outside = group.step_out()?;
                    host = Self::of(site, engine, start()?);
                    host.fill(&tables)?;
                    host.stop()?;
                    drop(outside);
                    host = Self::of(site, engine, start()?);
                }
            }
        }
        host.settle(&tables)?;
        host.record = observe(&host, engine, &options.initdb)?;
        Ok(host)
    }

    fn of(site: &'a Site<'a>, engine: &EngineSpec, server: PostgresServer) -> Self {
        let address = server.tcp_url(ADMINISTRATION);
        Self {
            site,
            label: engine.label(),
            record: EngineRecord::default(),
            address: address.unwrap_or_else(|| server.url(ADMINISTRATION)),
            side: Some(ServerSide { roots: vec![server.pid()] }),
            data_paths: vec![server.data_directory()],
            server: Some(server),
            changed: HashSet::new(),
        }
    }

    /// A server of the user's, whose tables are made if they are not there.
    pub(super) fn yours(
        site: &'a Site<'a>,
        engine: &EngineSpec,
        url: &PostgresUrl,
        oltp: &Oltp,
    ) -> Result<Self, RunError> {
        let mut host = Self {
            site,
            label: engine.label(),
            record: EngineRecord::default(),
            address: url.with_session_settings(engine.engine_settings()),
            server: None,
            side: None,
            data_paths: Vec::new(),
            // An earlier turn may have.
            changed: written_schemas(site.plan)?,
        };
        for schema in planned_schemas(site.plan)? {
            host.filled(&oltp.table_options(schema))?;
        }
        host.record = observe(&host, engine, &InitdbChoices::default())?;
        Ok(host)
    }

    fn target_of(&self, tables: &TableOptions) -> OltpTarget {
        target(match self.server {
            Some(_) => self.address.with_database(&database_of(tables.schema)),
            None => self.address.clone(),
        })
    }

    /// Statements outside of any transaction, in one database.
    fn administer(&self, database: Option<&str>, statements: &[&str]) -> Result<(), RunError> {
        let url =
            database.map_or_else(|| self.address.clone(), |name| self.address.with_database(name));
        let done: Result<(), engine::Error> = self.site.runtime.block_on(async {
            let client = engine::postgres::connect(&url).await?;
            for statement in statements {
                client.batch_execute(statement).await?;
            }
            Ok(())
        });
        Ok(done.map_err(DeployError::from)?)
    }

    fn databases(&self) -> Result<Vec<String>, RunError> {
        let found: Result<Vec<String>, engine::Error> = self.site.runtime.block_on(async {
            let client = engine::postgres::connect(&self.address).await?;
            let rows = client.query("SELECT datname::text FROM pg_database", &[]).await?;
            Ok(rows.iter().map(|row| row.get(0)).collect())
        });
        Ok(found.map_err(DeployError::from)?)
    }

    /// Whether every family of tables is there as it is wanted.
    fn holds(&self, tables: &[TableOptions]) -> Result<bool, RunError> {
        if !self.server.as_ref().is_some_and(PostgresServer::data_is_ready) {
            return Ok(false);
        }
        let databases = self.databases()?;
        for one in tables {
            if !databases.contains(&database_of(one.schema)) || !self.is_filled(one)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_filled(&self, tables: &TableOptions) -> Result<bool, RunError> {
        let found = ::oltp::find(&self.target_of(tables), tables.schema);
        Ok(found.map_err(|error| of_engine(&self.label, error))?.as_ref() == Some(tables))
    }

    /// Makes and fills the databases that are not whole, and says that the data directory is.
    fn fill(&self, tables: &[TableOptions]) -> Result<(), RunError> {
        let databases = self.databases()?;
        for one in tables {
            let name = database_of(one.schema);
            if !databases.contains(&name) {
                self.administer(None, &[&format!("CREATE DATABASE {name}")])?;
            }
            if !self.is_filled(one)? {
                self.fill_tables(one)?;
            }
            // Best done now: an insert-triggered vacuum would come in the middle of a trial, and
            // only in releases that have it. The extension is not in every folder of programs.
            self.administer(Some(&name), &["VACUUM (FREEZE, ANALYZE)"])?;
            let _ = self.administer(Some(&name), &["CREATE EXTENSION IF NOT EXISTS pg_prewarm"]);
        }
        if let Some(server) = &self.server {
            server.mark_data_ready("").map_err(DeployError::from)?;
        }
        Ok(())
    }

    fn fill_tables(&self, tables: &TableOptions) -> Result<(), RunError> {
        let label = &self.label;
        let progress = |done: u64, all: u64| {
            self.site.progress.set_message(format!("filling {label}: {done} of {all} rows"));
        };
        ::oltp::fill(&self.target_of(tables), tables, &progress, self.site.interrupted)
            .map_err(|error| of_engine(label, error))
    }

    /// Fresh statistics, shared memory as full as it gets, nothing left to write.
    fn settle(&self, tables: &[TableOptions]) -> Result<(), RunError> {
        for one in tables {
            let name = database_of(one.schema);
            self.administer(Some(&name), &["ANALYZE"])?;
            self.prewarm(&name);
        }
        self.drop_copy()?;
        self.administer(None, &["CHECKPOINT"])
    }

    /// Removes the database of a trial, or of a program that was killed. Sessions of a thousand
    /// clients may still be about to end.
    fn drop_copy(&self) -> Result<(), RunError> {
        self.administer(None, &drop_statements().each_ref().map(String::as_str))
    }

    /// Reads tables, their long values and indexes into shared memory, where the release can.
    fn prewarm(&self, database: &str) {
        // Lower numbers are the system's own.
        let sql = "SELECT pg_prewarm(c.oid::regclass) FROM pg_class c
                    WHERE c.oid >= 16384 AND c.relkind IN ('r', 'i', 't')";
        let _ = self.administer(Some(database), &[sql]);
    }

    fn stop(&mut self) -> Result<(), RunError> {
        if let Some(server) = self.server.take() {
            self.site.runtime.block_on(server.stop()).map_err(DeployError::from)?;
        }
        Ok(())
    }

    fn copy_of(&self, database: &str) -> String {
        let version = self.server.as_ref().map(PostgresServer::exact_version).unwrap_or_default();
        copy_statement(version, database, TRIAL)
    }

    /// Removes the copy that a trial has changed: what it left dirty would be written in the middle
    /// of the next trial, and it may have pushed the tables as they were filled out of memory.
    fn remove_copy(&self, tables: &TableOptions) -> Result<(), RunError> {
        self.drop_copy()?;
        self.administer(None, &["CHECKPOINT"])?;
        self.prewarm(&database_of(tables.schema));
        self.settle_files()
    }

    /// Waits until nothing is left to be written back.
    fn settle_files(&self) -> Result<(), RunError> {
        for path in &self.data_paths {
            prewarm::settle(path, SETTLE_AT_MOST, self.site.interrupted)?;
        }
        Ok(())
    }
}

impl OltpEngine for PostgresHost<'_> {
    fn record(&self) -> &EngineRecord {
        &self.record
    }

    fn side(&self) -> Option<&ServerSide> {
        self.side.as_ref()
    }

    fn data_paths(&self) -> &[PathBuf] {
        &self.data_paths
    }

    fn filled(&mut self, tables: &TableOptions) -> Result<OltpTarget, RunError> {
        if self.server.is_some() {
            if !self.changed.is_empty() {
                self.remove_copy(tables)?;
                self.changed.clear();
            }
        } else if self.changed.contains(&tables.schema) || !self.is_filled(tables)? {
            self.fill_tables(tables)?;
            self.changed.remove(&tables.schema);
        }
        Ok(self.target_of(tables))
    }

    fn restored(&mut self, tables: &TableOptions) -> Result<OltpTarget, RunError> {
        self.site.progress.set_message(format!("restoring {}", self.label));
        self.changed.insert(tables.schema);
        if self.server.is_none() {
            // Nothing may be assumed of a server of the user's but that its tables can be filled.
            self.fill_tables(tables)?;
            let _ = self.administer(None, &["CHECKPOINT"]);
            return Ok(self.target_of(tables));
        }
        let copy = self.copy_of(&database_of(tables.schema));
        self.drop_copy()?;
        self.administer(None, &[&copy, "CHECKPOINT"])?;
        self.prewarm(TRIAL);
        self.settle_files()?;
        Ok(target(self.address.with_database(TRIAL)))
    }

    fn watch(&self, target: &OltpTarget) -> Box<dyn Watch + Send> {
        let OltpTarget::Postgres { url, .. } = target else { return Box::new(Silent) };
        match PostgresWatch::connect(url, self.site.runtime) {
            Ok(watch) => Box::new(watch),
            // A server that refuses the watch is measured all the same.
            Err(_) => Box::new(Silent),
        }
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        self.administer(None, &["SELECT 1"])
    }

    fn retire(mut self: Box<Self>) -> Result<(), RunError> {
        if self.server.is_some() {
            // A server that has died keeps its copy until its next start.
            let _ = self.drop_copy();
        }
        self.stop()
    }
}
