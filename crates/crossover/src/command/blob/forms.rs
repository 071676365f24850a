//! Arguments of `blob run` that only a database, or only files, understand.

use std::path::PathBuf;

use plan::storage::{By, FileSettings, JournalMode, Reading, SqliteSettings, Synchronous, Writing};

/// Options of databases alone.
#[derive(clap::Args)]
pub struct SqliteArguments {
    /// Use incremental blob I/O instead of SQL
    #[arg(long, env = "CROSSOVER_BLOB_API")]
    pub blob_api: bool,
    /// Map this number of bytes of the file into memory
    #[arg(long, value_name = "BYTES", value_parser = notation::number, env = "CROSSOVER_MMAP")]
    pub mmap: Option<u64>,
    /// PRAGMA cache_size: pages, or KiB if negative [default: 1000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, env = "CROSSOVER_CACHE_SIZE")]
    pub cache_size: Option<i64>,
    /// PRAGMA journal_mode (delete, truncate, persist, memory, wal, off) [default: the file's]
    #[arg(long, alias = "jmode", value_name = "MODE", env = "CROSSOVER_JOURNAL_MODE")]
    pub journal_mode: Option<JournalMode>,
    /// PRAGMA synchronous (off, normal, full, extra) [default: full]
    #[arg(long, value_name = "LEVEL", env = "CROSSOVER_SYNCHRONOUS")]
    pub synchronous: Option<Synchronous>,
    /// The same as --synchronous off
    #[arg(long, alias = "nosync", conflicts_with = "synchronous", env = "CROSSOVER_NO_SYNC")]
    pub no_sync: bool,
    /// Leave the checkpoint of a write-ahead log out of the time
    #[arg(long, alias = "nocheckpoint", env = "CROSSOVER_NO_CHECKPOINT")]
    pub no_checkpoint: bool,
    /// Run PRAGMA integrity_check afterwards; exit code 3 if the file is damaged
    #[arg(long, env = "CROSSOVER_INTEGRITY_CHECK")]
    pub integrity_check: bool,
}

/// Options of files alone.
#[derive(clap::Args)]
pub struct FileArguments {
    /// Sync each file that is overwritten
    #[arg(long, env = "CROSSOVER_FSYNC")]
    pub fsync: bool,
    /// How a file is read: stdio as kvtest does, plain (open, fstat, read, close), openat (the
    /// same, relative to the folder) [default: stdio]
    #[arg(long, value_name = "HOW", env = "CROSSOVER_READ")]
    pub read: Option<Reading>,
    /// How a file is overwritten: overwrite as kvtest does, or replace (written beside the old one
    /// and renamed) [default: overwrite]
    #[arg(long, value_name = "HOW", env = "CROSSOVER_WRITE")]
    pub write: Option<Writing>,
    /// Look each file's name up in this database, which export --names made
    #[arg(long, value_name = "FILE", env = "CROSSOVER_NAMES")]
    pub names: Option<PathBuf>,
}

impl SqliteArguments {
    /// The first option that was given.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            (self.blob_api, "--blob-api"),
            (self.mmap.is_some(), "--mmap"),
            (self.cache_size.is_some(), "--cache-size"),
            (self.journal_mode.is_some(), "--journal-mode"),
            (self.synchronous.is_some(), "--synchronous"),
            (self.no_sync, "--no-sync"),
            (self.no_checkpoint, "--no-checkpoint"),
            (self.integrity_check, "--integrity-check"),
        ];
        all.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }

    pub fn settings(&self) -> SqliteSettings {
        let default = SqliteSettings::default();
        SqliteSettings {
            by: if self.blob_api { By::BlobApi } else { By::Sql },
            mmap_bytes: self.mmap.unwrap_or(0),
            cache_size: self.cache_size.unwrap_or(default.cache_size),
            journal_mode: self.journal_mode,
            synchronous: if self.no_sync { Some(Synchronous::Off) } else { self.synchronous },
            checkpoints: !self.no_checkpoint,
            ..default
        }
    }
}

impl FileArguments {
    /// The first option that was given.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            (self.fsync, "--fsync"),
            (self.read.is_some(), "--read"),
            (self.write.is_some(), "--write"),
            (self.names.is_some(), "--names"),
        ];
        all.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }

    pub fn settings(&self) -> FileSettings {
        FileSettings {
            reading: self.read.unwrap_or_default(),
            writing: self.write.unwrap_or_default(),
            fsync: self.fsync,
        }
    }
}
