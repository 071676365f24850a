//! `crossover dashboard generate`.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Instant;

use dashboard::generate::{DatasetOptions, Error, Summary, generate};
use dashboard::query::Day;
use engine::DatabaseUrl;
use serde::Serialize;

use super::database::DatabaseArgument;
use crate::flag::{non_zero, scale};
use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

/// Fill a new database with the reference dataset; prints the digest of its rows.
///
/// The same seed, period and numbers give the same rows and the same digest on every machine, in
/// SQLite and in PostgreSQL.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    database: DatabaseArgument,
    /// Multiply articles and rows: 0.1 makes 800 articles and 650,000 rows
    #[arg(long, default_value_t = 1.0, value_parser = scale, env = "CROSSOVER_SCALE")]
    scale: f64,
    /// Number of articles [default: 8,000 x scale]
    #[arg(long, value_name = "N", value_parser = non_zero::<NonZeroU32>, env = "CROSSOVER_ARTICLES")]
    articles: Option<NonZeroU32>,
    /// Number of rows of traffic: 500000, 500K or 2M [default: 6,500,000 x scale]
    #[arg(long, value_name = "N", value_parser = non_zero::<NonZeroU64>, env = "CROSSOVER_ROWS")]
    rows: Option<NonZeroU64>,
    /// First day of traffic [default: 2020-04-01]
    #[arg(long, value_name = "DATE", value_parser = day, env = "CROSSOVER_START")]
    start: Option<Day>,
    /// Last day of traffic [default: 2022-06-26]
    #[arg(long, value_name = "DATE", value_parser = day, env = "CROSSOVER_END")]
    end: Option<Day>,
    /// Other rows for every number [default: 1]
    #[arg(long, value_name = "N", env = "CROSSOVER_SEED")]
    seed: Option<u64>,
    /// Declare slug and uuid as the article's author found them in the SQLite file
    #[arg(long, env = "CROSSOVER_AS_FOUND")]
    as_found: bool,
    /// Replace a dashboard that is there already, with all its rows and keys
    #[arg(long, env = "CROSSOVER_FORCE")]
    force: bool,
}

fn day(text: &str) -> Result<Day, String> {
    text.parse().map_err(|()| "write a date as 2021-01-31".to_owned())
}

impl Arguments {
    fn wish(&self) -> DatasetOptions {
        let reference = DatasetOptions::scaled(self.scale);
        DatasetOptions {
            articles: self.articles.map_or(reference.articles, NonZeroU32::get),
            rows: self.rows.map_or(reference.rows, NonZeroU64::get),
            start: self.start.unwrap_or(reference.start),
            end: self.end.unwrap_or(reference.end),
            seed: self.seed.unwrap_or(reference.seed),
            as_found: self.as_found,
            replace: self.force,
        }
    }
}

/// The summary together with where it was written.
#[derive(Serialize)]
struct WrittenDatabase<'a> {
    database: String,
    #[serde(flatten)]
    summary: &'a Summary,
}

pub fn run(arguments: Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let database = arguments.database.resolve()?;
    let started = Instant::now();
    let progress = shared.progress("generate");
    let runtime = shared.runtime().handle();
    let written = generate(&database, &arguments.wish(), runtime, &progress, shared.interrupted());
    progress.finish_and_clear();
    let summary = written.map_err(|error| match error {
        Error::Articles { .. }
        | Error::EndBeforeStart { .. }
        | Error::Rows { .. }
        | Error::AsFoundPostgres => anyhow::Error::new(Usage(error.to_string())),
        error => error.into(),
    })?;
    shared.say(&describe(&summary, &database, started));
    match shared.output_format {
        OutputFormat::Json => {
            let database = database.to_string();
            shared.print_json(&WrittenDatabase { database, summary: &summary })?;
        }
        OutputFormat::Text | OutputFormat::Csv => shared.print(&format!("{}\n", summary.digest))?,
    }
    Ok(CommandOutcome::Done)
}

fn describe(summary: &Summary, database: &DatabaseUrl, started: Instant) -> String {
    let size = summary
        .file_bytes
        .map_or_else(String::new, |bytes| format!(", {}", notation::bytes(bytes)));
    let as_found = match summary.as_found {
        true => format!(
            "\nas found: articles.uuid is declared integer, but holds UUID texts; articles.slug is \
             declared varchar(256), but {} slugs are longer",
            summary.long_slugs
        ),
        false => String::new(),
    };
    format!(
        "{} articles and {} rows from {} to {}, seed {}, in {database}{size}; {:.1} s{as_found}",
        notation::thousands(summary.articles),
        notation::thousands(summary.rows),
        summary.start,
        summary.end,
        summary.seed,
        started.elapsed().as_secs_f64(),
    )
}
