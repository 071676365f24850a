//! `crossover dashboard move`.

use std::time::Instant;

use anyhow::Context as _;
use dashboard::transfer::{Error, MovedDashboard, TableContent, transfer};
use engine::DatabaseUrl;
use serde::Serialize;

use super::database::DatabaseArgument;
use super::in_work;
use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

/// Move a dashboard from SQLite to PostgreSQL, or back
///
/// Everything goes along: articles, traffic, totals, accounts, sessions, API keys. The target gets
/// the whole dashboard or nothing, after every row was compared on both sides; the source stays. A
/// server may go on reading the source; what is written to it meanwhile is not moved, which is said
/// (exit code 3).
#[derive(clap::Args)]
pub struct Arguments {
    /// Where to: a database without a dashboard of the other engine, in the form of --database
    #[arg(value_name = "URL")]
    target: String,
    #[command(flatten)]
    database: DatabaseArgument,
    /// Replace a dashboard that is in the target already, with all its rows and keys
    #[arg(long, env = "CROSSOVER_FORCE")]
    force: bool,
}

/// The proof together with the names of both databases.
#[derive(Serialize)]
struct MoveDocument<'a> {
    source: String,
    target: String,
    #[serde(flatten)]
    moved: &'a MovedDashboard,
}

pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let source = arguments.database.resolve()?;
    let target = arguments.target.parse::<DatabaseUrl>()?;
    let started = Instant::now();
    let moved = in_work(shared, "rows", |work| transfer(&source, &target, arguments.force, work));
    let moved = match moved {
        Err(error @ (Error::BothSqlite { .. } | Error::BothPostgres)) => {
            return Err(Usage(error.to_string()).into());
        }
        Err(error) if error.is_before_commit() => {
            Err(error).with_context(|| format!("{source} was not moved to {target}"))
        }
        moved => Ok(moved?),
    }?;
    match shared.output_format {
        OutputFormat::Json => {
            let (source, target) = (source.to_string(), target.to_string());
            shared.print_json(&MoveDocument { source, target, moved: &moved })?;
        }
        OutputFormat::Csv => shared.print(&notation::csv_table(
            &["table", "rows", "digest"],
            moved
                .tables
                .iter()
                .map(|it| [it.table.to_owned(), it.rows.to_string(), it.digest.clone()]),
        ))?,
        OutputFormat::Text => shared.print(&describe(&moved, &target, started))?,
    }
    if moved.changed.is_empty() {
        return Ok(CommandOutcome::Done);
    }
    shared.say(&format!(
        "the source was written meanwhile ({}), and {target} does not have that; stop what writes \
         there, then move again with --force",
        moved.changed.join(", ")
    ));
    Ok(CommandOutcome::Findings)
}

fn describe(moved: &MovedDashboard, target: &DatabaseUrl, started: Instant) -> String {
    let rows_of = |name: &str| {
        let found = moved.tables.iter().find(|content| content.table == name);
        found.map_or(0, |content| content.rows)
    };
    let all: u64 = moved.tables.iter().map(|content| content.rows).sum();
    let mut table = notation::column_table(["table", "rows", "sha256"], [1], None);
    table.add_rows(moved.tables.iter().map(|content| {
        let TableContent { table, rows, digest } = content;
        let beginning = digest.get(..16).unwrap_or(digest);
        [(*table).to_owned(), notation::thousands(*rows), beginning.to_owned()]
    }));
    format!(
        "moved to {target}: {}, {} of traffic, {} in {}; every row was compared; {:.1} s\n{}",
        notation::counted(rows_of("articles"), "article"),
        notation::counted(rows_of("traffic"), "row"),
        notation::counted(all, "row"),
        notation::counted(moved.tables.len(), "table"),
        started.elapsed().as_secs_f64(),
        notation::drawn(&table),
    )
}
