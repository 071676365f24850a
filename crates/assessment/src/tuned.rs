//! The line "SQLite, tuned": a second copy of the file with the statistics of ANALYZE, the indexes
//! that the statements ask for, a write-ahead log and a larger page cache, at equal durability.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::sqlite::quote_identifier;
use engine::{EngineKind, EngineSource, EngineSpec, Settings};
use host::sqlite;
use rusqlite::Connection;
use serde::Serialize;

use crate::error::{Error, Result, check_interrupted};
use crate::index_advice::{Proposal, indexes_used, propose};
use crate::pilot::PilotResult;
use crate::statement::MeasuredStatement;

/// Name of the line in tables, plan and verdict.
pub const LABEL: &str = "SQLite, tuned";

/// The largest page cache of a connection.
const CACHE_MAX_KIB: u64 = 256 * 1024;
/// The cache that SQLite has by default: 2,000 KiB.
const CACHE_DEFAULT_KIB: u64 = 2000;
/// Instructions of SQLite's machine between two looks for an interruption.
const INSTRUCTIONS_BETWEEN_LOOKS: i32 = 10_000;

/// Changes to the second copy.
#[derive(Clone, Debug, Serialize)]
pub struct Tuned {
    #[serde(skip)]
    pub path: PathBuf,
    /// All pages, those of the new indexes among them.
    pub file_bytes: u64,
    pub indexes: Vec<NewIndex>,
    /// Statements whose plan ANALYZE alone changed.
    pub plans_changed_by_analyze: Vec<String>,
    /// Whether the file had another journal before.
    pub journal_becomes_wal: bool,
    pub cache_kib: u64,
    /// As a connection to either copy has it.
    pub synchronous: String,
}

/// An index that the file does not have.
#[derive(Clone, Debug, Serialize)]
pub struct NewIndex {
    #[serde(skip)]
    pub name: String,
    pub sql: String,
    pub bytes: u64,
    /// The statements whose plans name it.
    pub used_by: Vec<String>,
}

impl Tuned {
    /// Makes the copy at `path` of the one at `copy`, which nothing has open. `statements` have
    /// values in the place of parameters.
    pub fn make(
        copy: &Path,
        path: &Path,
        statements: &[MeasuredStatement],
        interrupted: &Arc<AtomicBool>,
    ) -> Result<Self> {
        engine::sqlite::file::copy(copy, path).map_err(Error::io("write", path))?;
        let mut connection = engine::sqlite::open_existing(path)?;
        let stop = interrupted.clone();
        connection.progress_handler(
            INSTRUCTIONS_BETWEEN_LOOKS,
            Some(move || stop.load(Ordering::Relaxed)),
        )?;
        let made = tune(&connection, path, statements);
        drop(connection);
        check_interrupted(interrupted)?;
        Ok(made?)
    }

    /// Removes indexes that the planner takes although every statement that uses them took at least
    /// as long with them, each tried a few times. Whether there were any.
    pub fn drop_useless(
        &mut self,
        statements: &[MeasuredStatement],
        before: &[PilotResult],
        after: &[PilotResult],
    ) -> Result<bool> {
        let gained = |name: &String| {
            let place = statements.iter().position(|each| each.name == *name);
            match place.and_then(|place| Some((before.get(place)?, after.get(place)?))) {
                Some((PilotResult::Took(before), PilotResult::Took(after))) => after < before,
                Some((PilotResult::TooSlow(_), PilotResult::Took(_))) => true,
                _ => false,
            }
        };
        let (kept, useless): (Vec<_>, Vec<_>) = std::mem::take(&mut self.indexes)
            .into_iter()
            .partition(|index| index.used_by.iter().any(gained));
        self.indexes = kept;
        if useless.is_empty() {
            return Ok(false);
        }
        let connection = engine::sqlite::open_existing(&self.path)?;
        for index in &useless {
            let name = quote_identifier(&index.name);
            connection.execute_batch(&format!("DROP INDEX {name}"))?;
        }
        connection.execute_batch("VACUUM; ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")?;
        self.file_bytes = pages(&connection)? * page_bytes(&connection)?;
        Ok(true)
    }

    /// The engine as a plan writes it, with the copy at `path`.
    pub fn engine(&self, path: &Path) -> Result<EngineSpec> {
        let path = std::path::absolute(path).map_err(Error::io("find", path))?;
        let mut settings = Settings::default();
        let cache = format!("-{}", self.cache_kib);
        let wanted = [("label", LABEL), ("cache_size", &cache), ("synchronous", &self.synchronous)];
        for (name, value) in wanted {
            settings.set(name, value).map_err(Error::Refused)?;
        }
        Ok(EngineSpec { source: EngineSource::SqliteFile(path), settings })
    }

    /// Everything that was done, as SQL.
    pub fn statements(&self) -> Vec<String> {
        let mut all: Vec<String> = self.indexes.iter().map(|one| format!("{};", one.sql)).collect();
        all.push("ANALYZE;".to_owned());
        if self.journal_becomes_wal {
            all.push("PRAGMA journal_mode = WAL;".to_owned());
        }
        all.push(format!("PRAGMA cache_size = -{};", self.cache_kib));
        all
    }

    pub fn index_bytes(&self) -> u64 {
        self.indexes.iter().map(|index| index.bytes).sum()
    }
}

fn tune(
    connection: &Connection,
    path: &Path,
    statements: &[MeasuredStatement],
) -> rusqlite::Result<Tuned> {
    let texts: Vec<&str> =
        statements.iter().map(|each| each.text_for(EngineKind::Sqlite)).collect();
    let before = plans(connection, &texts);
    connection.execute_batch("ANALYZE")?;
    let analyzed = plans(connection, &texts);
    let changed = statements.iter().zip(before.iter().zip(&analyzed));
    let changed = changed.filter(|(_, (before, after))| before != after);
    let plans_changed_by_analyze = changed.map(|(each, _)| each.name.clone()).collect();

    let proposals = propose(connection, &texts)?;
    let indexes = make_indexes(connection, proposals, statements, &texts)?;
    let pragma = |name: &str| -> rusqlite::Result<String> {
        connection.query_row(&format!("PRAGMA {name}"), [], |row| {
            Ok(match row.get(0)? {
                rusqlite::types::Value::Text(text) => text,
                rusqlite::types::Value::Integer(number) => number.to_string(),
                _ => String::new(),
            })
        })
    };
    let synchronous = pragma("synchronous")?;
    let journal_becomes_wal = pragma("journal_mode")? != "wal";
    pragma("journal_mode = wal")?;
    pragma("wal_checkpoint(TRUNCATE)")?;
    let file_bytes = pages(connection)? * page_bytes(connection)?;
    Ok(Tuned {
        path: path.to_owned(),
        file_bytes,
        indexes,
        plans_changed_by_analyze,
        journal_becomes_wal,
        cache_kib: cache_kib(file_bytes, memory_bytes()),
        synchronous,
    })
}

/// Makes the proposed indexes and removes again those that no plan names on the real rows.
fn make_indexes(
    connection: &Connection,
    proposals: Vec<Proposal>,
    statements: &[MeasuredStatement],
    texts: &[&str],
) -> rusqlite::Result<Vec<NewIndex>> {
    let page_bytes = page_bytes(connection)?;
    let mut bytes = BTreeMap::new();
    for proposal in &proposals {
        let before = pages(connection)?;
        connection.execute_batch(&proposal.sql)?;
        bytes.insert(proposal.name.clone(), (pages(connection)? - before) * page_bytes);
    }
    if proposals.is_empty() {
        return Ok(Vec::new());
    }
    connection.execute_batch("ANALYZE")?;
    let used = indexes_used(connection, texts);
    let (kept, unused): (Vec<_>, Vec<_>) =
        proposals.into_iter().partition(|one| used.iter().any(|used| used.contains(&one.name)));
    for proposal in &unused {
        connection.execute_batch(&format!("DROP INDEX {}", quote_identifier(&proposal.name)))?;
    }
    if !unused.is_empty() {
        connection.execute_batch("VACUUM; ANALYZE")?;
    }
    let index = |proposal: Proposal| NewIndex {
        bytes: bytes.get(&proposal.name).copied().unwrap_or(0),
        used_by: statements
            .iter()
            .zip(&used)
            .filter(|(_, used)| used.contains(&proposal.name))
            .map(|(statement, _)| statement.name.clone())
            .collect(),
        name: proposal.name,
        sql: proposal.sql,
    };
    Ok(kept.into_iter().map(index).collect())
}

fn plans(connection: &Connection, texts: &[&str]) -> Vec<String> {
    let plan = |sql: &&str| sqlite::explain(connection, sql, |_| Ok(())).unwrap_or_default();
    texts.iter().map(plan).collect()
}

fn count(connection: &Connection, pragma: &str) -> rusqlite::Result<u64> {
    let number: i64 = connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))?;
    Ok(u64::try_from(number).unwrap_or(0))
}

/// Pages that hold something.
fn pages(connection: &Connection) -> rusqlite::Result<u64> {
    Ok(count(connection, "page_count")? - count(connection, "freelist_count")?)
}

fn page_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    count(connection, "page_size")
}

/// Room for the whole file, at most a quarter of the memory and [`CACHE_MAX_KIB`].
fn cache_kib(file_bytes: u64, memory_bytes: u64) -> u64 {
    let wanted = file_bytes.div_ceil(1024);
    let most = (memory_bytes / 4 / 1024).clamp(CACHE_DEFAULT_KIB, CACHE_MAX_KIB);
    wanted.clamp(CACHE_DEFAULT_KIB, most)
}

fn memory_bytes() -> u64 {
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
            postgres_text: None,
            parameters: Vec::new(),
            place: None,
            tables: Vec::new(),
        }
    }

    #[test]
    fn the_copy_is_tuned_and_its_source_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (source, path) = (folder.path().join("a.db"), folder.path().join("tuned.db"));
        let connection = engine::sqlite::create(&source).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE orders(id INTEGER PRIMARY KEY, customer INTEGER, note TEXT); \
                 WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) \
                 INSERT INTO orders SELECT i, i % 300, 'note ' || i FROM n",
            )
            .unwrap();
        drop(connection);
        let before = std::fs::read(&source).unwrap();
        let took = |ms| vec![PilotResult::Took(std::time::Duration::from_millis(ms)); 2];
        let statements = [
            statement("filter", "SELECT * FROM orders WHERE customer = 7"),
            statement("count", "SELECT count(*) FROM orders WHERE note > ''"),
        ];
        let mut tuned = Tuned::make(&source, &path, &statements, &Arc::default()).unwrap();
        assert_eq!(std::fs::read(&source).unwrap(), before);
        let index = &tuned.indexes[0];
        assert_eq!(index.sql, "CREATE INDEX orders_customer ON orders(customer)");
        assert_eq!(index.used_by, ["filter"]);
        assert!(index.bytes > 20_000, "{index:?}");
        assert!(tuned.journal_becomes_wal && tuned.synchronous == "2", "{tuned:?}");
        assert!(!engine::sqlite::file::beside(&path, "-wal").exists());

        let copy = engine::sqlite::open_read_only(&path).unwrap();
        let journal: String = copy.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!(journal, "wal");
        let engine = tuned.engine(&path).unwrap();
        assert_eq!(engine.label(), LABEL);
        assert_eq!(engine.to_string().parse::<EngineSpec>().unwrap(), engine);
        let read_back = engine::sqlite::pragmas(&copy, engine.engine_settings()).unwrap();
        assert_eq!(read_back[1], ("synchronous".to_owned(), "2".to_owned()));
        drop(copy);

        assert!(!tuned.drop_useless(&statements, &took(2), &took(1)).unwrap());
        assert!(tuned.drop_useless(&statements, &took(2), &took(3)).unwrap());
        assert!(tuned.indexes.is_empty());
        assert!(path.metadata().unwrap().len() <= source.metadata().unwrap().len() + 8192);
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
