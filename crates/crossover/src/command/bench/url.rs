//! The article's load on a server by its URL: averages per URL and the total query average.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context as _;
use jiff::civil::Date;
use lab::article::{ArticleLoad, ArticleResult, UrlAverage, measure};
use notation::{column_table, drawn};

use crate::command::secret;
use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

/// The article's script waits for curl, which waits as long as it takes.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(600);

/// The load of the command line.
pub struct UrlLoad {
    pub url: String,
    pub key_file: Option<PathBuf>,
    pub clients: Option<NonZeroU16>,
    pub start: Option<String>,
    pub end: Option<String>,
    pub blog: Option<String>,
    pub seed: Option<u64>,
}

/// Sends the load once and prints the averages.
pub fn run(load: &UrlLoad, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let load = ArticleLoad {
        url: load.url.clone(),
        key: secret::key(load.key_file.as_deref())?,
        clients: load.clients.or(NonZeroU16::new(2)).context("at least one client is needed")?,
        start: day(load.start.as_deref().unwrap_or("2021-01-01"), "--start")?,
        end: day(load.end.as_deref().unwrap_or("2021-12-31"), "--end")?,
        blog: load.blog.clone(),
        seed: load.seed.unwrap_or_else(|| u64::from(std::process::id())),
        timeout: REQUEST_TIMEOUT,
    };
    let result = measure(&load, shared.interrupted())?;
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&result)?,
        OutputFormat::Text => shared.print(&text(&result))?,
        OutputFormat::Csv => shared.print(&csv(&result))?,
    }
    Ok(if result.failures == 0 { CommandOutcome::Done } else { CommandOutcome::Findings })
}

fn day(text: &str, flag: &str) -> anyhow::Result<Date> {
    text.parse().map_err(|_| {
        Usage(format!("{flag}: `{text}` is not a date; write it as 2021-01-01")).into()
    })
}

fn text(result: &ArticleResult) -> String {
    let mut table = column_table(["URL", "Requests", "Mean, ms", "Failures"], 1..=3, None);
    for url in &result.requests {
        table.add_row([
            url.path.clone(),
            url.requests.to_string(),
            mean(url.response_time_ms_mean),
            url.failures.len().to_string(),
        ]);
    }
    let failed = result.requests.iter().filter_map(|url| Some((url, *url.failures.first()?)));
    let failed: String = failed
        .map(|(url, first)| format!("failed: {}: {}\n", url.path, record::describe(first)))
        .collect();
    format!(
        "Total query average: {} ms\n\
         {} clients, {} to {}, blog {}, seed {}; one pass, a connection per request\n\
         {failed}\n{}",
        mean(result.response_time_ms_mean),
        result.clients,
        result.start,
        result.end,
        result.blog,
        result.seed,
        drawn(&table),
    )
}

fn csv(result: &ArticleResult) -> String {
    let line = |url: &UrlAverage| {
        let mean = url.response_time_ms_mean.map(|mean| mean.to_string()).unwrap_or_default();
        [url.path.clone(), url.requests.to_string(), mean, url.failures.len().to_string()]
    };
    let header = ["path", "requests", "response_time_ms_mean", "failures"];
    notation::csv_table(&header, result.requests.iter().map(line))
}

fn mean(value: Option<f64>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| format!("{value:.1}"))
}
