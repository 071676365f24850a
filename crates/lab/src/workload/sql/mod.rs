//! Workload `sql`: the user's own statements, on engines that our own clients speak to directly.
//! A SQLite database lives in this process: its clients' threads are the server side too.

mod answer;
mod client;
mod deck;
mod deploy;
#[cfg(test)]
mod effects_tests;
mod entry;
mod explain;
mod kept;
mod library_session;
mod load;
mod lock_times;
mod mysql;
mod postgres;
mod process;
mod remote;
mod script;
mod sessions;
mod sqlite;
mod subject;
mod supply;
mod target;
mod value;

use engine::{EngineKind, EngineSource, EngineSpec};

use super::{Subject, Workload, library};
use crate::error::RunError;
use host::HostOptions;
use host::{self, DataUse, Site};
use plan::Levels;
use plan::{Placeholders, Plan, PlanError, Statement, TransactionBegin};

pub(crate) use client::SqlError;
pub(crate) use process::{SqlChild, SqlJob};
pub(crate) use remote::{AskedSession, LibraryFacts, LibraryFile, RemoteSession, SqlQuestion};
use script::Script;
pub(crate) use sqlite::OpenMode;
use subject::SqlSubject;

/// The statements of a plan.
pub(crate) struct Sql<'p> {
    plan: &'p Plan,
}

impl<'p> Sql<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self { plan }
    }

    /// The scripts of all cells: a factor may be a part of a text, or choose among texts.
    fn scripts(&self, kind: EngineKind) -> Result<Vec<Script>, PlanError> {
        let cells = self.plan.cells();
        let of_cells = cells.iter().map(|levels| scripts(self.plan, kind, levels));
        Ok(of_cells.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Whether any statement may change data, in the words of this kind of engine.
    fn changes_data_of(&self, kind: EngineKind) -> Result<bool, PlanError> {
        Ok(self.scripts(kind)?.iter().any(|script| script.writes))
    }
}

impl Workload for Sql<'_> {
    fn check(&self, engine: &EngineSpec, options: &HostOptions<'_>) -> Result<(), RunError> {
        let kind = engine.source.kind();
        let scripts = self.scripts(kind)?;
        if let Some(writing) =
            scripts.iter().find(|script| script.writes).filter(|_| engine.source.is_yours())
        {
            let message = format!(
                "{} changes data, and {} is yours and only read; name sqlite or a managed server \
                 (postgres:18), which get copies of the data",
                writing.name,
                engine.label()
            );
            return Err(PlanError::impossible("engines", message).into());
        }
        if let Some(writing) =
            scripts.iter().find(|script| script.writes).filter(|_| !self.plan.steps.is_empty())
        {
            let message = format!(
                "{} changes data, and the copies of the steps are shared by all trials; leave one of \
                 the two out",
                writing.name
            );
            return Err(PlanError::impossible("step", message).into());
        }
        match &engine.source {
            EngineSource::MysqlUrl(url) => {
                host::mariadb::check_yours(engine, url)?;
                Ok(())
            }
            EngineSource::Mariadb
            | EngineSource::MariadbRelease(_)
            | EngineSource::MariadbFolder(_) => {
                let message = format!(
                    "no data is moved into {}: fill your own MariaDB and name its URL, as \
                     mariadb://user@host/database",
                    engine.label()
                );
                Err(PlanError::impossible("engines", message).into())
            }
            _ => {
                host::check_copy(engine)?;
                host::check(engine, options)?;
                library::check(self.plan, engine, options)
            }
        }
    }

    fn changes_data(&self) -> Result<bool, PlanError> {
        let kinds = self.plan.engines.iter().map(|engine| engine.source.kind());
        let changes =
            kinds.map(|kind| self.changes_data_of(kind)).collect::<Result<Vec<_>, _>>()?;
        Ok(changes.contains(&true))
    }

    fn deploy<'a>(
        &'a self,
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
    ) -> Result<Box<dyn Subject + 'a>, RunError> {
        let data_use = match self.changes_data_of(engine.source.kind())? {
            true => DataUse::Change,
            false => DataUse::Read,
        };
        let deployed = deploy::deploy(site, engine, levels, data_use)?;
        let begin = TransactionBegin::of_engine(engine)?;
        Ok(Box::new(SqlSubject::new(site, deployed, data_use, begin)?))
    }
}

/// The scripts of one cell for engines of `kind`, in the order of the plan.
fn scripts(plan: &Plan, kind: EngineKind, levels: &Levels) -> Result<Vec<Script>, PlanError> {
    let statements = plan.statements.iter().enumerate();
    statements
        .map(|(operation, statement)| {
            let placeholders = plan.placeholders(levels)?;
            let names = deck::names(statement, &used(statement, &placeholders));
            script::script(statement, operation, kind, &placeholders, &names)
        })
        .collect()
}

/// Those of `placeholders` that the statement binds by `:name`.
fn used(statement: &Statement, placeholders: &Placeholders) -> Placeholders {
    let used = placeholders.iter().filter(|(name, _)| statement.binds(name));
    used.map(|(name, value)| (name.clone(), value.clone())).collect()
}
