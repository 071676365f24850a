//! Servers that this program did not start itself: orphans of killed programs, which are stopped,
//! and those of `server start`, which are listed and stopped when asked.

use std::fs::File;
use std::path::{Path, PathBuf};

use engine::PostgresUrl;

use crate::cluster::{TEMPORARY_PREFIX, remove_folder, try_lock};
use crate::locations::open_lock;
use crate::record::Record;
use crate::{Error, Locations, postmaster};

/// A running server, as another program sees it.
#[derive(Debug, Clone)]
pub struct ServerStatus {
    /// A short name: the release, and the digest of its data.
    pub name: String,
    /// The folder of its data directory and log.
    pub folder: PathBuf,
    /// The exact release.
    pub version: String,
    /// The postmaster.
    pub pid: u32,
    /// Started by `server start`; otherwise it ends with the program that started it.
    pub persistent: bool,
    /// The program that started it.
    pub owner: u32,
    /// The address on its Unix socket.
    pub url: PostgresUrl,
    /// The address on TCP with its password, if it was opened and the password may be read.
    pub tcp_url: Option<PostgresUrl>,
    /// Settings given at start.
    pub settings: Vec<(String, String)>,
}

/// Held by whoever makes, locks or removes folders of data directories.
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
        // Whoever holds the lock is alive and in charge.
        let Some(_lock) = try_lock(&folder)? else { continue };
        let record = Record::read(&folder);
        let running = postmaster::find(&folder);
        if running.is_some() && record.as_ref().is_some_and(|record| record.persistent) {
            continue;
        }
        if let Some(pid) = running {
            postmaster::stop(pid, || postmaster::has_ended(pid, &folder))?;
        }
        if let Some(record) = record {
            record.remove(&folder);
        }
        if is_temporary(&folder) {
            remove_folder(&folder)?;
        }
    }
    Ok(())
}

/// Stops the servers that a killed program left behind.
///
/// # Errors
/// [`Error::NotStopped`] where one does not stop, [`Error::Io`].
pub fn stop_orphans(locations: &Locations) -> Result<(), Error> {
    crate::mariadb::stop_orphans(locations)?;
    if !locations.clusters().is_dir() {
        return Ok(());
    }
    let _all = lock_all(locations)?;
    sweep(locations)
}

fn is_temporary(folder: &Path) -> bool {
    name_of(folder).starts_with(TEMPORARY_PREFIX)
}

fn name_of(folder: &Path) -> String {
    folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn status(folder: &Path) -> Option<ServerStatus> {
    let record = Record::read(folder)?;
    let pid = postmaster::find(folder)?;
    Some(ServerStatus {
        name: name_of(folder),
        folder: folder.to_owned(),
        url: record.url(&record.database),
        tcp_url: record.tcp_url(folder, &record.database),
        version: record.version,
        pid,
        persistent: record.persistent,
        owner: record.owner,
        settings: record.settings,
    })
}

/// Every server that runs on a data directory of `locations`.
#[must_use]
pub fn running_servers(locations: &Locations) -> Vec<ServerStatus> {
    folders(locations).iter().filter_map(|folder| status(folder)).collect()
}

/// Stops a server of `server start` by its name, as [`running_servers`] gives it.
///
/// # Errors
/// [`Error::NotRunning`] if there is none; [`Error::InUse`] if it belongs to a running program;
/// [`Error::NotStopped`].
pub fn stop_server(locations: &Locations, name: &str) -> Result<(), Error> {
    let not_running = || Error::NotRunning { name: name.to_owned() };
    let server = running_servers(locations).into_iter().find(|server| server.name == name);
    let server = server.ok_or_else(not_running)?;
    let _all = lock_all(locations)?;
    let folder = server.folder;
    let Some(_lock) = try_lock(&folder)? else {
        let owner = format!(" (process {})", server.owner);
        return Err(Error::InUse { directory: folder, owner });
    };
    postmaster::stop(server.pid, || postmaster::has_ended(server.pid, &folder))?;
    if let Some(record) = Record::read(&folder) {
        record.remove(&folder);
    }
    Ok(())
}
