//! `crossover dashboard import articles|traffic|unmatched`.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use dashboard::import::{
    self, ImportArticles, ImportTraffic, ImportedArticles, ImportedTraffic, ReplacedDay, Unmatched,
};
use dashboard::query::Day;
use jiff::Zoned;
use notation::{column_table, counted, csv_table, drawn};
use serde_json::json;

use super::database::DatabaseArgument;
use super::{in_work, replaced};
use crate::shared::{CommandOutcome, OutputFormat, Shared, Usage};

#[derive(clap::Subcommand)]
pub enum Command {
    Articles(Articles),
    Traffic(Traffic),
    Unmatched(UnmatchedArguments),
}

/// Add articles, or bring known ones up to date, by UUID or URL: all of the file or nothing.
///
/// CSV with a header, a JSON array of objects, an object on each line, a feed (RSS, Atom), or WordPress's
/// export; also packed by gzip or alone in a ZIP archive. Columns: url, title,
/// published; uuid, slug, blog, author, team, product, language, human_language, original (the
/// UUID or URL of the article that this one translates).
#[derive(clap::Args)]
pub struct Articles {
    /// The file to import; - is standard input
    file: PathBuf,
    #[command(flatten)]
    reading: ImportReading,
    #[command(flatten)]
    database: DatabaseArgument,
}

/// Replace the traffic of blogs' days by what files say of them; one transaction for each day.
///
/// CSV with a header (date, url, country, pageviews, sessions, engagement_seconds, also by the names
/// that Google Analytics 4 gives them in its exports), or saved answers of its Data API (runReport,
/// batchRunReports). A column that may repeat page views, as segments do, refuses the file. All
/// files together hold the whole of each day of the blogs that they have rows of; days of other blogs
/// stay. It is said which days were there before, with their page views before and after. Traffic of URLs that
/// match no article is stored: see `import unmatched`.
#[derive(clap::Args)]
pub struct Traffic {
    /// The files to import; - is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The host of URLs that are paths alone, such as www.example.com; otherwise a path is that of
    /// the only article that has it
    #[arg(long, value_name = "HOST", env = "CROSSOVER_SITE")]
    site: Option<String>,
    /// A further column that divides the page views among rows, each view in one row only; rows that
    /// differ in it are added up; `url`: so are spellings of one URL in several files; repeatable
    #[arg(long, value_name = "COLUMN", env = "CROSSOVER_ADDS_UP", value_delimiter = ';')]
    adds_up: Vec<String>,
    /// Do not ask where 100 page views or more of a day, or of its articles, fall to less than half
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    reading: ImportReading,
    #[command(flatten)]
    database: DatabaseArgument,
}

/// List the URLs with the most traffic that match no article
#[derive(clap::Args)]
pub struct UnmatchedArguments {
    /// The most entries that are listed
    #[arg(long, value_name = "N", default_value_t = 20, env = "CROSSOVER_LIMIT")]
    limit: usize,
    #[command(flatten)]
    database: DatabaseArgument,
}

#[derive(clap::Args)]
struct ImportReading {
    /// A column by the name that the file gives it; repeatable
    #[arg(
        long = "map",
        value_name = "NAME=COLUMN",
        value_parser = mapped,
        env = "CROSSOVER_MAP",
        value_delimiter = ';'
    )]
    mapping: Vec<(String, String)>,
    /// Accept a file without rows (a scheduled export may be empty)
    #[arg(long, env = "CROSSOVER_ALLOW_EMPTY")]
    allow_empty: bool,
    /// Check everything and say what would come in; change nothing
    #[arg(long, env = "CROSSOVER_DRY_RUN")]
    dry_run: bool,
}

fn mapped(text: &str) -> Result<(String, String), &'static str> {
    let (name, column) = text.split_once('=').ok_or("write NAME=COLUMN")?;
    Ok((name.trim().to_owned(), column.trim().to_owned()))
}

pub fn run(command: Command, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    match command {
        Command::Articles(arguments) => articles(arguments, shared),
        Command::Traffic(arguments) => traffic(arguments, shared),
        Command::Unmatched(arguments) => unmatched(&arguments, shared),
    }
}

fn say_if_dry(reading: &ImportReading, shared: &Shared) {
    if reading.dry_run {
        shared.say("dry run: nothing is changed; this would come in");
    }
}

fn articles(arguments: Articles, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let database = arguments.database.resolve()?;
    let wish = ImportArticles {
        file: arguments.file,
        mapping: arguments.reading.mapping.clone(),
        today: Day::of(&Zoned::now()),
        allow_empty: arguments.reading.allow_empty,
        dry_run: arguments.reading.dry_run,
    };
    say_if_dry(&arguments.reading, shared);
    let imported =
        in_work(shared, "articles", |work| import::import_articles(&database, &wish, work))
            .map_err(refused)?;
    let ImportedArticles {
        added,
        changed,
        unchanged,
        joined_names,
        matched_pageviews,
        matched_days,
    } = imported;
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&imported)?,
        OutputFormat::Text | OutputFormat::Csv => {
            shared.print(&format!("{added} added, {changed} changed, {unchanged} unchanged\n"))?;
        }
    }
    if joined_names > 0 {
        let names = if joined_names == 1 { "name was" } else { "names were" };
        shared.say(&format!(
            "{joined_names} {names} joined with another spelling of the same name; the oldest stays"
        ));
    }
    if matched_days > 0 {
        let pageviews = notation::thousands(matched_pageviews.unsigned_abs());
        shared.say(&format!(
            "{pageviews} page views of {} had waited for these articles",
            counted(matched_days, "day")
        ));
    }
    Ok(CommandOutcome::Done)
}

fn traffic(arguments: Traffic, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let database = arguments.database.resolve()?;
    let wish = ImportTraffic {
        files: arguments.files,
        mapping: arguments.reading.mapping.clone(),
        adds_up: arguments.adds_up,
        site: arguments.site,
        now: Zoned::now(),
        allow_empty: arguments.reading.allow_empty,
        dry_run: arguments.reading.dry_run,
    };
    say_if_dry(&arguments.reading, shared);
    let imported = in_work(shared, "traffic", |work| {
        let agree = |halved: &[ReplacedDay]| {
            arguments.yes || work.progress.suspend(|| agreed(halved, shared))
        };
        import::import_traffic(&database, &wish, agree, work)
    })
    .map_err(refused)?;
    imported.notes.iter().for_each(|note| shared.say(&format!("note: {note}")));
    replaced::lines(&imported.replaced).iter().for_each(|line| shared.say(line));
    if imported.unmatched_urls > 0 {
        shared.say(&format!(
            "{} page views of {} URLs match no article; they are stored; see \
             `crossover dashboard import unmatched`",
            notation::thousands(imported.unmatched_pageviews),
            notation::thousands(imported.unmatched_urls)
        ));
    }
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&imported)?,
        OutputFormat::Text | OutputFormat::Csv => shared.print(&described(&imported))?,
    }
    Ok(CommandOutcome::Done)
}

/// Whether the user at the terminal wants days that lose most of their page views; without a terminal
/// the import fails and says what to add.
fn agreed(halved: &[ReplacedDay], shared: &Shared) -> bool {
    let question = "These days fall to less than half: import them?";
    std::io::stdin().is_terminal()
        && shared.confirm(&replaced::lines(halved), question).unwrap_or(false)
}

fn described(imported: &ImportedTraffic) -> String {
    let period = match (imported.first_day, imported.last_day) {
        (Some(first), Some(last)) => format!(" from {first} to {last}"),
        _ => String::new(),
    };
    format!(
        "{} read, {} imported{period}, {}\n",
        counted(imported.rows, "row"),
        counted(imported.days, "day"),
        counted(imported.pageviews, "page view")
    )
}

fn unmatched(arguments: &UnmatchedArguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let database = arguments.database.resolve()?;
    let (urls, count) =
        in_work(shared, "unmatched", |work| import::unmatched(&database, arguments.limit, work))
            .map_err(refused)?;
    match shared.output_format {
        OutputFormat::Json => shared.print_json(&json!({"url_count": count, "urls": urls}))?,
        OutputFormat::Csv => shared.print(&csv(&urls))?,
        OutputFormat::Text => {
            let header = ["pageviews", "sessions", "first day", "last day", "url"];
            let mut table = column_table(header, [0, 1], None);
            for url in &urls {
                table.add_row([
                    notation::thousands(url.pageviews.unsigned_abs()),
                    notation::thousands(url.sessions.unsigned_abs()),
                    url.first_day.to_string(),
                    url.last_day.to_string(),
                    url.url.clone(),
                ]);
            }
            shared.print(&drawn(&table))?;
        }
    }
    if urls.len() < count {
        shared.say(&format!("{} of {count} URLs; --limit shows more", urls.len()));
    }
    Ok(CommandOutcome::Done)
}

fn csv(urls: &[Unmatched]) -> String {
    let row = |url: &Unmatched| {
        let Unmatched { url, pageviews, sessions, first_day, last_day } = url;
        let counts = [pageviews, sessions].map(ToString::to_string);
        let days = [first_day, last_day].map(ToString::to_string);
        [&[url.clone()][..], &counts, &days].concat()
    };
    let header = ["url", "pageviews", "sessions", "first_day", "last_day"];
    csv_table(&header, urls.iter().map(row))
}

/// A mistake of the user's is one of usage.
fn refused(error: import::Error) -> anyhow::Error {
    match error {
        error if error.is_usage() => Usage(error.to_string()).into(),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_cells_break_no_line_and_run_in_no_spreadsheet() {
        let day: Day = "2021-01-31".parse().unwrap();
        let url = |url: &str| Unmatched {
            url: url.to_owned(),
            pageviews: 2,
            sessions: 1,
            first_day: day,
            last_day: day,
        };
        let expected = "url,pageviews,sessions,first_day,last_day\n\
                        \"a.b/\"\"c\"\",d\",2,1,2021-01-31,2021-01-31\n\
                        '=1+1,2,1,2021-01-31,2021-01-31\n";
        assert_eq!(csv(&[url("a.b/\"c\",d"), url("=1+1")]), expected);
    }
}
