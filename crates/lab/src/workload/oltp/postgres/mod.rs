//! PostgreSQL for workload `oltp`: releases that Crossover starts, made alike, and servers of the
//! user's. A managed cluster is filled once and kept; trials that write get a copy of a database.

mod databases;
mod start;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use ::oltp::OltpTarget;
use engine::{EngineKind, EngineSpec, PostgresUrl};
use plan::oltp::{Schema, TableOptions};
use server::PostgresServer;

use super::engine::OltpEngine;
use super::{SETTLE_AT_MOST, planned_schemas, written_schemas};
use crate::error::RunError;
use host::observe::{Silent, Watch};
use host::postgres::{ClientAddress, ConnectionPool, OF_SHORT_TRANSACTIONS, PostgresWatch};
use host::{DeployError, Site, Template, durability, prewarm};
use load::resource::ServerSide;
use plan::{ConnectionBy, Levels, Oltp};
use record::EngineRecord;

use databases::{Databases, target};
use start::start_options;
pub(super) use start::{check_language, check_managed, check_yours};

/// A server with filled databases.
pub(super) struct PostgresHost<'a> {
    site: &'a Site<'a>,
    record: EngineRecord,
    databases: Databases<'a>,
    /// Before its server, and stopped before it.
    pool: Option<ConnectionPool>,
    /// None: a server of the user's.
    server: Option<PostgresServer>,
    side: Option<ServerSide>,
    data_paths: Vec<PathBuf>,
    /// Families of tables that trials have changed: in the copy, or on the user's server.
    changed: HashSet<Schema>,
    /// Of a managed server, those that trials have had copies of.
    templates: HashMap<Schema, Template<String>>,
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
        let tables: Vec<TableOptions> =
            planned_schemas(site.plan)?.into_iter().map(|one| oltp.table_options(one)).collect();
        let is_filled = |server: &PostgresServer| -> Result<bool, RunError> {
            let databases = Databases::managed(site, engine, server);
            Ok(server.data_is_ready() && databases.hold(&tables)?)
        };
        let fill = |server: &PostgresServer| {
            Databases::managed(site, engine, server).fill_all(&tables, server)
        };
        let server = host::postgres::start(site, &options, is_filled, fill)?;
        let mut host = Self {
            site,
            record: EngineRecord::default(),
            databases: Databases::managed(site, engine, &server),
            side: None,
            pool: None,
            data_paths: vec![server.data_directory()],
            server: Some(server),
            changed: HashSet::new(),
            templates: HashMap::new(),
        };
        host.settle(&tables)?;
        host.record = host.observe(engine)?;
        let server = &host.databases.server;
        host.pool = ConnectionPool::start(site, engine, levels, server, &[])?;
        let of_pool = host.pool.iter().flat_map(ConnectionPool::record);
        host.record.settings.extend(of_pool.cloned());
        let server = host.server.iter().map(PostgresServer::pid);
        let roots = server.chain(host.pool.iter().map(ConnectionPool::pid)).collect();
        host.side = Some(ServerSide { roots });
        host.record.settings.push(("initdb".to_owned(), options.initdb.describe()));
        Ok(host)
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
            record: EngineRecord::default(),
            databases: Databases::yours(site, engine, url),
            pool: None,
            server: None,
            side: None,
            data_paths: Vec::new(),
            // An earlier turn may have.
            changed: written_schemas(site.plan)?,
            templates: HashMap::new(),
        };
        for schema in planned_schemas(site.plan)? {
            host.filled(&oltp.table_options(schema))?;
        }
        host.record = host.observe(engine)?;
        Ok(host)
    }

    /// Fresh statistics, shared memory as full as it gets, nothing left to write.
    fn settle(&self, tables: &[TableOptions]) -> Result<(), RunError> {
        for one in tables {
            let database = self.databases.of(one.schema);
            database.run(&["ANALYZE"])?;
            database.prewarm();
        }
        self.databases.server.drop_copy()?;
        self.databases.server.checkpoint()?;
        Ok(())
    }

    /// Its release, its build, and the settings that bear on short transactions, so that
    /// differences between releases can be listed.
    fn observe(&self, engine: &EngineSpec) -> Result<EngineRecord, RunError> {
        let plan = self.site.plan;
        let schema = planned_schemas(plan)?.into_iter().next().unwrap_or_default();
        let database = self.databases.of(schema);
        // The plan's own too: a server of the user's has them in its own way.
        let common = plan.oltp_at(&Levels::new())?.settings_of(EngineKind::Postgres);
        let mut names: Vec<String> =
            common.into_iter().map(|(name, _)| name.to_lowercase()).collect();
        names.extend(OF_SHORT_TRANSACTIONS.map(str::to_owned));
        let (version, mut settings) = database.settings(&names)?;
        settings.extend(database.build()?);
        if let Some(server) = &self.server {
            for (name, value) in server.settings_read_back() {
                settings.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
                settings.push((name.clone(), value.clone()));
            }
            let unknown = server.unknown_settings().iter();
            settings.extend(unknown.map(|name| (name.clone(), "not in this release".to_owned())));
        }
        Ok(EngineRecord {
            name: engine.label(),
            version,
            durability: durability(EngineKind::Postgres, &settings),
            settings,
            statistics_present: Some(true),
            data_bytes: database.bytes(),
            ..EngineRecord::default()
        })
    }

    /// Removes the copy that a trial has changed: what it left dirty would be written in the middle
    /// of the next trial, and it may have pushed the tables as filled out of memory.
    fn remove_copy(&self, tables: &TableOptions) -> Result<(), RunError> {
        self.let_pool_go()?;
        self.databases.server.drop_copy()?;
        self.databases.server.checkpoint()?;
        self.databases.of(tables.schema).prewarm();
        self.settle_files()
    }

    fn let_pool_go(&self) -> Result<(), RunError> {
        Ok(self.pool.as_ref().map_or(Ok(()), |pool| pool.let_go(self.site))?)
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
        } else if self.changed.contains(&tables.schema) || !self.databases.has(tables)? {
            self.databases.fill(tables)?;
            self.changed.remove(&tables.schema);
        }
        Ok(self.databases.target(tables.schema))
    }

    fn restored(&mut self, tables: &TableOptions) -> Result<OltpTarget, RunError> {
        self.site.progress.set_message(format!("restoring {}", self.record.name));
        self.changed.insert(tables.schema);
        let Some(server) = &self.server else {
            // Nothing may be assumed of a server of the user's but that its tables can be filled.
            self.databases.fill(tables)?;
            let _ = self.databases.server.checkpoint();
            return Ok(self.databases.target(tables.schema));
        };
        self.let_pool_go()?;
        let template = match self.templates.entry(tables.schema) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(self.databases.template(tables.schema, server)?),
        };
        let copy = self.databases.server.copy(&template.place, server.exact_version())?;
        template.compare(&self.record.name, copy.contents()?)?;
        copy.checkpoint()?;
        copy.prewarm();
        self.settle_files()?;
        Ok(target(copy.address))
    }

    fn reached(&self, target: OltpTarget, by: ConnectionBy) -> OltpTarget {
        let OltpTarget::Postgres { url, .. } = &target else { return target };
        let reached = ClientAddress::of(url, by, self.server.as_ref(), self.pool.as_ref());
        let ClientAddress { url, behind_pool } = reached;
        OltpTarget::Postgres { url, session: Vec::new(), behind_pool }
    }

    fn watch(&self, target: &OltpTarget) -> Box<dyn Watch + Send> {
        let OltpTarget::Postgres { url, .. } = target.past_pool() else { return Box::new(Silent) };
        match PostgresWatch::connect(&url, self.site.runtime) {
            Ok(watch) => Box::new(watch),
            // A server that refuses the watch is measured all the same.
            Err(_) => Box::new(Silent),
        }
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        let pool = self.pool.as_ref().map_or(Ok(()), ConnectionPool::check_alive);
        pool.map_err(DeployError::from)?;
        Ok(self.databases.server.run(&["SELECT 1"])?)
    }

    fn retire(mut self: Box<Self>) -> Result<(), RunError> {
        drop(self.pool.take());
        let Some(server) = self.server.take() else { return Ok(()) };
        // A server that has died keeps its copy until its next start.
        let _ = self.databases.server.drop_copy();
        Ok(self.site.runtime.block_on(server.stop()).map_err(DeployError::from)?)
    }
}
