//! `dashboard generate`: the reference dataset, into either engine.
//!
//! One thread makes the rows and their digest, the caller's thread writes them, a few days of
//! traffic lie between the two. So memory does not depend on the number of rows.

mod article;
mod articles;
mod dataset;
mod digest;
mod postgres;
mod quota;
mod random;
mod sqlite;
#[cfg(test)]
mod tests;
mod title;
mod traffic;
mod vocabulary;
mod zipf;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::DatabaseUrl;
use indicatif::ProgressBar;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use crate::database::{self, from_clients};
use crate::query::Day;
use crate::rollup::{self, CommandWork};
use crate::{new_file, schema};
use dataset::{GeneratedDataset, small_tables};
use digest::Digest;
use traffic::{Fact, TrafficModel};

/// Which rows to make, and how to write them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetOptions {
    pub articles: u32,
    /// Number of rows of traffic, exactly.
    pub rows: u64,
    pub start: Day,
    pub end: Day,
    /// The same seed gives the same rows, on every machine and in either engine.
    pub seed: u64,
    /// Declare `articles.uuid` and `articles.slug` as the author of the article found them in the
    /// own SQLite file. The rows are the same; four slugs are longer than the declaration says.
    pub as_found: bool,
    /// Replace a dashboard that is there already, with all its rows and keys.
    pub replace: bool,
}

impl Default for DatasetOptions {
    fn default() -> Self {
        Self {
            articles: 8_000,
            rows: 6_500_000,
            start: Day::constant(2020, 4, 1),
            end: Day::constant(2022, 6, 26),
            seed: 1,
            as_found: false,
            replace: false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// SHA-256 over all rows of all tables; equal digests mean equal rows.
    pub digest: String,
    pub articles: u32,
    /// Number of rows of traffic.
    pub rows: u64,
    pub start: Day,
    pub end: Day,
    pub seed: u64,
    /// Whether the declarations are those of the article's author.
    pub as_found: bool,
    /// Slugs longer than the 256 characters that are declared as found: four, unless there are
    /// fewer English articles.
    pub long_slugs: usize,
    /// Size of the SQLite file; None for PostgreSQL.
    pub file_bytes: Option<u64>,
}

/// Why no dataset was written. Nothing is left behind then.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No article, or more than the ids can number.
    #[error("{articles} articles cannot be made; ask for 1 to {MOST_ARTICLES}")]
    Articles { articles: u32 },
    #[error("the end {end} is before the start {start}; exchange them")]
    EndBeforeStart { start: Day, end: Day },
    /// There are fewer triples of day, published article and country.
    #[error(
        "{rows} rows cannot exist: {articles} articles from {start} to {end} have at most {most}; \
         ask for fewer rows, more articles or a longer period"
    )]
    Rows { rows: u64, articles: u32, start: Day, end: Day, most: u64 },
    /// PostgreSQL does not take what SQLite takes.
    #[error(
        "only SQLite can hold the data as found; name a sqlite:// database, or leave out --as-found"
    )]
    AsFoundPostgres,
    /// The user asked to stop.
    #[error("interrupted; nothing was written")]
    Interrupted,
    /// The new file cannot be made.
    #[error(transparent)]
    NewFile(#[from] new_file::Error),
    /// The schema cannot be made, or is not ours to replace.
    #[error(transparent)]
    Schema(#[from] schema::Error),
    #[error(transparent)]
    Database(#[from] database::Error),
    /// The totals cannot be made.
    #[error(transparent)]
    Totals(rollup::Error),
    /// The rows are there, but not their totals.
    #[error(
        "the rows were written, their totals were not ({reason}); make them with \
         `crossover dashboard rollup rebuild`"
    )]
    WithoutTotals { reason: rollup::Error },
}

impl From<rollup::Error> for Error {
    fn from(error: rollup::Error) -> Self {
        match error {
            rollup::Error::Interrupted => Self::Interrupted,
            rollup::Error::Database(error) => error.into(),
            error => Self::Totals(error),
        }
    }
}

from_clients!(Error);

/// So that the ids of articles, and the rows of a day, stay far below 2^31.
const MOST_ARTICLES: u32 = 10_000_000;

/// Days of facts made ahead of the writer.
const DAYS_AHEAD: usize = 4;

/// Everything a writer needs but the facts.
struct GenerateJob<'a> {
    generate: &'a DatasetOptions,
    dataset: &'a GeneratedDataset,
    progress: &'a ProgressBar,
    interrupted: &'a Arc<AtomicBool>,
}

impl GenerateJob<'_> {
    fn go_on(&self) -> Result<(), Error> {
        if self.interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

/// Writes a dataset into a new SQLite file or into a PostgreSQL database without rows,
/// whole or not at all. Not to be called from asynchronous code: it blocks.
///
/// # Errors
/// [`Error`] says which; what was there before is then untouched.
pub fn generate(
    target: &DatabaseUrl,
    generate: &DatasetOptions,
    runtime: &Handle,
    progress: &ProgressBar,
    interrupted: &Arc<AtomicBool>,
) -> Result<Summary, Error> {
    generate.check(target)?;
    let dataset = GeneratedDataset::new(generate);
    generate.check_rows(&dataset)?;
    let traffic = TrafficModel::new(generate, &dataset.articles);
    progress.set_length(generate.rows);
    let job = GenerateJob { generate, dataset: &dataset, progress, interrupted };
    let (sender, receiver) = mpsc::channel(DAYS_AHEAD);
    let (digest, written) = std::thread::scope(|scope| {
        let digest = scope.spawn(|| make_facts(&dataset, &traffic, sender));
        let written = match target {
            DatabaseUrl::Sqlite(path) => sqlite::write(&job, path, receiver).map(Some),
            DatabaseUrl::Postgres(url) => {
                runtime.block_on(postgres::write(&job, url, receiver)).map(|()| None)
            }
        };
        (digest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), written)
    });
    let file_bytes = written?;
    if matches!(target, DatabaseUrl::Postgres(_)) {
        rollup::rebuild(target, CommandWork { runtime, progress, interrupted })
            .map_err(|reason| Error::WithoutTotals { reason })?;
    }
    Ok(Summary {
        digest,
        articles: generate.articles,
        rows: generate.rows,
        start: generate.start,
        end: generate.end,
        seed: generate.seed,
        as_found: generate.as_found,
        long_slugs: dataset.articles.iter().filter(|article| article.subject.is_long).count(),
        file_bytes,
    })
}

/// Sends the facts day by day, until the receiver is gone; the digest of all that was made.
fn make_facts(
    dataset: &GeneratedDataset,
    traffic: &TrafficModel<'_>,
    days: mpsc::Sender<Vec<Fact>>,
) -> String {
    let mut digest = dataset.digest();
    traffic.each_day(|facts| {
        digest.facts(&facts);
        match days.blocking_send(facts) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    digest.finish()
}

impl GeneratedDataset {
    /// Of everything but the facts.
    fn digest(&self) -> Digest {
        let mut digest = Digest::new();
        for table in small_tables() {
            digest.table(table);
            self.rows(table).for_each(|row| digest.row(&row));
        }
        digest.table(schema::Table::Traffic);
        digest
    }
}

impl DatasetOptions {
    /// The reference dataset made smaller or larger: articles and rows are multiplied by `scale`.
    #[must_use]
    pub fn scaled(scale: f64) -> Self {
        let reference = Self::default();
        Self {
            articles: (f64::from(reference.articles) * scale).round().max(1.0) as u32,
            rows: (reference.rows as f64 * scale).round() as u64,
            ..reference
        }
    }

    /// First and last day, as numbers.
    fn days(&self) -> (i32, i32) {
        (self.start.number(), self.end.number())
    }

    fn check(&self, target: &DatabaseUrl) -> Result<(), Error> {
        if !(1..=MOST_ARTICLES).contains(&self.articles) {
            return Err(Error::Articles { articles: self.articles });
        }
        if self.end < self.start {
            return Err(Error::EndBeforeStart { start: self.start, end: self.end });
        }
        if self.as_found && matches!(target, DatabaseUrl::Postgres(_)) {
            return Err(Error::AsFoundPostgres);
        }
        Ok(())
    }

    fn check_rows(&self, dataset: &GeneratedDataset) -> Result<(), Error> {
        let most = traffic::most_rows(self, &dataset.articles);
        if self.rows > most {
            return Err(Error::Rows {
                rows: self.rows,
                articles: self.articles,
                start: self.start,
                end: self.end,
                most,
            });
        }
        Ok(())
    }
}
