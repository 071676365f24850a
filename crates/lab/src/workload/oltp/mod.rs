//! Workload `oltp`: short transactions of any number of clients, on tables that the laboratory
//! fills itself, the same rows on every engine. Crate oltp has the transactions and offers the
//! load; here engines are filled, restored, observed and checked.

mod engine;
mod expected;
mod load;
mod mariadb;
mod notes;
mod postgres;
mod process;
mod sqlite;
mod subject;
mod watch;

use std::collections::HashSet;
use std::time::Duration;

use ::engine::{EngineSource, EngineSpec, PostgresUrl};
use plan::oltp::{Collation, Mix, Schema};

use super::{DataTime, Subject, Workload, library};
use crate::error::RunError;
use host::HostOptions;
use host::Site;
use plan::Levels;
use plan::PlannedTrial;
use plan::oltp::without_oltp_keys;
use plan::{Plan, PlanError};

pub(crate) use ::oltp::OltpJob;

use self::engine::OltpEngine;
pub(crate) use process::OltpChild;
use subject::OltpSubject;

/// Dirty pages that are not written back by then belong to other programs.
const SETTLE_AT_MOST: Duration = Duration::from_secs(30);

/// The transactions of a plan.
pub(crate) struct OltpWorkload<'p> {
    plan: &'p Plan,
}

impl<'p> OltpWorkload<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self { plan }
    }
}

impl Workload for OltpWorkload<'_> {
    fn check(&self, engine: &EngineSpec, options: &HostOptions<'_>) -> Result<(), RunError> {
        let plan = self.plan;
        plan.check_oltp_engine(engine)?;
        let oltp = plan.oltp_of(engine, &Levels::new())?;
        let collations = plan.oltp_with(engine, "collation")?;
        let by_language = collations.iter().any(|oltp| oltp.collation == Collation::Language);
        let engine = &without_oltp_keys(engine)?;
        match source(engine)? {
            TablesIn::SqliteFile => {
                sqlite::check(engine, &oltp, options)?;
                library::check(plan, engine, options)
            }
            TablesIn::ManagedPostgres => {
                postgres::check_managed(plan, engine, &oltp, options)?;
                if by_language {
                    postgres::check_language(plan, engine, &oltp, options)?;
                }
                Ok(())
            }
            TablesIn::ForeignPostgres(url) => postgres::check_yours(plan, engine, url, options),
            TablesIn::ManagedMariadb => mariadb::check_managed(plan, engine, &oltp, options),
            TablesIn::ForeignMysql(url) => mariadb::check_yours(plan, engine, url),
        }
    }

    fn deploy<'a>(
        &'a self,
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
    ) -> Result<Box<dyn Subject + 'a>, RunError> {
        site.progress.set_message(format!("starting {}", engine.label()));
        let oltp = site.plan.oltp_of(engine, levels)?;
        let own = &without_oltp_keys(engine)?;
        let host: Box<dyn OltpEngine + 'a> = match source(engine)? {
            TablesIn::SqliteFile => Box::new(sqlite::SqliteHost::new(site, own, &oltp)?),
            TablesIn::ManagedPostgres => {
                Box::new(postgres::PostgresHost::managed(site, own, levels, &oltp)?)
            }
            TablesIn::ForeignPostgres(url) => {
                Box::new(postgres::PostgresHost::yours(site, own, url, &oltp)?)
            }
            TablesIn::ManagedMariadb => {
                Box::new(mariadb::MariadbHost::managed(site, own, levels, &oltp)?)
            }
            TablesIn::ForeignMysql(url) => {
                Box::new(mariadb::MariadbHost::yours(site, own, url, &oltp)?)
            }
        };
        let mut record = host.record().clone();
        if self.plan.mixes()?.contains(&Mix::Encoding) {
            record.settings.push(("texts".to_owned(), oltp.texts()));
        }
        Ok(Box::new(OltpSubject::new(site, engine.clone(), host, record)))
    }

    fn data_time(&self, trials: &[PlannedTrial]) -> Result<Option<DataTime>, PlanError> {
        expected::data_time(self.plan, trials).map(Some)
    }

    fn warm_up(&self) -> Duration {
        self.plan.oltp.as_ref().map_or(Duration::ZERO, |oltp| oltp.warm_up.duration())
    }
}

/// Where tables are filled and transactions done.
enum TablesIn<'e> {
    SqliteFile,
    ManagedPostgres,
    ForeignPostgres(&'e PostgresUrl),
    ManagedMariadb,
    ForeignMysql(&'e str),
}

fn source(engine: &EngineSpec) -> Result<TablesIn<'_>, PlanError> {
    match &engine.source {
        EngineSource::Sqlite => Ok(TablesIn::SqliteFile),
        EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => {
            Ok(TablesIn::ManagedPostgres)
        }
        EngineSource::PostgresUrl(url) => Ok(TablesIn::ForeignPostgres(url)),
        EngineSource::Mariadb
        | EngineSource::MariadbRelease(_)
        | EngineSource::MariadbFolder(_) => Ok(TablesIn::ManagedMariadb),
        EngineSource::MysqlUrl(url) => Ok(TablesIn::ForeignMysql(url)),
        _ => {
            let message = format!("{engine} cannot be measured by workload oltp");
            Err(PlanError::impossible("engines", message))
        }
    }
}

/// A family of tables in the names of databases and files.
fn schema_name(schema: Schema) -> &'static str {
    match schema {
        Schema::Sbtest => "sbtest",
        Schema::Orders => "orders",
        Schema::Variable => "variable",
        Schema::Text => "text",
    }
}

/// The families of tables that the mixes of a plan work on.
fn planned_schemas(plan: &Plan) -> Result<Vec<Schema>, PlanError> {
    let mut schemas: Vec<Schema> = Vec::new();
    for mix in plan.mixes()? {
        if !schemas.contains(&mix.schema()) {
            schemas.push(mix.schema());
        }
    }
    Ok(schemas)
}

/// Those of them that are changed by trials.
fn written_schemas(plan: &Plan) -> Result<HashSet<Schema>, PlanError> {
    let writes = plan.mixes()?.into_iter().filter(|mix| mix.writes());
    Ok(writes.map(Mix::schema).collect())
}

/// The common settings, with the engine's own above them.
fn merged(common: Vec<(String, String)>, engine: &EngineSpec) -> Vec<(String, String)> {
    let own: Vec<(String, String)> =
        engine.engine_settings().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut settings = common;
    settings.retain(|(name, _)| !own.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)));
    settings.extend(own);
    settings
}

/// Crate oltp's refusal, with the engine that it is about.
fn of_engine(engine: &str, error: ::oltp::Error) -> RunError {
    RunError::Oltp { engine: engine.to_owned(), source: Box::new(error) }
}

/// Refuses more clients than a server lets in.
fn check_clients(plan: &Plan, engine: &str, allowed: u64, reserved: u64) -> Result<(), PlanError> {
    let (most, room) = (u64::from(plan.most_clients()), allowed.saturating_sub(reserved));
    if most <= room {
        return Ok(());
    }
    let message = format!(
        "{most} clients are more than {engine} lets in: its max_connections is {allowed}, of which \
         {reserved} are kept for others; raise it to {} or ask for fewer clients",
        most + reserved
    );
    Err(PlanError::impossible("factors.clients", message))
}
