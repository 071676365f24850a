//! `crossover dashboard mend`: the database as found, copied into the dashboard's own schema.

use std::path::PathBuf;

use crate::flag::sqlite_file;
use crate::shared::{CommandOutcome, Shared};

/// Copy a file made by `generate --as-found` into a new one of the dashboard's own schema: slugs up
/// to 512 characters, UUIDs declared as the texts they are.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file as found
    #[arg(value_parser = sqlite_file())]
    as_found: PathBuf,
    /// The file to write
    #[arg(value_parser = sqlite_file())]
    repaired: PathBuf,
    /// Replace a file that is there already
    #[arg(long, env = "CROSSOVER_FORCE")]
    force: bool,
}

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let Arguments { as_found, repaired, force } = arguments;
    let progress = shared.progress("rows");
    let rows = dashboard::mend::mend(&as_found, &repaired, force, &progress, shared.interrupted())?;
    progress.finish_and_clear();
    shared.print(&format!("{rows} rows copied to {}\n", repaired.display()))?;
    Ok(CommandOutcome::Done)
}
