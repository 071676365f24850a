//! `dashboard import traffic`: files of traffic by day, URL and country. They are read and checked
//! to the end first. Then each day of the files is replaced, with its totals, in a transaction of
//! its own.

mod clash;
mod columns;
mod day_notes;
mod ga4;
mod gather;
mod replaced;
mod spill;
mod totals_row;
mod write;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::DatabaseUrl;
use jiff::Zoned;
use serde::Serialize;

use super::input::InputFile;
use super::matching::ArticleUrls;
use super::owner::Owners;
use super::table::{CsvTable, KnownColumn};
use super::{Error, is_interrupted, log_ahead, open, quote};
use crate::database::{CommandConnection, CommandTransaction};
use crate::query::Day;
use crate::rollup::{self, CommandWork};
use columns::{DateRanges, OtherColumns};
use day_notes::day_notes;
use gather::{CellFault, Gather, RowCells};
use replaced::OwnerPageviews;
use totals_row::{TotalsRow, compare_total, totals_row};
use write::{DayReplacements, TrafficWriter};

pub use replaced::ReplacedDay;

#[derive(Debug, Clone)]
pub struct ImportTraffic {
    /// The files: together they hold the whole of each of their days.
    pub files: Vec<PathBuf>,
    /// Pairs of a column's name in the import and its name in the files.
    pub mapping: Vec<(String, String)>,
    /// Further columns that divide the page views among rows.
    pub adds_up: Vec<String>,
    /// The host of URLs that are paths alone, for example `www.example.com`.
    pub site: Option<String>,
    /// Later days than tomorrow are refused, and today is not over.
    pub now: Zoned,
    /// Whether a file may have no rows.
    pub allow_empty: bool,
    /// Nothing is written.
    pub dry_run: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportedTraffic {
    /// Rows of the files, totals rows left out.
    pub rows: u64,
    pub days: usize,
    pub first_day: Option<Day>,
    pub last_day: Option<Day>,
    /// Rows of the table of traffic that they became.
    pub facts: u64,
    /// Days of blogs that were there before.
    pub replaced: Vec<ReplacedDay>,
    /// Page views of these rows.
    pub pageviews: u64,
    /// URLs that match no article.
    pub unmatched_urls: usize,
    pub unmatched_pageviews: u64,
    /// Warnings.
    pub notes: Vec<String>,
}

/// The columns of a file of traffic, in the order of [`RowCells`].
const COLUMNS: [KnownColumn; 7] = [
    KnownColumn { name: "date", also: &[], required: true },
    KnownColumn {
        name: "url",
        also: &[
            "page",
            "pagepath",
            "pagepathandscreenclass",
            "pagepath+querystring",
            "pagepathplusquerystring",
            "pagelocation",
            "fullpageurl",
        ],
        required: true,
    },
    KnownColumn { name: "host", also: &["hostname"], required: false },
    KnownColumn { name: "country", also: &["countryid", "countrycode"], required: false },
    KnownColumn { name: "pageviews", also: &["views", "screenpageviews"], required: true },
    KnownColumn { name: "sessions", also: &[], required: true },
    KnownColumn {
        name: "engagement_seconds",
        also: &["userengagement", "userengagementduration"],
        required: true,
    },
];

/// The place of the country in [`COLUMNS`].
const COUNTRY: usize = 3;
/// The place of page views in [`COLUMNS`].
const PAGEVIEWS: usize = 4;

/// Imports traffic. `agree` is asked whether days may lose most of their page views, before anything
/// is written. Not to be called from asynchronous code: it blocks.
///
/// # Errors
/// [`Error`]: nothing was imported then, or with [`Error::Interrupted`] the days that it names.
pub fn import_traffic(
    target: &DatabaseUrl,
    wish: &ImportTraffic,
    agree: impl FnOnce(&[ReplacedDay]) -> bool,
    work: CommandWork<'_>,
) -> Result<ImportedTraffic, Error> {
    let mut connection = open(target, work)?;
    check_files(target, &wish.files)?;
    let (version, articles, owners) = connection.write(|transaction| {
        // First, since it keeps other writers waiting.
        let version = rollup::maintain::version(transaction)?;
        Ok::<_, Error>((version, ArticleUrls::read(transaction)?, Owners::read(transaction)?))
    })?;
    let mut gather = Gather::new(&articles, &owners, wish)?;
    let bytes: u64 =
        wish.files.iter().filter_map(|path| path.metadata().ok()).map(|it| it.len()).sum();
    work.progress.set_length(bytes);
    work.progress.set_message("bytes read");
    for path in &wish.files {
        let before = gather.rows;
        let found = read(path, wish, &mut gather, work)?;
        if gather.rows == before && !wish.allow_empty {
            let (path, expected) = (path.clone(), "traffic");
            return Err(Error::Empty { path, found, expected });
        }
    }
    gather.complete();
    let days = gather.check(work)?;
    day_notes(&days, &owners, gather.unfinished_from)
        .into_iter()
        .for_each(|note| gather.note(note));
    let (days, replaced) = connection.read(|it| replacements(it, &owners, &days, work))?;
    let halved: Vec<ReplacedDay> = replaced.iter().filter(|it| it.is_halved()).cloned().collect();
    if wish.dry_run {
        let preview = TrafficWriter::new(gather, version).preview(&days)?;
        return Ok(ImportedTraffic { replaced, ..preview });
    }
    if !halved.is_empty() && !agree(&halved) {
        return Err(Error::Halved { days: halved });
    }
    log_ahead(&mut connection)?;
    // Totals can follow only from where they agree.
    connection.write(|transaction| rollup::rebuild_if_stale(transaction, work))?;
    let mut imported = TrafficWriter::new(gather, version).write(&mut connection, &days, work)?;
    imported.replaced = replaced;
    if let CommandConnection::Postgres(client, runtime) = &connection {
        work.progress.set_message("statistics");
        runtime.block_on(client.batch_execute("ANALYZE traffic"))?;
    }
    Ok(imported)
}

/// The replacement of each day, and the days that were there before.
fn replacements(
    transaction: &CommandTransaction<'_>,
    owners: &Owners,
    days: &BTreeMap<i32, OwnerPageviews>,
    work: CommandWork<'_>,
) -> Result<(DayReplacements, Vec<ReplacedDay>), Error> {
    let (mut replacements, mut replaced) = (DayReplacements::new(), Vec::new());
    for (number, after) in days {
        stop_before_the_first_day(work)?;
        let Some(day) = Day::from_number(*number) else { continue };
        let (replacement, before) = replaced::plan(transaction, owners, day, after)?;
        replacements.push((day, replacement));
        replaced.extend(before);
    }
    Ok((replacements, replaced))
}

/// Refuses the database itself: it is open while files are read, and closing a second descriptor of it
/// would drop SQLite's locks.
fn check_files(target: &DatabaseUrl, files: &[PathBuf]) -> Result<(), Error> {
    let DatabaseUrl::Sqlite(database) = target else { return Ok(()) };
    match files.iter().find(|file| connect::sqlite::file::is_part_of(file, database)) {
        Some(file) => Err(Error::file(file, "it is the database itself; name a file with traffic")),
        None => Ok(()),
    }
}

/// Reads one file, whichever form it has; what it has where it has no rows.
fn read(
    path: &Path,
    wish: &ImportTraffic,
    gather: &mut Gather<'_>,
    work: CommandWork<'_>,
) -> Result<&'static str, Error> {
    let input = InputFile::open(path)?;
    let name = input.name.as_path();
    if ga4::is_json(&input)? {
        gather.begin_file(name, false);
        return ga4::read(&input, wish, gather, work);
    }
    gather.begin_file(name, true);
    let mut table = CsvTable::open(&input)?;
    let columns = table.columns(&COLUMNS, &wish.mapping)?;
    if columns[COUNTRY].is_none() {
        gather
            .note(format!("{}: it has no countries: its traffic is of none (ZZ)", name.display()));
    }
    let width = table.header.len();
    let others = (0..width).filter(|place| !columns.contains(&Some(*place)));
    let others = OtherColumns::find(name, &table.header, others, &wish.adds_up)?;
    let mut ranges = DateRanges::default();
    let mut total = None;
    let mut ends_with_total = false;
    let before = gather.pageviews();
    while let Some(line) = table.advance()? {
        if line % 4096 == 0 {
            stop_before_the_first_day(work)?;
        }
        match totals_row(&table, &columns)? {
            None => {}
            Some(TotalsRow::Total(pageviews)) => {
                total = total.or(Some(pageviews));
                ends_with_total = true;
                continue;
            }
            Some(TotalsRow::Unreadable(cell)) => {
                gather.note(unreadable_total(name, line, &cell));
                continue;
            }
        }
        ends_with_total = false;
        if table.cells() != width && !(table.cells() == width + 1 && table.bytes(width).is_empty())
        {
            return Err(table.width_error());
        }
        let mut cells: RowCells<'_> = [""; COLUMNS.len()];
        for (cell, column) in cells.iter_mut().zip(columns) {
            if let Some(column) = column {
                *cell = table.text(column)?;
            }
        }
        let is_filled = |place: &&usize| !table.bytes(**place).trim_ascii().is_empty();
        if let Some(unnamed) = others.unnamed.iter().find(is_filled) {
            return Err(table.cell_error(*unnamed, "the header gives the column no name"));
        }
        if let Some(range) = others.date_range {
            let taken = ranges.take(cells[0], table.text(range)?);
            taken.map_err(|problem| table.cell_error(range, problem))?;
        }
        let dividing = others.dividing.iter().map(|other| table.bytes(*other));
        gather.add(&cells, dividing, line).map_err(|fault| {
            let CellFault { column, problem } = fault;
            table.cell_error(columns.get(column).copied().flatten().unwrap_or(0), problem)
        })?;
    }
    let found = gather.pageviews() - before;
    compare_total(name, total, found, gather)?;
    // A total that equals the sum of the rows proves page views alone, and a cut is in the last cell.
    let proves_the_last = ends_with_total || columns[PAGEVIEWS] == width.checked_sub(1);
    let is_proved = proves_the_last && total == Some(found);
    if !table.ends_whole() && !is_proved {
        return Err(table.cut_error());
    }
    work.progress.inc(path.metadata().map_or(0, |it| it.len()));
    Ok(if total.is_some() { "a header and a totals row" } else { "a header alone" })
}

fn unreadable_total(path: &Path, line: u64, cell: &str) -> String {
    let path = path.display();
    format!(
        "{path}, line {line}: its totals row has {} for page views, which is not a whole number: the \
         rows were not compared with it",
        if cell.trim().is_empty() {
            "nothing".to_owned()
        } else {
            format!("`{}`", quote::name(cell))
        }
    )
}

/// Until the first day is written, an interruption changes nothing.
fn stop_before_the_first_day(work: CommandWork<'_>) -> Result<(), Error> {
    if is_interrupted(work) { Err(Error::Interrupted { days: 0, of: 0 }) } else { Ok(()) }
}

impl From<spill::Temporary> for Error {
    fn from(spill::Temporary(reason): spill::Temporary) -> Self {
        Self::Temporary(reason)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use indicatif::ProgressBar;

    use super::*;
    use crate::import::{ImportArticles, import_articles};

    /// One of them may be the article that a URL is of.
    #[test]
    fn articles_imported_during_the_reading_end_the_import() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let path = folder.path().join("test.db");
        crate::schema::create_sqlite(&mut connect::sqlite::create(&path).unwrap()).unwrap();
        let target = DatabaseUrl::Sqlite(path);
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let (progress, interrupted) = (ProgressBar::hidden(), Arc::new(AtomicBool::new(false)));
        let work = CommandWork {
            runtime: runtime.handle(),
            progress: &progress,
            interrupted: &interrupted,
        };
        let traffic = "date,url,country,pageviews,sessions,engagement_seconds\n\
                       2021-01-01,https://example.com/one,DE,1,1,1\n";
        let wish = ImportTraffic {
            files: vec![write("t.csv", traffic)],
            mapping: Vec::new(),
            adds_up: Vec::new(),
            site: None,
            now: "2021-01-02T12:00:00[UTC]".parse().unwrap(),
            allow_empty: false,
            dry_run: false,
        };
        let mut connection = open(&target, work).unwrap();
        let (articles, owners, version) = connection
            .write(|it| {
                let version = rollup::maintain::version(it)?;
                Ok::<_, Error>((ArticleUrls::read(it)?, Owners::read(it)?, version))
            })
            .unwrap();
        let mut gather = Gather::new(&articles, &owners, &wish).unwrap();
        read(&wish.files[0], &wish, &mut gather, work).unwrap();
        let article = "url,title,published\nhttps://example.com/one,One,2020-01-01\n";
        let article = ImportArticles {
            file: write("a.csv", article),
            mapping: Vec::new(),
            today: Day::of(&wish.now),
            allow_empty: false,
            dry_run: false,
        };
        import_articles(&target, &article, work).unwrap();
        let days = gather.check(work).unwrap();
        let (days, _) = connection.read(|it| replacements(it, &owners, &days, work)).unwrap();
        let written = TrafficWriter::new(gather, version).write(&mut connection, &days, work);
        assert!(matches!(written, Err(Error::Changed { days: 0 })), "{written:?}");
        let again = import_traffic(&target, &wish, |_| true, work).unwrap();
        assert_eq!((again.facts, again.unmatched_urls), (1, 0));
    }
}
