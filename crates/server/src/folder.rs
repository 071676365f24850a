//! The folder of one server: the lock of its owner, its names, its removal.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Error;
use crate::locations::open_lock;

/// The names of folders that are removed with their server.
pub(crate) const TEMPORARY_PREFIX: &str = "temporary-";

pub(crate) fn data_in(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// The owner's lock of a folder, held until this is dropped. It is then given back by name: a child
/// that is being started holds a copy of every open file until its program is loaded, and would
/// keep the lock as long.
#[derive(Debug)]
pub(crate) struct OwnerLock(File);

impl OwnerLock {
    /// Before it is dropped, so that a failure is heard of.
    pub(crate) fn give_back(&self) -> std::io::Result<()> {
        self.0.unlock()
    }
}

impl Drop for OwnerLock {
    fn drop(&mut self) {
        // Closing the file gives it back too, only later.
        let _ = self.0.unlock();
    }
}

/// Opens and locks the owner's lock of a folder; `None` if another program holds it, or has just
/// removed the folder, as owners do unannounced.
pub(crate) fn try_lock(folder: &Path) -> Result<Option<OwnerLock>, Error> {
    let path = folder.join("owner.lock");
    let file = match open_lock(&path) {
        Ok(file) => file,
        Err(_) if !folder.exists() => return Ok(None),
        Err(error) => return Err(error),
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(OwnerLock(file))),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(Error::io("lock", &path)(error)),
    }
}

/// Removes a folder that may not be there. A process just killed may still write a last file, so
/// a folder found not empty is tried again.
pub(crate) fn remove_folder(path: &Path) -> Result<(), Error> {
    let mut tries = 0;
    loop {
        match std::fs::remove_dir_all(path) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::DirectoryNotEmpty && tries < 50 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(error) => return Err(Error::io("remove", path)(error)),
        }
    }
}

pub(crate) fn is_temporary(folder: &Path) -> bool {
    name_of(folder).starts_with(TEMPORARY_PREFIX)
}

pub(crate) fn name_of(folder: &Path) -> String {
    folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_lock_is_free_while_a_copy_of_its_file_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let lock = try_lock(folder.path()).unwrap().unwrap();
        let _of_a_child = lock.0.try_clone().unwrap();
        assert!(try_lock(folder.path()).unwrap().is_none());
        drop(lock);
        assert!(try_lock(folder.path()).unwrap().is_some());
    }

    #[test]
    fn a_folder_removed_by_its_owner_during_a_sweep_is_not_locked() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone");
        assert!(try_lock(&gone).unwrap().is_none());
    }
}
