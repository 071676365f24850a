//! `crossover dashboard upgrade`.

use dashboard::schema::VERSION;
use dashboard::upgrade::{self, Upgraded};
use engine::DatabaseUrl;
use serde_json::json;

use super::database::DatabaseArgument;
use super::in_work;
use crate::shared::{CommandOutcome, OutputFormat, Shared};

/// Bring the database of an older program to this program's schema
///
/// Each step is one transaction, so it may be interrupted at any time and called again. A SQLite
/// file is copied first, to a new file beside it (dashboard.version-2.db); of a PostgreSQL database
/// make a copy with pg_dump. There is no way back but the copy. Stop the older program first.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseArgument,
}

pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let database = arguments.database.resolve()?;
    let upgraded = upgrade(&database, shared)?;
    if upgraded.from == VERSION {
        shared.say(&format!("{database} has schema version {VERSION} already"));
    }
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&json!({
            "database": database.to_string(),
            "from_version": upgraded.from,
            "version": VERSION,
            "backup": upgraded.backup,
        }))?,
        OutputFormat::Text | OutputFormat::Csv => shared.print(&format!("{database}\n"))?,
    }
    Ok(CommandOutcome::Done)
}

/// Upgrades behind a progress bar and says what was done.
pub fn upgrade(database: &DatabaseUrl, shared: &Shared) -> anyhow::Result<Upgraded> {
    let upgraded = in_work(shared, "pages", |work| upgrade::upgrade(database, work))?;
    let Upgraded { from, backup } = &upgraded;
    if *from < VERSION {
        shared.say(&format!("{database} was upgraded from schema version {from} to {VERSION}"));
    }
    if let Some(backup) = backup {
        shared.say(&format!("copy of the file before the upgrade: {}", backup.display()));
    }
    Ok(upgraded)
}
