//! `crossover try FILE.db`: the whole question on a user's own file: what PostgreSQL refuses, a
//! copy moved and proved, every statement measured on both, the verdict, the plan that repeats it.

mod budget;
mod candidates;
mod cure;
mod derive;
mod moved;
mod names;
mod pilot;
mod place;
mod plan;
mod result;
mod show;
mod size;
mod sql;
mod statement;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ::plan::Seconds;
use engine::{EngineSource, EngineSpec};
use lab::error::RunError;
use migrate::{AuditOptions, AuditReport};
use record::Finished;
use server::{Locations, PostgresServer, StartOptions};

use self::budget::{Chosen, LeftOut, Timed, choose, smallest};
use self::candidates::Candidates;
use self::cure::Cure;
use self::moved::Mover;
use self::names::Names;
use self::place::Place;
use self::plan::PlanText;
use self::show::{Teller, Told};
use self::size::SqliteSize;
use self::statement::Statement;
use crate::command::bench::{shown_command_line, with_locations};
use crate::shared::{Outcome, Shared, Usage, sqlite_file};

/// Try your own SQLite file on PostgreSQL: audit, a copy moved, both measured, the verdict.
///
/// The file is only read, also while another program writes to it. Every statement is measured in
/// randomised blocks with checked answers. Exits 3 if something blocks a migration or a statement
/// has no verdict.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file
    #[arg(env = "CROSSOVER_SOURCE", value_parser = sqlite_file())]
    source: PathBuf,
    /// Statements to measure: a file with one or several, or a folder of .sql files; repeatable.
    /// FILE.postgres.sql beside FILE.sql replaces it on PostgreSQL. Absent: derived from the tables
    #[arg(long, value_name = "FILE.sql", env = "CROSSOVER_SQL", value_delimiter = ',')]
    sql: Vec<PathBuf>,
    /// The engines to compare with: postgres:18, 'postgres:18[work_mem=64MB]'; repeatable
    #[arg(long = "on", value_name = "ENGINE", default_value = "postgres:18")]
    engines: Vec<EngineSpec>,
    /// How long the measurement may take; audit and move come before it
    #[arg(long, value_name = "TIME", default_value = "2m", env = "CROSSOVER_BUDGET")]
    budget: Seconds,
    /// Starts every random choice; chosen and printed where it is not given
    #[arg(long, value_name = "NUMBER", env = "CROSSOVER_SEED")]
    seed: Option<u64>,
    /// Do not wait, up to a minute before a trial, until other programs leave the machine alone
    #[arg(long, env = "CROSSOVER_NO_WAIT_FOR_QUIET")]
    no_wait_for_quiet: bool,
    /// Keep the copies and PostgreSQL's data directory
    #[arg(long, env = "CROSSOVER_KEEP")]
    keep: bool,
    /// The folder of all runs
    #[arg(long, value_name = "FOLDER", default_value = "runs", env = "CROSSOVER_RUNS")]
    runs: PathBuf,
}

/// Runs `crossover try`.
pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<Outcome> {
    let command_line = shown_command_line(std::env::args());
    let done = Try { arguments: &arguments, shared, command_line }.carry_out();
    match done {
        Err(_) if shared.is_interrupted() => {
            Err(anyhow::anyhow!("interrupted; nothing is left behind"))
        }
        other => other,
    }
}

struct Try<'a> {
    arguments: &'a Arguments,
    shared: &'a Shared,
    command_line: String,
}

impl Try<'_> {
    fn carry_out(&self) -> anyhow::Result<Outcome> {
        let (arguments, shared) = (self.arguments, self.shared);
        let locations = Locations::detect()?;
        let written = self.read_statements()?;
        let engines = self.engines(&locations)?;
        self.refuse_budget(&[], engines.len(), "five blocks of the quickest statement take")?;
        let teller = Teller::new(shared);
        let audit = self.audit()?;
        let mut cure = Cure::of(&audit);
        teller.audit(&arguments.source, &audit, &cure)?;

        let place = Place::new(&locations, arguments.keep)?;
        let progress = shared.progress("copy");
        let copy = place.copy(&arguments.source, &progress, shared.interrupted())?;
        progress.finish_and_clear();
        let sqlite_size = SqliteSize::read(&copy, &place.join("vacuumed.db"))?;
        let schema = migrate::schema(&engine::sqlite::open_read_only(&copy)?)?;
        let mover = Mover { shared, place: &place, copy: &copy };
        let postgres = || engines.iter().filter(|engine| engine.source.kind() == "postgres");
        if let Some(first) = postgres().next().filter(|_| cure.refuses_rows) {
            let refused = mover.leave_out_refused(first, &cure, &schema)?;
            cure.note_refused(refused, &audit);
        }
        let mut candidates = Candidates::new(written, &copy, &schema, &audit, &cure)?;

        let limit = self.limit(engines.len());
        let mut connection = engine::sqlite::open_read_only(&copy)?;
        let on_sqlite = mover.on_sqlite(&mut connection, &candidates.filled, limit)?;
        drop(connection);
        let mut moved = Vec::new();
        for engine in postgres() {
            let prepare = [plan::migration(&cure)];
            let options = host::filled_ahead(engine, &copy, &prepare)?;
            let filled = &candidates.filled;
            moved.push(mover.carry_out(engine, options, &cure, filled, limit)?);
        }
        teller.moved(&audit, &cure, sqlite_size, &moved)?;

        let timed = candidates.timed(&engines, &on_sqlite, &moved);
        if let Some(quickest) = quickest(&timed) {
            let takes = format!("five blocks of the quickest statement, {quickest}, take");
            self.refuse_budget(&timed, engines.len(), &takes)?;
        }
        let chosen = choose(timed, engines.len(), arguments.budget.duration());
        candidates.left_out.extend(chosen.left_out.iter().cloned());
        let measured = self.measure(&place, &copy, &engines, &cure, chosen, &mut candidates)?;
        let plan_file = self.write_plan(&copy, &engines, &cure, &measured)?;
        let told = Told {
            source: &arguments.source,
            audit: &audit,
            cure: &cure,
            sqlite_size,
            moved: &moved,
            left_out: &candidates.left_out,
            derived: arguments.sql.is_empty(),
            measured: measured.as_ref().map(|(_, finished)| finished),
            plan_file: plan_file.as_deref(),
            kept: arguments.keep.then(|| place.path()),
        };
        teller.measured(&told)
    }

    /// The user's statements, tried on the file itself before anything long begins.
    fn read_statements(&self) -> anyhow::Result<Option<Vec<Statement>>> {
        if self.arguments.sql.is_empty() {
            return Ok(None);
        }
        let mut connection = engine::sqlite::open_read_only(&self.arguments.source)?;
        let names = Names::of(&migrate::schema(&connection)?);
        sql::read(&self.arguments.sql, &mut connection, &names).map(Some)
    }

    /// SQLite first, then what it is compared with; a release that cannot be had is refused now.
    fn engines(&self, locations: &Locations) -> anyhow::Result<Vec<EngineSpec>> {
        let mut engines: Vec<EngineSpec> = vec!["sqlite".parse()?];
        for engine in &self.arguments.engines {
            match engine.source {
                EngineSource::Postgres(_) | EngineSource::PostgresFolder(_) => {
                    self.check(engine, locations)?;
                }
                EngineSource::Sqlite => host::try_copy_settings(engine, locations)?,
                _ => {
                    return Err(Usage(format!(
                        "--on {engine}: a copy is moved into a server that Crossover starts: name \
                         postgres, postgres:VERSION or postgres:FOLDER (a plan measures others, \
                         docs/reference/plans.md)"
                    ))
                    .into());
                }
            }
            if !engines.contains(engine) {
                engines.push(engine.clone());
            }
        }
        if engines.iter().all(|engine| engine.source.kind() == "sqlite") {
            return Err(Usage("--on: name a PostgreSQL to compare with".to_owned()).into());
        }
        Ok(engines)
    }

    fn check(&self, engine: &EngineSpec, locations: &Locations) -> anyhow::Result<()> {
        let progress = self.shared.progress("server");
        let options = StartOptions::for_engine(engine)?;
        let interrupted = self.shared.interrupted();
        let check = PostgresServer::check(locations, &options, &progress, interrupted);
        let checked = self.shared.runtime().block_on(check);
        progress.finish_and_clear();
        match checked {
            Ok(release) => {
                if let Some(notice) = &release.notice {
                    self.shared.say(notice);
                }
                Ok(())
            }
            Err(error) if error.is_usage() => Err(Usage(format!("--on {engine}: {error}")).into()),
            Err(error) => Err(error.into()),
        }
    }

    fn audit(&self) -> anyhow::Result<AuditReport> {
        let source = &self.arguments.source;
        let progress = self.shared.progress("audit");
        let interrupted = self.shared.interrupted();
        let report = migrate::audit(source, &AuditOptions::default(), &progress, interrupted)?;
        progress.finish_and_clear();
        let file = source.display();
        anyhow::ensure!(!report.tables.is_empty(), "{file} holds no table: nothing to try");
        let rows: u64 = report.tables.iter().map(|table| table.rows).sum();
        anyhow::ensure!(
            rows > 0 || !self.arguments.sql.is_empty(),
            "{file} holds no row: nothing to measure (crossover audit looks at its schema)"
        );
        Ok(report)
    }

    /// A budget in which nothing could be measured is a mistake, not a measurement.
    fn refuse_budget(&self, timed: &[Timed], engines: usize, takes: &str) -> anyhow::Result<()> {
        let (budget, smallest) = (self.arguments.budget, smallest(timed, engines));
        if budget.duration() >= smallest {
            return Ok(());
        }
        let seconds = smallest.as_secs();
        Err(Usage(format!(
            "--budget {budget} is too short: on {engines} engines {takes} {seconds} s; \
             give --budget {seconds}s or more"
        ))
        .into())
    }

    /// A statement that takes longer than an engine's turn can never fit.
    fn limit(&self, engines: usize) -> Duration {
        let turns = 5 * u32::try_from(engines).unwrap_or(u32::MAX);
        (self.arguments.budget.duration() / turns).max(Duration::from_secs(1))
    }

    /// Carries the experiment out. A statement whose answers differ between the engines is left
    /// out and said; the others are measured again without it.
    fn measure(
        &self,
        place: &Place,
        copy: &Path,
        engines: &[EngineSpec],
        cure: &Cure,
        mut chosen: Chosen,
        candidates: &mut Candidates,
    ) -> anyhow::Result<Option<(Chosen, Finished)>> {
        while !chosen.statements.is_empty() {
            let text = self.plan_text(copy, engines, cure, &chosen).write();
            let mut plan = ::plan::read(&text, "the plan of this try")?;
            plan.wait_for_quiet = !self.arguments.no_wait_for_quiet;
            let run = with_locations(
                &place.locations,
                &self.arguments.runs,
                self.command_line.clone(),
                self.shared,
                |options| lab::run::start(plan, options),
            );
            match run {
                Ok(finished) => return Ok(Some((chosen, finished))),
                Err(RunError::Interrupted { run }) => {
                    // Its data goes with this try, so it could not be taken up again.
                    let _ = std::fs::remove_dir_all(self.arguments.runs.join(run));
                    anyhow::bail!("interrupted");
                }
                Err(RunError::InterruptedBeforeTrials) => anyhow::bail!("interrupted"),
                Err(RunError::CutShort { source, .. }) => return Err((*source).into()),
                Err(error) => {
                    let Some(name) = differing(&error, &chosen).map(str::to_owned) else {
                        return Err(error.into());
                    };
                    let gone = chosen.statements.extract_if(.., |each| each.0.name == name);
                    let gone = gone.map(|(gone, _)| LeftOut::new(&gone, error.to_string()));
                    candidates.left_out.extend(gone);
                }
            }
        }
        Ok(None)
    }

    fn plan_text<'t>(
        &'t self,
        data: &'t Path,
        engines: &'t [EngineSpec],
        cure: &'t Cure,
        chosen: &'t Chosen,
    ) -> PlanText<'t> {
        PlanText {
            source: &self.arguments.source,
            data,
            engines,
            cure,
            chosen,
            budget: self.arguments.budget,
            seed: self.arguments.seed,
            command_line: self.command_line.as_str(),
        }
    }

    /// The plan for the user. It measures the user's file; where rows were left out, the copy
    /// without them, which is then kept beside the plan.
    fn write_plan(
        &self,
        copy: &Path,
        engines: &[EngineSpec],
        cure: &Cure,
        measured: &Option<(Chosen, Finished)>,
    ) -> anyhow::Result<Option<PathBuf>> {
        let Some((chosen, _)) = measured else { return Ok(None) };
        let source = &self.arguments.source;
        let data = if cure.refused_rows.is_empty() {
            std::path::absolute(source)?
        } else {
            let kept = plan::free_path(source, "db");
            engine::sqlite::file::copy(copy, &kept)?;
            std::path::absolute(kept)?
        };
        let path = plan::free_path(source, "toml");
        plan::write_new(&path, &self.plan_text(&data, engines, cure, chosen).write())?;
        Ok(Some(path))
    }
}

fn quickest(timed: &[Timed]) -> Option<&str> {
    let total = |each: &&Timed| each.times.iter().sum::<Duration>();
    timed.iter().min_by_key(total).map(|each| each.statement.name.as_str())
}

/// The statement on which the engines disagree, if that ended the run.
fn differing<'c>(error: &RunError, chosen: &'c Chosen) -> Option<&'c str> {
    let RunError::StatementAnswersDiffer { statement, .. } = error else { return None };
    let names = chosen.statements.iter().map(|(statement, _)| statement.name.as_str());
    // The longest: one name may be the beginning of another.
    names.filter(|name| statement.starts_with(name)).max_by_key(|name| name.len())
}
