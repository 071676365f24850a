//! Eviction of blobs from the page cache, so that the next read comes from storage, and its check.

mod resident;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use connect::sqlite::file;
use rustix::fs::Advice;
use serde::{Deserialize, Serialize};

use crate::Error;
use resident::ResidencySample;

/// Drops the caches of the whole machine (<https://docs.kernel.org/admin-guide/sysctl/vm.html>).
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cold {
    /// Data and metadata: the kernel dropped all its caches.
    Everything,
    /// Data only: the files' pages were dropped one file after the other, as a user may.
    DataOnly,
}

impl Cold {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Everything => "data and metadata cold",
            Self::DataOnly => "data cold, metadata warm",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evicted {
    pub cold: Cold,
    /// Whether that is so in a virtual machine only: its host may still hold the data.
    pub guest: bool,
    /// The part of the pages of a sample of the files that is still in the page cache; none where
    /// the kernel tells nothing of them, since they are of another user.
    pub resident_share: Option<f64>,
}

impl Evicted {
    fn new(cold: Cold, resident_share: Option<f64>) -> Self {
        let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Self { cold, guest: is_guest(&processors), resident_share }
    }

    /// The state by its name, as `data and metadata cold`; in a virtual machine `guest-cold`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.guest {
            true => format!("guest-cold: {}, the host may hold the data", self.cold.name()),
            false => self.cold.name().to_owned(),
        }
    }
}

/// Whether the processors say that a hypervisor runs them.
fn is_guest(processors: &str) -> bool {
    let flags = processors.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"))
}

/// Writes dirty pages, then drops the files of `paths` (files, or everything below folders) from
/// the page cache: all caches of the machine for root, only these files' pages for other users.
/// Pages that a process has mapped stay.
pub fn evict(paths: &[PathBuf], interrupted: &AtomicBool) -> Result<Evicted, Error> {
    sync(paths)?;
    let sample = ResidencySample::of(paths)?;
    if drop_caches().is_err() {
        return drop_data(paths, &sample, interrupted);
    }
    let resident_share = sample.resident_share()?;
    // The sample held its files open and so kept their inodes: they go now.
    drop(sample);
    drop_caches().map_err(Error::io("drop the caches by", Path::new(DROP_CACHES)))?;
    Ok(Evicted::new(Cold::Everything, resident_share))
}

/// The same as any user may do it, and without a loss for other programs: the pages of these files
/// only.
pub fn evict_data(paths: &[PathBuf], interrupted: &AtomicBool) -> Result<Evicted, Error> {
    sync(paths)?;
    drop_data(paths, &ResidencySample::of(paths)?, interrupted)
}

fn drop_data(
    paths: &[PathBuf],
    sample: &ResidencySample,
    interrupted: &AtomicBool,
) -> Result<Evicted, Error> {
    for path in paths {
        each_file(path, &mut |file| {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            drop_pages(file).map_err(Error::io("drop from the page cache", file))
        })?;
    }
    Ok(Evicted::new(Cold::DataOnly, sample.resident_share()?))
}

/// Dirty pages cannot be dropped, so they are written first.
fn sync(paths: &[PathBuf]) -> Result<(), Error> {
    for path in paths {
        sync_file_system(path).map_err(Error::io("sync the file system of", path))?;
    }
    Ok(())
}

/// Reads all files of `paths` into the page cache; how many bytes they have.
pub fn warm(paths: &[PathBuf], interrupted: &AtomicBool) -> Result<u64, Error> {
    let mut bytes = 0;
    for path in paths {
        each_file(path, &mut |file| {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let copied = file::open(file).and_then(|mut open| io::copy(&mut open, &mut io::sink()));
            bytes += copied.map_err(Error::io("read", file))?;
            Ok(())
        })?;
    }
    Ok(bytes)
}

/// The part of the pages of `paths` that is in the page cache, by mincore on a sample of the files:
/// 0 to 1. None where the kernel tells nothing, which is so of files that this user neither owns nor
/// may write.
pub fn resident_share(paths: &[PathBuf]) -> Result<Option<f64>, Error> {
    ResidencySample::of(paths)?.resident_share()
}

/// Calls `visit` for `path`, or for every regular file below it. Symbolic links are not followed.
pub(crate) fn each_file(
    path: &Path,
    visit: &mut dyn FnMut(&Path) -> Result<(), Error>,
) -> Result<(), Error> {
    if !fs::metadata(path).map_err(Error::io("look at", path))?.is_dir() {
        return visit(path);
    }
    for entry in fs::read_dir(path).map_err(Error::io("read", path))? {
        let entry = entry.map_err(Error::io("read", path))?;
        let kind = entry.file_type().map_err(Error::io("look at", path))?;
        if kind.is_dir() {
            each_file(&entry.path(), visit)?;
        } else if kind.is_file() {
            visit(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn sync_file_system(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(file::folder_of(path)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_path: &Path) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

fn drop_caches() -> io::Result<()> {
    // Pages, directory entries and inodes.
    fs::write(DROP_CACHES, "3")
}

fn drop_pages(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::fadvise(&*file::open(path)?, 0, None, Advice::DontNeed)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_is_named_by_what_was_dropped_and_by_the_machine() {
        let evicted = |cold, guest| Evicted { cold, guest, resident_share: None };
        assert_eq!(evicted(Cold::Everything, false).name(), "data and metadata cold");
        let name = evicted(Cold::DataOnly, true).name();
        assert_eq!(name, "guest-cold: data cold, metadata warm, the host may hold the data");
        assert!(is_guest("vmx flags\t: vnmi\nflags\t\t: fpu vme hypervisor lahf_lm\n"));
        assert!(!is_guest("flags\t\t: fpu vme lahf_lm\n") && !is_guest(""));
    }
}
