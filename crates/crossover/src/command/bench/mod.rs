//! `crossover bench`: experiments. `bench PLAN.toml` runs any plan; the other forms fill in a plan
//! that ships with the program.

mod blob;
mod body;
mod client_form;
mod dashboard;
mod data;
mod distance;
mod dry_run;
mod example;
mod http;
mod oltp;
mod run_arguments;
mod shipped;
mod sql;
mod throughput;
mod url;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Subcommand as _;
use lab::error::RunError;
use lab::options::{ExpectedEnd, RunOptions};
use plan::{Plan, PlanError};
use record::{Finished, RunFolder};
use server::Locations;

use crate::command::report;
use crate::shared::{CommandOutcome, Shared, Usage};

pub use data::{ReferenceData, largest_blog, reference};
pub use distance::DistanceArguments;
pub use run_arguments::RunArguments;
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
    #[command(after_help = example::DASHBOARD)]
    Dashboard(Box<dashboard::Arguments>),
    /// Requests of your own, to applications that run or to one started on several engines
    #[command(after_help = example::HTTP)]
    Http(Box<http::Arguments>),
    /// SQL files of your own on several engines, answers compared
    #[command(after_help = example::SQL)]
    Sql(Box<sql::Arguments>),
    /// Blobs in the database or in files, and from which size on
    #[command(after_help = example::BLOB)]
    Blob(Box<blob::Arguments>),
    /// Short transactions over the number of clients: releases of PostgreSQL, SQLite, MariaDB
    #[command(after_help = example::OLTP)]
    Oltp(Box<oltp::Arguments>),
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
                 out, unset their variables CROSSOVER_*, or name the plan file to begin a new run"
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
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|source| {
        let forms = Command::augment_subcommands(clap::Command::new("bench"));
        let names = forms.get_subcommands().map(clap::Command::get_name);
        match engine::nearest_of(&name, names) {
            Some(form) if source.kind() == std::io::ErrorKind::NotFound => {
                let text =
                    format!("there is no plan {name}; did you mean `crossover bench {form}`?");
                anyhow::Error::from(Usage(text))
            }
            _ => PlanError::Unreadable { path: path.clone(), source }.into(),
        }
    })?;
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

/// The last step of every experiment: its plan is shown, started, or resumed.
pub fn carry_out(
    mut plan: Plan,
    run: &RunArguments,
    shared: &Shared,
) -> anyhow::Result<CommandOutcome> {
    if let Some(budget) = run.budget.filter(|_| plan.workload.properties().is_shortened_by_budget) {
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
    with_locations(&shared.locations()?, runs, command_line, shared, carry_out)
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
    let progress = shared.progress_until("trials", expected_end.clone());
    let done = carry_out(&RunOptions {
        runs,
        command_line,
        locations,
        runtime: shared.runtime().handle(),
        progress: &progress,
        expected_end: &expected_end,
        say: &|text| progress.suspend(|| shared.announce(text)),
        interrupted: shared.interrupted(),
        time_limit: None,
    });
    progress.finish_and_clear();
    done
}

/// The words of commands that are flags of a plan: no shell takes them apart.
pub fn command_words(texts: &[String]) -> Result<Vec<Vec<String>>, Usage> {
    let words = |text: &String| {
        let words = shlex::split(text).filter(|words| !words.is_empty());
        words.ok_or_else(|| Usage(format!("`{text}` is not a command; close its quotes")))
    };
    texts.iter().map(words).collect()
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
