//! `crossover verify SOURCE TARGET`: proof that both databases hold the same rows.

use std::path::PathBuf;

use engine::PostgresUrl;
use migrate::VerifyOptions;

use super::audit::{Choice, name_unfinished, print_report, text_options, usage};
use crate::flag::sqlite_file;
use crate::shared::{CommandOutcome, Shared};

/// Compare every row of a SQLite file with PostgreSQL's tables of the same names.
///
/// Both sides are read whole, each from one snapshot. Exits 3 if they differ, and names rows; also
/// if views, triggers or rows of virtual tables did not arrive.
/// Programs that write to the file in rollback-journal mode wait meanwhile; in WAL mode they do not.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file
    #[arg(env = "CROSSOVER_SOURCE", value_parser = sqlite_file())]
    source: PathBuf,
    /// The PostgreSQL database, for example postgresql://user@host/database
    #[arg(env = "CROSSOVER_TARGET")]
    target: PostgresUrl,
    #[command(flatten)]
    choice: Choice,
}

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let Arguments { source, target, choice } = arguments;
    name_unfinished(&target, shared)?;
    let (rules, selection) = (choice.rules(), choice.selection());
    let schema = choice.schema.clone();
    let options = VerifyOptions { rules, selection, schema, ..VerifyOptions::default() };
    let progress = shared.progress("verify");
    let verifying = migrate::verify(&source, &target, &options, &progress, shared.interrupted());
    let verification = shared.runtime().block_on(verifying).map_err(usage)?;
    progress.finish_and_clear();
    let is_equal = verification.is_equal();
    let text = || verification.to_text(&text_options(shared));
    print_report(shared, &verification, || verification.to_csv(), text)?;
    let losses = verification.not_carried_over.unwrap_or_default();
    let is_whole = is_equal && !losses.are_findings(choice.accept_losses);
    Ok(if is_whole { CommandOutcome::Done } else { CommandOutcome::Findings })
}
