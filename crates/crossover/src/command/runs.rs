//! `crossover runs`: the recorded runs as a list, and their removal.

use std::path::PathBuf;

use jiff::{Timestamp, Zoned, civil};
use record::RunFolder;
use report::{RunSummary, summarise};

use crate::command::report::terminal_width;
use crate::shared::{CommandOutcome, OutputFormat, Shared};

/// `crossover runs`
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    place: RunPlace,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Remove runs with everything recorded in them
    Remove(Remove),
}

/// Where the runs lie.
#[derive(clap::Args)]
struct RunPlace {
    /// The folder of all runs
    #[arg(long, value_name = "FOLDER", default_value = "runs", env = "CROSSOVER_RUNS")]
    runs: PathBuf,
}

#[derive(clap::Args)]
struct Filter {
    /// Only runs with this text in id, title, engines or verdict
    text: Option<String>,
    /// Only runs of this workload: http, sql, blob, oltp
    #[arg(long, value_name = "NAME")]
    workload: Option<String>,
    /// Only runs begun since then: 2026-11-01, 2026-11-01T08:00, or an age as 7d, 1h30m
    #[arg(long, value_name = "WHEN", value_parser = since)]
    since: Option<Timestamp>,
}

#[derive(clap::Args)]
struct Remove {
    /// Ids, folders, or `latest`
    #[arg(value_name = "RUN", required = true)]
    names: Vec<String>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    place: RunPlace,
}

/// Runs `crossover runs`.
pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    match arguments.command {
        Some(Command::Remove(remove)) => self::remove(&remove, shared),
        None => list(&arguments.filter, &arguments.place, shared),
    }
}

fn list(filter: &Filter, place: &RunPlace, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let folders = RunFolder::all(&place.runs)?;
    let all = folders.into_iter().map(summarise);
    let runs: Vec<RunSummary> = all.filter(|run| filter.holds(run)).collect();
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&runs)?,
        OutputFormat::Csv => shared.print(&csv(&runs))?,
        OutputFormat::Text if runs.is_empty() => {
            shared.say(&format!("No such run in {}.", place.runs.display()));
        }
        OutputFormat::Text => shared.print(&report::list(&runs, terminal_width()))?,
    }
    Ok(CommandOutcome::Done)
}

impl Filter {
    fn holds(&self, run: &RunSummary) -> bool {
        let text = self.text.as_ref().is_none_or(|text| {
            let words = [Some(&run.id), run.title.as_ref(), run.verdict.as_ref()];
            let text = text.to_lowercase();
            words
                .into_iter()
                .flatten()
                .chain(&run.engines)
                .any(|word| word.to_lowercase().contains(&text))
        });
        let workload = self.workload.is_none() || run.workload == self.workload;
        let begun = || run.started.as_ref()?.parse::<Timestamp>().ok();
        text && workload && self.since.is_none_or(|since| begun().is_some_and(|at| at >= since))
    }
}

/// A day or a moment in local time, or how long ago.
fn since(text: &str) -> Result<Timestamp, String> {
    let zone = jiff::tz::TimeZone::system();
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(at);
    }
    if let Ok(at) = text.parse::<civil::DateTime>() {
        return at.to_zoned(zone).map(|at| at.timestamp()).map_err(|error| error.to_string());
    }
    let ago = notation::span(text).map_err(|_| {
        format!("`{text}` is neither a date (2026-11-01) nor an age (7d, 1h30m, 2weeks)")
    })?;
    let then = Zoned::now().checked_sub(ago.abs()).map_err(|error| error.to_string())?;
    Ok(then.timestamp())
}

fn csv(runs: &[RunSummary]) -> String {
    let header =
        ["id", "started", "title", "workload", "engines", "blocks", "complete", "verdict", "error"];
    let rows = runs.iter().map(|run| {
        [
            run.id.clone(),
            run.started.clone().unwrap_or_default(),
            run.title.clone().unwrap_or_default(),
            run.workload.clone().unwrap_or_default(),
            run.engines.join(" "),
            run.blocks.to_string(),
            run.complete.to_string(),
            run.verdict.clone().unwrap_or_default(),
            run.error.clone().unwrap_or_default(),
        ]
    });
    notation::csv_table(&header, rows)
}

fn remove(arguments: &Remove, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let mut folders = Vec::new();
    for name in &arguments.names {
        let folder = RunFolder::find(&arguments.place.runs, name)?;
        folder.check_removable()?;
        folders.push(folder);
    }
    folders.sort_by_key(RunFolder::id);
    folders.dedup_by_key(|folder| folder.id());
    if !arguments.yes {
        let shown: Vec<_> = folders.iter().map(|it| it.path().display().to_string()).collect();
        let question = format!("Remove {} with everything in it?", count(folders.len()));
        if !shared.confirm(&shown, &question)? {
            shared.say("Nothing was removed.");
            return Ok(CommandOutcome::Done);
        }
    }
    for folder in folders {
        let id = folder.id();
        folder.remove()?;
        shared.print(&format!("{id}\n"))?;
    }
    Ok(CommandOutcome::Done)
}

fn count(runs: usize) -> String {
    if runs == 1 { "this run".to_owned() } else { format!("these {runs} runs") }
}
