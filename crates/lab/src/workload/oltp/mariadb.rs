//! MariaDB for workload `oltp`: private servers that Crossover starts, and servers of the user's.
//! The data directory is filled once in a run; every start, and every trial that writes, gets a
//! copy of it.

use std::collections::HashSet;
use std::path::PathBuf;

use ::oltp::OltpTarget;
use engine::{EngineKind, EngineSpec};
use mysql::prelude::Queryable as _;
use plan::oltp::{Schema, TableOptions};
use server::{MariadbOptions, MariadbPrograms, MariadbServer};

use super::engine::OltpEngine;
use super::{
    SETTLE_AT_MOST, check_clients, merged, of_engine, planned_schemas, schema_name, written_schemas,
};
use crate::error::RunError;
use host::mariadb::{self, ManagedMariadb, MariadbWatch, TIMEOUT};
use host::observe::{Silent, Watch};
use host::{DeployError, HostOptions, Site, prewarm};
use load::resource::ServerSide;
use plan::{Levels, Oltp, Plan};
use record::EngineRecord;

/// MariaDB's default of `max_connections`.
const CONNECTIONS: u16 = 151;
/// Connections beside the clients, two of them ours: one looks at the counters, one cancels.
const EXTRA_CONNECTIONS: u16 = 10;
const OWN_CONNECTIONS: u64 = 2;

/// Refuses programs that are not there, settings that they do not take, and too few connections.
pub(super) fn check_managed(
    plan: &Plan,
    engine: &EngineSpec,
    oltp: &Oltp,
    options: &HostOptions<'_>,
) -> Result<(), RunError> {
    let start = start_options(plan, engine, oltp, options)?;
    let connections = start.settings.iter().find(|(name, _)| name == "max_connections");
    if let Some(allowed) = connections.and_then(|(_, value)| value.parse().ok()) {
        check_clients(plan, &engine.label(), allowed, OWN_CONNECTIONS)?;
    }
    Ok(mariadb::check_managed(engine, &start, options)?)
}

/// Refuses a server that does not answer, or lets in too few clients.
pub(super) fn check_yours(plan: &Plan, engine: &EngineSpec, url: &str) -> Result<(), RunError> {
    let Some(allowed) = mariadb::check_yours(engine, url)? else { return Ok(()) };
    Ok(check_clients(plan, &engine.label(), allowed, OWN_CONNECTIONS)?)
}

fn start_options(
    plan: &Plan,
    engine: &EngineSpec,
    oltp: &Oltp,
    options: &HostOptions<'_>,
) -> Result<MariadbOptions, RunError> {
    let HostOptions { locations, progress, interrupted, runtime } = *options;
    let programs = MariadbPrograms::of_engine(&engine.source, locations, progress, interrupted);
    let programs = runtime.block_on(programs).map_err(DeployError::from)?;
    let mut settings = merged(oltp.settings_of(EngineKind::Mariadb), engine);
    let most = plan.most_clients();
    if most.saturating_add(EXTRA_CONNECTIONS) > CONNECTIONS
        && !settings.iter().any(|(name, _)| name == "max_connections")
    {
        let enough = most.saturating_add(4 * EXTRA_CONNECTIONS).to_string();
        settings.push(("max_connections".to_owned(), enough));
    }
    Ok(MariadbOptions { programs, settings, data: None, cpus: None })
}

fn database_of(schema: Schema) -> String {
    format!("oltp_{}", schema_name(schema))
}

/// A server with filled databases.
pub(super) struct MariadbHost<'a> {
    site: &'a Site<'a>,
    label: String,
    record: EngineRecord,
    /// None: a server of the user's.
    server: Option<ManagedMariadb<'a>>,
    /// Of the user's server.
    url: String,
    session: Vec<(String, String)>,
    side: Option<ServerSide>,
    data_paths: Vec<PathBuf>,
    /// Families of tables that trials have changed since they were filled or restored.
    changed: HashSet<Schema>,
}

impl<'a> MariadbHost<'a> {
    pub(super) fn managed(
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
        oltp: &Oltp,
    ) -> Result<Self, RunError> {
        let Site { locations, progress, interrupted, runtime, .. } = *site;
        let here = HostOptions { locations, progress, interrupted, runtime };
        let options = start_options(site.plan, engine, oltp, &here)?;
        let schemas = planned_schemas(site.plan)?;
        let tables: Vec<TableOptions> =
            schemas.iter().map(|one| oltp.table_options(*one)).collect();
        let key = format!("{options:?} {tables:?}");
        let options = MariadbOptions { cpus: site.plan.server_cpus_at(levels)?, ..options };
        let databases = schemas.into_iter().map(database_of).collect();
        let make = |server: &MariadbServer| {
            tables.iter().try_for_each(|one| make(site, engine, server, one))
        };
        let server = ManagedMariadb::start(site, options, &key, databases, make)?;
        let mut host = Self::of(site, engine, String::new());
        host.record = {
            let url = server.url(&database_of(planned_schema(site.plan)?));
            let asked = server.settings().iter().map(|(name, _)| name.as_str());
            mariadb::read_record(engine, &url, std::iter::empty(), asked)?
        };
        host.record.statistics_present = Some(true);
        host.take(server);
        Ok(host)
    }

    /// A server of the user's, whose tables are made if they are not there.
    pub(super) fn yours(
        site: &'a Site<'a>,
        engine: &EngineSpec,
        url: &str,
        oltp: &Oltp,
    ) -> Result<Self, RunError> {
        let mut host = Self::of(site, engine, url.to_owned());
        let own = engine.engine_settings();
        host.session = own.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        // An earlier turn may have.
        host.changed = written_schemas(site.plan)?;
        for schema in planned_schemas(site.plan)? {
            host.filled(&oltp.table_options(schema))?;
        }
        let session = engine.engine_settings();
        host.record = mariadb::read_record(engine, url, session, std::iter::empty())?;
        host.record.statistics_present = Some(true);
        Ok(host)
    }

    fn of(site: &'a Site<'a>, engine: &EngineSpec, url: String) -> Self {
        Self {
            site,
            label: engine.label(),
            record: EngineRecord::default(),
            server: None,
            url,
            session: Vec::new(),
            side: None,
            data_paths: Vec::new(),
            changed: HashSet::new(),
        }
    }

    fn take(&mut self, server: ManagedMariadb<'a>) {
        self.side = Some(ServerSide { roots: vec![server.pid()] });
        self.data_paths = vec![server.data_directory()];
        self.server = Some(server);
    }

    fn fill(&self, tables: &TableOptions) -> Result<(), RunError> {
        fill(self.site, &self.label, &self.target_of(tables), tables)
    }

    fn target_of(&self, tables: &TableOptions) -> OltpTarget {
        let url = match &self.server {
            Some(server) => server.url(&database_of(tables.schema)),
            None => self.url.clone(),
        };
        OltpTarget::Mysql { url, session: self.session.clone() }
    }
}

/// A database with the tables.
fn make(
    site: &Site<'_>,
    engine: &EngineSpec,
    server: &MariadbServer,
    tables: &TableOptions,
) -> Result<(), RunError> {
    let name = database_of(tables.schema);
    run(&server.url(""), &format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"))?;
    let target = OltpTarget::Mysql { url: server.url(&name), session: Vec::new() };
    fill(site, &engine.label(), &target, tables)
}

fn fill(
    site: &Site<'_>,
    label: &str,
    target: &OltpTarget,
    tables: &TableOptions,
) -> Result<(), RunError> {
    let progress = |done: u64, all: u64| {
        site.progress.set_message(format!("filling {label}: {done} of {all} rows"));
    };
    ::oltp::fill(target, tables, &progress, site.interrupted)
        .map_err(|error| of_engine(label, error))
}

fn run(url: &str, statement: &str) -> Result<(), DeployError> {
    let mut connection = connect::mysql::connect(url, TIMEOUT)?;
    Ok(connection.query_drop(statement).map_err(connect::Error::from)?)
}

/// The first family of tables of a plan.
fn planned_schema(plan: &Plan) -> Result<Schema, RunError> {
    Ok(planned_schemas(plan)?.into_iter().next().unwrap_or_default())
}

impl OltpEngine for MariadbHost<'_> {
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
                // A copy of the data directory, and with it of every family.
                self.restored(tables)?;
                self.changed.clear();
            }
            return Ok(self.target_of(tables));
        }
        let found = ::oltp::find(&self.target_of(tables), tables.schema);
        let found = found.map_err(|error| of_engine(&self.label, error))?;
        if self.changed.contains(&tables.schema) || found.as_ref() != Some(tables) {
            self.fill(tables)?;
            self.changed.remove(&tables.schema);
        }
        Ok(self.target_of(tables))
    }

    fn restored(&mut self, tables: &TableOptions) -> Result<OltpTarget, RunError> {
        self.site.progress.set_message(format!("restoring {}", self.label));
        self.changed.insert(tables.schema);
        let Some(server) = self.server.take() else {
            self.fill(tables)?;
            return Ok(self.target_of(tables));
        };
        self.take(server.renew()?);
        for path in &self.data_paths {
            prewarm::settle(path, SETTLE_AT_MOST, self.site.interrupted)?;
        }
        Ok(self.target_of(tables))
    }

    fn watch(&self, target: &OltpTarget) -> Box<dyn Watch + Send> {
        let OltpTarget::Mysql { url, .. } = target else { return Box::new(Silent) };
        match MariadbWatch::connect(url) {
            Ok(watch) => Box::new(watch),
            // A server that refuses the watch is measured all the same.
            Err(_) => Box::new(Silent),
        }
    }

    fn check_alive(&mut self) -> Result<(), RunError> {
        let url = match &mut self.server {
            Some(server) => {
                server.check_alive(&self.label)?;
                server.url("")
            }
            None => self.url.clone(),
        };
        Ok(run(&url, "SELECT 1")?)
    }

    fn retire(mut self: Box<Self>) -> Result<(), RunError> {
        let Some(server) = self.server.take() else { return Ok(()) };
        Ok(server.stop()?)
    }
}
