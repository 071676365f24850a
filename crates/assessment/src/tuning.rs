//! Search for what makes SQLite faster on this file: on a copy that is thrown away, ANALYZE, indexes for the
//! statements, page cache and write-ahead log, each tried on top of the ones before.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use connect::sqlite::quote_identifier;
use engine::EngineKind;
use host::sqlite;
use rusqlite::Connection;
use serde::Serialize;

use crate::error::{Error, Result, check_interrupted};
use crate::index_advice::{Proposal, indexes_used, propose};
use crate::pilot::{PilotResult, on_sqlite};
use crate::screening::{Indexes, Times, eliminate};
use crate::statement::MeasuredStatement;

/// The largest page cache of a connection.
const CACHE_MAX_KIB: u64 = 256 * 1024;
/// The cache that SQLite has by default: 2,000 KiB.
const CACHE_DEFAULT_KIB: u64 = 2000;
/// Instructions of SQLite's machine between two looks for an interruption.
const INSTRUCTIONS_BETWEEN_LOOKS: i32 = 10_000;

/// Changes that were found, and the pilot's times.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tuning {
    /// Statements whose plan ANALYZE alone changes.
    pub plans_changed_by_analyze: Vec<String>,
    pub indexes: Vec<NewIndex>,
    /// The number of new indexes that the planner would use.
    pub proposed: usize,
    /// The settings change the journal mode.
    pub journal_becomes_wal: bool,
    /// Larger than the default.
    pub cache_kib: Option<u64>,
    /// After ANALYZE, with the indexes, with the settings: a result for each statement.
    #[serde(skip)]
    pub analyzed: Vec<PilotResult>,
    #[serde(skip)]
    pub indexed: Vec<PilotResult>,
    #[serde(skip)]
    pub set: Vec<PilotResult>,
}

/// An index that the file does not have.
#[derive(Clone, Debug, Serialize)]
pub struct NewIndex {
    pub name: String,
    pub sql: String,
    pub bytes: u64,
    /// The statements whose plans name it.
    pub used_by: Vec<String>,
    /// Whether PostgreSQL can have it: it knows none of SQLite's collations.
    pub is_portable: bool,
}

impl NewIndex {
    fn of(proposal: &Proposal) -> Self {
        Self {
            name: proposal.name.clone(),
            sql: proposal.sql.clone(),
            bytes: 0,
            used_by: Vec::new(),
            is_portable: !proposal.sql.contains(" COLLATE "),
        }
    }
}

/// Searches on a copy of `copy` at `path`, which is removed again. `statements` have values in the place
/// of parameters; each is tried for at most `limit`.
pub fn find(
    copy: &Path,
    path: &Path,
    statements: &[MeasuredStatement],
    limit: Duration,
    interrupted: &Arc<AtomicBool>,
) -> Result<Tuning> {
    connect::sqlite::file::copy(copy, path).map_err(Error::io("write", path))?;
    let found = (|| {
        let connection = connect::sqlite::open_existing(path)?;
        Search { connection, statements, limit, interrupted }.carry_out()
    })();
    let _ = connect::sqlite::file::remove(path);
    check_interrupted(interrupted)?;
    found
}

struct Search<'a> {
    connection: Connection,
    statements: &'a [MeasuredStatement],
    limit: Duration,
    interrupted: &'a Arc<AtomicBool>,
}

impl Search<'_> {
    fn carry_out(mut self) -> Result<Tuning> {
        let mut found = Tuning::default();
        let before = self.plans();
        self.execute("ANALYZE")?;
        let analyzed = self.plans();
        let changed = self.statements.iter().zip(before.iter().zip(&analyzed));
        let changed = changed.filter(|(_, (before, after))| before != after);
        found.plans_changed_by_analyze = changed.map(|(each, _)| each.name.clone()).collect();
        found.analyzed = self.times(self.limit)?;
        let proposals = propose(&self.connection, &self.texts())?;
        let proposals = self.made(proposals, &mut found)?;
        if proposals.is_empty() {
            found.indexed.clone_from(&found.analyzed);
        } else {
            self.screen(proposals, &mut found)?;
        }
        found.journal_becomes_wal = self.pragma("journal_mode")? != "wal";
        let file_bytes = self.number("page_count")? * self.number("page_size")?;
        let cache = cache_kib(file_bytes, memory_bytes());
        if cache > CACHE_DEFAULT_KIB {
            found.cache_kib = Some(cache);
            self.execute(&format!("PRAGMA cache_size = -{cache}"))?;
            found.set = self.times(self.limit)?;
        } else {
            found.set.clone_from(&found.indexed);
        }
        Ok(found)
    }

    /// Makes the proposed indexes and removes again those that no plan names on the real rows.
    fn made(&mut self, proposals: Vec<Proposal>, found: &mut Tuning) -> Result<Vec<NewIndex>> {
        let mut indexes = Vec::new();
        let page_bytes = self.number("page_size")?;
        for proposal in &proposals {
            let before = self.used_pages()?;
            self.execute(&proposal.sql)?;
            let bytes = self.used_pages()?.saturating_sub(before) * page_bytes;
            indexes.push(NewIndex { bytes, ..NewIndex::of(proposal) });
        }
        if indexes.is_empty() {
            return Ok(indexes);
        }
        self.execute("ANALYZE")?;
        let used = indexes_used(&self.connection, &self.texts());
        let (kept, unused): (Vec<NewIndex>, Vec<NewIndex>) =
            indexes.into_iter().partition(|one| used.iter().any(|used| used.contains(&one.name)));
        for index in &unused {
            self.execute(&format!("DROP INDEX {}", quote_identifier(&index.name)))?;
        }
        found.proposed = kept.len();
        Ok(kept)
    }

    /// Keeps of the indexes those that are needed.
    fn screen(&mut self, mut indexes: Vec<NewIndex>, found: &mut Tuning) -> Result<()> {
        // The largest is tried first.
        indexes.sort_by_key(|index| index.bytes);
        let weights: Option<Vec<f64>> =
            self.statements.iter().any(|one| one.executions.is_some()).then(|| {
                self.statements.iter().map(|one| one.executions.unwrap_or(0) as f64).collect()
            });
        let names = indexes.iter().map(|one| quote_identifier(&one.name)).collect();
        let mut droppable = Droppable { search: self, names };
        let kept = eliminate(indexes.len(), weights.as_deref(), &mut droppable)?;
        let mut number = 0;
        indexes.retain(|_| {
            number += 1;
            kept.contains(&(number - 1))
        });
        self.execute("ANALYZE")?;
        let used = indexes_used(&self.connection, &self.texts());
        for index in &mut indexes {
            let users = self.statements.iter().zip(&used);
            let users = users.filter(|(_, used)| used.contains(&index.name));
            index.used_by = users.map(|(statement, _)| statement.name.clone()).collect();
        }
        found.indexed = self.times(self.limit)?;
        found.indexes = indexes;
        Ok(())
    }

    fn texts(&self) -> Vec<&str> {
        self.statements.iter().map(|each| each.text_for(EngineKind::Sqlite)).collect()
    }

    fn plans(&self) -> Vec<String> {
        let plan = |sql: &str| sqlite::explain(&self.connection, sql, |_| Ok(()));
        self.texts().into_iter().map(|sql| plan(sql).unwrap_or_default()).collect()
    }

    fn times(&mut self, limit: Duration) -> Result<Vec<PilotResult>> {
        let (connection, interrupted) = (&mut self.connection, self.interrupted);
        let all = self.statements.iter();
        all.map(|statement| on_sqlite(statement, connection, limit, interrupted)).collect()
    }

    fn execute(&mut self, sql: &str) -> Result<()> {
        let stop = self.interrupted.clone();
        let look = move || stop.load(Ordering::Relaxed);
        self.connection.progress_handler(INSTRUCTIONS_BETWEEN_LOOKS, Some(look))?;
        let done = self.connection.execute_batch(sql);
        self.connection.progress_handler(0, None::<fn() -> bool>)?;
        check_interrupted(self.interrupted)?;
        Ok(done?)
    }

    fn pragma(&self, name: &str) -> Result<String> {
        Ok(connect::sqlite::read_pragma(&self.connection, name)?)
    }

    fn number(&self, pragma: &str) -> Result<u64> {
        Ok(self.pragma(pragma)?.parse().unwrap_or(0))
    }

    /// Pages that hold something.
    fn used_pages(&self) -> Result<u64> {
        Ok(self.number("page_count")? - self.number("freelist_count")?)
    }
}

/// Indexes that are dropped within a transaction, which is rolled back to have one again.
struct Droppable<'s, 'a> {
    search: &'s mut Search<'a>,
    names: Vec<String>,
}

impl Indexes for Droppable<'_, '_> {
    /// Always within a transaction, as those without an index are: there SQLite takes no lock for each
    /// statement, which makes the quickest ones twice as fast.
    fn times(&mut self) -> Result<Times> {
        let limit = self.search.limit;
        let is_begun = !self.search.connection.is_autocommit();
        if !is_begun {
            self.search.execute("BEGIN IMMEDIATE")?;
        }
        let times = taken(&self.search.times(limit)?);
        if !is_begun {
            self.search.execute("COMMIT")?;
        }
        Ok(times)
    }

    fn remove(&mut self, index: usize) -> Result<()> {
        let sql = format!("BEGIN; DROP INDEX {}", self.names[index]);
        self.search.execute(&sql)
    }

    fn put_back(&mut self) -> Result<()> {
        self.search.execute("ROLLBACK")
    }

    fn leave_away(&mut self) -> Result<()> {
        self.search.execute("COMMIT")
    }
}

fn taken(results: &[PilotResult]) -> Times {
    let time = |result: &PilotResult| match result {
        PilotResult::Took(time) => Some(*time),
        PilotResult::TooSlow(_) | PilotResult::Refused(_) => None,
    };
    results.iter().map(time).collect()
}

/// Room for the whole file, at most a quarter of the memory and [`CACHE_MAX_KIB`].
fn cache_kib(file_bytes: u64, memory_bytes: u64) -> u64 {
    let wanted = file_bytes.div_ceil(1024);
    let most = (memory_bytes / 4 / 1024).clamp(CACHE_DEFAULT_KIB, CACHE_MAX_KIB);
    wanted.clamp(CACHE_DEFAULT_KIB, most)
}

pub fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram as u64).saturating_mul(u64::from(info.mem_unit).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(name: &str, text: &str) -> MeasuredStatement {
        MeasuredStatement {
            name: name.to_owned(),
            text: text.to_owned(),
            ..MeasuredStatement::default()
        }
    }

    #[test]
    fn useful_indexes_are_found_and_the_copy_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (source, path) = (folder.path().join("a.db"), folder.path().join("tuned.db"));
        let connection = connect::sqlite::create(&source).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, note TEXT); \
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) \
                 INSERT INTO orders SELECT i, i % 3000, 'note ' || i FROM n",
            )
            .unwrap();
        drop(connection);
        let before = std::fs::read(&source).unwrap();
        let statements = [
            statement("filter", "SELECT * FROM orders WHERE customer = 7"),
            statement("all", "SELECT count(*) FROM orders WHERE note > ''"),
        ];
        let limit = Duration::from_secs(60);
        let found = find(&source, &path, &statements, limit, &Arc::default()).unwrap();
        assert_eq!(std::fs::read(&source).unwrap(), before);
        assert!(!path.exists());
        let index = found.indexes.iter().find(|one| one.used_by == ["filter"]).unwrap();
        assert_eq!(index.sql, "CREATE INDEX orders_customer ON orders(customer)");
        assert!(index.bytes > 200_000 && index.is_portable, "{index:?}");
        assert!(found.journal_becomes_wal);
        let steps = [found.analyzed.len(), found.indexed.len(), found.set.len()];
        assert_eq!(steps, [2, 2, 2]);
    }

    /// Statements of microseconds are as quick with it, within or without a transaction.
    #[test]
    fn an_index_that_one_statement_of_many_quick_ones_needs_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (source, path) = (folder.path().join("a.db"), folder.path().join("tuned.db"));
        let connection = connect::sqlite::create(&source).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT); \
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
                 INSERT INTO customers SELECT i, 'customer ' || i, 'c' || (i * 7919 % 4) FROM n",
            )
            .unwrap();
        drop(connection);
        let grouping = "SELECT country, count(*) FROM customers GROUP BY country";
        let mut statements = vec![statement("grouped", grouping)];
        statements.extend((1..8).map(|key| {
            statement("by key", &format!("SELECT name FROM customers WHERE id = {key}"))
        }));
        let limit = Duration::from_secs(60);
        let found = find(&source, &path, &statements, limit, &Arc::default()).unwrap();
        let names: Vec<&str> = found.indexes.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["customers_country"]);
    }

    #[test]
    fn the_cache_holds_the_file_within_a_quarter_of_memory() {
        let mib = 1 << 20;
        assert_eq!(cache_kib(50 * mib, 8192 * mib), 50 * 1024);
        assert_eq!(cache_kib(50 * mib, 100 * mib), 25 * 1024);
        assert_eq!(cache_kib(5000 * mib, 64 * 1024 * mib), CACHE_MAX_KIB);
        assert_eq!(cache_kib(1, 8192 * mib), CACHE_DEFAULT_KIB);
    }
}
