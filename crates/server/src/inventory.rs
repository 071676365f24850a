//! Inventory of the servers' data directories on this disk, with their sizes, so that users can see
//! what to remove, and their removal.

use std::path::{Path, PathBuf};

use engine::ExactVersion;

use crate::folder::{remove_folder, try_lock};
use crate::record::Record;
use crate::{Error, Locations, postmaster, sweep};

/// A data directory that is kept for later starts.
#[derive(Debug, Clone)]
pub struct DataDirectory {
    /// The release, and the digest of its data.
    pub name: String,
    pub folder: PathBuf,
    /// The release that made it.
    pub version: ExactVersion,
    /// Its size with its log.
    pub bytes: u64,
}

/// The data directories that are kept, by name.
#[must_use]
pub fn data_directories(locations: &Locations) -> Vec<DataDirectory> {
    let describe = |folder: PathBuf| {
        let name = folder.file_name()?.to_str()?.to_owned();
        let version = name.split_once('-')?.0.parse().ok()?;
        Some(DataDirectory { bytes: size_on_disk(&folder), name, version, folder })
    };
    sweep::folders(locations).into_iter().filter_map(describe).collect()
}

/// Removes a data directory by its name, as [`data_directories`] gives it.
pub fn remove_data_directory(locations: &Locations, name: &str) -> Result<(), Error> {
    let mut folders = sweep::folders(locations).into_iter();
    let folder = folders.find(|folder| folder.file_name().is_some_and(|found| found == name));
    let folder = folder.ok_or_else(|| Error::NoSuchData { name: name.to_owned() })?;
    // Nobody takes the directory between the look at its lock and its end.
    let _all = sweep::lock_all(locations)?;
    let record = Record::read(&folder);
    let Some(_lock) = try_lock(&folder)? else {
        let owner = record.map(|record| format!(" (process {})", record.owner)).unwrap_or_default();
        return Err(Error::InUse { directory: folder, owner });
    };
    if let Some(record) = record.filter(|_| postmaster::find(&folder).is_some()) {
        let url = record.url(&record.database).to_string();
        return Err(Error::AlreadyRunning { folder, version: record.version, url });
    }
    remove_folder(&folder)
}

/// The bytes of all files below the folder `path`; what disappears meanwhile counts nothing.
#[must_use]
pub fn size_on_disk(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => size_on_disk(&entry.path()),
            Ok(found) => found.len(),
            Err(_) => 0,
        })
        .sum()
}
