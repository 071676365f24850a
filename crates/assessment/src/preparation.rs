//! The move into each PostgreSQL: a server in the try's own place, filled by `migrate` with its
//! proof, measured for size, and asked every statement once.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::{EngineKind, EngineSpec, PostgresUrl};
use migrate::{MigrateOptions, MigrationReport, SourceSchema};
use serde::Serialize;
use server::{PostgresServer, StartOptions};

use crate::error::{Error, Result};
use crate::options::Caller;
use crate::pilot::{self, PilotResult};
use crate::place::WorkFolder;
use crate::remedies::{Remedies, delete_refused};
use crate::size::PostgresSize;
use crate::statement::MeasuredStatement;
use crate::tuned::Tuned;

/// The file's copy in one PostgreSQL.
#[derive(Clone, Debug, Serialize)]
pub struct MigratedCopy {
    pub engine: String,
    /// `18.1`.
    pub version: String,
    /// Rows by table, with their proof; none where another engine shares the data.
    pub migration: Option<MigrationReport>,
    pub size: PostgresSize,
}

/// The results of the statements on one engine, in their order.
pub struct PilotResults {
    pub engine: String,
    pub results: Vec<PilotResult>,
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

    /// Finds the rows that PostgreSQL refuses by moving the file once, and deletes them from the
    /// SQLite copy, so that both engines hold the same rows.
    pub fn leave_out_refused(
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

    /// Moves the copy into `engine` and tries `statements` there, each for at most `limit`.
    /// `options` say which data directory the laboratory will look for.
    fn carry_out(
        &self,
        engine: &EngineSpec,
        options: StartOptions,
        remedies: &Remedies,
        statements: &[MeasuredStatement],
        limit: Duration,
    ) -> Result<(MigratedCopy, PilotResults)> {
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
        let runtime = self.caller.runtime;
        let client = runtime.block_on(engine::postgres::connect(&url))?;
        let size = runtime.block_on(PostgresSize::read(&client))?;
        let interrupted = self.caller.interrupted;
        let try_one = |statement: &MeasuredStatement| {
            pilot::on_postgres(statement, &client, runtime, limit, interrupted)
        };
        let results: Result<Vec<_>> = statements.iter().map(try_one).collect();
        drop(client);
        let version = server.exact_version().to_owned();
        runtime.block_on(server.stop())?;
        let engine = engine.label();
        let there = PilotResults { engine: engine.clone(), results: results? };
        Ok((MigratedCopy { engine, version, migration, size }, there))
    }

    /// Moves the copy into each PostgreSQL of `engines`.
    pub fn move_into_all(
        &self,
        engines: &[EngineSpec],
        remedies: &Remedies,
        statements: &[MeasuredStatement],
        limit: Duration,
    ) -> Result<(Vec<MigratedCopy>, Vec<PilotResults>)> {
        let mut all = (Vec::new(), Vec::new());
        for engine in engines.iter().filter(|engine| engine.source.kind() == EngineKind::Postgres) {
            let prepare = [crate::plan_file::migration(remedies)];
            let options = host::filled_ahead(engine, self.copy, &prepare)?;
            let (moved, results) = self.carry_out(engine, options, remedies, statements, limit)?;
            all.0.push(moved);
            all.1.push(results);
        }
        Ok(all)
    }

    /// Makes the tuned copy and tries `statements` there; none where it cannot be made. `as_is` are
    /// their times on the first copy.
    pub fn tune(
        &self,
        statements: &[MeasuredStatement],
        as_is: &PilotResults,
        limit: Duration,
    ) -> Result<Option<(Tuned, PilotResults)>> {
        let progress = (self.caller.progress)("tune");
        progress.set_length(1);
        progress.set_message("ANALYZE, indexes");
        let path = self.place.join("tuned.db");
        let made = Tuned::make(self.copy, &path, statements, self.caller.interrupted);
        progress.finish_and_clear();
        let mut tuned = match made {
            Err(error) if !matches!(error, Error::Interrupted) => {
                // A collation or function of the application's own, for example.
                (self.caller.say)(&format!("no tuned copy: {error}"));
                return Ok(None);
            }
            other => other?,
        };
        let engine = tuned.engine(&path)?;
        let mut times = self.on_sqlite(&engine, &path, statements, limit)?;
        if tuned.drop_useless(statements, &as_is.results, &times.results)? {
            times = self.on_sqlite(&engine, &path, statements, limit)?;
        }
        Ok(Some((tuned, times)))
    }

    /// Tries `statements` on the SQLite file at `path` with the settings of `engine`.
    pub fn on_sqlite(
        &self,
        engine: &EngineSpec,
        path: &Path,
        statements: &[MeasuredStatement],
        limit: Duration,
    ) -> Result<PilotResults> {
        let mut connection = engine::sqlite::open_read_only(path)?;
        engine::sqlite::pragmas(&connection, engine.engine_settings())?;
        let interrupted: &Arc<_> = self.caller.interrupted;
        let try_one = |statement: &MeasuredStatement| {
            pilot::on_sqlite(statement, &mut connection, limit, interrupted)
        };
        let results: Result<Vec<_>> = statements.iter().map(try_one).collect();
        Ok(PilotResults { engine: engine.label(), results: results? })
    }
}
