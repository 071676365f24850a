//! A database of PostgreSQL that is measured: on a server that is started and filled for it, or on
//! one of the user's, which is only read.

use std::path::PathBuf;
use std::time::Duration;

use engine::{EngineSpec, PostgresUrl};
use plan::{ConnectionBy, Levels, WorkloadKind};
use record::{BOOLEAN_CAST, Counters, EngineRecord};
use server::PostgresServer;

use super::activity::SessionActivity;
use super::administration::Administration;
use super::client_address::ClientAddress;
use super::counters::{counters, facts};
use super::pool::ConnectionPool;
use super::start::{ManagedPostgres, managed};
use crate::activity::Activity;
use crate::address::{Address, is_tcp};
use crate::database::{DataUse, Database, HostedDatabase, Template, say_copying};
use crate::error::DeployError;
use crate::site::Site;

/// A database of PostgreSQL that is measured.
pub struct PostgresDatabase {
    pub url: PostgresUrl,
    engine: EngineSpec,
    /// Before its server, and stopped before it.
    pool: Option<ConnectionPool>,
    /// None on a server of the user's.
    managed: Option<ManagedPostgres>,
    /// Source of each writing trial's copy; `None` for read-only use.
    template: Option<Template<PostgresUrl>>,
}

/// On a server that is started, and filled by the plan's commands.
pub(crate) fn deploy_managed(
    site: &Site<'_>,
    engine: &EngineSpec,
    levels: &Levels,
    data_use: DataUse,
) -> Result<Database, DeployError> {
    let managed = managed(site, engine, levels)?;
    let administration = Administration::new(site, engine, managed.url.clone());
    // An application's SQL is written for PostgreSQL.
    let is_for_sqlite = site.plan.workload == WorkloadKind::Sql;
    let compares_booleans = is_for_sqlite && administration.compare_booleans()?;
    let (version, mut settings) = administration.settings(&[])?;
    if compares_booleans {
        settings.push((BOOLEAN_CAST.to_owned(), "implicit".to_owned()));
    }
    for (name, value) in managed.server.settings_read_back() {
        if !settings.iter().any(|(known, _)| known == name) {
            settings.push((name.clone(), value.clone()));
        }
    }
    let url = managed.url.clone();
    let template = match data_use {
        DataUse::Read => None,
        DataUse::Change => {
            let contents = managed.contents_when_filled(&administration)?;
            Some(Template { place: url.clone(), contents })
        }
    };
    let read_only = data_use == DataUse::Read;
    let pool =
        ConnectionPool::start(site, engine, levels, &administration, &session_settings(read_only))?;
    settings.extend(pool.iter().flat_map(|pool| pool.record().iter().cloned()));
    let record = EngineRecord { version, settings, ..EngineRecord::default() };
    let data_paths = vec![managed.data_directory()];
    let engine_of = engine.clone();
    let hosted =
        PostgresDatabase { url, engine: engine_of, pool, managed: Some(managed), template };
    let mut database = Database::new(engine, record, data_paths, hosted);
    database.renew(site)?;
    Ok(database)
}

/// On a server of the user's, which is never written to.
pub(crate) fn deploy_yours(
    site: &Site<'_>,
    engine: &EngineSpec,
    url: &PostgresUrl,
) -> Result<Database, DeployError> {
    let url = url.with_session_settings(engine.engine_settings());
    let (version, settings) = Administration::new(site, engine, url.clone()).settings(&[])?;
    let record = EngineRecord { version, settings, ..EngineRecord::default() };
    let engine_of = engine.clone();
    let hosted =
        PostgresDatabase { url, engine: engine_of, pool: None, managed: None, template: None };
    let mut database = Database::new(engine, record, Vec::new(), hosted);
    database.out_of_sight = true;
    Ok(database)
}

/// Settings of the sessions of clients; the server, not this program, refuses writes of a read-only
/// one.
pub fn session_settings(read_only: bool) -> Vec<(&'static str, &'static str)> {
    // Times are compared with those of SQLite, which are in UTC.
    let mut settings = vec![("DateStyle", "ISO"), ("TimeZone", "UTC")];
    if read_only {
        settings.push(("default_transaction_read_only", "on"));
    }
    settings
}

impl PostgresDatabase {
    /// That of `database`, if it is PostgreSQL's.
    pub fn of(database: &Database) -> Option<&Self> {
        database.downcast()
    }

    pub fn of_mut(database: &mut Database) -> Option<&mut Self> {
        database.downcast_mut()
    }

    /// The server that was started for it.
    pub fn server(&self) -> Option<&PostgresServer> {
        self.managed.as_ref().map(|managed| &managed.server)
    }

    /// For statements of the laboratory's own.
    pub fn administration<'a>(&self, site: &Site<'a>) -> Administration<'a> {
        Administration::new(site, &self.engine, self.url.clone())
    }

    /// The same database over TCP with its password, where the server listens there.
    pub fn tcp(&self) -> Option<PostgresUrl> {
        match self.server() {
            Some(server) => self.url.database().and_then(|name| server.tcp_url(name)),
            None => is_tcp(&self.url).then(|| self.url.clone()),
        }
    }

    /// The address of `database` on its server for clients.
    pub fn for_clients(&self, database: &PostgresUrl, by: ConnectionBy) -> ClientAddress {
        ClientAddress::of(database, by, self.server(), self.pool.as_ref())
    }

    /// Its address for another role of the same password.
    pub fn address_of(&self, role: &str) -> Address {
        let tcp = self.tcp().map(|tcp| tcp.with_user(role));
        Address::of_server(&self.url.with_user(role), tcp.as_ref())
    }

    /// Counters of another database of the same server, which `url` leads to.
    pub fn counters_at(&mut self, url: &PostgresUrl, runtime: &tokio::runtime::Handle) -> Counters {
        let managed = self.managed.as_mut();
        let temporary_files = managed.and_then(|managed| managed.temporary_files.as_mut());
        counters(url, temporary_files, runtime)
    }
}

impl HostedDatabase for PostgresDatabase {
    fn address(&self) -> Address {
        Address::of_server(&self.url, self.tcp().as_ref())
    }

    fn renew(&mut self, site: &Site<'_>) -> Result<Option<PathBuf>, DeployError> {
        let mut folder = None;
        if let (Some(template), Some(managed)) = (&self.template, &self.managed) {
            say_copying(site, &self.engine);
            self.pool.as_ref().map_or(Ok(()), |pool| pool.let_go(site))?;
            let server = Administration::new(site, &self.engine, template.place.clone());
            let name = template.place.database().unwrap_or_default();
            let copy = server.of_server().copy(name, managed.server.exact_version())?;
            template.compare(&self.engine.label(), copy.contents()?)?;
            folder = Some(copy.folder(&managed.data_directory())?);
            self.url = copy.address;
        }
        self.administration(site).settle(&self.engine)?;
        Ok(folder)
    }

    fn drop_copy(&self, site: &Site<'_>) {
        if self.template.is_some() {
            let _ = self.administration(site).of_server().drop_copy();
        }
    }

    fn checkpoint(&self, site: &Site<'_>) -> Result<Option<Duration>, DeployError> {
        match self.administration(site).checkpoint() {
            Err(DeployError::Statement { source, .. })
                if self.managed.is_none() && matches!(*source, connect::Error::Postgres(_)) =>
            {
                Ok(None)
            }
            made => made.map(Some),
        }
    }

    fn facts(&self, runtime: &tokio::runtime::Handle) -> Option<(u64, Option<bool>)> {
        runtime.block_on(facts(&self.url))
    }

    fn activity(&self, runtime: &tokio::runtime::Handle) -> Result<Box<dyn Activity>, String> {
        Ok(Box::new(SessionActivity::watch(&self.url, runtime)?))
    }

    fn counters(&mut self, runtime: &tokio::runtime::Handle) -> Counters {
        self.counters_at(&self.url.clone(), runtime)
    }

    fn pids(&self) -> Vec<u32> {
        let pool = self.pool.as_ref().map(ConnectionPool::pid);
        self.server().map(PostgresServer::pid).into_iter().chain(pool).collect()
    }

    fn check_alive(&mut self) -> Result<(), DeployError> {
        self.pool.as_ref().map_or(Ok(()), ConnectionPool::check_alive)?;
        let Some(ManagedPostgres { server, .. }) = &mut self.managed else { return Ok(()) };
        if server.is_running() {
            return Ok(());
        }
        let (engine, last_log_lines) = (self.engine.label(), server.last_log_lines());
        Err(DeployError::Ended { engine, last_log_lines })
    }

    fn retire(self: Box<Self>, runtime: &tokio::runtime::Handle) -> Result<(), DeployError> {
        drop(self.pool);
        if let Some(managed) = self.managed {
            runtime.block_on(managed.server.stop())?;
        }
        Ok(())
    }
}
