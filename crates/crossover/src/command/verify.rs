//! `crossover verify SOURCE TARGET`: proof that both databases hold the same rows.

use std::path::PathBuf;

use engine::PostgresUrl;
use migrate::VerifyOptions;

use super::audit::{Choice, name_unfinished, print_report, usage};
use crate::shared::{Outcome, Shared};

/// Compare every row of a SQLite file with PostgreSQL's tables of the same names.
///
/// Both sides are read whole, each from one snapshot. Exits 3 if they differ, and names rows.
/// Programs that write to the file in rollback-journal mode wait meanwhile; in WAL mode they do not.
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
    let Arguments { source, target, choice } = arguments;
    name_unfinished(&target, shared)?;
    let (rules, selection) = (choice.rules(), choice.selection());
    let schema = choice.schema;
    let options = VerifyOptions { rules, selection, schema, ..VerifyOptions::default() };
    let progress = shared.progress("verify");
    let verifying = migrate::verify(&source, &target, &options, &progress, shared.interrupted());
    let verification = shared.runtime().block_on(verifying).map_err(usage)?;
    progress.finish_and_clear();
    print_report(shared, &verification, || verification.to_csv(), || verification.to_text())?;
    Ok(if verification.is_equal() { Outcome::Done } else { Outcome::Findings })
}
