//! The move into each PostgreSQL: a server in the try's own place, filled by `migrate` with its
//! proof, measured for size, and asked every statement once.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::{EngineKind, EngineSpec, PostgresUrl};
use host::postgres::Administration;
use migrate::{AuditReport, MigrateOptions, MigrationReport, SourceSchema};
use plan::Step;
use serde::Serialize;
use server::{PostgresServer, StartOptions};

use crate::engines::first_server;
use crate::error::{Error, Result};
use crate::ladder::session_settings;
use crate::options::Caller;
use crate::pilot::{self, PilotResult};
use crate::place::WorkFolder;
use crate::remedies::{Remedies, delete_refused};
use crate::size::PostgresSize;
use crate::statement::MeasuredStatement;
use crate::tuning::{self, Tuning};

/// The file's copy in one PostgreSQL.
#[derive(Clone, Debug, Serialize)]
pub struct MigratedCopy {
    pub engine: String,
    /// `18.1`.
    pub version: String,
    /// Rows by table, with their proof; none where another engine shares the data.
    pub migration: Option<MigrationReport>,
    pub size: PostgresSize,
    /// PostgreSQL was compiled with JIT.
    pub has_jit: bool,
    /// New indexes that no plan of a statement uses.
    pub unused_indexes: Vec<String>,
    /// Statements that a build with JIT would compile, by the cost of their plans at the last step.
    pub compiled_with_jit: Vec<String>,
}

/// PostgreSQL's default of jit_above_cost.
const JIT_ABOVE_COST: f64 = 100_000.0;

/// Observations of PostgreSQL's planner.
#[derive(Default)]
struct PlannerFacts {
    unused_indexes: Vec<String>,
    compiled_with_jit: Vec<String>,
}

/// By step the results of the statements on one engine, in their order; none at a step that does not
/// change it.
pub type StepResults = Vec<Option<Vec<PilotResult>>>;

/// Statements with values in the place of parameters, each tried for at most `limit`.
pub struct TriedStatements<'s> {
    pub statements: &'s [MeasuredStatement],
    pub limit: Duration,
}

pub struct EnginePreparation<'a> {
    pub caller: &'a Caller<'a>,
    /// Where servers keep their data.
    pub place: &'a WorkFolder,
    /// The copy of the user's file.
    pub copy: &'a Path,
}

impl EnginePreparation<'_> {
    fn start(&self, options: StartOptions) -> Result<PostgresServer> {
        let progress = (self.caller.progress)("server");
        let locations = &self.place.locations;
        let start = PostgresServer::start(locations, options, &progress, self.caller.interrupted);
        let server = self.caller.runtime.block_on(start)?;
        progress.finish_and_clear();
        Ok(server)
    }

    fn fill(&self, target: &PostgresUrl, options: &MigrateOptions) -> Result<MigrationReport> {
        let progress = (self.caller.progress)("move");
        let interrupted = self.caller.interrupted;
        let moving = migrate::migrate(self.copy, target, options, &progress, interrupted);
        let report = self.caller.runtime.block_on(moving)?;
        progress.finish_and_clear();
        Ok(report)
    }

    /// Steps by which the first server among `engines` holds the same rows as SQLite's copy;
    /// nothing where SQLite is alone.
    pub fn remedies(
        &self,
        engines: &[EngineSpec],
        audit: &AuditReport,
        schema: &SourceSchema,
    ) -> Result<Remedies> {
        let Some(server) = first_server(engines) else {
            return Ok(Remedies::default());
        };
        let mut remedies = Remedies::of(audit);
        if remedies.refuses_rows {
            remedies.note_refused(self.leave_out_refused(server, &remedies, schema)?, audit);
        }
        Ok(remedies)
    }

    /// Finds the rows that PostgreSQL refuses by moving the file once, and deletes them from the
    /// SQLite copy, so that both engines hold the same rows.
    fn leave_out_refused(
        &self,
        engine: &EngineSpec,
        remedies: &Remedies,
        schema: &SourceSchema,
    ) -> Result<std::collections::BTreeMap<String, u64>> {
        let rejects = self.place.join("rejects.jsonl");
        let options = StartOptions::for_engine(engine)?.temporary();
        let database = options.database.clone();
        let server = self.start(options)?;
        let options = MigrateOptions {
            reject_file: Some(rejects.clone()),
            verify: false,
            ..remedies.options()?
        };
        self.fill(&server.url(&database), &options)?;
        self.caller.runtime.block_on(server.stop())?;
        if !rejects.is_file() {
            return Ok(std::collections::BTreeMap::new());
        }
        delete_refused(self.copy, &rejects, schema)
    }

    /// Moves the copy into `engine` and tries `statements` there at each step. `options` say which data
    /// directory the laboratory will look for; it finds the databases of the steps there too.
    fn carry_out(
        &self,
        engine: &EngineSpec,
        options: StartOptions,
        remedies: &Remedies,
        steps: &[Step],
        tried: &TriedStatements<'_>,
    ) -> Result<(MigratedCopy, StepResults)> {
        let database = options.database.clone();
        let server = self.start(options)?;
        let url = server.url(&database);
        let migration = match server.data_is_ready() {
            true => None,
            false => {
                let report = self.fill(&url, &remedies.options()?)?;
                server.mark_data_ready("")?;
                Some(report)
            }
        };
        let Caller { runtime, interrupted, .. } = self.caller;
        let copied = Administration::outside_of_runs(engine, url.clone(), runtime, interrupted);
        copied.compare_booleans()?;
        let client = runtime.block_on(connect::postgres::connect(&url))?;
        let size = runtime.block_on(PostgresSize::read(&client))?;
        let has_jit = runtime.block_on(client.query_one("SELECT pg_jit_available()", &[]));
        let has_jit = has_jit.map(|row| row.get(0)).unwrap_or(false);
        drop(client);
        let version = server.exact_version().to_owned();
        let at_steps = self.at_steps(engine, &url, &version, steps, tried);
        runtime.block_on(server.stop())?;
        let (results, PlannerFacts { unused_indexes, compiled_with_jit }) = at_steps?;
        let engine = engine.label();
        let copy = MigratedCopy {
            engine,
            version,
            migration,
            size,
            has_jit,
            unused_indexes,
            compiled_with_jit,
        };
        Ok((copy, results))
    }

    /// The results at the steps that change PostgreSQL, and what its planner makes of them.
    fn at_steps(
        &self,
        engine: &EngineSpec,
        url: &PostgresUrl,
        version: &str,
        steps: &[Step],
        tried: &TriedStatements<'_>,
    ) -> Result<(StepResults, PlannerFacts)> {
        let Caller { runtime, interrupted, .. } = self.caller;
        let mut at = Administration::outside_of_runs(engine, url.clone(), runtime, interrupted);
        let (mut results, mut facts) = (Vec::new(), PlannerFacts::default());
        for (index, step) in steps.iter().enumerate() {
            if index > 0 && step.postgres.is_empty() {
                results.push(None);
                continue;
            }
            let made = &step.postgres.statements;
            if !made.is_empty() {
                let progress = (self.caller.progress)("tune");
                progress.set_message(format!("{}: {}", engine.label(), step.name));
                let changed = at.changed_copy(version, made)?;
                at = Administration::outside_of_runs(engine, changed, runtime, interrupted);
                at.settle(engine)?;
                progress.finish_and_clear();
            }
            let settings = session_settings(steps, index);
            let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let url = at.address.with_session_settings(settings);
            let client = runtime.block_on(connect::postgres::connect(&url))?;
            let of_step = tried.statements.iter().map(|statement| {
                pilot::on_postgres(statement, &client, runtime, tried.limit, interrupted)
            });
            results.push(Some(of_step.collect::<Result<Vec<_>>>()?));
            let plans = self.plans(&client, tried.statements);
            if !made.is_empty() {
                facts.unused_indexes = unused(made, &plans);
            }
            let costly = plans.iter().zip(tried.statements);
            let costly = costly.filter(|(plan, _)| cost(plan) > Some(JIT_ABOVE_COST));
            facts.compiled_with_jit = costly.map(|(_, one)| one.name.clone()).collect();
        }
        Ok((results, facts))
    }

    fn plans(
        &self,
        client: &tokio_postgres::Client,
        statements: &[MeasuredStatement],
    ) -> Vec<String> {
        let plan = |statement: &MeasuredStatement| -> String {
            let sql = format!("EXPLAIN {}", statement.text_for(EngineKind::Postgres));
            let rows = self.caller.runtime.block_on(client.simple_query(&sql)).unwrap_or_default();
            let line = |message: tokio_postgres::SimpleQueryMessage| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            };
            rows.into_iter().filter_map(line).collect::<Vec<_>>().join("\n")
        };
        statements.iter().map(plan).collect()
    }

    /// Moves the copy into each PostgreSQL of `engines`; in their order the copies and the results.
    pub fn move_into_all(
        &self,
        engines: &[EngineSpec],
        remedies: &Remedies,
        steps: &[Step],
        tried: &TriedStatements<'_>,
    ) -> Result<Vec<(MigratedCopy, StepResults)>> {
        let mut all = Vec::new();
        for engine in engines.iter().filter(|engine| !engine.source.kind().properties().is_embedded)
        {
            let prepare = [crate::plan_file::migration(remedies)];
            let options = host::filled_ahead(engine, self.copy, &prepare)?;
            all.push(self.carry_out(engine, options, remedies, steps, tried)?);
        }
        Ok(all)
    }

    /// Tries statements on the unchanged copy.
    pub fn on_sqlite(
        &self,
        engine: &EngineSpec,
        tried: &TriedStatements<'_>,
    ) -> Result<Vec<PilotResult>> {
        let mut connection = connect::sqlite::open_read_only(self.copy)?;
        connect::sqlite::pragmas(&connection, engine.engine_settings())?;
        let interrupted: &Arc<_> = self.caller.interrupted;
        let try_one = |statement: &MeasuredStatement| {
            pilot::on_sqlite(statement, &mut connection, tried.limit, interrupted)
        };
        tried.statements.iter().map(try_one).collect()
    }

    /// Searches for what makes SQLite faster; none where the copy cannot be changed.
    pub fn tune(&self, tried: &TriedStatements<'_>) -> Result<Option<Tuning>> {
        let progress = (self.caller.progress)("tune");
        progress.set_length(1);
        progress.set_message("ANALYZE, indexes");
        let path = self.place.join("tuned.db");
        let interrupted = self.caller.interrupted;
        let found = tuning::find(self.copy, &path, tried.statements, tried.limit, interrupted);
        progress.finish_and_clear();
        match found {
            Err(error) if !matches!(error, Error::Interrupted) => {
                // A collation or function of the application's own, for example.
                (self.caller.say)(&format!("no tuned copy: {error}"));
                Ok(None)
            }
            found => found.map(Some),
        }
    }
}

/// The new indexes that no plan names.
fn unused(made: &[String], plans: &[String]) -> Vec<String> {
    let name = |sql: &String| -> Option<String> {
        let (name, _) = sql.strip_prefix("CREATE INDEX ")?.split_once(" ON ")?;
        Some(name.trim_matches('"').to_owned())
    };
    let is_used = |name: &String| plans.iter().any(|plan| names(plan, name));
    made.iter().filter_map(name).filter(|name| !is_used(name)).collect()
}

/// Whether a plan contains the whole name of the index, not a longer name that begins with it.
fn names(plan: &str, index: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    plan.match_indices(index).any(|(place, found)| {
        let before = plan[..place].chars().next_back();
        let after = plan[place + found.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// The cost of a whole plan: `(cost=0.00..155.00 rows=...`.
fn cost(plan: &str) -> Option<f64> {
    let (_, after) = plan.split_once("(cost=")?;
    after.split_once("..")?.1.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_used_only_where_its_whole_name_stands() {
        let made =
            ["CREATE INDEX t_a ON t(a)".to_owned(), "CREATE INDEX t_a_b ON t(a, b)".to_owned()];
        let plan = "Index Scan using t_a_b on t  (cost=0.42..8.44 rows=1 width=8)".to_owned();
        assert_eq!(cost(&plan), Some(8.44));
        assert_eq!(unused(&made, &[plan]), ["t_a"]);
    }
}
