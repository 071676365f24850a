//! `crossover verify SOURCE TARGET`: proof that both databases hold the same rows.

use std::path::PathBuf;

use engine::PostgresUrl;
use migrate::VerifyOptions;

use super::audit::Choice;
use crate::shared::{Outcome, OutputFormat, Shared};

/// Compare every row of a SQLite file with PostgreSQL's tables of the same names.
///
/// Both sides are read whole, each from one snapshot. Exits 3 if they differ, and names rows.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file
    #[arg(env = "CROSSOVER_SOURCE")]
    source: PathBuf,
    /// The PostgreSQL database, for example postgresql://user@host/database
    #[arg(env = "CROSSOVER_TARGET")]
    target: PostgresUrl,
    #[command(flatten)]
    choice: Choice,
}

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<Outcome> {
    let options = VerifyOptions {
        rules: arguments.choice.rules(),
        selection: arguments.choice.selection(),
        schema: arguments.choice.schema.clone(),
    };
    let progress = shared.progress("verify");
    let verification = shared.runtime().block_on(migrate::verify(
        &arguments.source,
        &arguments.target,
        &options,
        &progress,
        shared.interrupted(),
    ))?;
    progress.finish_and_clear();
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&verification)?,
        OutputFormat::Csv => shared.print(&verification.to_csv())?,
        OutputFormat::Text => shared.print(&verification.to_text())?,
    }
    Ok(if verification.is_equal() { Outcome::Done } else { Outcome::Findings })
}
