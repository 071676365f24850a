//! Data for the dashboard's experiment: the reference dataset, generated once and kept, or a
//! file of the user's.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dashboard::generate::{DatasetOptions, generate};
use dashboard::schema::VERSION;
use engine::DatabaseUrl;
use server::Locations;

use crate::shared::Shared;

#[derive(Clone, Copy, Debug)]
pub struct ReferenceData {
    pub scale: f64,
}

/// The file of a reference dataset; generated where it is not there yet.
pub fn reference(
    data: ReferenceData,
    locations: &Locations,
    shared: &Shared,
) -> anyhow::Result<PathBuf> {
    let options = DatasetOptions::scaled(data.scale);
    let folder = locations.data.join("datasets");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    // That of an older schema would be refused by the dashboard that serves it.
    let name = format!("reference-{}-seed-{}-version-{VERSION}.db", data.scale, options.seed);
    let path = folder.join(name);
    if path.is_file() {
        return Ok(path);
    }
    shared.say(&format!("generating the reference dataset once, kept as {}", path.display()));
    let progress = shared.progress("rows");
    let target = DatabaseUrl::Sqlite(path.clone());
    let runtime = shared.runtime().handle();
    generate(&target, &options, runtime, &progress, shared.interrupted())?;
    progress.finish_and_clear();
    Ok(path)
}

/// Contents of a dashboard's file: for the first line of a report, and to refuse a period of which
/// nothing would be measured but empty answers.
pub struct FileContents {
    articles: i64,
    rows: i64,
    first_day: i64,
    last_day: i64,
}

impl FileContents {
    /// Counts articles and rows of traffic.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let connection = connect::sqlite::open_read_only(path)?;
        let statement = "SELECT (SELECT count(*) FROM articles), count(*), min(day), max(day) \
                         FROM traffic";
        let read = connection.query_row(statement, [], |row| {
            Ok(Self {
                articles: row.get(0)?,
                rows: row.get(1)?,
                first_day: row.get(2)?,
                last_day: row.get(3)?,
            })
        });
        read.with_context(|| {
            format!(
                "{} holds no dashboard with traffic; fill one with `crossover dashboard generate`",
                path.display()
            )
        })
    }

    /// `8,000 articles, 6,500,000 daily rows`.
    pub fn describe(&self) -> String {
        let [articles, rows] =
            [self.articles, self.rows].map(|n| notation::thousands(n.unsigned_abs()));
        format!("{articles} articles, {rows} daily rows")
    }

    /// Refuses a first day outside the data.
    pub fn check_start(&self, start: &str) -> anyhow::Result<()> {
        let epoch = jiff::civil::date(1970, 1, 1);
        let day = |number: i64| epoch.checked_add(jiff::ToSpan::days(number));
        let (first, last) = (day(self.first_day)?, day(self.last_day)?);
        let start: jiff::civil::Date = start.parse()?;
        if start < first || start > last {
            let text = format!("--start {start}: the data lies between {first} and {last}");
            return Err(crate::shared::Usage(text).into());
        }
        Ok(())
    }
}

/// The blog with most articles in a dashboard's SQLite file.
pub fn largest_blog(path: &Path) -> anyhow::Result<String> {
    let connection = connect::sqlite::open_read_only(path)?;
    let statement = "SELECT blogs.name FROM articles JOIN blogs ON blogs.id = articles.blog_id \
                     GROUP BY blogs.id ORDER BY count(*) DESC, blogs.name LIMIT 1";
    connection.query_row(statement, [], |row| row.get(0)).with_context(|| {
        format!(
            "{} holds no dashboard with articles; fill one with `crossover dashboard generate`",
            path.display()
        )
    })
}
