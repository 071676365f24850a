//! `crossover blob stat`.

use std::path::PathBuf;

use blob::Stat;
use notation::csv_table;

use crate::flag::sqlite_file;
use crate::shared::{CommandOutcome, OutputFormat, Shared};

/// Counts, sizes and pages of a SQLite file of blobs
///
/// Every page is looked at and the integrity of the file checked; exits 3 if it is damaged.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file
    #[arg(env = "CROSSOVER_BLOB_FILE", value_parser = sqlite_file())]
    file: PathBuf,
    /// Run VACUUM first
    #[arg(long, env = "CROSSOVER_VACUUM")]
    vacuum: bool,
}

pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let progress = shared.progress("pages");
    if arguments.vacuum {
        progress.set_message("VACUUM");
        blob::vacuum(&arguments.file)?;
    }
    progress.set_message("looking at every page");
    let stat = blob::stat(&arguments.file);
    progress.finish_and_clear();
    let stat = stat?;
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&stat)?,
        OutputFormat::Csv => shared.print(&csv(&stat))?,
        OutputFormat::Text => shared.print(&text(&stat))?,
    }
    let whole = stat.integrity == ["ok"];
    Ok(if whole { CommandOutcome::Done } else { CommandOutcome::Findings })
}

/// Labels and values in the order in which they are printed.
fn rows(stat: &Stat) -> Vec<(String, String)> {
    let count = |number: u64| notation::thousands(number);
    let mut rows = vec![
        ("blobs".to_owned(), count(stat.count)),
        ("mean size, bytes".to_owned(), count(stat.blob_bytes_mean.round() as u64)),
        ("smallest, bytes".to_owned(), count(stat.blob_bytes_min)),
        ("largest, bytes".to_owned(), count(stat.blob_bytes_max)),
        ("all blobs, bytes".to_owned(), count(stat.blob_bytes_sum)),
        ("file, bytes".to_owned(), count(stat.file_bytes)),
        ("page size, bytes".to_owned(), stat.page_bytes.to_string()),
        ("pages".to_owned(), count(stat.page_count)),
        ("free pages".to_owned(), count(stat.freelist_count)),
    ];
    for kind in &stat.pages {
        let name = &kind.kind;
        rows.push((format!("{name} pages"), count(kind.pages)));
        rows.push((format!("unused on {name} pages, bytes"), count(kind.unused_bytes)));
    }
    rows.push(("journal mode".to_owned(), stat.journal_mode.clone()));
    rows.extend(stat.integrity.iter().map(|fault| ("integrity".to_owned(), fault.clone())));
    rows
}

fn text(stat: &Stat) -> String {
    let rows = rows(stat);
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("{name:width$}  {value}\n")).collect()
}

fn csv(stat: &Stat) -> String {
    let cells = [
        ("count", stat.count.to_string()),
        ("blob_bytes_mean", stat.blob_bytes_mean.to_string()),
        ("blob_bytes_min", stat.blob_bytes_min.to_string()),
        ("blob_bytes_max", stat.blob_bytes_max.to_string()),
        ("blob_bytes_sum", stat.blob_bytes_sum.to_string()),
        ("file_bytes", stat.file_bytes.to_string()),
        ("page_bytes", stat.page_bytes.to_string()),
        ("page_count", stat.page_count.to_string()),
        ("freelist_count", stat.freelist_count.to_string()),
        ("journal_mode", stat.journal_mode.clone()),
        ("integrity", stat.integrity.join("; ")),
    ];
    csv_table(&cells.each_ref().map(|(name, _)| *name), [cells.map(|(_, cell)| cell)])
}
