//! `crossover blob run`.

use std::path::PathBuf;

use anyhow::Context as _;
use blob::{
    Access, BlobForm, BlobTarget, FileAccess, LookupAccess, Order, Pace, SqliteAccess, Work,
};
use plan::storage::SqliteSettings;

use super::forms::{FileArguments, SqliteArguments};
use super::result::RunResult;
use super::statistics;
use crate::flag::{positive, sqlite_file};
use crate::shared::{CommandOutcome, Shared, Usage};

/// Read or overwrite blobs and say how long one takes
///
/// TARGET is a SQLite file, a folder or a tree of files; each may be kvtest's. The clock is read
/// before the first blob and after the last. Without --count a thousand blobs are taken, in
/// ascending order; the first run after the files were made may be cold.
#[derive(clap::Args)]
pub struct Arguments {
    /// A SQLite file, or a folder of files
    #[arg(env = "CROSSOVER_BLOB_TARGET", value_parser = sqlite_file())]
    target: PathBuf,
    /// How many blobs; k, M and G are understood
    #[arg(long, value_name = "N", default_value = "1000", value_parser = positive,
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
    #[arg(long, env = "CROSSOVER_TRANSACTION_PER_BLOB")]
    transaction_per_blob: bool,
    /// The same as kvtest spells it, which takes it for folders too
    #[arg(long, hide = true)]
    multitrans: bool,
    /// Read all files into the page cache first
    #[arg(long, env = "CROSSOVER_WARM")]
    warm: bool,
    /// Drop all files from the page cache first (as root all caches of the machine); each blob is
    /// then taken at most once
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
    /// The first key of an ascending or descending order [default: 1]
    #[arg(long, value_name = "KEY", value_parser = positive,
          conflicts_with_all = ["random", "once"], env = "CROSSOVER_START")]
    start: Option<u64>,
    /// The largest key [default: the largest there is]
    #[arg(long, value_name = "KEY", value_parser = positive, env = "CROSSOVER_MAX_ID")]
    max_id: Option<u64>,
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

/// The target, open.
enum OpenStore {
    Sqlite(SqliteAccess),
    Files(FileAccess),
    Lookup(LookupAccess),
}

impl OpenStore {
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
    fn check(&self, target: &BlobTarget) -> Result<(), Usage> {
        let path = target.path().display();
        let refused = match target.form() {
            BlobForm::Database if self.open_only => Some("--open-only"),
            BlobForm::Database => self.files.given(),
            BlobForm::Folder | BlobForm::Tree => self.sqlite.given(),
        };
        if let Some(option) = refused {
            let form = target.form().name();
            return Err(Usage(format!("{option} is not for {path}, which is a {form}")));
        }
        if let Some(problem) = self.without_effect(target) {
            return Err(Usage(problem.to_owned()));
        }
        if self.check && target.recipe().is_none() {
            let text = "what its blobs must be is not known, since crossover blob init did not \
                        make them; leave --check out";
            return Err(Usage(format!("{path}: {text}")));
        }
        Ok(())
    }

    /// The first option that the others make void.
    fn without_effect(&self, target: &BlobTarget) -> Option<&'static str> {
        let files = &self.files;
        let problems = [
            (
                self.transaction_per_blob && !self.has_transactions(target),
                "--transaction-per-blob changes nothing here: files are in no transaction",
            ),
            (files.fsync && !self.update, "--fsync goes with --update: what is read is not synced"),
            (files.write.is_some() && !self.update, "--write goes with --update"),
            (files.read.is_some() && self.update, "--read goes with reads, not with --update"),
            (
                self.cold && self.order.random,
                "--random takes some blobs again, which are no longer cold: use --once with --cold",
            ),
        ];
        problems.into_iter().find(|(given, _)| *given).map(|(_, problem)| problem)
    }

    /// Those of the names are transactions too.
    fn has_transactions(&self, target: &BlobTarget) -> bool {
        target.form() == BlobForm::Database || self.files.names.is_some()
    }

    fn open(&self, target: &BlobTarget) -> Result<OpenStore, blob::Error> {
        Ok(match (target.form(), &self.files.names) {
            (BlobForm::Database, _) => OpenStore::Sqlite(target.sqlite(&self.sqlite.settings())?),
            (_, None) => OpenStore::Files(target.files(&self.files.settings())?),
            (_, Some(names)) => OpenStore::Lookup(LookupAccess::open(
                names,
                target.path(),
                &SqliteSettings::default(),
                &self.files.settings(),
            )?),
        })
    }

    /// The largest key that is asked for. Beyond the largest that `export` wrote no file is ours.
    fn max_id(&self, target: &BlobTarget) -> u64 {
        let largest = target.largest_id();
        match self.order.max_id {
            Some(wanted) if self.update && target.form() != BlobForm::Database => {
                wanted.min(largest)
            }
            Some(wanted) => wanted,
            None => largest,
        }
    }

    /// The keys in their order; from cold caches each once, since it is warm then.
    fn ids(&self, order: Order, max_id: u64) -> impl Iterator<Item = u64> + use<> {
        let most = if self.cold { max_id } else { u64::MAX };
        let start = self.order.start.unwrap_or(1);
        blob::Ids::new(order, start, max_id).take(usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// Whether each blob is in a transaction of its own.
    fn has_transaction_per_blob(&self, target: &BlobTarget, shared: &Shared) -> bool {
        let has_transactions = self.has_transactions(target);
        if self.multitrans && !has_transactions {
            shared.say("--multitrans changes nothing here: files are in no transaction");
        }
        has_transactions && (self.transaction_per_blob || self.multitrans)
    }

    /// The operation on each blob; a new generation is noted before its first write.
    fn work(&self, target: &mut BlobTarget) -> Result<Work, blob::Error> {
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
            return Ok(Some(format!("warm ({})", resident(share))));
        }
        if self.cold {
            let evicted = blob::evict(&paths, shared.interrupted())?;
            let (name, share) = (evicted.name(), resident(evicted.resident_share));
            return Ok(Some(format!("{name} ({share})")));
        }
        Ok(None)
    }
}

fn resident(share: Option<f64>) -> String {
    match share {
        Some(share) => format!("{:.0}% in the page cache", share * 100.0),
        None => {
            "not verified: of files of others the kernel does not tell what is in the page cache"
                .to_owned()
        }
    }
}

pub fn run(arguments: &Arguments, shared: &Shared) -> anyhow::Result<CommandOutcome> {
    let mut target = BlobTarget::open(&arguments.target)?;
    arguments.check(&target)?;
    let order = arguments.order.order();
    let max_id = arguments.max_id(&target);
    let mut ids = arguments.ids(order, max_id);
    let transaction_per_blob = arguments.has_transaction_per_blob(&target, shared);
    let work = arguments.work(&mut target)?;
    let state = arguments.temper(shared)?;
    let mut open = arguments.open(&target)?;
    if let (true, OpenStore::Sqlite(access)) = (arguments.stats, &open) {
        statistics::sqlite(access.connection())?;
    }
    let before = statistics::kernel();
    let pace = Pace {
        count: arguments.count,
        transaction_per_blob,
        checkpoint: arguments.update
            && target.form() == BlobForm::Database
            && !arguments.sqlite.no_checkpoint,
    };
    let progress = shared.progress(if arguments.update { "write" } else { "read" });
    let interrupted = shared.interrupted();
    let timed = blob::time(open.access(), &mut ids, work, &pace, &progress, interrupted);
    let timed = timed.map_err(|error| explain(error, arguments, &target))?;
    let mut counted = statistics::since(&before, statistics::kernel());
    let mut result = RunResult::new(&target, work, order, max_id, &timed);
    if let OpenStore::Sqlite(access) = &open {
        counted.extend(statistics::sqlite(access.connection())?);
        result.read_settings(access, arguments.sqlite.blob_api)?;
    } else {
        result.file_settings(arguments.files.settings(), arguments.files.names.is_some());
    }
    result.transaction_per_blob = transaction_per_blob;
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
    Ok(if result.is_whole() { CommandOutcome::Done } else { CommandOutcome::Findings })
}

/// Says what became of the updates that were interrupted.
fn explain(error: blob::Error, arguments: &Arguments, target: &BlobTarget) -> anyhow::Error {
    // Where something stays overwritten the error itself says so.
    let undone = arguments.update && matches!(error, blob::Error::Interrupted);
    let error = anyhow::Error::from(error);
    if undone {
        error.context(format!(
            "the updates were rolled back: {} is unchanged",
            target.path().display()
        ))
    } else {
        error
    }
}
