//! `crossover blob stat`.

use std::path::PathBuf;

use blob::Stat;
use indicatif::HumanCount;

use crate::shared::{CommandOutcome, OutputFormat, Shared, sqlite_file};

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
    let count = |number: u64| HumanCount(number).to_string();
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
    format!(
        "count,blob_bytes_mean,blob_bytes_min,blob_bytes_max,blob_bytes_sum,file_bytes,page_bytes,\
         page_count,freelist_count,journal_mode,integrity\n{},{},{},{},{},{},{},{},{},{},\"{}\"\n",
        stat.count,
        stat.blob_bytes_mean,
        stat.blob_bytes_min,
        stat.blob_bytes_max,
        stat.blob_bytes_sum,
        stat.file_bytes,
        stat.page_bytes,
        stat.page_count,
        stat.freelist_count,
        stat.journal_mode,
        stat.integrity.join("; ").replace('"', "\"\""),
    )
}
