//! Workload `oltp`: short transactions of as many clients as there are to be, on tables that the
//! laboratory fills itself, the same rows on every engine. What a transaction does and how load is
//! offered is crate oltp; here engines are filled, restored, observed and checked.

mod host;
mod load;
mod mariadb;
mod postgres;
mod sqlite;
mod subject;
mod watch;

use ::oltp::Schema;
use engine::{EngineSource, EngineSpec};

use super::{Operation, Subject, Workload};
use crate::deployment::Site;
use crate::plan::oltp::LOAD_FACTORS;
use crate::plan::{Plan, PlanError};
use crate::run::{RunError, RunOptions};
use crate::schedule::Levels;

use host::Host;
use subject::OltpSubject;

/// The transactions of a plan.
pub(crate) struct Oltp<'p> {
    plan: &'p Plan,
}

impl<'p> Oltp<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self { plan }
    }
}

impl Workload for Oltp<'_> {
    fn operations(&self) -> Vec<Operation> {
        vec![Operation { name: "transaction".to_owned(), weight: 1 }]
    }

    fn texts(&self) -> Vec<String> {
        let acting = LOAD_FACTORS.iter().filter(|name| self.plan.factors.contains_key(**name));
        acting.map(|name| format!("{{{name}}}")).collect()
    }

    fn check(&self, engine: &EngineSpec, options: &RunOptions<'_>) -> Result<(), RunError> {
        match &engine.source {
            EngineSource::Sqlite => sqlite::check(self.plan, engine, options),
            EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => {
                postgres::check_managed(self.plan, engine, options)
            }
            EngineSource::PostgresUrl(url) => {
                postgres::check_yours(self.plan, engine, url, options)
            }
            EngineSource::Mariadb | EngineSource::MariadbFolder(_) => {
                mariadb::check_managed(self.plan, engine, options)
            }
            EngineSource::MysqlUrl(url) => mariadb::check_yours(self.plan, engine, url),
            _ => Err(not_for_oltp(engine).into()),
        }
    }

    fn deploy<'a>(
        &'a self,
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
    ) -> Result<Box<dyn Subject + 'a>, RunError> {
        site.progress.set_message(format!("starting {}", engine.label()));
        let host: Box<dyn Host + 'a> = match &engine.source {
            EngineSource::Sqlite => Box::new(sqlite::SqliteHost::new(site, engine, levels)?),
            EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => {
                Box::new(postgres::PostgresHost::managed(site, engine, levels)?)
            }
            EngineSource::PostgresUrl(url) => {
                Box::new(postgres::PostgresHost::yours(site, engine, url, levels)?)
            }
            EngineSource::Mariadb | EngineSource::MariadbFolder(_) => {
                Box::new(mariadb::MariadbHost::managed(site, engine, levels)?)
            }
            EngineSource::MysqlUrl(url) => {
                Box::new(mariadb::MariadbHost::yours(site, engine, url, levels)?)
            }
            _ => return Err(not_for_oltp(engine).into()),
        };
        Ok(Box::new(OltpSubject::new(site, engine.label(), host)))
    }
}

fn not_for_oltp(engine: &EngineSpec) -> PlanError {
    PlanError::impossible("engines", format!("{engine} cannot be measured by workload oltp"))
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
