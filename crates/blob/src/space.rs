//! Room on a file system: asked before a long work begins, and told again when it has run out.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::Serialize;

use crate::Error;

/// Space left on a file system for this user.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Free {
    pub bytes: u64,
    /// `None` where files are not counted.
    pub files: Option<u64>,
    pub block_bytes: u64,
}

/// The file system that holds `path`, which exists.
pub(crate) fn free(path: &Path) -> Result<Free, Error> {
    let found =
        rustix::fs::statvfs(path).map_err(Error::errno("look at the file system of", path))?;
    let files = if found.f_files == 0 { None } else { Some(found.f_favail) };
    let bytes = found.f_bavail.saturating_mul(found.f_frsize);
    Ok(Free { bytes, files, block_bytes: found.f_frsize.max(512) })
}

/// Refuses work that needs more bytes than there are.
pub(crate) fn require(path: &Path, needed_bytes: u64) -> Result<Free, Error> {
    let free = free(path)?;
    if free.bytes < needed_bytes {
        let (path, free_bytes) = (path.to_owned(), free.bytes);
        return Err(Error::NoSpace { path, needed_bytes, free_bytes });
    }
    Ok(free)
}

/// The folder that a new file or folder will lie in.
pub(crate) fn parent_of(path: &Path) -> Result<&Path, Error> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let kind = fs::metadata(parent).map_err(Error::io("open the folder", parent))?;
    if kind.is_dir() {
        Ok(parent)
    } else {
        let problem = "it is not a folder, so nothing can be made in it".to_owned();
        Err(Error::NoTarget { path: parent.to_owned(), problem })
    }
}

/// A failure to write that came from a full disk says how much is missing.
pub(crate) fn explain(error: Error, parent: &Path, needed_bytes: u64) -> Error {
    let full = match &error {
        Error::Io { source, .. } => {
            matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        }
        Error::Sqlite { source, .. } => {
            source.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull)
        }
        _ => false,
    };
    match free(parent) {
        Ok(free) if full => {
            let (path, free_bytes) = (parent.to_owned(), free.bytes);
            Error::NoSpace { path, needed_bytes: needed_bytes.max(free_bytes + 1), free_bytes }
        }
        _ => error,
    }
}

/// Space that a target takes on storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DiskSpace {
    /// The lengths of its files, bytes.
    pub bytes: u64,
    /// Whole blocks of the file system, folders included, in bytes.
    pub allocated_bytes: u64,
    pub files: u64,
}

impl DiskSpace {
    pub(crate) fn add(&mut self, data: &fs::Metadata) {
        self.allocated_bytes += data.blocks() * 512;
        if data.is_file() {
            self.bytes += data.len();
            self.files += 1;
        }
    }
}
