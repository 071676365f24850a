//! `crossover blob run`.

use std::path::PathBuf;

use anyhow::Context as _;
use blob::{
    Access, By, FileAccess, FileSettings, Form, JournalMode, LookupAccess, Order, Pace, Reading,
    SqliteAccess, SqliteSettings, Synchronous, Target, Work, Writing,
};

use super::result::RunResult;
use super::{number, statistics};
use crate::shared::{Outcome, Shared, Usage};

/// Read or overwrite blobs and say how long one takes
///
/// TARGET is a SQLite file, a folder or a tree of files; each may be kvtest's. The clock is read
/// before the first blob and after the last. Without --count a thousand blobs are taken, in
/// ascending order; the first run after the files were made may be cold.
#[derive(clap::Args)]
pub struct Arguments {
    /// A SQLite file, or a folder of files
    #[arg(env = "CROSSOVER_BLOB_TARGET")]
    target: PathBuf,
    /// How many blobs; k, M and G are understood
    #[arg(long, value_name = "N", default_value = "1000", value_parser = number::positive,
          env = "CROSSOVER_COUNT")]
    count: u64,
    #[command(flatten)]
    order: OrderArguments,
    #[command(flatten)]
    sqlite: SqliteArguments,
    #[command(flatten)]
    files: FileArguments,
    /// Overwrite each blob with as many new random bytes
    #[arg(long, env = "CROSSOVER_UPDATE")]
    update: bool,
    /// Open and close each file without reading it: that part of its time
    #[arg(long, conflicts_with = "update", env = "CROSSOVER_OPEN_ONLY")]
    open_only: bool,
    /// A transaction for each blob instead of one for all
    #[arg(long, alias = "multitrans", env = "CROSSOVER_TRANSACTION_PER_BLOB")]
    transaction_per_blob: bool,
    /// Read all files into the page cache first
    #[arg(long, env = "CROSSOVER_WARM")]
    warm: bool,
    /// Drop all files from the page cache first (as root all caches of the machine)
    #[arg(long, conflicts_with = "warm", env = "CROSSOVER_COLD")]
    cold: bool,
    /// Afterwards compare every blob with what it must be
    #[arg(long, env = "CROSSOVER_CHECK")]
    check: bool,
    /// Print what SQLite and the kernel counted
    #[arg(long, env = "CROSSOVER_STATS")]
    stats: bool,
}

#[derive(clap::Args)]
struct OrderArguments {
    /// Take blobs by ascending key (the default)
    #[arg(long, alias = "asc", conflicts_with_all = ["descending", "random", "once"],
          env = "CROSSOVER_ASCENDING")]
    ascending: bool,
    /// Take blobs by descending key
    #[arg(long, alias = "desc", conflicts_with_all = ["random", "once"],
          env = "CROSSOVER_DESCENDING")]
    descending: bool,
    /// Take blobs in random order, some more than once
    #[arg(long, conflicts_with = "once", env = "CROSSOVER_RANDOM")]
    random: bool,
    /// Take blobs in random order, each once before any comes again
    #[arg(long, env = "CROSSOVER_ONCE")]
    once: bool,
    /// Another random order, and other new bytes, for every number [default: drawn, and printed]
    #[arg(long, value_name = "N", env = "CROSSOVER_SEED")]
    seed: Option<u64>,
    /// The first key of an ascending or descending order
    #[arg(long, value_name = "KEY", default_value = "1", value_parser = number::positive,
          env = "CROSSOVER_START")]
    start: u64,
    /// The largest key [default: the largest there is]
    #[arg(long, value_name = "KEY", value_parser = number::positive, env = "CROSSOVER_MAX_ID")]
    max_id: Option<u64>,
}

/// What only a database understands.
#[derive(clap::Args)]
struct SqliteArguments {
    /// Use incremental blob I/O instead of SQL
    #[arg(long, env = "CROSSOVER_BLOB_API")]
    blob_api: bool,
    /// Map so many bytes of the file into memory
    #[arg(long, value_name = "BYTES", value_parser = number::number, env = "CROSSOVER_MMAP")]
    mmap: Option<u64>,
    /// PRAGMA cache_size: pages, or KiB if negative [default: 1000]
    #[arg(long, value_name = "N", allow_negative_numbers = true, env = "CROSSOVER_CACHE_SIZE")]
    cache_size: Option<i64>,
    /// PRAGMA journal_mode (delete, truncate, persist, memory, wal, off) [default: the file's]
    #[arg(long, alias = "jmode", value_name = "MODE", env = "CROSSOVER_JOURNAL_MODE")]
    journal_mode: Option<JournalMode>,
    /// PRAGMA synchronous (off, normal, full, extra) [default: full]
    #[arg(long, value_name = "LEVEL", env = "CROSSOVER_SYNCHRONOUS")]
    synchronous: Option<Synchronous>,
    /// The same as --synchronous off
    #[arg(long, alias = "nosync", conflicts_with = "synchronous", env = "CROSSOVER_NO_SYNC")]
    no_sync: bool,
    /// Leave the checkpoint of a write-ahead log out of the time
    #[arg(long, alias = "nocheckpoint", env = "CROSSOVER_NO_CHECKPOINT")]
    no_checkpoint: bool,
    /// Run PRAGMA integrity_check afterwards; exit code 3 if the file is damaged
    #[arg(long, env = "CROSSOVER_INTEGRITY_CHECK")]
    integrity_check: bool,
}

/// What only files understand.
#[derive(clap::Args)]
struct FileArguments {
    /// Sync each file that is overwritten
    #[arg(long, env = "CROSSOVER_FSYNC")]
    fsync: bool,
    /// How a file is read: stdio as kvtest does, plain (open, fstat, read, close), openat (the
    /// same, relative to the folder) [default: stdio]
    #[arg(long, value_name = "HOW", env = "CROSSOVER_READ")]
    read: Option<Reading>,
    /// How a file is overwritten: overwrite as kvtest does, or replace (written beside the old one
    /// and renamed) [default: overwrite]
    #[arg(long, value_name = "HOW", env = "CROSSOVER_WRITE")]
    write: Option<Writing>,
    /// Look each file's name up in this database, which export --names made
    #[arg(long, value_name = "FILE", env = "CROSSOVER_NAMES")]
    names: Option<PathBuf>,
}

impl OrderArguments {
    fn order(&self) -> Order {
        // A number of the standard library's own: nothing else has to be random here.
        let drawn = || std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0) >> 32;
        match (self.descending, self.random, self.once) {
            (true, _, _) => Order::Descending,
            (_, true, _) => Order::Random { seed: self.seed.unwrap_or_else(drawn) },
            (_, _, true) => Order::Once { seed: self.seed.unwrap_or_else(drawn) },
            _ => Order::Ascending,
        }
    }
}

impl SqliteArguments {
    /// The first option that was given.
    fn given(&self) -> Option<&'static str> {
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

    fn settings(&self) -> SqliteSettings {
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
    fn given(&self) -> Option<&'static str> {
        let all = [
            (self.fsync, "--fsync"),
            (self.read.is_some(), "--read"),
            (self.write.is_some(), "--write"),
            (self.names.is_some(), "--names"),
        ];
        all.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }

    fn settings(&self) -> FileSettings {
        FileSettings {
            reading: self.read.unwrap_or_default(),
            writing: self.write.unwrap_or_default(),
            fsync: self.fsync,
        }
    }
}

/// The target, open.
enum Open {
    Sqlite(SqliteAccess),
    Files(FileAccess),
    Lookup(LookupAccess),
}

impl Open {
    fn access(&mut self) -> &mut dyn Access {
        match self {
            Self::Sqlite(access) => access,
            Self::Files(access) => access,
            Self::Lookup(access) => access,
        }
    }
}

impl Arguments {
    /// Refuses options that the target would not take note of.
    fn check(&self, target: &Target) -> Result<(), Usage> {
        let path = target.path().display();
        let refused = match target.form() {
            Form::Database if self.open_only => Some("--open-only"),
            Form::Database => self.files.given(),
            Form::Folder | Form::Tree => self.sqlite.given(),
        };
        if let Some(option) = refused {
            let form = target.form().name();
            return Err(Usage(format!("{option} is not for {path}, which is a {form}")));
        }
        if self.check && target.recipe().is_none() {
            let text = "what its blobs must be is not known, since crossover blob init did not \
                        make them; leave --check out";
            return Err(Usage(format!("{path}: {text}")));
        }
        Ok(())
    }

    fn open(&self, target: &Target) -> Result<Open, blob::Error> {
        Ok(match (target.form(), &self.files.names) {
            (Form::Database, _) => Open::Sqlite(target.sqlite(&self.sqlite.settings())?),
            (_, None) => Open::Files(target.files(&self.files.settings())?),
            (_, Some(names)) => Open::Lookup(LookupAccess::open(
                names,
                target.path(),
                &SqliteSettings::default(),
                &self.files.settings(),
            )?),
        })
    }

    /// The largest key that is asked for. Beyond the largest that `export` wrote no file is ours.
    fn max_id(&self, target: &Target) -> u64 {
        let largest = target.largest_id();
        match self.order.max_id {
            Some(wanted) if self.update && target.form() != Form::Database => wanted.min(largest),
            Some(wanted) => wanted,
            None => largest,
        }
    }

    /// What is done to each blob; a new generation is noted before any of it is written.
    fn work(&self, target: &mut Target) -> Result<Work, blob::Error> {
        if self.open_only {
            return Ok(Work::OpenAndClose);
        }
        if !self.update {
            return Ok(Work::Read);
        }
        let generation = target.begin_generation()?;
        let sizes = target.recipe().copied();
        let drawn = || std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 1);
        let seed = sizes.map(|recipe| recipe.seed).or(self.order.seed).unwrap_or_else(drawn);
        Ok(Work::Update { seed, generation, sizes })
    }

    /// Brings the files into the page cache, or out of it; what came of it.
    fn temper(&self, shared: &Shared) -> Result<Option<String>, blob::Error> {
        let mut paths = vec![self.target.clone()];
        paths.extend(self.files.names.clone());
        if self.warm {
            blob::warm(&paths, shared.interrupted())?;
            let share = blob::resident_share(&paths)?;
            return Ok(Some(format!("warm ({:.0}% in the page cache)", share * 100.0)));
        }
        if self.cold {
            let evicted = blob::evict(&paths, shared.interrupted())?;
            let (name, share) = (evicted.name(), evicted.resident_share * 100.0);
            return Ok(Some(format!("{name} ({share:.0}% in the page cache)")));
        }
        Ok(None)
    }
}

pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<Outcome> {
    let mut target = Target::open(&arguments.target)?;
    arguments.check(&target)?;
    let order = arguments.order.order();
    let max_id = arguments.max_id(&target);
    let mut ids = blob::Ids::new(order, arguments.order.start, max_id);
    let work = arguments.work(&mut target)?;
    let state = arguments.temper(shared)?;
    let mut open = arguments.open(&target)?;
    if let (true, Open::Sqlite(access)) = (arguments.stats, &open) {
        statistics::sqlite(access.connection())?;
    }
    let before = statistics::kernel();
    let pace = Pace {
        count: arguments.count,
        transaction_per_blob: arguments.transaction_per_blob,
        checkpoint: arguments.update
            && target.form() == Form::Database
            && !arguments.sqlite.no_checkpoint,
    };
    let progress = shared.progress(if arguments.update { "write" } else { "read" });
    let interrupted = shared.interrupted();
    let timed = blob::time(open.access(), &mut ids, work, &pace, &progress, interrupted);
    let timed = timed.map_err(|error| explain(error, arguments, &target))?;
    let mut counted = statistics::since(&before, statistics::kernel());
    let mut result = RunResult::new(&target, work, order, max_id, &timed);
    if let Open::Sqlite(access) = &open {
        counted.extend(statistics::sqlite(access.connection())?);
        result.read_settings(access, arguments.sqlite.blob_api)?;
    } else {
        result.file_settings(arguments.files.settings(), arguments.files.names.is_some());
    }
    result.transaction_per_blob = arguments.transaction_per_blob;
    result.state = state;
    result.statistics = arguments.stats.then_some(counted);
    if arguments.check
        && let Some(recipe) = target.recipe()
    {
        progress.set_length(recipe.count);
        let (newest, all) = (target.generation(), 1..=recipe.count);
        let checked = blob::check(open.access(), recipe, newest, all, &progress, interrupted)?;
        result.checked = Some(checked);
    }
    drop(open);
    if arguments.sqlite.integrity_check {
        progress.set_message("integrity check");
        let stat = blob::stat(target.path()).context("the integrity check failed")?;
        result.integrity = Some(stat.integrity);
    }
    progress.finish_and_clear();
    result.print(shared)?;
    Ok(if result.is_whole() { Outcome::Done } else { Outcome::Findings })
}

/// Says what became of the updates that were interrupted.
fn explain(error: blob::Error, arguments: &Arguments, target: &Target) -> anyhow::Error {
    // Where something stays overwritten the error itself says so.
    let undone = arguments.update && matches!(error, blob::Error::Interrupted);
    let error = anyhow::Error::from(error);
    if undone {
        error.context(format!(
            "the updates were rolled back: {} is as it was before",
            target.path().display()
        ))
    } else {
        error
    }
}
