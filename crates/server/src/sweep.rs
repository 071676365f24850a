//! PostgreSQL servers that killed programs have left, which are stopped before another one starts.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::folder::{is_temporary, remove_folder, try_lock};
use crate::locations::open_lock;
use crate::record::Record;
use crate::{Error, Locations, postmaster};

/// Held while folders of data directories are made, locked or removed.
pub(crate) fn lock_all(locations: &Locations) -> Result<File, Error> {
    let path = locations.clusters().join(".lock");
    let file = open_lock(&path)?;
    file.lock().map_err(Error::io("lock", &path))?;
    Ok(file)
}

pub(crate) fn folders(locations: &Locations) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(locations.clusters()) else { return Vec::new() };
    let mut folders: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    folders
}

/// Stops servers whose owner is gone, and forgets those that ended without a word (a reboot).
/// The caller holds [`lock_all`].
pub(crate) fn sweep(locations: &Locations) -> Result<(), Error> {
    for folder in folders(locations) {
        // The holder of the lock is alive and in charge.
        let Some(_lock) = try_lock(&folder)? else { continue };
        let is_persistent = Record::read(&folder).is_some_and(|record| record.persistent);
        if !is_persistent || postmaster::find(&folder).is_none() {
            stop(&folder)?;
        }
    }
    Ok(())
}

/// Stops the server of a folder, if one runs, and forgets it. The caller holds its lock.
pub(crate) fn stop(folder: &Path) -> Result<(), Error> {
    if let Some(pid) = postmaster::find(folder) {
        postmaster::stop(pid, || postmaster::has_ended(pid, folder))?;
    }
    if let Some(record) = Record::read(folder) {
        record.remove(folder);
    }
    if is_temporary(folder) {
        remove_folder(folder)?;
    }
    Ok(())
}
