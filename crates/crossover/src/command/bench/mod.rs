//! `crossover bench`: experiments. `bench PLAN.toml` runs any plan; the other forms fill in a plan
//! that ships with the program.

mod dashboard;
mod data;
mod shipped;
mod url;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::Context as _;
use lab::plan::{Plan, Seconds};
use lab::record::RunFolder;
use lab::run::{Finished, RunOptions};
use server::Locations;

use crate::command::report;
use crate::shared::{Outcome, Shared, Usage};

pub use data::{ReferenceData, reference};
pub use shipped::{Filling, article};

/// `crossover bench`
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_required = false)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The experiment: a TOML file (see experiments/)
    plan: Option<PathBuf>,
    #[command(flatten)]
    run: RunArguments,
}

#[derive(clap::Subcommand)]
enum Command {
    /// The article's experiment on the dashboard, or the article's load on any server by --url
    Dashboard(Box<dashboard::Arguments>),
}

/// What every experiment can be told.
#[derive(clap::Args)]
pub struct RunArguments {
    /// Number of blocks; at least 5 for intervals and verdicts
    #[arg(long, value_name = "N", env = "CROSSOVER_REPLICATES")]
    pub replicates: Option<NonZeroUsize>,
    /// No further bisection of a crossing after this time: 90s, 20m, 2h
    #[arg(long, value_name = "TIME", env = "CROSSOVER_BUDGET")]
    pub budget: Option<Seconds>,
    /// Starts every random choice; chosen and printed where it is not given
    #[arg(long, value_name = "NUMBER", env = "CROSSOVER_SEED")]
    pub seed: Option<u64>,
    /// Processors of application and database: 0 or 0,1
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "CROSSOVER_SERVER_CPUS")]
    pub server_cpus: Option<Vec<usize>>,
    /// Processors of the measuring client
    #[arg(long, value_name = "LIST", value_delimiter = ',', env = "CROSSOVER_CLIENT_CPUS")]
    pub client_cpus: Option<Vec<usize>>,
    /// Take an interrupted run up again: an id, a folder, or `latest`
    #[arg(long, value_name = "RUN")]
    pub resume: Option<String>,
    /// The folder of all runs
    #[arg(long, value_name = "FOLDER", default_value = "runs", env = "CROSSOVER_RUNS")]
    pub runs: PathBuf,
}

impl RunArguments {
    /// Overrides what the plan says.
    pub fn apply(&self, plan: &mut Plan) {
        plan.replicates = self.replicates.map_or(plan.replicates, NonZeroUsize::get);
        plan.budget = self.budget.or(plan.budget);
        plan.seed = self.seed.or(plan.seed);
        if self.server_cpus.is_some() {
            plan.server_cpus.clone_from(&self.server_cpus);
        }
        if self.client_cpus.is_some() {
            plan.client_cpus.clone_from(&self.client_cpus);
        }
    }

    /// Whether anything is asked for that `--resume` would have to compare with the run's plan.
    pub fn changes_plan(&self) -> bool {
        self.replicates.is_some()
            || self.budget.is_some()
            || self.seed.is_some()
            || self.server_cpus.is_some()
            || self.client_cpus.is_some()
    }
}

/// Runs `crossover bench`.
pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<Outcome> {
    match (arguments.command, arguments.plan) {
        (Some(Command::Dashboard(arguments)), _) => dashboard::run(*arguments, shared),
        (None, Some(path)) => run_plan(&path, &arguments.run, shared),
        (None, None) => match &arguments.run.resume {
            Some(run) => {
                let finished = resume(run, None, &arguments.run.runs, shared)?;
                report::show(&finished, shared)
            }
            None => {
                Err(Usage("name a plan or an experiment: crossover bench dashboard".into()).into())
            }
        },
    }
}

fn run_plan(path: &PathBuf, run: &RunArguments, shared: &Shared) -> anyhow::Result<Outcome> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the plan {}", path.display()))?;
    let mut plan = lab::plan::read(&text, &path.display().to_string())?;
    run.apply(&mut plan);
    let plan = plan.resolved()?;
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

/// Takes a run up again; `plan` is what the user asks for now, if anything.
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
    let progress = shared.progress("trials");
    let locations = Locations::detect()?;
    let finished = carry_out(&RunOptions {
        runs,
        command_line: shown_command_line(std::env::args()),
        locations: &locations,
        runtime: shared.runtime().handle(),
        progress: &progress,
        interrupted: shared.interrupted(),
    });
    progress.finish_and_clear();
    finished
}

/// The command line as it may be recorded: passwords in URLs hidden, words quoted for a shell.
fn shown_command_line(words: impl Iterator<Item = String>) -> String {
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
