//! Overwriting a whole file, in the ways that are compared.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::reader::found;
use crate::Error;
use crate::manifest::{Manifest, UNFINISHED};
use plan::storage::{FileSettings, Writing};

pub(super) struct Writer {
    writing: Writing,
    fsync: bool,
    /// Where a file is written before it takes the place of the old one.
    unfinished: CString,
    folder: PathBuf,
    /// Which files of it `export` wrote, if it wrote any. Known from the first update on: who only
    /// reads shall not read more, from cold caches.
    manifest: Option<Option<Manifest>>,
}

impl Writer {
    /// For files in `folder`.
    pub fn new(folder: &Path, settings: &FileSettings) -> Self {
        static WRITERS: AtomicU64 = AtomicU64::new(0);
        let number = WRITERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("{UNFINISHED}{}-{number}", std::process::id());
        let path = folder.join(name).into_os_string();
        // A path that was opened before has no zero byte in it.
        let unfinished = CString::new(path.as_bytes()).unwrap_or_default();
        Self {
            writing: settings.writing,
            fsync: settings.fsync,
            unfinished,
            folder: folder.to_owned(),
            manifest: None,
        }
    }

    /// Whether the file of blob `id` may be overwritten: in a folder that `export` made only what it
    /// wrote.
    pub fn is_ours(&mut self, id: u64) -> Result<bool, Error> {
        if self.manifest.is_none() {
            self.manifest = Some(Manifest::read(&self.folder)?);
        }
        let manifest = self.manifest.as_ref().and_then(Option::as_ref);
        Ok(manifest.is_none_or(|manifest| manifest.wrote(id)))
    }

    /// Gives the file at `path` these bytes; false if there is no file.
    pub fn write(&self, path: &CStr, bytes: &[u8]) -> rustix::io::Result<bool> {
        match self.writing {
            Writing::Overwrite => self.overwrite(path, bytes),
            Writing::Replace => self.replace(path, bytes),
        }
    }

    fn overwrite(&self, path: &CStr, bytes: &[u8]) -> rustix::io::Result<bool> {
        let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::CLOEXEC;
        let Some(file) = found(rustix::fs::open(path, flags, Mode::empty()))? else {
            return Ok(false);
        };
        self.finish(file, bytes)?;
        Ok(true)
    }

    fn replace(&self, path: &CStr, bytes: &[u8]) -> rustix::io::Result<bool> {
        let Some(old) = found(rustix::fs::stat(path))? else { return Ok(false) };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
        let file = rustix::fs::open(&*self.unfinished, flags, Mode::from_raw_mode(old.st_mode))?;
        let written = self.finish(file, bytes);
        let placed = written.and_then(|()| rustix::fs::rename(&*self.unfinished, path));
        if placed.is_err() {
            // The caller reports the failure; the old file is unchanged.
            let _ = rustix::fs::unlink(&*self.unfinished);
        }
        placed?;
        if self.fsync {
            sync_folder_of(path)?;
        }
        Ok(true)
    }

    /// Writes, syncs if that is wanted, and closes.
    fn finish(&self, file: OwnedFd, bytes: &[u8]) -> rustix::io::Result<()> {
        write_all(&file, bytes)?;
        if self.fsync { rustix::fs::fsync(&file) } else { Ok(()) }
    }
}

/// The new name is on storage only when its folder is.
fn sync_folder_of(path: &CStr) -> rustix::io::Result<()> {
    let folder = Path::new(OsStr::from_bytes(path.to_bytes())).parent();
    let folder = folder.unwrap_or(Path::new("/"));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::fsync(rustix::fs::open(folder, flags, Mode::empty())?)
}

fn write_all(file: impl AsFd, mut bytes: &[u8]) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(&file, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
