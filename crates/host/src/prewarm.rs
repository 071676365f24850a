//! The state before a trial: files in the page cache, and no dirty pages of earlier work that
//! would be written back in the middle of it.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use connect::sqlite::file;

const BUFFER_BYTES: usize = 1 << 20;
/// Dirty memory below which the machine counts as settled: what an idle system makes anyway.
const DIRTY_BYTES_MAX: u64 = 8 << 20;
/// How often dirty memory is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Dirty pages that are not written back by then belong to other programs.
const SETTLE_AT_MOST: Duration = Duration::from_secs(10);

/// A state that could not be reached.
#[derive(Debug, thiserror::Error)]
pub enum PrewarmError {
    /// A file or directory cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The file system could not be synced.
    #[error("cannot sync the file system of {}: {source}", path.display())]
    Sync { path: PathBuf, source: io::Error },
    /// The user asked to stop.
    #[error("interrupted")]
    Interrupted,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prewarmed {
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Reads data into the page cache, `charged` to their first reader from now on, and waits until
/// nothing of them is left to write.
pub fn read_data(
    paths: &[PathBuf],
    charged: bool,
    interrupted: &AtomicBool,
) -> Result<(), PrewarmError> {
    for path in paths {
        if charged {
            evict(path, interrupted)?;
        }
        prewarm(path, interrupted)?;
        settle(path, SETTLE_AT_MOST, interrupted)?;
    }
    Ok(())
}

/// Reads a file, or every regular file below a directory, so that the page cache holds it.
/// Symbolic links below a directory are not followed. Files that vanish meanwhile, such as a
/// server's temporary ones, are passed over.
pub fn prewarm(path: &Path, interrupted: &AtomicBool) -> Result<Prewarmed, PrewarmError> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut sum = Prewarmed::default();
    for file in regular_files(path)? {
        if let Some(bytes) = read_through(&file, &mut buffer, interrupted)? {
            sum.files += 1;
            sum.bytes += bytes;
        }
    }
    Ok(sum)
}

/// Writes a file, or every regular file below a directory, to storage and drops it from the page
/// cache, so that its next reader is charged for its pages. Pages that a process has mapped stay.
pub fn evict(path: &Path, interrupted: &AtomicBool) -> Result<(), PrewarmError> {
    for path in regular_files(path)? {
        if interrupted.load(Ordering::Relaxed) {
            return Err(PrewarmError::Interrupted);
        }
        match file::open(&path).and_then(|file| drop_pages(&file)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            done => done.map_err(|source| PrewarmError::Read { path, source })?,
        }
    }
    Ok(())
}

/// Dirty pages cannot be dropped, so they are written first.
#[cfg(target_os = "linux")]
fn drop_pages(file: &File) -> io::Result<()> {
    file.sync_all()?;
    Ok(rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?)
}

#[cfg(not(target_os = "linux"))]
fn drop_pages(_file: &File) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// The file itself, or every regular file below a directory.
fn regular_files(path: &Path) -> Result<Vec<PathBuf>, PrewarmError> {
    let failed = |source| PrewarmError::Read { path: path.to_owned(), source };
    if !fs::metadata(path).map_err(failed)?.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    let mut directories = vec![path.to_owned()];
    while let Some(directory) = directories.pop() {
        let failed = |source| PrewarmError::Read { path: directory.clone(), source };
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                directories.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}

/// The file's length, or `None` if it is gone.
fn read_through(
    path: &Path,
    buffer: &mut [u8],
    interrupted: &AtomicBool,
) -> Result<Option<u64>, PrewarmError> {
    let failed = |source| PrewarmError::Read { path: path.to_owned(), source };
    let mut file = match file::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut bytes = 0;
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Err(PrewarmError::Interrupted);
        }
        match file.read(buffer) {
            Ok(0) => return Ok(Some(bytes)),
            Ok(count) => bytes += count as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

/// How far the machine came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Dirty and written-back memory of the whole machine at the end; `None` where unknown.
    pub dirty_bytes: Option<u64>,
    pub waited: Duration,
}

impl Settled {
    /// Whether so little is dirty that write-back will not disturb a trial.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.dirty_bytes.is_some_and(|bytes| bytes <= DIRTY_BYTES_MAX)
    }
}

/// Writes back the file system that holds `path`, then waits until little memory of the machine
/// is dirty, at most `at_most`.
pub fn settle(
    path: &Path,
    at_most: Duration,
    interrupted: &AtomicBool,
) -> Result<Settled, PrewarmError> {
    let begin = Instant::now();
    sync_file_system(path)
        .map_err(|source| PrewarmError::Sync { path: path.to_owned(), source })?;
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Err(PrewarmError::Interrupted);
        }
        let settled = Settled { dirty_bytes: dirty_bytes(), waited: begin.elapsed() };
        if settled.is_quiet() || settled.dirty_bytes.is_none() || settled.waited >= at_most {
            return Ok(settled);
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// Writes everything that is dirty of the file system that holds `path`.
#[cfg(target_os = "linux")]
pub fn sync_file_system(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file::folder_of(path)?)?)
}

/// Elsewhere only all file systems can be synced.
#[cfg(not(target_os = "linux"))]
pub fn sync_file_system(_path: &Path) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

fn dirty_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kibibytes = |name: &str| {
        let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    };
    Some((kibibytes("Dirty:")? + kibibytes("Writeback:")?) * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    static GOING_ON: AtomicBool = AtomicBool::new(false);

    #[test]
    fn every_file_below_a_directory_is_read_once() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("base/16384")).unwrap();
        fs::write(directory.path().join("base/16384/1259"), vec![1; 3 << 20]).unwrap();
        fs::write(directory.path().join("PG_VERSION"), "18\n").unwrap();
        std::os::unix::fs::symlink("/", directory.path().join("link")).unwrap();
        let read = prewarm(directory.path(), &GOING_ON).unwrap();
        assert_eq!(read, Prewarmed { files: 2, bytes: (3 << 20) + 3 });
        let one = prewarm(&directory.path().join("PG_VERSION"), &GOING_ON).unwrap();
        assert_eq!(one, Prewarmed { files: 1, bytes: 3 });
    }

    #[test]
    fn a_missing_path_is_named() {
        let error = prewarm(Path::new("/no/such/file"), &GOING_ON).unwrap_err();
        assert!(error.to_string().contains("/no/such/file"), "{error}");
    }

    #[test]
    fn an_interruption_ends_both() {
        let stopped = AtomicBool::new(true);
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("a"), "a").unwrap();
        assert!(matches!(prewarm(directory.path(), &stopped), Err(PrewarmError::Interrupted)));
        let settled = settle(directory.path(), Duration::from_secs(60), &stopped);
        assert!(matches!(settled, Err(PrewarmError::Interrupted)));
    }

    #[test]
    fn settling_ends_at_its_limit_and_tells_what_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let settled = settle(directory.path(), Duration::ZERO, &GOING_ON).unwrap();
        assert!(settled.dirty_bytes.is_some());
    }
}
