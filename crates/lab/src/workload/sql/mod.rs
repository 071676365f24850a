//! Workload `sql`: the user's own statements, on engines that clients of ours speak to directly.
//! A SQLite database lives in this process: its clients' threads are the server side too.

mod answer;
mod client;
mod deck;
mod deploy;
mod entry;
mod kept;
mod load;
mod mysql;
mod postgres;
mod scanner;
mod script;
mod sqlite;
mod subject;
mod target;
mod value;

use engine::{EngineSource, EngineSpec};

use super::{Operation, Subject, Workload};
use crate::deployment::{self, DataUse, Site};
use crate::plan::{Placeholders, Plan, PlanError, Statement};
use crate::run::{RunError, RunOptions};
use crate::schedule::Levels;

use script::Script;
use subject::SqlSubject;

pub use split::{Part, split};

mod split;

/// The statements of a plan.
pub(crate) struct Sql<'p> {
    plan: &'p Plan,
}

impl<'p> Sql<'p> {
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self { plan }
    }

    /// Whether any statement may change data, in the words of this kind of engine.
    fn changes_data(&self, kind: &str) -> Result<bool, PlanError> {
        let scripts = scripts(self.plan, kind, &self.plan.base())?;
        Ok(scripts.iter().any(|script| script.writes))
    }
}

impl Workload for Sql<'_> {
    fn operations(&self) -> Vec<Operation> {
        let statements = self.plan.statements.iter();
        statements.map(|one| Operation { name: one.name.clone(), weight: one.weight }).collect()
    }

    fn texts(&self) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        for (index, statement) in self.plan.statements.iter().enumerate() {
            let key = format!("statement.{index}.text");
            texts.extend(all_texts(statement).map(|text| (key.clone(), text.clone())));
            // A factor may be a bound parameter as well.
            let names = self.plan.factors.keys().chain(self.plan.constants.keys());
            let names = names.filter(|name| stands_in(name, statement));
            texts.extend(names.map(|name| (key.clone(), format!("{{{name}}}"))));
            if self.plan.constants.contains_key("start") && stands_in("end", statement) {
                texts.push((key, "{end}".to_owned()));
            }
        }
        texts
    }

    fn check(&self, engine: &EngineSpec, options: &RunOptions<'_>) -> Result<(), RunError> {
        let kind = engine.source.kind();
        let yours = matches!(
            engine.source,
            EngineSource::SqliteFile(_) | EngineSource::PostgresUrl(_) | EngineSource::MysqlUrl(_)
        );
        let scripts = scripts(self.plan, kind, &self.plan.base())?;
        if let Some(writing) = scripts.iter().find(|script| script.writes).filter(|_| yours) {
            let message = format!(
                "{} changes data, and {} is yours and only read; name sqlite or a managed server \
                 (postgres:18), which get copies of the data",
                writing.name,
                engine.label()
            );
            return Err(PlanError::impossible("engines", message).into());
        }
        match &engine.source {
            EngineSource::MysqlUrl(url) => deploy::check_mysql(engine, url),
            EngineSource::Mariadb | EngineSource::MariadbFolder(_) => {
                let message = format!(
                    "no data is moved into {}: fill a MariaDB of yours and name its URL, as \
                     mariadb://user@host/database",
                    engine.label()
                );
                Err(PlanError::impossible("engines", message).into())
            }
            _ => {
                deployment::check_copy(engine)?;
                Ok(deployment::check(engine, options)?)
            }
        }
    }

    fn deploy<'a>(
        &'a self,
        site: &'a Site<'a>,
        engine: &EngineSpec,
        levels: &Levels,
    ) -> Result<Box<dyn Subject + 'a>, RunError> {
        let data_use = match self.changes_data(engine.source.kind())? {
            true => DataUse::Change,
            false => DataUse::Read,
        };
        let deployed = deploy::deploy(site, engine, levels, data_use)?;
        Ok(Box::new(SqlSubject::new(site, engine.clone(), deployed, data_use)?))
    }
}

/// The scripts of one cell for engines of `kind`, in the order of the plan.
fn scripts(plan: &Plan, kind: &str, levels: &Levels) -> Result<Vec<Script>, PlanError> {
    let statements = plan.statements.iter().enumerate();
    statements
        .map(|(operation, statement)| {
            let placeholders = plan.placeholders(levels)?;
            let names = deck::names(statement, &used(statement, &placeholders));
            script::script(statement, operation, kind, &placeholders, &names)
        })
        .collect()
}

fn all_texts(statement: &Statement) -> impl Iterator<Item = &String> {
    [&statement.text].into_iter().chain(statement.texts.values())
}

/// Whether `:name` stands in a statement, though perhaps in a comment.
fn stands_in(name: &str, statement: &Statement) -> bool {
    !statement.parameters.contains_key(name)
        && all_texts(statement).any(|text| text.contains(&format!(":{name}")))
}

/// Those of `placeholders` that the statement binds by `:name`.
fn used(statement: &Statement, placeholders: &Placeholders) -> Placeholders {
    let used = placeholders.iter().filter(|(name, _)| stands_in(name, statement));
    used.map(|(name, value)| (name.clone(), value.clone())).collect()
}
