//! `crossover bench`: experiments. `bench PLAN.toml` runs any plan; the other forms fill in a plan
//! that ships with the program.

mod blob;
mod dashboard;
mod data;
mod dry_run;
mod http;
mod oltp;
mod shipped;
mod sql;
mod url;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use lab::error::RunError;
use lab::options::{ExpectedEnd, RunOptions};
use plan::{
    Bytes, Compare, OnError, Percent, Plan, PlanError, Seconds, TrialSettings, WorkloadKind,
};
use record::{Finished, RunFolder};
use server::Locations;

use crate::command::report;
use crate::progress;
use crate::shared::{CommandOutcome, Shared, Usage};

pub use data::{ReferenceData, largest_blog, reference};
pub use shipped::{PlanFilling, article};

/// `crossover bench`
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_required = false)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The experiment: a TOML file (see experiments/)
    plan: Option<PathBuf>,
    /// Measure the plan of a recorded run a second time, with another seed; the new blocks are judged
    /// alone
    #[arg(long, value_name = "RUN", conflicts_with_all = ["resume", "plan"])]
    again: Option<String>,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(clap::Subcommand)]
enum Command {
    /// The article's experiment on the dashboard, or the article's load on any server by --url
    Dashboard(Box<dashboard::Arguments>),
    /// Requests of your own, to applications that run or to one started on several engines
    Http(Box<http::Arguments>),
    /// SQL files of your own on several engines, answers compared
    Sql(Box<sql::Arguments>),
    /// Blobs in the database or in files, and from which size on
    Blob(Box<blob::Arguments>),
    /// Short transactions over the number of clients: releases of PostgreSQL, SQLite, MariaDB
    Oltp(Box<oltp::Arguments>),
}

/// What every experiment can be told.
#[derive(clap::Args)]
pub struct RunArguments {
    /// Number of blocks; at least 5 for intervals and verdicts
    #[arg(long, value_name = "N", env = "CROSSOVER_REPLICATES")]
    pub replicates: Option<NonZeroUsize>,
    /// Add blocks, at least ten, until every interval is at most this wide to either side: 3%
    #[arg(long, value_name = "PERCENT", env = "CROSSOVER_PRECISION")]
    pub precision: Option<Percent>,
    /// Engines whose ratio is shown to lie within this share are equal [default: 5%]
    #[arg(long, value_name = "PERCENT", env = "CROSSOVER_EQUIVALENT_WITHIN")]
    pub equivalent_within: Option<Percent>,
    /// Pairs of engines that are compared; `all` needs more blocks for the same difference, which
    /// --dry-run states [default: first]
    #[arg(long, value_enum, env = "CROSSOVER_COMPARE")]
    pub compare: Option<CompareArgument>,
    /// Share of requests that may be refused or time out without costing the verdict; a wrong answer
    /// always does [default: 0.1%, of oltp 1%]
    #[arg(long, value_name = "PERCENT", env = "CROSSOVER_MAX_FAILURES")]
    pub max_failures: Option<Percent>,
    /// Begin no block beyond the fifth, and no bisection, that would end after this time: 20m, 2h
    #[arg(long, value_name = "TIME", env = "CROSSOVER_BUDGET")]
    pub budget: Option<Seconds>,
    /// Length of a steady trial: 10s, 1m
    #[arg(long, value_name = "TIME", env = "CROSSOVER_TIME")]
    pub time: Option<Seconds>,
    /// Another value for a constant of the plan, as scale=0.1; repeatable
    #[arg(long = "constant", value_name = "NAME=VALUE", value_parser = constant)]
    pub constants: Vec<(String, String)>,
    /// Starts every random choice; chosen and printed where it is not given
    #[arg(long, value_name = "NUMBER", env = "CROSSOVER_SEED")]
    pub seed: Option<u64>,
    /// Processors of application and database: 0 or 0,1
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "CROSSOVER_SERVER_CPUS")]
    pub server_cpus: Option<Vec<usize>>,
    /// Memory of application and database together, page cache included: 1GiB
    #[arg(long, value_name = "SIZE", env = "CROSSOVER_SERVER_MEMORY")]
    pub server_memory: Option<Bytes>,
    /// Processors of the measuring client
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "CROSSOVER_CLIENT_CPUS")]
    pub client_cpus: Option<Vec<usize>>,
    /// When an engine ends in the middle of a trial, which is void then
    #[arg(long, value_enum, env = "CROSSOVER_ON_ERROR")]
    pub on_error: Option<OnErrorArgument>,
    /// Do not wait, up to a minute before a trial, until other programs leave the machine alone
    #[arg(long, env = "CROSSOVER_NO_WAIT_FOR_QUIET")]
    pub no_wait_for_quiet: bool,
    /// Print treatments and expected duration, with -v their order; measure nothing
    #[arg(long, env = "CROSSOVER_DRY_RUN")]
    pub dry_run: bool,
    /// Take an interrupted run up again: an id, a folder, or `latest`
    #[arg(long, value_name = "RUN")]
    pub resume: Option<String>,
    /// The folder of all runs
    #[arg(long, value_name = "FOLDER", default_value = "runs", env = "CROSSOVER_RUNS")]
    pub runs: PathBuf,
}

fn constant(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE, such as scale=0.1".to_owned()),
    }
}

/// The comparisons of three engines and more.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum CompareArgument {
    /// Every engine with the first
    First,
    /// Every engine with every other
    All,
}

/// What becomes of a run.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OnErrorArgument {
    /// The engine is started again and the run goes on
    Continue,
    /// The run stops; it can be resumed
    Stop,
}

impl RunArguments {
    /// Overrides what the plan says.
    ///
    /// # Errors
    /// A constant that the plan does not have, a time where trials end with their passes.
    pub fn apply(&self, plan: &mut Plan) -> anyhow::Result<()> {
        for (name, value) in &self.constants {
            let suggestion = engine::nearest(name, plan.constants.keys().map(String::as_str));
            let known = plan.constants.get_mut(name).ok_or_else(|| {
                Usage(format!("--constant {name}: the plan has no such constant{suggestion}"))
            })?;
            known.clone_from(value);
        }
        match (&mut plan.trial, self.time) {
            (TrialSettings::Steady { time }, Some(wanted)) => *time = wanted,
            (TrialSettings::Passes { .. }, Some(_)) => {
                let text = "--time goes with steady trials; a pass ends by itself";
                return Err(Usage(text.to_owned()).into());
            }
            _ => {}
        }
        plan.replicates = self.replicates.map_or(plan.replicates, NonZeroUsize::get);
        plan.budget = self.budget.or(plan.budget);
        plan.precision = self.precision.or(plan.precision);
        plan.equivalent_within = self.equivalent_within.unwrap_or(plan.equivalent_within);
        plan.compare = match self.compare {
            Some(CompareArgument::First) => Compare::First,
            Some(CompareArgument::All) => Compare::All,
            None => plan.compare,
        };
        plan.max_failures = self.max_failures.or(plan.max_failures);
        plan.seed = self.seed.or(plan.seed);
        plan.server_memory = self.server_memory.or(plan.server_memory);
        plan.wait_for_quiet &= !self.no_wait_for_quiet;
        plan.on_error = match self.on_error {
            Some(OnErrorArgument::Continue) => OnError::Continue,
            Some(OnErrorArgument::Stop) => OnError::Stop,
            None => plan.on_error,
        };
        if self.server_cpus.is_some() {
            plan.server_cpus.clone_from(&self.server_cpus);
        }
        if self.client_cpus.is_some() {
            plan.client_cpus.clone_from(&self.client_cpus);
        }
        Ok(())
    }

    /// Whether anything is asked for that `--resume` would have to compare with the run's plan. No
    /// flag can be forgotten here.
    pub fn changes_plan(&self) -> bool {
        let Self {
            replicates,
            precision,
            equivalent_within,
            compare,
            max_failures,
            budget,
            time,
            constants,
            seed,
            server_cpus,
            server_memory,
            client_cpus,
            on_error,
            no_wait_for_quiet,
            dry_run: _,
            resume: _,
            runs: _,
        } = self;
        let judged = precision.is_some() || equivalent_within.is_some() || compare.is_some();
        let cut =
            budget.is_some() || time.is_some() || max_failures.is_some() || on_error.is_some();
        let placed = server_cpus.is_some() || server_memory.is_some() || client_cpus.is_some();
        let drawn = replicates.is_some() || seed.is_some() || !constants.is_empty();
        judged || cut || placed || drawn || *no_wait_for_quiet
    }
}

/// Runs `crossover bench`.
pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    if let Some(earlier) = &arguments.again {
        return run_again(earlier, &arguments.run, shared);
    }
    match (arguments.command, arguments.plan) {
        (Some(Command::Dashboard(arguments)), _) => dashboard::run(*arguments, shared),
        (Some(Command::Http(arguments)), _) => http::run(&arguments, shared),
        (Some(Command::Sql(arguments)), _) => sql::run(&arguments, shared),
        (Some(Command::Blob(arguments)), _) => blob::run(&arguments, shared),
        (Some(Command::Oltp(arguments)), _) => oltp::run(&arguments, shared),
        (None, Some(path)) => run_plan(&path, &arguments.run, shared),
        (None, None) => match &arguments.run.resume {
            Some(run) if arguments.run.changes_plan() => Err(Usage(format!(
                "--resume takes {run} up by its own plan, which other flags cannot change; leave them \
                 out, or name the plan file to begin a new run"
            ))
            .into()),
            Some(run) if arguments.run.dry_run => Err(Usage(format!(
                "--resume {run} goes on with a run, --dry-run measures nothing: give one of them"
            ))
            .into()),
            Some(run) => report::show(&resume(run, None, &arguments.run.runs, shared)?, shared),
            None => {
                Err(Usage("name a plan or an experiment: crossover bench dashboard".into()).into())
            }
        },
    }
}

/// A new run by the plan of an earlier one. Blocks added to a finished run and judged with it would
/// be a second look at the same data, which makes false verdicts likelier.
fn run_again(earlier: &str, run: &RunArguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let earlier = Finished::read(RunFolder::find(&run.runs, earlier)?)?;
    let mut plan = earlier.plan;
    plan.seed = None;
    run.apply(&mut plan)?;
    carry_out(plan.resolved()?, run, shared)
}

fn run_plan(path: &PathBuf, run: &RunArguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| PlanError::Unreadable { path: path.clone(), source })?;
    let name = path.display().to_string();
    let carried_out = || {
        let mut plan = plan::parse(&text, &name)?;
        run.apply(&mut plan)?;
        carry_out(plan.resolved()?, run, shared)
    };
    carried_out().map_err(|error| {
        let of_run = error.downcast_ref::<RunError>().and_then(RunError::plan);
        let mistake = error.downcast_ref::<PlanError>().or(of_run);
        mistake.and_then(|mistake| mistake.located(&text, &name)).map_or(error, Into::into)
    })
}

/// What every experiment comes to once its plan is there: shown, started, or taken up again.
pub fn carry_out(
    mut plan: Plan,
    run: &RunArguments,
    shared: &Shared,
) -> anyhow::Result<CommandOutcome> {
    if let (WorkloadKind::Oltp, Some(budget)) = (plan.workload, run.budget) {
        for sentence in lab::shorten::shorten(&mut plan, budget)? {
            shared.say(&format!("--budget {budget}: {sentence}"));
        }
    }
    if run.dry_run {
        return dry_run::show(&plan, &run.runs, shared);
    }

    let finished = match &run.resume {
        Some(name) => resume(name, Some(plan), &run.runs, shared)?,
        None => start(plan, &run.runs, shared)?,
    };
    report::show(&finished, shared)
}

/// Runs `plan` from its beginning.
pub fn start(plan: Plan, runs: &std::path::Path, shared: &Shared) -> anyhow::Result<Finished> {
    with_options(runs, shared, |options| Ok(lab::run::start(plan, options)?))
}

/// Refuses what this machine or an engine cannot do, before anything is generated.
pub fn check(plan: &Plan, runs: &std::path::Path, shared: &Shared) -> anyhow::Result<()> {
    with_options(runs, shared, |options| Ok(lab::run::check(plan, options)?))
}

/// Takes a run up again; a `plan` named with it must be the run's own.
pub fn resume(
    name: &str,
    plan: Option<Plan>,
    runs: &std::path::Path,
    shared: &Shared,
) -> anyhow::Result<Finished> {
    RunFolder::find(runs, name)?;
    with_options(runs, shared, |options| Ok(lab::run::resume(name, plan, options)?))
}

pub fn with_options<T>(
    runs: &std::path::Path,
    shared: &Shared,
    carry_out: impl FnOnce(&RunOptions<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let command_line = shown_command_line(std::env::args());
    with_locations(&Locations::detect()?, runs, command_line, shared, carry_out)
}

/// The same where managed servers live elsewhere.
pub fn with_locations<T>(
    locations: &Locations,
    runs: &std::path::Path,
    command_line: String,
    shared: &Shared,
    carry_out: impl FnOnce(&RunOptions<'_>) -> T,
) -> T {
    if !::report::has_page() {
        shared.say(
            "this program was built without its pages (cargo build alone): the answer will be \
             printed, and no report.html written; `make release` builds both",
        );
    }
    let expected_end = Arc::new(ExpectedEnd::default());
    let progress = progress::bar_until("trials", expected_end.clone());
    let done = carry_out(&RunOptions {
        runs,
        command_line,
        locations,
        runtime: shared.runtime().handle(),
        progress: &progress,
        expected_end: &expected_end,
        say: &|text| progress.suspend(|| shared.say(text)),
        interrupted: shared.interrupted(),
    });
    progress.finish_and_clear();
    done
}

/// The command line as it may be recorded: passwords in URLs hidden, words quoted for a shell.
pub fn shown_command_line(words: impl Iterator<Item = String>) -> String {
    let shown = words.enumerate().map(|(index, word)| {
        let word = if index == 0 { "crossover".to_owned() } else { without_password(&word) };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@%+*".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn without_password(word: &str) -> String {
    let (flag, value) = match word.split_once('=') {
        Some((flag, value)) if flag.starts_with("--") && value.contains("://") => {
            (format!("{flag}="), value)
        }
        _ => (String::new(), word),
    };
    if !value.contains("://") {
        return word.to_owned();
    }
    match value.parse::<engine::EngineSpec>() {
        Ok(spec) => format!("{flag}{spec}"),
        Err(_) => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_command_line_holds_no_password_and_can_be_pasted() {
        let words = [
            "/target/release/crossover",
            "bench",
            "dashboard",
            "--on=postgresql://me:secret@host/db",
            "--on",
            "postgres:18[work_mem=16MB]",
        ];
        let shown = shown_command_line(words.into_iter().map(str::to_owned));
        assert!(!shown.contains("secret"), "{shown}");
        assert!(shown.starts_with("crossover bench dashboard --on=postgresql://me:"), "{shown}");
        assert!(shown.ends_with("'postgres:18[work_mem=16MB]'"), "{shown}");
    }
}
