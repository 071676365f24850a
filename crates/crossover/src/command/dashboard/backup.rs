//! `crossover dashboard backup`.

use std::path::PathBuf;

use anyhow::Context as _;
use dashboard::backup;
use engine::DatabaseUrl;
use serde_json::json;

use super::database::DatabaseArgument;
use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

/// Copy a SQLite dashboard to a new file while it is in use
///
/// The copy is one consistent state, accounts and keys included; it is checked for soundness, and
/// gets its name only when it is whole. It is a dashboard's file itself: serve it, or put it in the
/// place of a lost one. For PostgreSQL use its own pg_dump.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file to make; it must not exist
    file: PathBuf,
    #[command(flatten)]
    database: DatabaseArgument,
}

pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let source = match arguments.database.resolve()? {
        DatabaseUrl::Sqlite(path) => path,
        url @ DatabaseUrl::Postgres(_) => {
            let text = format!(
                "{url} is a PostgreSQL database, which has its own tool for this: pg_dump \
                 --format=custom --file={} DATABASE, and pg_restore to get it back",
                arguments.file.display()
            );
            return Err(Usage(text).into());
        }
    };
    let progress = shared.progress("pages");
    let made = backup::sqlite(&source, &arguments.file, &progress, shared.interrupted());
    progress.finish_and_clear();
    let bytes = made.with_context(|| format!("no backup of {}", source.display()))?;
    let file = arguments.file.display().to_string();
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&json!({"file": file, "bytes": bytes}))?,
        OutputFormat::Text | OutputFormat::Csv => shared.print(&format!("{file}\n"))?,
    }
    Ok(CommandOutcome::Done)
}
