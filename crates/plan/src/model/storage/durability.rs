//! Durability of an update after a failure, by levels that are comparable between targets.

use serde::{Deserialize, Serialize};

use super::{JournalMode, Synchronous, Writing};

/// Events that a finished update survives; an unfinished one leaves nothing torn.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[derive(strum::VariantArray)]
pub enum WriteDurability {
    /// Nothing: a crash of the program may leave half a blob behind.
    None,
    /// A crash of the program: afterwards each blob is the old or the new one.
    Process,
    /// Loss of power: what was committed is on storage, and each blob is the old or the new one.
    Power,
}

impl WriteDurability {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Process => "survives a crash of the program",
            Self::Power => "survives power loss",
        }
    }

    /// The settings of SQLite that give it at the least cost, with a rollback journal or WAL
    /// (<https://www.sqlite.org/pragma.html#pragma_synchronous>). Without a journal there is no
    /// rollback, so [`Durability::None`] has none.
    #[must_use]
    pub fn of_sqlite(self, journal_mode: JournalMode) -> (JournalMode, Synchronous) {
        match self {
            Self::None => (JournalMode::Off, Synchronous::Off),
            Self::Process => (journal_mode, Synchronous::Off),
            Self::Power => (journal_mode, Synchronous::Full),
        }
    }

    /// How files are written so that they have it, and whether they are synced.
    #[must_use]
    pub fn of_files(self) -> (Writing, bool) {
        match self {
            Self::None => (Writing::Overwrite, false),
            Self::Process => (Writing::Replace, false),
            Self::Power => (Writing::Replace, true),
        }
    }

    /// That of SQLite with these settings. In WAL mode NORMAL keeps the database whole after a loss
    /// of power, but not the last commits, so that it counts as [`Durability::Process`].
    #[must_use]
    pub fn with_sqlite(journal_mode: JournalMode, synchronous: Synchronous) -> Self {
        match (journal_mode, synchronous) {
            (JournalMode::Off | JournalMode::Memory, _) => Self::None,
            (_, Synchronous::Full | Synchronous::Extra) => Self::Power,
            (_, Synchronous::Off | Synchronous::Normal) => Self::Process,
        }
    }

    /// The durability of files that are written like this. Overwriting a file can leave it half
    /// written, synced or not.
    #[must_use]
    pub fn with_files(writing: Writing, fsync: bool) -> Self {
        match (writing, fsync) {
            (Writing::Overwrite, _) => Self::None,
            (Writing::Replace, false) => Self::Process,
            (Writing::Replace, true) => Self::Power,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_a_level_give_that_level() {
        for level in WriteDurability::ALL.iter().copied() {
            for journal in [JournalMode::Delete, JournalMode::Wal] {
                let (journal_mode, synchronous) = level.of_sqlite(journal);
                assert_eq!(WriteDurability::with_sqlite(journal_mode, synchronous), level);
            }
            let (writing, fsync) = level.of_files();
            assert_eq!(WriteDurability::with_files(writing, fsync), level);
        }
    }
}
