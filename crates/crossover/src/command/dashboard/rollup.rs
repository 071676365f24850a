//! `crossover dashboard rollup`: the totals that the design `rollup` answers from.

use dashboard::rollup;
use serde_json::json;

use super::database::DatabaseArgument;
use super::in_work;
use crate::shared::{CommandOutcome, OutputFormat, Shared};

#[derive(clap::Subcommand)]
pub enum Command {
    /// Make all totals again from the facts
    Rebuild(Arguments),
    /// Prove every total against the facts; exit code 3 where one is wrong
    Verify(Arguments),
}

#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseArgument,
}

pub fn run(command: Command, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    match command {
        Command::Rebuild(arguments) => rebuild(&arguments, shared),
        Command::Verify(arguments) => verify(&arguments, shared),
    }
}

fn rebuild(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let database = arguments.database.resolve()?;
    in_work(shared, "days", |work| rollup::rebuild(&database, work))?;
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&json!({"database": database.to_string()}))?,
        OutputFormat::Text | OutputFormat::Csv => shared.print(&format!("{database}\n"))?,
    }
    Ok(CommandOutcome::Done)
}

fn verify(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let database = arguments.database.resolve()?;
    let proof = in_work(shared, "totals", |work| rollup::verify(&database, work))?;
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&proof)?,
        OutputFormat::Text | OutputFormat::Csv => {
            let mut text = format!("{} totals were compared with the facts\n", proof.totals);
            for difference in &proof.differences {
                text += &format!("{} differs: {}\n", difference.page, difference.problem);
            }
            shared.print(&text)?;
        }
    }
    if proof.differences.is_empty() {
        return Ok(CommandOutcome::Done);
    }
    shared.say("make them again with `crossover dashboard rollup rebuild`");
    Ok(CommandOutcome::Findings)
}
