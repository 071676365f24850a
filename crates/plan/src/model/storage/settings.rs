//! Settings of access to a target, opening, reading and writing: the levels that an experiment
//! compares.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How SQLite is asked for a blob.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// `SELECT v FROM kv WHERE k = ?`, prepared once.
    #[default]
    Sql,
    /// Incremental blob I/O, one handle moved from row to row.
    BlobApi,
}

/// `PRAGMA journal_mode`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JournalMode {
    /// A rollback journal, deleted at each commit: SQLite's default.
    Delete,
    /// A rollback journal, cut to nothing at each commit.
    Truncate,
    /// A rollback journal, its header overwritten at each commit.
    Persist,
    /// A rollback journal in memory.
    Memory,
    Wal,
    Off,
}

/// `PRAGMA synchronous`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Synchronous {
    Off,
    /// At the most critical moments; in WAL mode at checkpoints only.
    Normal,
    Full,
    /// Every commit, and the folder after a journal is deleted.
    Extra,
}

/// Looks a word up, however it is written.
fn choose<T: Copy>(text: &str, known: &[(&str, T)]) -> Result<T, String> {
    let found = known.iter().find(|(name, _)| text.eq_ignore_ascii_case(name));
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        format!("`{text}` is none of {}", names.join(", "))
    })
}

impl JournalMode {
    const KNOWN: [(&'static str, Self); 6] = [
        ("delete", Self::Delete),
        ("truncate", Self::Truncate),
        ("persist", Self::Persist),
        ("memory", Self::Memory),
        ("wal", Self::Wal),
        ("off", Self::Off),
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        Self::KNOWN.iter().find(|(_, mode)| *mode == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for JournalMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        choose(text, &Self::KNOWN)
    }
}

impl Synchronous {
    const KNOWN: [(&'static str, Self); 4] = [
        ("off", Self::Off),
        ("normal", Self::Normal),
        ("full", Self::Full),
        ("extra", Self::Extra),
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        Self::KNOWN.iter().find(|(_, level)| *level == self).map_or("", |(name, _)| name)
    }
}

impl FromStr for Synchronous {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        choose(text, &Self::KNOWN)
    }
}

/// How a SQLite target is opened. The default is kvtest's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteSettings {
    /// By SQL or by the blob API.
    pub by: By,
    /// How much of the file is mapped into memory, bytes; 0: nothing.
    pub mmap_bytes: u64,
    /// `PRAGMA cache_size`: pages, or KiB if negative.
    pub cache_size: i64,
    /// The journal; `None`: as the file has it.
    pub journal_mode: Option<JournalMode>,
    /// When it syncs; `None`: SQLite's default, FULL.
    pub synchronous: Option<Synchronous>,
    /// In WAL mode: checkpoints by themselves while it works and when it is closed.
    pub checkpoints: bool,
    /// Further pragmas, set and read back.
    pub pragmas: Vec<(String, String)>,
}

impl Default for SqliteSettings {
    fn default() -> Self {
        Self {
            by: By::Sql,
            mmap_bytes: 0,
            cache_size: 1000,
            journal_mode: None,
            synchronous: None,
            checkpoints: true,
            pragmas: Vec::new(),
        }
    }
}

/// How a file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// As C's `fopen`, `fread`, `fclose` after a `stat`, which is what kvtest does: two looks at the
    /// file's size, and the end of a file through a buffer of 4096 bytes.
    #[default]
    Stdio,
    /// `open` by the whole path, `fstat`, one `read`, `close`.
    Plain,
    /// The same, by a path relative to the open folder.
    Openat,
}

impl FromStr for Reading {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = [("stdio", Self::Stdio), ("plain", Self::Plain), ("openat", Self::Openat)];
        choose(text, &known)
    }
}

/// How a file is updated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writing {
    /// Truncated and written again, as kvtest does: a crash in between leaves half a file.
    #[default]
    Overwrite,
    /// Written beside the old one and renamed over it: always the old or the new one.
    Replace,
}

impl FromStr for Writing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        choose(text, &[("overwrite", Self::Overwrite), ("replace", Self::Replace)])
    }
}

/// How files are read and written. The default is kvtest's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileSettings {
    /// How a file is read.
    pub reading: Reading,
    /// How a file is updated.
    pub writing: Writing,
    /// Whether each update is synced to storage before it counts as done.
    pub fsync: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_in_any_case_and_wrong_ones_name_the_right() {
        assert_eq!("WAL".parse(), Ok(JournalMode::Wal));
        assert_eq!("Normal".parse(), Ok(Synchronous::Normal));
        assert_eq!("openat".parse(), Ok(Reading::Openat));
        assert_eq!("replace".parse(), Ok(Writing::Replace));
        let told = "well".parse::<JournalMode>().unwrap_err();
        assert!(told.contains("`well`") && told.contains("truncate, persist"), "{told}");
    }

    #[test]
    fn a_name_reads_back_as_the_same() {
        for (name, mode) in JournalMode::KNOWN {
            assert_eq!((mode.name(), name.parse()), (name, Ok(mode)));
        }
        for (name, level) in Synchronous::KNOWN {
            assert_eq!((level.name(), name.parse()), (name, Ok(level)));
        }
    }
}
