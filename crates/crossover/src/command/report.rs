//! `crossover report`: the report of a recorded run, drawn again from its trials.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use lab::record::{RunFolder, write_atomically};
use lab::report::{Document, document};
use lab::run::Finished;

use crate::shared::{Outcome, OutputFormat, Shared};

#[derive(clap::Args)]
pub struct Arguments {
    /// An id, a folder, or `latest`
    #[arg(value_name = "RUN", default_value = "latest")]
    run: String,
    /// The folder of all runs
    #[arg(long, value_name = "FOLDER", default_value = "runs", env = "CROSSOVER_RUNS")]
    runs: PathBuf,
}

/// Runs `crossover report`: writes report.html and prints its path; with `--output-format json`
/// or `csv` prints the report itself in that form.
pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<Outcome> {
    let finished = Finished::read(RunFolder::find(&arguments.runs, &arguments.run)?)?;
    let document = document(&finished);
    match shared.output_format {
        OutputFormat::Text => {
            let path = write_html(&finished, &document)?;
            shared.print(&format!("{}\n", path.display()))?;
        }
        OutputFormat::Json => shared.print_json(&document)?,
        OutputFormat::Csv => shared.print(&lab::report::csv(&document)?)?,
    }
    Ok(Outcome::Done)
}

/// What a measuring command ends with: report.html, and the figures on standard output.
pub fn show(finished: &Finished, shared: &Shared) -> anyhow::Result<Outcome> {
    let document = document(finished);
    let path = write_html(finished, &document)?;
    match shared.output_format {
        OutputFormat::Text => {
            shared.print(&lab::report::text(&document, terminal_width()))?;
            shared.print(&format!("Report: {}\n", path.display()))?;
        }
        OutputFormat::Json => shared.print_json(&document)?,
        OutputFormat::Csv => shared.print(&lab::report::csv(&document)?)?,
    }
    Ok(if document.undecided { Outcome::Findings } else { Outcome::Done })
}

fn write_html(finished: &Finished, document: &Document) -> anyhow::Result<PathBuf> {
    let path = finished.folder.path().join("report.html");
    write_atomically(&path, lab::report::html(document)?.as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(absolute(&path))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// The width of the terminal; none where the output goes elsewhere.
fn terminal_width() -> Option<u16> {
    use std::io::IsTerminal as _;
    if !std::io::stdout().is_terminal() {
        return None;
    }
    comfy_table::Table::new().width()
}
