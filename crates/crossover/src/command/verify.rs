//! `crossover verify SOURCE TARGET`: proof that both databases hold the same rows.

use std::path::PathBuf;

use engine::PostgresUrl;
use migrate::{AuditOptions, TypeChoice, VerifyOptions};

use super::audit::{Choice, TypeFlags, name_unfinished, print_report, text_options, usage};
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
    /// Compare the tables too with those that migrate would make: types, NOT NULL, defaults, keys, checks,
    /// indexes, sequences
    #[arg(long, env = "CROSSOVER_STRUCTURE")]
    structure: bool,
    #[command(flatten)]
    types: TypeFlags,
}

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let Arguments { source, target, choice, structure, types } = arguments;
    name_unfinished(&target, shared)?;
    let (rules, selection) = (choice.rules(), choice.selection());
    let schema = choice.schema.clone();
    let promised = AuditOptions {
        rules: rules.clone(),
        selection: selection.clone(),
        schema: schema.clone(),
        types: types.over(TypeChoice::default()),
        nocase: choice.nocase().unwrap_or_default(),
        ..AuditOptions::default()
    };
    let options = VerifyOptions { rules, selection, schema, ..VerifyOptions::default() };
    let progress = shared.progress("verify");
    let interrupted = shared.interrupted();
    let verifying = migrate::verify(&source, &target, &options, &progress, interrupted);
    let mut verification = shared.runtime().block_on(verifying).map_err(usage)?;
    if structure {
        let comparing =
            migrate::verify_structure(&source, &target, &promised, &progress, interrupted);
        verification.structure = Some(shared.runtime().block_on(comparing).map_err(usage)?);
    }
    progress.finish_and_clear();
    let is_equal = verification.is_equal();
    let text = || verification.to_text(&text_options(shared));
    print_report(shared, &verification, || verification.to_csv(), text)?;
    let losses = verification.not_carried_over.unwrap_or_default();
    let is_whole = is_equal && !losses.are_findings(choice.accept_losses);
    Ok(if is_whole { CommandOutcome::Done } else { CommandOutcome::Findings })
}
