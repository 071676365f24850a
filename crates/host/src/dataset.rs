//! The SQLite files that engines are filled from: the plan's own, or made by its command, once for
//! each set of levels that is in it, and kept beside the other datasets.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use engine::EngineSpec;
use server::StartOptions;

use crate::error::DeployError;
use crate::file;
use crate::filling::{DATABASE, filling};
use crate::options::HostOptions;
use crate::process::{ApplicationOptions, run_to_end};
use crate::stoppable::carry_out;
use plan::Levels;
use plan::{Data, Placeholders, Plan, PlanError, expand};

/// The data directory in which a run will look for `engine` filled with the SQLite file `data` by
/// the commands `prepare` of its plan, which no factor bears on. A caller that fills and marks it
/// before (`server::PostgresServer`) spares the run those commands.
pub fn filled_ahead(
    engine: &EngineSpec,
    data: &Path,
    prepare: &[Vec<String>],
) -> Result<StartOptions, DeployError> {
    let digest = file::digest(data)?;
    let data_digest = filling(&digest, engine, prepare, &Placeholders::new());
    let options = StartOptions::for_engine(engine)?;
    Ok(StartOptions { data_digest, database: DATABASE.to_owned(), ..options })
}

/// One SQLite file and the digest of its bytes.
pub struct KeptDataset {
    pub path: PathBuf,
    pub digest: String,
}

impl KeptDataset {
    fn read(path: PathBuf) -> Result<Self, DeployError> {
        let digest = file::digest(&path)?;
        Ok(Self { path, digest })
    }

    /// Refuses a file that another program has written to since it was read: engines that are
    /// filled before and after would hold different rows.
    pub(crate) fn check_unchanged(&self) -> Result<(), DeployError> {
        match has_log(&self.path) || file::digest(&self.path)? != self.digest {
            true => Err(DeployError::DataChanged { path: self.path.clone() }),
            false => Ok(()),
        }
    }
}

/// The files of a run, by what makes them.
pub struct Datasets {
    by_source: BTreeMap<String, KeptDataset>,
    /// A folder for copies of files that may change.
    scratch: PathBuf,
}

impl Datasets {
    #[must_use]
    pub fn new(scratch: &Path) -> Self {
        Self { by_source: BTreeMap::new(), scratch: scratch.to_owned() }
    }

    /// The file for `levels`; none where the engines hold the data already, or where it is not
    /// made yet.
    pub fn at(&self, plan: &Plan, levels: &Levels) -> Option<&KeptDataset> {
        self.by_source.get(&source(plan, levels).ok()??)
    }

    /// Makes and reads the files of `cells` that are not there yet.
    pub fn provide(
        &mut self,
        plan: &Plan,
        cells: &[Levels],
        options: &HostOptions<'_>,
        program: &Path,
    ) -> Result<(), DeployError> {
        for levels in cells {
            let Some(source) = source(plan, levels)? else { return Ok(()) };
            if self.by_source.contains_key(&source) {
                continue;
            }
            let path = match &plan.data {
                Data::Command { words, statements } => {
                    let values = placeholders(plan, levels, program)?;
                    make(words, statements, &values, &source, options)?
                }
                _ => PathBuf::from(&source),
            };
            if !path.is_file() {
                let message = format!("there is no file {}; name a SQLite file", path.display());
                return Err(PlanError::impossible("data", message).into());
            }
            let path = if has_log(&path) { self.copy_of(&path)? } else { path };
            self.by_source.insert(source, KeptDataset::read(path)?);
        }
        Ok(())
    }

    /// A copy as of this moment: rows in the log are in none of the file's bytes, and a program
    /// that goes on writing would give each engine other rows.
    fn copy_of(&self, path: &Path) -> Result<PathBuf, DeployError> {
        let copy = self.scratch.join(format!("data-{}.db", self.by_source.len()));
        file::copy_database(path, &copy)?;
        Ok(copy)
    }

    /// One digest of all files; none where there are none.
    pub fn digest(&self) -> Option<String> {
        let mut digests = self.by_source.values().map(|dataset| dataset.digest.as_str());
        let first = digests.next()?;
        let rest: Vec<&str> = digests.collect();
        if rest.is_empty() {
            return Some(first.to_owned());
        }
        let all = format!("{first} {}", rest.join(" "));
        Some(format!("{:032x}", xxhash_rust::xxh3::xxh3_128(all.as_bytes())))
    }
}

/// Whether the file has a write-ahead log that is not empty.
fn has_log(path: &Path) -> bool {
    // SQLite follows a link before it names the log.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let log = connect::sqlite::file::beside(&path, "-wal");
    log.metadata().is_ok_and(|log| log.len() > 0)
}

/// The source of the file at `levels`: its path, or the words of the command.
fn source(plan: &Plan, levels: &Levels) -> Result<Option<String>, PlanError> {
    let values = placeholders(plan, levels, Path::new("{crossover}"))?;
    let expanded: Result<Vec<String>, _> =
        plan.data.texts().map(|(key, text)| expand(text, &key, &values)).collect();
    let words = expanded?;
    Ok((!words.is_empty()).then(|| words.join("\n")))
}

fn placeholders(plan: &Plan, levels: &Levels, program: &Path) -> Result<Placeholders, PlanError> {
    let mut values = plan.placeholders(levels)?;
    values.insert("crossover".to_owned(), program.display().to_string());
    values.insert("path".to_owned(), "{path}".to_owned());
    Ok(values)
}

/// Runs the plan's command unless its file is kept from an earlier time.
fn make(
    words: &[String],
    statements: &[String],
    values: &Placeholders,
    source: &str,
    options: &HostOptions<'_>,
) -> Result<PathBuf, DeployError> {
    let folder = options.locations.data.join("datasets");
    let io = |source| DeployError::Io { path: folder.clone(), source };
    std::fs::create_dir_all(&folder).map_err(io)?;
    let name = format!("made-{:032x}", xxhash_rust::xxh3::xxh3_128(source.as_bytes()));
    let lock = File::create(folder.join(format!("{name}.lock"))).map_err(io)?;
    lock.lock().map_err(io)?;
    let path = folder.join(format!("{name}.db"));
    if path.is_file() {
        return Ok(path);
    }
    // In a folder of its own until it is whole: SQLite puts files beside it.
    remove_unfinished(&folder, &name).map_err(io)?;
    let unfinished = UnfinishedDataset(folder.join(format!("{name}{UNFINISHED}")));
    std::fs::create_dir(&unfinished.0).map_err(io)?;
    let partial = unfinished.0.join("data.db");
    let mut values = values.clone();
    values.insert("path".to_owned(), partial.display().to_string());
    options.progress.set_message(format!("making the data, kept as {}", path.display()));
    let expanded = |texts: &[String]| -> Result<Vec<String>, _> {
        texts.iter().map(|text| expand(text, "data", &values)).collect()
    };
    let made = run_to_end(
        &ApplicationOptions {
            name: name.clone(),
            command: expanded(words)?,
            environment: Vec::new(),
            directory: None,
            log_directory: folder.clone(),
            cpus: None,
            account: None,
        },
        options.interrupted,
    );
    made?;
    for stream in ["stdout", "stderr"] {
        file::remove_if_there(&folder.join(format!("{name}.{stream}.log")))?;
    }
    if !partial.is_file() {
        let message = format!("the command made no file {{path}} ({})", partial.display());
        return Err(PlanError::impossible("data.command", message).into());
    }
    let statements = expanded(statements)?;
    carry_out(&partial, &statements, "data.statements", options.progress, options.interrupted)?;
    whole_file::publish(&partial, &path).map_err(io)?;
    Ok(path)
}

/// End of the name of a folder in which a dataset is made.
const UNFINISHED: &str = ".unfinished";

/// A folder that is removed when this is dropped.
struct UnfinishedDataset(PathBuf);

impl Drop for UnfinishedDataset {
    fn drop(&mut self) {
        // What stays here is removed before the next dataset is made.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Removes what killed programs have left. Others may be making theirs: they hold its lock, as the caller
/// holds that of `own`.
fn remove_unfinished(folder: &Path, own: &str) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let file_name = path.file_name().unwrap_or_default().to_string_lossy();
        let Some(name) = file_name.strip_suffix(UNFINISHED) else { continue };
        let lock = File::create(folder.join(format!("{name}.lock")))?;
        if name == own || lock.try_lock().is_ok() {
            std::fs::remove_dir_all(&path)?;
        }
    }
    Ok(())
}
