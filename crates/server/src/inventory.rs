//! What Crossover keeps on this disk for servers: data directories with their size, so that a
//! user can see what to remove.

use std::path::{Path, PathBuf};

use engine::ExactVersion;

use crate::{Locations, sweep};

/// A data directory that is kept for later starts.
#[derive(Debug, Clone)]
pub struct DataDirectory {
    /// The release, and the digest of its data.
    pub name: String,
    /// Where it lies.
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
        Some(DataDirectory { bytes: size(&folder), name, version, folder })
    };
    sweep::folders(locations).into_iter().filter_map(describe).collect()
}

/// The bytes of all files below `path`; what disappears meanwhile counts nothing.
fn size(path: &Path) -> u64 {
    let entries = std::fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => size(&entry.path()),
            Ok(found) => found.len(),
            Err(_) => 0,
        })
        .sum()
}
