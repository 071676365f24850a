//! The assessment from the file to its outcome.

use std::path::{Path, PathBuf};
use std::time::Duration;

use engine::{EngineKind, EngineSpec};
use lab::error::RunError;
use migrate::{AuditOptions, AuditReport};
use record::Finished;
use server::Locations;

use crate::budget::{Chosen, LeftOut, TimedStatement, choose, quickest, smallest};
use crate::candidates::Candidates;
use crate::error::{Error, Result};
use crate::names::QuotedNames;
use crate::options::{AssessmentOptions, Caller};
use crate::outcome::{Assessment, AssessmentFacts, audited};
use crate::place::WorkFolder;
use crate::plan_file::PlanText;
use crate::preparation::EnginePreparation;
use crate::remedies::Remedies;
use crate::size::SqliteSize;
use crate::sql_log::LogFacts;
use crate::statement::MeasuredStatement;
use crate::tuned::Tuned;
use crate::{engines, plan_file, sql_file, sql_log, text};

/// Finds out what PostgreSQL would mean for a file.
///
/// # Errors
/// [`Error::Interrupted`] leaves nothing behind.
pub fn assess(options: &AssessmentOptions, caller: &Caller<'_>) -> Result<Assessment> {
    AssessmentRun { options, caller }.carry_out()
}

struct AssessmentRun<'a> {
    options: &'a AssessmentOptions,
    caller: &'a Caller<'a>,
}

impl AssessmentRun<'_> {
    fn carry_out(&self) -> Result<Assessment> {
        let (options, caller) = (self.options, self.caller);
        let locations = Locations::detect()?;
        let (statements, logs) = self.read_statements()?;
        let mut engines = engines::choose(&options.engines, &locations, caller)?;
        let lines = engines.len() + usize::from(options.tuned);
        self.refuse_budget(&[], lines, "five blocks of the quickest statement take")?;
        let audit = self.audit()?;
        let mut remedies = Remedies::of(&audit);
        (caller.done)(&audited(&options.source, &audit));

        let place = WorkFolder::new(&locations, options.keep, options.tuned)?;
        let progress = (caller.progress)("copy");
        let copy = place.copy(&options.source, &progress, caller.interrupted)?;
        progress.finish_and_clear();
        let sqlite_size = SqliteSize::read(&copy, &place.join("vacuumed.db"))?;
        let schema = migrate::schema(&engine::sqlite::open_read_only(&copy)?)?;
        let preparation = EnginePreparation { caller, place: &place, copy: &copy };
        let is_postgres = |engine: &&EngineSpec| engine.source.kind() == EngineKind::Postgres;
        if let Some(first) = engines.iter().find(is_postgres).filter(|_| remedies.refuses_rows) {
            let refused = preparation.leave_out_refused(first, &remedies, &schema)?;
            remedies.note_refused(refused, &audit);
        }
        let mut candidates = Candidates::new(statements, &copy, &schema, &audit, &remedies)?;

        let limit = self.limit(lines);
        let mut tried =
            vec![preparation.on_sqlite(&engines[0], &copy, &candidates.filled, limit)?];
        let tuned = match options.tuned {
            true => preparation.tune(&candidates.filled, &tried[0], limit)?,
            false => None,
        };
        let (tuned, on_tuned) = tuned.unzip();
        if let Some(tuned) = &tuned {
            engines.insert(1, tuned.engine(&tuned.path)?);
        }
        tried.extend(on_tuned);
        let (moved, on_postgres) =
            preparation.move_into_all(&engines, &remedies, &candidates.filled, limit)?;
        tried.extend(on_postgres);
        moved.iter().filter_map(text::move_of).for_each(|line| (caller.done)(&line));

        let timed = candidates.timed(&engines, &tried);
        if let Some(quickest) = quickest(&timed) {
            let takes = format!("five blocks of the quickest statement, {quickest}, take");
            self.refuse_budget(&timed, engines.len(), &takes)?;
        }
        let chosen = choose(timed, engines.len(), options.budget.duration());
        candidates.left_out.extend(chosen.left_out.iter().cloned());
        let experiment =
            Experiment { engines: &engines, remedies: &remedies, tuned: tuned.as_ref() };
        let measured = self.measure(&place, &copy, &experiment, chosen, &mut candidates)?;
        let written = self.write_plan(&copy, &experiment, &measured)?;
        Ok(Assessment::new(AssessmentFacts {
            source: options.source.clone(),
            audit,
            sqlite_size,
            derived: options.sql.is_empty() && options.sql_logs.is_empty(),
            logs,
            measured: measured.map(|(_, finished)| finished),
            plan_file: written.plan,
            tuned_file: written.tuned,
            kept: options.keep.then(|| place.path().to_owned()),
            left_out: candidates.left_out,
            remedies,
            tuned,
            moved,
        }))
    }

    /// The user's statements, tried on the file itself before anything long begins.
    fn read_statements(&self) -> Result<(Option<Vec<MeasuredStatement>>, Vec<LogFacts>)> {
        let options = self.options;
        if options.sql.is_empty() && options.sql_logs.is_empty() {
            return Ok((None, Vec::new()));
        }
        let mut connection = engine::sqlite::open_read_only(&options.source)?;
        let names = QuotedNames::of(&migrate::schema(&connection)?);
        let mut statements = match options.sql.is_empty() {
            true => Vec::new(),
            false => sql_file::read(&options.sql, &mut connection, &names)?,
        };
        let mut logs = Vec::new();
        for path in &options.sql_logs {
            let (of_log, facts) = sql_log::read_log(path, &mut connection, &names)?;
            statements.extend(of_log);
            logs.push(facts);
        }
        sql_file::number_equal_names(&mut statements);
        Ok((Some(statements), logs))
    }

    fn audit(&self) -> Result<AuditReport> {
        let AssessmentOptions { source, sql, sql_logs, .. } = self.options;
        let progress = (self.caller.progress)("audit");
        let interrupted = self.caller.interrupted;
        let report = migrate::audit(source, &AuditOptions::default(), &progress, interrupted)?;
        progress.finish_and_clear();
        let file = source.display();
        if report.tables.is_empty() {
            return Err(Error::Refused(format!("{file} holds no table: nothing to try")));
        }
        let rows: u64 = report.tables.iter().map(|table| table.rows).sum();
        if rows == 0 && sql.is_empty() && sql_logs.is_empty() {
            return Err(Error::Refused(format!(
                "{file} holds no row: nothing to measure (crossover audit looks at its schema)"
            )));
        }
        Ok(report)
    }

    /// A budget in which nothing could be measured is a mistake, not a measurement.
    fn refuse_budget(&self, timed: &[TimedStatement], engines: usize, takes: &str) -> Result<()> {
        let (budget, smallest) = (self.options.budget, smallest(timed, engines));
        if budget.duration() >= smallest {
            return Ok(());
        }
        let seconds = smallest.as_secs();
        let less = if self.options.tuned { ", or --no-tuned for one engine less" } else { "" };
        Err(Error::Usage(format!(
            "--budget {budget} is too short: on {engines} engines {takes} {seconds} s; \
             give --budget {seconds}s or more{less}"
        )))
    }

    /// A statement that takes longer than an engine's turn can never fit.
    fn limit(&self, engines: usize) -> Duration {
        let turns = 5 * u32::try_from(engines).unwrap_or(u32::MAX);
        (self.options.budget.duration() / turns).max(Duration::from_secs(1))
    }

    /// Carries the experiment out. A statement whose answers differ between the engines is left
    /// out and said; the others are measured again without it.
    fn measure(
        &self,
        place: &WorkFolder,
        copy: &Path,
        experiment: &Experiment<'_>,
        mut chosen: Chosen,
        candidates: &mut Candidates,
    ) -> Result<Option<(Chosen, Finished)>> {
        while !chosen.statements.is_empty() {
            let text = self.plan_text(copy, experiment, experiment.engines, &chosen).write();
            let mut plan = plan::read(&text, "the plan of this try")?;
            plan.wait_for_quiet = self.options.wait_for_quiet;
            match (self.caller.measure)(plan, &place.locations) {
                Ok(finished) => return Ok(Some((chosen, finished))),
                Err(RunError::Interrupted { run }) => {
                    // Its data goes with this try, so it could not be taken up again.
                    let _ = std::fs::remove_dir_all(self.options.runs.join(run));
                    return Err(Error::Interrupted);
                }
                Err(RunError::InterruptedBeforeTrials) => return Err(Error::Interrupted),
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
            source: &self.options.source,
            data,
            engines,
            remedies: experiment.remedies,
            tuned: experiment.tuned,
            chosen,
            budget: self.options.budget,
            seed: self.options.seed,
            command_line: &self.options.command_line,
        }
    }

    /// The plan for the user. It measures the user's file; where rows were left out, the copy
    /// without them, which is then kept beside the plan. The tuned copy is kept there too.
    fn write_plan(
        &self,
        copy: &Path,
        experiment: &Experiment<'_>,
        measured: &Option<(Chosen, Finished)>,
    ) -> Result<WrittenFiles> {
        let mut written = WrittenFiles::default();
        let Some((chosen, _)) = measured else { return Ok(written) };
        let source = &self.options.source;
        let data = if experiment.remedies.refused_rows.is_empty() {
            absolute(source)?
        } else {
            let kept = plan_file::free_path(source, "db");
            engine::sqlite::file::copy(copy, &kept).map_err(Error::io("write", &kept))?;
            absolute(&kept)?
        };
        let mut engines = experiment.engines.to_vec();
        if let Some(tuned) = experiment.tuned {
            let kept = plan_file::free_path(source, "tuned.db");
            match engine::sqlite::file::copy(&tuned.path, &kept) {
                Ok(_) => {
                    engines[1] = tuned.engine(&kept)?;
                    written.tuned = Some(kept);
                }
                // A full disk loses no measurement; the plan does without the line.
                Err(error) => {
                    let _ = std::fs::remove_file(&kept);
                    (self.caller.say)(&format!("no tuned copy beside the plan: {error}"));
                    engines.remove(1);
                }
            }
        }
        let path = plan_file::free_path(source, "toml");
        let text = self.plan_text(&data, experiment, &engines, chosen).write();
        plan_file::write_new(&path, &text)?;
        written.plan = Some(path);
        Ok(written)
    }
}

/// The engines of the measurement, and what was done to their copies.
struct Experiment<'a> {
    engines: &'a [EngineSpec],
    remedies: &'a Remedies,
    tuned: Option<&'a Tuned>,
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::io("find", path))
}

/// The files that an assessment leaves in the working directory.
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
