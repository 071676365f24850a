//! `crossover migrate SOURCE TARGET`: moves a SQLite file into PostgreSQL, all or nothing.

use std::path::PathBuf;

use engine::PostgresUrl;
use migrate::{MigrateOptions, MigrationReport, Severity};

use super::audit::Choice;
use crate::shared::{Outcome, OutputFormat, Shared};

/// Move a SQLite file into a PostgreSQL database, in one transaction: whatever goes wrong leaves
/// the target as it was.
///
/// By default the schema is created, the types chosen by the declared types and every stored value.
/// The result is proved by content digests before it is committed. Programs that write to the file
/// in rollback-journal mode wait meanwhile; in WAL mode they do not.
#[derive(clap::Args)]
pub struct Arguments {
    /// The SQLite file (with --rejects: a reject file)
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
    /// What to do with a row that PostgreSQL would refuse
    #[arg(long, value_enum, default_value_t, env = "CROSSOVER_ON_ERROR")]
    on_error: OnError,
    /// Where refused rows are kept (default: SOURCE.rejects.jsonl)
    #[arg(long, value_name = "FILE", env = "CROSSOVER_REJECT_FILE")]
    reject_file: Option<PathBuf>,
    /// SOURCE is a reject file, repaired: add its rows to the tables that exist
    #[arg(
        long,
        env = "CROSSOVER_REJECTS",
        conflicts_with_all = ["data_only", "replace", "on_error", "reject_file"]
    )]
    rejects: bool,
    /// Do everything but the commit, then undo it
    #[arg(long, env = "CROSSOVER_DRY_RUN")]
    dry_run: bool,
    /// Create the target database if there is none
    #[arg(long, env = "CROSSOVER_CREATE_DATABASE")]
    create_database: bool,
}

/// What to do with a row that PostgreSQL would refuse.
#[derive(Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum OnError {
    /// Name it and change nothing
    #[default]
    Stop,
    /// Keep it, and the rows that refer to it, in the reject file, move the rest and exit 3
    Reject,
}

impl Arguments {
    fn options(&self) -> MigrateOptions {
        let default_file = || {
            let mut name = self.source.as_os_str().to_owned();
            name.push(".rejects.jsonl");
            PathBuf::from(name)
        };
        let rejecting = self.on_error == OnError::Reject;
        MigrateOptions {
            data_only: self.data_only,
            rules: self.choice.rules(),
            selection: self.choice.selection(),
            schema: self.choice.schema.clone(),
            verify: !self.no_verify,
            replace: self.replace,
            dry_run: self.dry_run,
            reject_file: rejecting.then(|| self.reject_file.clone().unwrap_or_else(default_file)),
        }
    }
}

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<Outcome> {
    let runtime = shared.runtime();
    if arguments.create_database {
        let created = runtime.block_on(migrate::create_database(&arguments.target))?;
        if created {
            shared.say(&format!("created the database of {}", arguments.target));
        }
    }
    let options = arguments.options();
    let (source, target) = (&arguments.source, &arguments.target);
    let progress = shared.progress("migrate");
    let interrupted = shared.interrupted();
    let done = if arguments.rejects {
        let loading = migrate::load_rejects(source, target, &options, &progress, interrupted);
        runtime.block_on(loading)
    } else {
        runtime.block_on(migrate::migrate(source, target, &options, &progress, interrupted))
    };
    let report = done?;
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
    let complete = report.after_commit.is_empty() && report.rejected_rows == 0;
    Ok(if complete { Outcome::Done } else { Outcome::Findings })
}

fn csv(report: &MigrationReport) -> String {
    let mut text = String::from("table,rows,kept\n");
    for table in &report.tables {
        let name = table.table.replace('"', "\"\"");
        text.push_str(&format!("\"{name}\",{},{}\n", table.rows, table.kept));
    }
    text
}
