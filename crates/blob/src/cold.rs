//! Blobs out of the page cache, so that the next read comes from storage, and how far that went.

mod resident;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::Advice;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::content::mix;

/// Files of which the sample looks at the pages.
const SAMPLE_FILES: usize = 256;

/// What is cold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cold {
    /// Data and metadata: the kernel dropped all its caches.
    Everything,
    /// Data only: the files' pages were dropped one file after the other, as a user may.
    DataOnly,
}

impl Cold {
    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Everything => "data and metadata cold",
            Self::DataOnly => "data cold, metadata warm",
        }
    }
}

/// What an eviction reached.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evicted {
    /// What is cold.
    pub cold: Cold,
    /// The part of the pages of a sample of the files that is still in the page cache.
    pub resident_share: f64,
}

/// Writes what is dirty, then drops the files of `paths` (files, or everything below folders) from
/// the page cache: all caches of the machine where the user may (root), else these files' pages.
/// What a process has mapped stays. In a virtual machine the host may still hold the data.
///
/// # Errors
/// [`Error::Io`], [`Error::Interrupted`].
pub fn evict(paths: &[PathBuf], interrupted: &AtomicBool) -> Result<Evicted, Error> {
    sync(paths)?;
    match drop_caches() {
        Ok(()) => Ok(Evicted { cold: Cold::Everything, resident_share: resident_share(paths)? }),
        Err(_) => evict_data(paths, interrupted),
    }
}

/// The same as any user may do it, and without a loss for other programs: the pages of these files
/// only.
///
/// # Errors
/// As [`evict`].
pub fn evict_data(paths: &[PathBuf], interrupted: &AtomicBool) -> Result<Evicted, Error> {
    sync(paths)?;
    for path in paths {
        each_file(path, &mut |file| {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            drop_pages(file).map_err(Error::io("drop from the page cache", file))
        })?;
    }
    Ok(Evicted { cold: Cold::DataOnly, resident_share: resident_share(paths)? })
}

/// Dirty pages cannot be dropped, so they are written first.
fn sync(paths: &[PathBuf]) -> Result<(), Error> {
    for path in paths {
        sync_file_system(path).map_err(Error::io("sync the file system of", path))?;
    }
    Ok(())
}

/// Reads all files of `paths` into the page cache; how many bytes they have.
///
/// # Errors
/// [`Error::Io`], [`Error::Interrupted`].
pub fn warm(paths: &[PathBuf], interrupted: &AtomicBool) -> Result<u64, Error> {
    let mut bytes = 0;
    for path in paths {
        each_file(path, &mut |file| {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let copied = File::open(file).and_then(|mut open| io::copy(&mut open, &mut io::sink()));
            bytes += copied.map_err(Error::io("read", file))?;
            Ok(())
        })?;
    }
    Ok(bytes)
}

/// The part of the pages of `paths` that is in the page cache, by mincore on a sample of the files:
/// 0 to 1. Of a file that this user may neither write nor owns the kernel tells nothing: it counts
/// as resident.
///
/// # Errors
/// [`Error::Io`].
pub fn resident_share(paths: &[PathBuf]) -> Result<f64, Error> {
    let mut files = Vec::new();
    for path in paths {
        each_file(path, &mut |file| {
            files.push(file.to_owned());
            Ok(())
        })?;
    }
    // Few files, such as databases, are all looked at; of many a random sample.
    if files.len() > SAMPLE_FILES {
        files.sort_by_cached_key(|file| {
            mix(file
                .as_os_str()
                .as_encoded_bytes()
                .iter()
                .fold(0, |hash, byte| mix(hash ^ u64::from(*byte))))
        });
        files.truncate(SAMPLE_FILES);
    }
    let (mut resident, mut pages) = (0, 0);
    for file in &files {
        let found = resident::pages(file).map_err(Error::io("look at the pages of", file))?;
        resident += found.resident;
        pages += found.pages;
    }
    Ok(if pages == 0 { 0.0 } else { resident as f64 / pages as f64 })
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
    Ok(rustix::fs::syncfs(File::open(path)?)?)
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_path: &Path) -> io::Result<()> {
    rustix::fs::sync();
    Ok(())
}

/// Pages, directory entries and inodes (<https://docs.kernel.org/admin-guide/sysctl/vm.html>).
fn drop_caches() -> io::Result<()> {
    fs::write("/proc/sys/vm/drop_caches", "3")
}

fn drop_pages(path: &Path) -> io::Result<()> {
    Ok(rustix::fs::fadvise(File::open(path)?, 0, None, Advice::DontNeed)?)
}
