//! The bundled source of SQLite, compiled into a shared library by the system's compiler, with flags of
//! the user's; kept by source, flags, compiler, and the processor where the flags say `native`.

mod compiler;
mod flags;

use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::error::DeployError;
use crate::options::HostOptions;
use crate::process::ProcessError;
use compiler::{Failed, LIBRARY_FLAGS, Processor, compile};
use flags::{are_of_this_processor, check_flags};

static SOURCE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/sqlite3.c.zst"));

/// The flags of the library that the program is linked with: those of libsqlite3-sys in the optimised
/// build, ...
const DEFAULT_FLAGS: &str = "-O3 -ffunction-sections -fdata-sections \
    -DSQLITE_CORE -DSQLITE_DEFAULT_FOREIGN_KEYS=1 -DSQLITE_ENABLE_API_ARMOR \
    -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_DBSTAT_VTAB -DSQLITE_ENABLE_FTS3 \
    -DSQLITE_ENABLE_FTS3_PARENTHESIS -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_JSON1 \
    -DSQLITE_ENABLE_LOAD_EXTENSION=1 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_STAT4 \
    -DSQLITE_SOUNDEX -DSQLITE_THREADSAFE=1 -DSQLITE_USE_URI -DHAVE_USLEEP=1 -DHAVE_ISNAN \
    -D_POSIX_THREAD_SAFE_FUNCTIONS -DHAVE_LOCALTIME_R";

/// ... and those that the workspace adds to them.
const ADDED_FLAGS: Option<&str> = option_env!("LIBSQLITE3_FLAGS");

/// Held while a program builds.
const LOCK: &str = "building.lock";
/// The ending of a folder in which a program builds.
const UNFINISHED: &str = ".tmp";
const LOOK_EVERY: Duration = Duration::from_millis(100);

const COMPILER: &str = "compiler";
const PROCESSOR: &str = "processor";
/// The library itself.
pub const FILE: &str = "file";
/// The names in [`BuiltLibrary::made_by`].
pub const MADE_BY: [&str; 3] = [COMPILER, PROCESSOR, FILE];

/// A library that was compiled for the run, or for an earlier one.
pub struct BuiltLibrary {
    pub path: PathBuf,
    /// Compiler, processor and file, by their names in [`MADE_BY`].
    pub made_by: Vec<(String, String)>,
}

impl BuiltLibrary {
    /// That of these flags, the compiler and the processor of now, whether compiled by now or not.
    ///
    /// # Errors
    /// When a flag is refused, or there is no compiler.
    pub fn of(flags: &str, cache: &Path) -> Result<Self, DeployError> {
        check_flags(flags)?;
        let version = compiler::version()?;
        let processor = are_of_this_processor(flags).then(Processor::of_this_machine);
        let facts = processor.as_ref().map_or("", |processor| processor.facts.as_str());
        let name = name_of(&all_flags(flags), &version, facts);
        let first_line = version.lines().next().unwrap_or_default().to_owned();
        let made_by = [
            (COMPILER, Some(first_line)),
            (PROCESSOR, processor.map(|processor| processor.name)),
            (FILE, Some(name.clone())),
        ];
        let made_by = made_by.into_iter();
        let made_by = made_by.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        Ok(Self { path: cache.join("sqlite").join(name), made_by })
    }

    /// The compiler by the first line of its version.
    #[must_use]
    pub fn compiler(&self) -> &str {
        let compiler = self.made_by.iter().find(|(name, _)| name == COMPILER);
        compiler.map_or("", |(_, version)| version)
    }
}

/// The library that `flags` make of the bundled source; compiled unless it is kept already.
///
/// # Errors
/// When a flag is refused, by us or by the compiler, there is no compiler, or the cache folder cannot
/// be written to.
pub fn build(flags: &str, options: &HostOptions<'_>) -> Result<BuiltLibrary, DeployError> {
    let built = BuiltLibrary::of(flags, &options.locations.cache)?;
    if !built.path.is_file() {
        options.progress.set_message(format!("compiling SQLite with {flags}"));
        make(flags, &built.path, options)?;
    }
    Ok(built)
}

fn all_flags(flags: &str) -> String {
    [DEFAULT_FLAGS, ADDED_FLAGS.unwrap_or_default(), flags].join(" ")
}

/// Compiles, unless another program has done so in the same time.
fn make(flags: &str, path: &Path, options: &HostOptions<'_>) -> Result<(), DeployError> {
    let io = |source| DeployError::Io { path: path.to_owned(), source };
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(OsStr::to_str))
    else {
        return Err(io(io::ErrorKind::InvalidFilename.into()));
    };
    std::fs::create_dir_all(folder).map_err(io)?;
    let _alone = alone(folder, options)?;
    if path.is_file() {
        return Ok(());
    }
    remove_unfinished(folder).map_err(io)?;
    // By process: the compiler of a program that was killed may still write.
    let unfinished = folder.join(format!("{name}.{}{UNFINISHED}", std::process::id()));
    std::fs::create_dir(&unfinished).map_err(io)?;
    let compiled = compile(&all_flags(flags), &unfinished, name).map_err(|failed| match failed {
        Failed::Io(source) => io(source),
        Failed::Compiler(_) if options.interrupted.load(Ordering::Relaxed) => {
            ProcessError::Interrupted.into()
        }
        Failed::Compiler(said) => DeployError::NotCompiled { flags: flags.to_owned(), said },
    });
    let published =
        compiled.and_then(|()| whole_file::publish(&unfinished.join(name), path).map_err(io));
    // What it leaves is removed by the next build.
    let _ = std::fs::remove_dir_all(&unfinished);
    published
}

/// Waits for other programs that build; the lock ends with the file.
fn alone(folder: &Path, options: &HostOptions<'_>) -> Result<File, DeployError> {
    let path = folder.join(LOCK);
    let io = |source| DeployError::Io { path: path.clone(), source };
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(io)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        if options.interrupted.load(Ordering::Relaxed) {
            return Err(ProcessError::Interrupted.into());
        }
        options.progress.set_message("waiting for another program that compiles SQLite");
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Removes what builds have left that were killed. The caller holds [`alone`]'s lock.
fn remove_unfinished(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().ends_with(UNFINISHED) {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => std::fs::remove_dir_all(entry.path())?,
            false => std::fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

fn name_of(flags: &str, compiler: &str, processor: &str) -> String {
    let mut digest = Sha256::new();
    let texts = [flags, LIBRARY_FLAGS, compiler, processor].map(str::as_bytes);
    for part in [SOURCE].into_iter().chain(texts) {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    let digest = hex::encode(digest.finalize());
    format!("libsqlite3-{}.so", digest.get(..16).unwrap_or(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_compiler_and_processor_have_libraries_of_their_own() {
        let name = name_of("-O2", "cc 12", "");
        assert_eq!(name, name_of("-O2", "cc 12", ""));
        for other in [("-O3", "cc 12", ""), ("-O2", "cc 13", ""), ("-O2", "cc 12", "avx")] {
            assert_ne!(name, name_of(other.0, other.1, other.2));
        }
    }
}
