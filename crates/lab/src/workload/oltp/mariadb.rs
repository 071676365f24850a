//! MariaDB for workload `oltp`: private servers that Crossover starts, and servers of the user's.
//! The data directory is filled once in a run; every start, and every trial that writes, gets a
//! copy of it.

mod watch;

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use ::oltp::{OltpTarget, Schema, TableOptions};
use engine::{EngineKind, EngineSource, EngineSpec};
use mysql::prelude::Queryable as _;
use server::{MariadbOptions, MariadbPrograms, MariadbServer};

use super::engine::OltpEngine;
use super::watch::{Silent, Watch};
use super::{
    SETTLE_AT_MOST, check_clients, merged, of_engine, planned_schemas, schema_name, written_schemas,
};
use crate::error::RunError;
use host::HostOptions;
use host::observe::durability;
use host::prewarm;
use host::{DeployError, Site};
use load::resource::{MemoryGroup, ServerSide};
use plan::Levels;
use plan::{Oltp, Plan};
use record::EngineRecord;

use watch::MariadbWatch;

/// Statements of this program take no longer.
const TIMEOUT: Duration = Duration::from_secs(600);
/// MariaDB's default of `max_connections`.
const CONNECTIONS: u16 = 151;
/// Connections beside the clients, two of them ours: one looks at the counters, one cancels.
const BESIDE: u16 = 10;
const OURS: u64 = 2;

/// Refuses programs that are not there and settings that they do not take: a server is started with
/// them, and ended.
pub(super) fn check_managed(
    plan: &Plan,
    engine: &EngineSpec,
    oltp: &Oltp,
    options: &HostOptions<'_>,
) -> Result<(), RunError> {
    let start = start_options(plan, engine, oltp)?;
    let connections = start.settings.iter().find(|(name, _)| name == "max_connections");
    if let Some(allowed) = connections.and_then(|(_, value)| value.parse().ok()) {
        check_clients(plan, &engine.label(), allowed, OURS)?;
    }
    options.progress.set_message(format!("trying {}", engine.label()));
    let server = MariadbServer::start_with(options.locations, &start, options.interrupted)
        .map_err(DeployError::from)?;
    Ok(server.stop().map_err(DeployError::from)?)
}

/// Refuses a server that does not answer, or lets in too few clients.
pub(super) fn check_yours(plan: &Plan, engine: &EngineSpec, url: &str) -> Result<(), RunError> {
    let read = || {
        let mut connection = engine::mysql::connect(url, TIMEOUT)?;
        engine::mysql::session_settings(&mut connection, engine.engine_settings())?;
        engine::mysql::variables(&mut connection, ["max_connections"].into_iter())
    };
    let found: Vec<(String, String)> = read().map_err(DeployError::from)?;
    let allowed = found.first().and_then(|(_, value)| value.parse().ok());
    allowed.map_or(Ok(()), |allowed| check_clients(plan, &engine.label(), allowed, OURS))?;
    Ok(())
}

fn start_options(
    plan: &Plan,
    engine: &EngineSpec,
    oltp: &Oltp,
) -> Result<MariadbOptions, RunError> {
    let folder = match &engine.source {
        EngineSource::MariadbFolder(folder) => Some(folder.as_path()),
        _ => None,
    };
    let programs = MariadbPrograms::find(folder).map_err(DeployError::from)?;
    let mut settings = merged(oltp.settings_of(EngineKind::Mariadb), engine);
    let most = plan.most_clients();
    if most.saturating_add(BESIDE) > CONNECTIONS
        && !settings.iter().any(|(name, _)| name == "max_connections")
    {
        let enough = most.saturating_add(4 * BESIDE).to_string();
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
    options: Option<MariadbOptions>,
    server: Option<MariadbServer>,
    url: String,
    session: Vec<(String, String)>,
    side: Option<ServerSide>,
    data_paths: Vec<PathBuf>,
    /// Families of tables that trials have changed since they were filled or restored.
    changed: HashSet<Schema>,
}

impl<'a> MariadbHost<'a> {
    /// Fills a data directory, once in a run, and starts the server on a copy of it.
    pub(super) fn managed(
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
        oltp: &Oltp,
    ) -> Result<Self, RunError> {
        let options = start_options(site.plan, engine, oltp)?;
        let tables: Vec<TableOptions> =
            planned_schemas(site.plan)?.into_iter().map(|one| oltp.table_options(one)).collect();
        let text = format!("{options:?} {tables:?}");
        let hash = xxhash_rust::xxh3::xxh3_64(text.as_bytes());
        let kept = site.scratch.join(format!("mariadb-{hash:016x}"));
        let mut host = Self {
            site,
            label: engine.label(),
            record: EngineRecord::default(),
            options: Some(options.clone()),
            server: None,
            url: String::new(),
            session: Vec::new(),
            side: None,
            data_paths: Vec::new(),
            changed: HashSet::new(),
        };
        if !kept.is_dir() {
            // The limit on memory is for what is measured.
            let _outside = site.memory.map(MemoryGroup::step_out).transpose()?;
            host.start(&options)?;
            for one in &tables {
                host.make(one)?;
            }
            if let Some(server) = host.server.take() {
                server.stop_and_keep(&kept).map_err(DeployError::from)?;
            }
        }
        // On how many processors it is filled makes no difference.
        let cpus = site.plan.server_cpus_at(levels)?;
        host.options = Some(MariadbOptions { data: Some(kept), cpus, ..options });
        host.start_on_copy()?;
        host.record = host.observe(engine)?;
        Ok(host)
    }

    /// A server of the user's, whose tables are made if they are not there.
    pub(super) fn yours(
        site: &'a Site<'a>,
        engine: &EngineSpec,
        url: &str,
        oltp: &Oltp,
    ) -> Result<Self, RunError> {
        let own = engine.engine_settings();
        let mut host = Self {
            site,
            label: engine.label(),
            record: EngineRecord::default(),
            options: None,
            server: None,
            url: url.to_owned(),
            session: own.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
            side: None,
            data_paths: Vec::new(),
            // An earlier turn may have.
            changed: written_schemas(site.plan)?,
        };
        for schema in planned_schemas(site.plan)? {
            host.filled(&oltp.table_options(schema))?;
        }
        host.record = host.observe(engine)?;
        Ok(host)
    }

    fn start(&mut self, options: &MariadbOptions) -> Result<(), RunError> {
        let server = MariadbServer::start_with(self.site.locations, options, self.site.interrupted)
            .map_err(DeployError::from)?;
        self.side = Some(ServerSide { roots: vec![server.pid()] });
        self.data_paths = vec![server.data_directory()];
        self.server = Some(server);
        Ok(())
    }

    /// A new server on a copy of what was filled, its tables and indexes read once.
    fn start_on_copy(&mut self) -> Result<(), RunError> {
        if let Some(server) = self.server.take() {
            server.stop().map_err(DeployError::from)?;
        }
        let Some(options) = self.options.clone() else { return Ok(()) };
        self.start(&options)?;
        for schema in planned_schemas(self.site.plan)? {
            let done = self.connected(&self.url_of(schema), |connection| {
                // Our names need no quotes. A checksum reads rows, and of indexes the key alone.
                let tables: Vec<String> = connection.query("SHOW TABLES")?;
                connection.query_drop(format!("CHECKSUM TABLE {}", tables.join(", ")))?;
                let indexes: Vec<(String, String)> = connection.query(
                    "SELECT DISTINCT table_name, index_name FROM information_schema.statistics \
                     WHERE table_schema = database() AND index_name <> 'PRIMARY'",
                )?;
                indexes.iter().try_for_each(|(table, index)| {
                    let sql = format!("SELECT count(*) FROM {table} FORCE INDEX ({index})");
                    connection.query_drop(sql)
                })
            });
            done?;
        }
        Ok(())
    }

    /// A database with the tables.
    fn make(&self, tables: &TableOptions) -> Result<(), RunError> {
        let name = database_of(tables.schema);
        self.connected(&self.server_url(""), |connection| {
            connection.query_drop(format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"))
        })?;
        self.fill(tables)
    }

    fn fill(&self, tables: &TableOptions) -> Result<(), RunError> {
        let label = &self.label;
        let progress = |done: u64, all: u64| {
            self.site.progress.set_message(format!("filling {label}: {done} of {all} rows"));
        };
        ::oltp::fill(&self.target_of(tables), tables, &progress, self.site.interrupted)
            .map_err(|error| of_engine(label, error))
    }

    fn server_url(&self, database: &str) -> String {
        self.server.as_ref().map_or_else(|| self.url.clone(), |server| server.url(database))
    }

    fn url_of(&self, schema: Schema) -> String {
        self.server_url(&database_of(schema))
    }

    fn target_of(&self, tables: &TableOptions) -> OltpTarget {
        OltpTarget::Mysql { url: self.url_of(tables.schema), session: self.session.clone() }
    }

    fn connected<T>(
        &self,
        url: &str,
        work: impl FnOnce(&mut mysql::Conn) -> Result<T, mysql::Error>,
    ) -> Result<T, RunError> {
        let mut connection = engine::mysql::connect(url, TIMEOUT).map_err(DeployError::from)?;
        let done = work(&mut connection).map_err(engine::Error::from);
        Ok(done.map_err(DeployError::from)?)
    }

    fn observe(&self, engine: &EngineSpec) -> Result<EngineRecord, RunError> {
        let schema = planned_schemas(self.site.plan)?.into_iter().next().unwrap_or_default();
        let url = self.url_of(schema);
        let asked = self.options.iter().flat_map(|options| &options.settings);
        let asked: Vec<&str> = asked.map(|(name, _)| name.as_str()).collect();
        let read = || -> Result<_, engine::Error> {
            let mut connection = engine::mysql::connect(&url, TIMEOUT)?;
            let version = engine::mysql::version(&mut connection)?;
            let names = engine::mysql::SHOWN_VARIABLES.into_iter();
            let mut settings =
                engine::mysql::variables(&mut connection, names.chain(asked.iter().copied()))?;
            let built: Option<String> = connection.query_first(
                "SELECT concat(version(), ' ', @@version_compile_machine, ' ', \
                 @@version_compile_os)",
            )?;
            settings.push(("version()".to_owned(), built.unwrap_or_default()));
            let bytes: Option<Option<u64>> = connection.query_first(
                "SELECT CAST(sum(data_length + index_length) AS UNSIGNED) \
                 FROM information_schema.tables WHERE table_schema = database()",
            )?;
            Ok((version, settings, bytes.flatten()))
        };
        let (version, settings, data_bytes) = read().map_err(DeployError::from)?;
        Ok(EngineRecord {
            name: engine.label(),
            version,
            durability: durability(EngineKind::Mariadb, &settings),
            settings,
            statistics_present: Some(true),
            data_bytes,
            ..EngineRecord::default()
        })
    }
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
        if self.options.is_some() {
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
        if self.options.is_none() {
            self.fill(tables)?;
            return Ok(self.target_of(tables));
        }
        let inside = self.site.memory.map(MemoryGroup::enter).transpose()?;
        self.start_on_copy()?;
        drop(inside);
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
        if let Some(server) = &mut self.server
            && !server.is_running()
        {
            let message = format!("{}: the server has ended: {}", self.label, server.last_words());
            return Err(RunError::Statement(message));
        }
        self.connected(&self.server_url(""), |connection| connection.query_drop("SELECT 1"))
    }

    fn retire(mut self: Box<Self>) -> Result<(), RunError> {
        let Some(server) = self.server.take() else { return Ok(()) };
        Ok(server.stop().map_err(DeployError::from)?)
    }
}
