//! `crossover dashboard init`.

use dashboard::init;
use serde_json::json;

use super::database::DatabaseArgument;
use crate::shared::{CommandOutcome, OutputFormat, Shared};

/// Make the empty tables of a dashboard, in a new SQLite file or a PostgreSQL database
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseArgument,
}

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let database = arguments.database.resolve()?;
    init::initialise(&database, shared.runtime().handle())?;
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&json!({"database": database.to_string()}))?,
        OutputFormat::Text | OutputFormat::Csv => shared.print(&format!("{database}\n"))?,
    }
    Ok(CommandOutcome::Done)
}
