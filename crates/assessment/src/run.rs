//! The assessment from the file to its outcome.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::EngineSpec;
use lab::error::RunError;
use lab::options::TimeLimit;
use record::{AssessmentRecord, Finished, NotMeasured};

use crate::audit::audit_source;
use crate::budget::{Chosen, choose, least, smallest};
use crate::candidates::Candidates;
use crate::error::{Error, Result};
use crate::ladder::Ladder;
use crate::names::QuotedNames;
use crate::notes;
use crate::options::{AssessmentOptions, Caller};
use crate::outcome::Assessment;
use crate::place::{Copies, WorkFolder, check_outputs};
use crate::plan_file::PlanText;
use crate::preparation::{EnginePreparation, MigratedCopy, TriedStatements};
use crate::remedies::Remedies;
use crate::size::SqliteSize;
use crate::sql_log::LogFacts;
use crate::statement::MeasuredStatement;
use crate::tuning::Tuning;
use crate::{distance, engines, plan_file, sql_file, sql_log};

/// Executions of a statement at a step in the least number of blocks, with the looks before them.
const EXECUTIONS_MIN: u32 = 12;
/// No statement is given up sooner in the pilot.
const LIMIT_MIN: Duration = Duration::from_secs(1);

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

/// Findings of the pilot.
struct PilotOutcome {
    engines: Vec<EngineSpec>,
    ladder: Ladder,
    tuning: Option<Tuning>,
    moved: Vec<MigratedCopy>,
    best_steps: BTreeMap<String, String>,
}

impl AssessmentRun<'_> {
    fn carry_out(&self) -> Result<Assessment> {
        let (options, caller) = (self.options, self.caller);
        lab::run::check_processor()?;
        engines::check_distances(&options.engines, &options.delays)?;
        let (statements, logs) = self.read_statements()?;
        let engines = engines::choose(&options.engines, options.sqlite_library.as_deref(), caller)
            .map_err(|error| error.or_on_sqlite(&options.command_on_sqlite))?;
        let is_alone = engines::is_sqlite_alone(&options.engines);
        let least = least(engines.len());
        // Nothing is known yet of any statement; the quickest with its steps takes about twice as long.
        self.refuse_budget(least, least * 2, "starting the engines for five blocks alone takes")?;
        check_outputs(&options.runs)?;
        distance::check(&options.delays, caller.say)?;
        let audit = audit_source(options, caller)?;
        let copies = Copies { has_steps: options.tuned, has_server: !is_alone };
        let place = WorkFolder::new(caller.locations, options.keep, copies)?;
        (caller.done)(&place.space_in_words(&options.source)?);
        let progress = (caller.progress)("copy");
        let copy = place.copy(&options.source, &progress, caller.interrupted)?;
        progress.finish_and_clear();
        let sqlite_size = SqliteSize::read(&copy, &place.join("vacuumed.db"))?;
        let schema = migrate::schema(&connect::sqlite::open_read_only(&copy)?)?;
        let preparation = EnginePreparation { caller, place: &place, copy: &copy };
        let remedies = preparation.remedies(&engines, &audit, &schema)?;
        let mut candidates = Candidates::new(statements, &copy, &schema, &audit, &remedies)?;
        let prepared = self.prepare(&preparation, engines, &candidates, &remedies)?;
        let moved = prepared.moved.iter();
        moved.filter_map(notes::move_of).for_each(|line| (caller.done)(&line));
        let chosen = self.choose(&prepared, &mut candidates)?;
        let mut measured =
            self.measure(&place, &copy, &prepared, &remedies, chosen, &mut candidates)?;
        let plan_file = self.write_plan(&copy, &prepared, &remedies, measured.as_ref())?;
        let library = options.sqlite_library.as_deref();
        // What is measured is then not the library that is built in.
        let mut notes = match library {
            None => notes::other_plans(&copy, &candidates.filled),
            Some(_) => Vec::new(),
        };
        notes.extend(self.notes(&prepared, &candidates.left_out, &logs, measured.as_ref()));
        notes.extend(notes::refused(&options.source, &audit, &remedies, is_alone));
        notes.push(notes::sizes(sqlite_size, &prepared.moved));
        if let Some((_, finished)) = &mut measured {
            finished.run.assessment = Some(AssessmentRecord {
                not_measured: candidates.left_out.clone(),
                notes: notes.clone(),
                ..notes::record(options, prepared.tuning.as_ref(), &prepared.moved, finished)
            });
            finished.folder.write_run(&finished.run).map_err(RunError::from)?;
        }
        Ok(Assessment {
            source: options.source.clone(),
            audit,
            remedies,
            sqlite_size,
            tuning: prepared.tuning,
            moved: prepared.moved,
            not_measured: candidates.left_out,
            logs,
            notes,
            measured: measured.map(|(_, finished)| finished),
            plan_file,
            kept: options.keep.then(|| place.path().to_owned()),
        })
    }

    /// Notes on the search, the statements and the logs.
    fn notes(
        &self,
        prepared: &PilotOutcome,
        left_out: &[NotMeasured],
        logs: &[LogFacts],
        measured: Option<&(Chosen, Finished)>,
    ) -> Vec<String> {
        let PilotOutcome { tuning, moved, .. } = prepared;
        let mut notes = notes::without_jit(moved);
        notes.extend(notes::search(tuning.as_ref(), self.options.tuned, moved, left_out));
        notes.extend(measured.into_iter().flat_map(|(chosen, _)| chosen.notes.clone()));
        let document = measured.map(|(_, finished)| report::document(finished));
        let milliseconds = |name: &str| document.as_ref()?.steps.as_ref()?.at_best(name);
        notes.extend(logs.iter().flat_map(|log| notes::of_log(log, milliseconds)));
        if self.options.sql.is_empty() && self.options.sql_logs.is_empty() {
            notes.push(format!("Statements are {}.", crate::derive::rule()));
        }
        notes
    }

    /// The user's statements, tried on the file itself before anything long begins.
    fn read_statements(&self) -> Result<(Option<Vec<MeasuredStatement>>, Vec<LogFacts>)> {
        let options = self.options;
        if options.sql.is_empty() && options.sql_logs.is_empty() {
            return Ok((None, Vec::new()));
        }
        let mut connection = connect::sqlite::open_read_only(&options.source)?;
        let names = QuotedNames::of(&migrate::schema(&connection)?);
        let mut statements = match options.sql.is_empty() {
            true => Vec::new(),
            false => sql_file::read(&options.sql, &mut connection, &names)?,
        };
        let mut logs = Vec::new();
        for path in &options.sql_logs {
            let (of_log, facts) = sql_log::read_log(path, options.seed, &mut connection, &names)?;
            statements.extend(of_log);
            logs.push(facts);
        }
        sql_file::number_equal_names(&mut statements);
        Ok((Some(statements), logs))
    }

    /// The pilot: the steps that are worth a trial, both engines filled, each statement tried at each.
    fn prepare(
        &self,
        preparation: &EnginePreparation<'_>,
        engines: Vec<EngineSpec>,
        candidates: &Candidates,
        remedies: &Remedies,
    ) -> Result<PilotOutcome> {
        let limit = (self.options.budget.duration() / EXECUTIONS_MIN).max(LIMIT_MIN);
        let tried = TriedStatements { statements: &candidates.filled, limit };
        let unchanged = preparation.on_sqlite(&engines[0], &tried)?;
        let tuning = match self.options.tuned {
            true => preparation.tune(&tried)?,
            false => None,
        };
        let (mut ladder, of_sqlite) = match &tuning {
            Some(tuning) => {
                Ladder::of(tuning, unchanged, engines::first_server(&engines).is_none())
            }
            None => (Ladder::of_unchanged(), vec![Some(unchanged)]),
        };
        let (mut moved, mut of_postgres) = (Vec::new(), Vec::new());
        for (copy, results) in
            preparation.move_into_all(&engines, remedies, &ladder.steps, &tried)?
        {
            moved.push(copy);
            of_postgres.push(results);
        }
        // Further lines of SQLite take as long as the first.
        let mut of_postgres = of_postgres.into_iter();
        ladder.results = engines
            .iter()
            .map(|engine| match engine.source.kind().properties().is_embedded {
                true => of_sqlite.clone(),
                false => of_postgres.next().unwrap_or_default(),
            })
            .collect();
        let best_steps = ladder.best(&engines, &candidates.executions());
        Ok(PilotOutcome { engines, ladder, tuning, moved, best_steps })
    }

    fn choose(&self, prepared: &PilotOutcome, candidates: &mut Candidates) -> Result<Chosen> {
        let timed = candidates.timed(&prepared.engines, &prepared.ladder.results);
        let timed = distance::multiplied(&timed, &prepared.engines, &self.options.delays);
        let best = best_steps(prepared);
        if !timed.is_empty() {
            let takes = "five blocks of the quickest statement take";
            let least = smallest(&timed, &best);
            self.refuse_budget(least, least, takes)?;
        }
        let mut chosen = choose(timed, &best, self.options.budget.duration());
        candidates.left_out.append(&mut chosen.left_out);
        Ok(chosen)
    }

    /// A budget in which nothing could be measured is a mistake, not a measurement.
    fn refuse_budget(&self, smallest: Duration, advised: Duration, takes: &str) -> Result<()> {
        let budget = self.options.budget;
        if budget.duration() >= smallest {
            return Ok(());
        }
        let (seconds, advised) = (smallest.as_secs(), advised.as_secs());
        Err(Error::Usage(format!(
            "--budget {budget} is too short: {takes} {seconds} s; give --budget {advised}s or more"
        )))
    }

    /// Carries the experiment out. A statement whose answers differ between the engines is left
    /// out and said; the others are measured again without it.
    fn measure(
        &self,
        place: &WorkFolder,
        copy: &Path,
        prepared: &PilotOutcome,
        remedies: &Remedies,
        mut chosen: Chosen,
        candidates: &mut Candidates,
    ) -> Result<Option<(Chosen, Finished)>> {
        let best = best_steps(prepared);
        let end = Instant::now() + self.options.budget.duration();
        let mut limit = TimeLimit { end, blocks_min: stats::INTERVAL_MIN_REPLICATES };
        while !chosen.statements.is_empty() {
            let text = self.plan_text(copy, prepared, remedies, &chosen).write();
            let mut plan = plan::read(&text, "the plan of this try")?;
            plan.wait_for_quiet = self.options.wait_for_quiet;
            match (self.caller.measure)(plan, &place.locations, limit) {
                Ok(finished) => return Ok(Some((chosen, finished))),
                Err(RunError::Interrupted { run }) => {
                    // Its data goes with this try, so it could not be taken up again.
                    let _ = std::fs::remove_dir_all(self.options.runs.join(run));
                    return Err(Error::Interrupted);
                }
                Err(RunError::InterruptedBeforeTrials) => return Err(Error::Interrupted),
                Err(RunError::CutShort { source, .. }) => return Err((*source).into()),
                Err(RunError::BlocksDoNotFit { block, .. }) => {
                    // Only once: what is measured then counts, however few blocks there are.
                    limit.blocks_min = 0;
                    let left = end.saturating_duration_since(Instant::now());
                    if let Some(mut smaller) = chosen.smaller(block, &best, left) {
                        candidates.left_out.append(&mut smaller.left_out);
                        chosen = smaller;
                    }
                    (self.caller.say)(&format!(
                        "A block took {} s: fewer than five fit --budget {}; begun again with the rest of it",
                        block.as_secs(),
                        self.options.budget
                    ));
                }
                Err(error) => {
                    let Some(name) = differing(&error, &chosen).map(str::to_owned) else {
                        return Err(error.into());
                    };
                    let gone = chosen.remove(&name);
                    candidates.left_out.extend(gone.map(|gone| gone.left_out(error.to_string())));
                }
            }
        }
        Ok(None)
    }

    fn plan_text<'t>(
        &'t self,
        data: &'t Path,
        prepared: &'t PilotOutcome,
        remedies: &'t Remedies,
        chosen: &'t Chosen,
    ) -> PlanText<'t> {
        PlanText {
            source: &self.options.source,
            data,
            engines: &prepared.engines,
            remedies,
            steps: &prepared.ladder.steps,
            best_steps: &prepared.best_steps,
            enough: self.options.enough,
            delays: &self.options.delays,
            chosen,
            budget: self.options.budget,
            seed: self.options.seed,
            command_line: &self.options.command_line,
        }
    }

    /// The plan for the user. It measures the user's file; where rows were left out, the copy
    /// without them, which is then kept beside the plan.
    fn write_plan(
        &self,
        copy: &Path,
        prepared: &PilotOutcome,
        remedies: &Remedies,
        measured: Option<&(Chosen, Finished)>,
    ) -> Result<Option<PathBuf>> {
        let Some((chosen, _)) = measured else { return Ok(None) };
        let source = &self.options.source;
        let data = if remedies.refused_rows.is_empty() {
            absolute(source)?
        } else {
            let kept = plan_file::free_path(source, "db");
            connect::sqlite::file::copy(copy, &kept).map_err(Error::io("write", &kept))?;
            absolute(&kept)?
        };
        let path = plan_file::free_path(source, "toml");
        let text = self.plan_text(&data, prepared, remedies, chosen).write();
        plan_file::write_new(&path, &text)?;
        Ok(Some(path))
    }
}

/// The numbers of the steps at which engines are at their best.
fn best_steps(prepared: &PilotOutcome) -> Vec<usize> {
    let number = |name: &String| prepared.ladder.steps.iter().position(|step| step.name == *name);
    prepared.best_steps.values().filter_map(number).collect()
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).map_err(Error::io("find", path))
}

/// The statement on which the engines disagree, if that ended the run.
fn differing<'c>(error: &RunError, chosen: &'c Chosen) -> Option<&'c str> {
    let RunError::StatementAnswersDiffer { statement, .. } = error else { return None };
    let names = chosen.statements.iter().map(|chosen| chosen.statement.name.as_str());
    // The longest: one name may be the beginning of another.
    names.filter(|name| statement.starts_with(name)).max_by_key(|name| name.len())
}
