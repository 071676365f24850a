//! `crossover migrate SOURCE TARGET`: moves a SQLite file into PostgreSQL, all or nothing.

use std::path::PathBuf;

use anyhow::Context as _;
use engine::PostgresUrl;
use migrate::{MigrateOptions, MigrationReport, Severity};

use super::audit::Choice;
use crate::shared::{OutputFormat, Outcome, Shared};

/// Move a SQLite file into a PostgreSQL database, in one transaction: whatever goes wrong leaves
/// the target as it was.
///
/// By default the schema is created, the types chosen by the declared types and every stored value.
/// The result is proved by content digests before it is committed. Programs that write to the file
/// in rollback-journal mode wait meanwhile; in WAL mode they do not.
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
    /// Load into tables that exist (and are empty) instead of creating them
    #[arg(long, env = "CROSSOVER_DATA_ONLY")]
    data_only: bool,
    /// Drop the tables of the same names first; with --data-only: delete their rows
    #[arg(long, env = "CROSSOVER_REPLACE")]
    replace: bool,
    /// Do not compare both databases before the commit
    #[arg(long, env = "CROSSOVER_NO_VERIFY")]
    no_verify: bool,
    /// Do everything but the commit, then undo it
    #[arg(long, env = "CROSSOVER_DRY_RUN")]
    dry_run: bool,
    /// Create the target database if there is none
    #[arg(long, env = "CROSSOVER_CREATE_DATABASE")]
    create_database: bool,
}

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<Outcome> {
    let runtime = shared.runtime();
    if arguments.create_database {
        let created = runtime.block_on(migrate::create_database(&arguments.target))?;
        if created {
            shared.say(&format!("created the database of {}", arguments.target));
        }
    }
    let options = MigrateOptions {
        data_only: arguments.data_only,
        rules: arguments.choice.rules(),
        selection: arguments.choice.selection(),
        schema: arguments.choice.schema.clone(),
        verify: !arguments.no_verify,
        replace: arguments.replace,
        dry_run: arguments.dry_run,
    };
    let progress = shared.progress("migrate");
    let report = runtime
        .block_on(migrate::migrate(
            &arguments.source,
            &arguments.target,
            &options,
            &progress,
            shared.interrupted(),
        ))
        .context("nothing was moved")?;
    progress.finish_and_clear();
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&report)?,
        OutputFormat::Csv => shared.print(&csv(&report))?,
        OutputFormat::Text => shared.print(&report.to_text())?,
    }
    let notes = report.findings.iter().filter(|finding| finding.severity != Severity::Note);
    for finding in notes {
        shared.say(&format!("{}: {finding}", finding.severity.name()));
    }
    Ok(if report.after_commit.is_empty() { Outcome::Done } else { Outcome::Findings })
}

fn csv(report: &MigrationReport) -> String {
    let mut text = String::from("table,rows,kept\n");
    for table in &report.tables {
        let name = table.table.replace('"', "\"\"");
        text.push_str(&format!("\"{name}\",{},{}\n", table.rows, table.kept));
    }
    text
}
