//! `crossover report`: the report of recorded runs, drawn again from their trials; several runs
//! stand side by side.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ValueEnum;
use record::Finished;
use record::RunFolder;
use report::{self, Document, Several, document, several};
use serde::Serialize;

use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

/// `crossover report`
#[derive(clap::Args)]
pub struct Arguments {
    /// Ids, folders, or `latest`; several are shown side by side
    #[arg(value_name = "RUN", default_values_t = ["latest".to_owned()])]
    names: Vec<String>,
    /// The form of the report [default: html, or what --output-format says]
    #[arg(long, value_enum, env = "CROSSOVER_FORMAT")]
    format: Option<Format>,
    /// What a line of csv is
    #[arg(long, value_enum, default_value_t, env = "CROSSOVER_ROWS")]
    rows: PageRows,
    /// With --format post: keep the names of files, statements and engines
    #[arg(long = "names", env = "CROSSOVER_NAMES_SHOWN")]
    keeps_names: bool,
    /// Several runs: draw all charts over the same axes
    #[arg(long, env = "CROSSOVER_COMMON_AXES")]
    common_axes: bool,
    /// Write to this file, and print its path
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The folder of all runs
    #[arg(long, value_name = "FOLDER", default_value = "runs", env = "CROSSOVER_RUNS")]
    runs: PathBuf,
}

/// The forms of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One self-contained page
    Html,
    /// Long form, for spreadsheets and statistics programs
    Csv,
    /// The report document
    Json,
    /// For a README or a ticket
    Markdown,
    /// At most twelve lines to be posted, without the user's names
    Post,
    /// For a terminal
    Text,
}

/// The lines of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum PageRows {
    /// Estimates with their intervals
    #[default]
    Treatment,
    /// One treatment in one block, with its counters
    Trial,
}

/// Runs `crossover report`: html goes into a file whose path is printed, everything else to
/// standard output unless `--output` names a file.
pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let format = arguments.format.unwrap_or(match shared.output_format {
        OutputFormat::Text => Format::Html,
        OutputFormat::Json => Format::Json,
        OutputFormat::Csv => Format::Csv,
    });
    let csv_only = arguments.rows == PageRows::Trial && format != Format::Csv;
    if csv_only {
        return Err(Usage("--rows trial goes with --format csv".into()).into());
    }
    if arguments.common_axes && (arguments.names.len() < 2 || format != Format::Html) {
        return Err(Usage("--common-axes goes with several runs in one html page".into()).into());
    }
    let mut runs = Vec::new();
    for name in &arguments.names {
        runs.push(Finished::read(RunFolder::find(&arguments.runs, name)?)?);
    }
    let drawn = draw(&runs, format, &arguments)?;
    let path = match (&arguments.output, format, runs.as_slice()) {
        (Some(path), ..) => path.clone(),
        (None, Format::Html, [only]) => only.folder.path().join("report.html"),
        (None, Format::Html, _) => arguments.runs.join("report.html"),
        _ => {
            shared.print(&drawn)?;
            return Ok(CommandOutcome::Done);
        }
    };
    shared.print(&format!("{}\n", write(&path, &drawn)?.display()))?;
    Ok(CommandOutcome::Done)
}

fn draw(runs: &[Finished], format: Format, arguments: &Arguments) -> anyhow::Result<String> {
    if arguments.rows == PageRows::Trial {
        return Ok(report::csv_of_trials(runs));
    }
    if arguments.keeps_names && format != Format::Post {
        return Err(Usage("--names goes with --format post".into()).into());
    }
    if format == Format::Post {
        let posts = runs.iter().map(|run| report::post(run, None, arguments.keeps_names));
        return Ok(posts.collect::<Vec<_>>().join("\n"));
    }
    if let [only] = runs {
        let document = document(only);
        return Ok(match format {
            Format::Html => report::html(&document)?,
            Format::Csv => report::csv(&[document]),
            Format::Json => json(&document)?,
            Format::Markdown | Format::Post => report::markdown(&[document], &[]),
            Format::Text => report::text(&document, terminal_width()),
        });
    }
    let several: Several = several(runs, arguments.common_axes);
    let Several { documents, warnings, .. } = &several;
    Ok(match format {
        Format::Html => report::html(&several)?,
        Format::Csv => report::csv(documents),
        Format::Json => json(&several)?,
        Format::Markdown | Format::Post => report::markdown(documents, warnings),
        Format::Text => report::text_of_several(documents, warnings, terminal_width()),
    })
}

fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}

/// The end of a measuring command: figures on standard output, then report.html. A page
/// that cannot be made takes nothing from the answer, whose exit code stands.
pub fn show(finished: &Finished, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let document = document(finished);
    match shared.output_format {
        OutputFormat::Text => shared.print(&report::text(&document, terminal_width()))?,
        OutputFormat::Json => shared.print_json(&document)?,
        OutputFormat::Csv => shared.print(&report::csv(std::slice::from_ref(&document)))?,
    }
    match write_page(finished, &document) {
        Ok(path) if shared.output_format == OutputFormat::Text => {
            shared.print(&format!("Report: {}\n", path.display()))?;
        }
        Ok(_) => {}
        Err(error) => shared.say(&format!(
            "no report.html: {error:#}. The run {} is recorded: crossover report {} makes the page \
             once that is repaired",
            finished.run.id,
            finished.folder.as_argument()
        )),
    }
    Ok(outcome(&document))
}

/// Writes report.html into the run's folder.
pub fn write_page(finished: &Finished, document: &Document) -> anyhow::Result<PathBuf> {
    write(&finished.folder.path().join("report.html"), &report::html(document)?)
}

/// A missed threshold takes precedence over anything undecided.
pub fn outcome(document: &Document) -> CommandOutcome {
    let mut thresholds = document.thresholds.iter();
    if document.summary.bound_missed || thresholds.any(|threshold| threshold.met == Some(false)) {
        return CommandOutcome::Missed;
    }
    let open = document.thresholds.iter().any(|threshold| threshold.met.is_none());
    let left_out = document.steps.as_ref().is_some_and(|steps| !steps.not_measured.is_empty());
    match document.summary.undecided || open || left_out {
        true => CommandOutcome::Findings,
        false => CommandOutcome::Done,
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<PathBuf> {
    whole_file::write(path, text.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// The width of the terminal; none where the output goes elsewhere.
pub fn terminal_width() -> Option<u16> {
    use std::io::IsTerminal as _;
    if !std::io::stdout().is_terminal() {
        return None;
    }
    rustix::termios::tcgetwinsize(std::io::stdout())
        .ok()
        .map(|size| size.ws_col)
        .filter(|width| *width > 0)
}
