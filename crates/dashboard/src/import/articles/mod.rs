//! `dashboard import articles`: a file of articles, in one transaction. Articles known by UUID or
//! URL are updated; new authors, teams, products and languages are added; unmatched traffic of the
//! articles becomes facts.

mod cell;
mod feed;
mod names;
mod read;
mod rematch;
mod write;

use std::path::PathBuf;

use engine::DatabaseUrl;
use serde::Serialize;

use super::{Error, open};
use crate::query::Day;
use crate::rollup::{self, CommandWork};

#[derive(Debug, Clone)]
pub struct ImportArticles {
    /// CSV, a JSON array of objects, an object on each line, RSS, Atom, or WordPress's export.
    pub file: PathBuf,
    /// Pairs of a column's name in the import and its name in the file.
    pub mapping: Vec<(String, String)>,
    /// Traffic of this day and later ones that waited is a part of its day.
    pub today: Day,
    /// Whether the file may have no rows.
    pub allow_empty: bool,
    /// Nothing of it stays.
    pub dry_run: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportedArticles {
    /// Articles that were not there before.
    pub added: usize,
    /// Articles of which something was changed.
    pub changed: usize,
    /// Articles that were there as the file has them.
    pub unchanged: usize,
    /// Spellings stored by earlier programs that are one name with another.
    pub joined_names: usize,
    /// Page views that waited for one of them.
    pub matched_pageviews: i64,
    /// The days that they belong to.
    pub matched_days: usize,
}

/// Imports articles. Not to be called from asynchronous code: it blocks.
///
/// # Errors
/// [`Error`]; nothing was changed then.
pub fn import_articles(
    target: &DatabaseUrl,
    wish: &ImportArticles,
    work: CommandWork<'_>,
) -> Result<ImportedArticles, Error> {
    work.progress.set_message("reading");
    let rows = read::read(&wish.file, &wish.mapping)?;
    if rows.is_empty() && !wish.allow_empty {
        let (path, found) = (wish.file.clone(), "a header alone, or an empty list");
        return Err(Error::Empty { path, found, expected: "articles" });
    }
    open(target, work)?.transact(!wish.dry_run, |transaction| {
        // Totals can follow only from where they agree.
        rollup::rebuild_if_stale(transaction, work)?;
        work.progress.set_message("writing");
        let mut keeper = rollup::maintain::TotalsKeeper::new();
        keeper.begin(transaction)?;
        let (mut imported, moved) = write::write(transaction, &wish.file, &rows)?;
        if moved {
            // Traffic of articles that are in another blog now counts there.
            rollup::refill(transaction, work)?;
        }
        keeper.articles_changed(transaction)?;
        rematch::rematch(transaction, &mut keeper, wish.today, &mut imported)?;
        keeper.finish(transaction)?;
        Ok(imported)
    })
}
