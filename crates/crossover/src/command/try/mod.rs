//! `crossover try FILE.db`: the whole question on a user's own file: what PostgreSQL refuses, a
//! copy moved and proved, every statement measured on both, the verdict, the plan that repeats it.

mod budget;
mod candidates;
mod cure;
mod derive;
mod engines;
mod index_advice;
mod moved;
mod names;
mod pilot;
mod place;
mod plan;
mod result;
mod show;
mod size;
mod sql;
mod sql_log;
mod statement;
mod text;
mod tuned;
mod verdict;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ::plan::Seconds;
use engine::EngineSpec;
use lab::error::RunError;
use migrate::{AuditOptions, AuditReport};
use record::Finished;
use server::Locations;

use self::budget::{Chosen, LeftOut, Timed, choose, quickest, smallest};
use self::candidates::Candidates;
use self::cure::Cure;
use self::moved::Mover;
use self::names::Names;
use self::place::Place;
use self::plan::PlanText;
use self::show::{Teller, Told};
use self::size::SqliteSize;
use self::sql_log::LogFacts;
use self::statement::Statement;
use self::tuned::Tuned;
use crate::command::bench::{shown_command_line, with_locations};
use crate::shared::{Outcome, Shared, Usage, sqlite_file};

/// Try your own SQLite file on PostgreSQL: audit, a copy moved, both measured, the verdict.
///
/// The file is only read, also while another program writes to it. Measured are the file as it is, a
/// copy of it that is tuned, and PostgreSQL; the verdict names the smallest step that is enough.
/// Every statement is measured in randomised blocks with checked answers. Exits 3 if something blocks
/// a migration or a statement has no verdict.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file
    #[arg(env = "CROSSOVER_SOURCE", value_parser = sqlite_file())]
    source: PathBuf,
    /// Statements to measure: a file with one or several, or a folder of .sql files; repeatable.
    /// FILE.postgres.sql beside FILE.sql replaces it on PostgreSQL. Absent: derived from the tables
    #[arg(long, value_name = "FILE.sql", env = "CROSSOVER_SQL", value_delimiter = ',')]
    sql: Vec<PathBuf>,
    /// Measure the queries of a log: Django's django.db.backends at DEBUG, Rails' at :debug,
    /// SQLAlchemy's sqlalchemy.engine at INFO; repeatable. Queries repeated within a request and locks
    /// are reported too
    #[arg(long, value_name = "FILE", env = "CROSSOVER_SQL_LOG", value_delimiter = ',')]
    sql_log: Vec<PathBuf>,
    /// The engines to compare with: postgres:18, 'postgres:18[work_mem=64MB]'; repeatable
    #[arg(long = "on", value_name = "ENGINE", default_value = "postgres:18")]
    engines: Vec<EngineSpec>,
    /// Measure no tuned copy of the file: ANALYZE, indexes for the statements, a write-ahead log and
    /// a larger page cache
    #[arg(long, env = "CROSSOVER_NO_TUNED")]
    no_tuned: bool,
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
        let (statements, logs) = self.read_statements()?;
        let mut engines = engines::choose(&arguments.engines, &locations, shared)?;
        let lines = engines.len() + usize::from(!arguments.no_tuned);
        self.refuse_budget(&[], lines, "five blocks of the quickest statement take")?;
        let teller = Teller::new(shared);
        let audit = self.audit()?;
        let mut cure = Cure::of(&audit);
        teller.audit(&arguments.source, &audit);

        let place = Place::new(&locations, arguments.keep, !arguments.no_tuned)?;
        let progress = shared.progress("copy");
        let copy = place.copy(&arguments.source, &progress, shared.interrupted())?;
        progress.finish_and_clear();
        let sqlite_size = SqliteSize::read(&copy, &place.join("vacuumed.db"))?;
        let schema = migrate::schema(&engine::sqlite::open_read_only(&copy)?)?;
        let mover = Mover { shared, place: &place, copy: &copy };
        let is_postgres = |engine: &&EngineSpec| engine.source.kind() == "postgres";
        if let Some(first) = engines.iter().find(is_postgres).filter(|_| cure.refuses_rows) {
            let refused = mover.leave_out_refused(first, &cure, &schema)?;
            cure.note_refused(refused, &audit);
        }
        let mut candidates = Candidates::new(statements, &copy, &schema, &audit, &cure)?;

        let limit = self.limit(lines);
        let mut tried = vec![mover.on_sqlite(&engines[0], &copy, &candidates.filled, limit)?];
        let tuned = match arguments.no_tuned {
            true => None,
            false => mover.tune(&candidates.filled, &tried[0], limit)?,
        };
        let (tuned, on_tuned) = tuned.unzip();
        if let Some(tuned) = &tuned {
            engines.insert(1, tuned.engine(&tuned.path)?);
        }
        tried.extend(on_tuned);
        let (moved, on_postgres) =
            mover.move_into_all(&engines, &cure, &candidates.filled, limit)?;
        tried.extend(on_postgres);
        teller.moved(&moved);

        let timed = candidates.timed(&engines, &tried);
        if let Some(quickest) = quickest(&timed) {
            let takes = format!("five blocks of the quickest statement, {quickest}, take");
            self.refuse_budget(&timed, engines.len(), &takes)?;
        }
        let chosen = choose(timed, engines.len(), arguments.budget.duration());
        candidates.left_out.extend(chosen.left_out.iter().cloned());
        let experiment = Experiment { engines: &engines, cure: &cure, tuned: tuned.as_ref() };
        let measured = self.measure(&place, &copy, &experiment, chosen, &mut candidates)?;
        let written = self.write_plan(&copy, &experiment, &measured)?;
        let told = Told {
            source: &arguments.source,
            audit: &audit,
            cure: &cure,
            sqlite_size,
            tuned: tuned.as_ref(),
            moved: &moved,
            left_out: &candidates.left_out,
            derived: arguments.sql.is_empty() && arguments.sql_log.is_empty(),
            logs: &logs,
            measured: measured.as_ref().map(|(_, finished)| finished),
            plan_file: written.plan.as_deref(),
            tuned_file: written.tuned.as_deref(),
            kept: arguments.keep.then(|| place.path()),
        };
        teller.measured(&told)
    }

    /// The user's statements, tried on the file itself before anything long begins.
    fn read_statements(&self) -> anyhow::Result<(Option<Vec<Statement>>, Vec<LogFacts>)> {
        let arguments = self.arguments;
        if arguments.sql.is_empty() && arguments.sql_log.is_empty() {
            return Ok((None, Vec::new()));
        }
        let mut connection = engine::sqlite::open_read_only(&arguments.source)?;
        let names = Names::of(&migrate::schema(&connection)?);
        let mut statements = match arguments.sql.is_empty() {
            true => Vec::new(),
            false => sql::read(&arguments.sql, &mut connection, &names)?,
        };
        let mut logs = Vec::new();
        for path in &arguments.sql_log {
            let (of_log, facts) = sql_log::read_log(path, &mut connection, &names)?;
            statements.extend(of_log);
            logs.push(facts);
        }
        sql::number_equal_names(&mut statements);
        Ok((Some(statements), logs))
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
            rows > 0 || !(self.arguments.sql.is_empty() && self.arguments.sql_log.is_empty()),
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
        let less = if self.arguments.no_tuned { "" } else { ", or --no-tuned for one engine less" };
        Err(Usage(format!(
            "--budget {budget} is too short: on {engines} engines {takes} {seconds} s; \
             give --budget {seconds}s or more{less}"
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
        experiment: &Experiment<'_>,
        mut chosen: Chosen,
        candidates: &mut Candidates,
    ) -> anyhow::Result<Option<(Chosen, Finished)>> {
        while !chosen.statements.is_empty() {
            let text = self.plan_text(copy, experiment, experiment.engines, &chosen).write();
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
        experiment: &'t Experiment<'t>,
        engines: &'t [EngineSpec],
        chosen: &'t Chosen,
    ) -> PlanText<'t> {
        PlanText {
            source: &self.arguments.source,
            data,
            engines,
            cure: experiment.cure,
            tuned: experiment.tuned,
            chosen,
            budget: self.arguments.budget,
            seed: self.arguments.seed,
            command_line: self.command_line.as_str(),
        }
    }

    /// The plan for the user. It measures the user's file; where rows were left out, the copy
    /// without them, which is then kept beside the plan. The tuned copy is kept there too.
    fn write_plan(
        &self,
        copy: &Path,
        experiment: &Experiment<'_>,
        measured: &Option<(Chosen, Finished)>,
    ) -> anyhow::Result<WrittenFiles> {
        let mut written = WrittenFiles::default();
        let Some((chosen, _)) = measured else { return Ok(written) };
        let source = &self.arguments.source;
        let data = if experiment.cure.refused_rows.is_empty() {
            std::path::absolute(source)?
        } else {
            let kept = plan::free_path(source, "db");
            engine::sqlite::file::copy(copy, &kept)?;
            std::path::absolute(kept)?
        };
        let mut engines = experiment.engines.to_vec();
        if let Some(tuned) = experiment.tuned {
            let kept = plan::free_path(source, "tuned.db");
            match engine::sqlite::file::copy(&tuned.path, &kept) {
                Ok(_) => {
                    engines[1] = tuned.engine(&kept)?;
                    written.tuned = Some(kept);
                }
                // What was measured is not lost for want of room; the plan does without the line.
                Err(error) => {
                    let _ = std::fs::remove_file(&kept);
                    self.shared.say(&format!("no tuned copy beside the plan: {error}"));
                    engines.remove(1);
                }
            }
        }
        let path = plan::free_path(source, "toml");
        let text = self.plan_text(&data, experiment, &engines, chosen).write();
        plan::write_new(&path, &text)?;
        written.plan = Some(path);
        Ok(written)
    }
}

/// The engines of the measurement, and what was done to their copies.
struct Experiment<'a> {
    engines: &'a [EngineSpec],
    cure: &'a Cure,
    tuned: Option<&'a Tuned>,
}

/// The files that a try leaves in the working directory.
#[derive(Default)]
struct WrittenFiles {
    plan: Option<PathBuf>,
    tuned: Option<PathBuf>,
}

/// The statement on which the engines disagree, if that ended the run.
fn differing<'c>(error: &RunError, chosen: &'c Chosen) -> Option<&'c str> {
    let RunError::StatementAnswersDiffer { statement, .. } = error else { return None };
    let names = chosen.statements.iter().map(|(statement, _)| statement.name.as_str());
    // The longest: one name may be the beginning of another.
    names.filter(|name| statement.starts_with(name)).max_by_key(|name| name.len())
}
