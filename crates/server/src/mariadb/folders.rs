//! The folders of private MariaDB servers: taken under a lock, copied, and swept after a program
//! that was killed.

use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::data_in;
use crate::account::Account;
use crate::folder::{OwnerLock, TEMPORARY_PREFIX, name_of, remove_folder, try_lock};
use crate::locations::{create_folder, open_lock, random_name};
use crate::status::{Lifetime, ServerStatus};
use crate::{Error, Locations, process};

/// A server that has not ended by then is killed.
const STOP_AT_MOST: Duration = Duration::from_secs(60);

/// Asks a server to end, and kills it where it does not; `has_ended` is polled until then.
pub(super) fn stop_process(pid: u32, mut has_ended: impl FnMut() -> bool) -> Result<(), Error> {
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    let begun = Instant::now();
    let mut signal = Signal::TERM;
    while !has_ended() {
        if let Some(process) =
            process.filter(|_| signal == Signal::KILL || begun.elapsed() < Duration::from_secs(1))
        {
            // It may have ended in this very moment.
            let _ = kill_process(process, signal);
        }
        if begun.elapsed() > STOP_AT_MOST * 2 {
            return Err(Error::NotStopped { pid });
        }
        if begun.elapsed() > STOP_AT_MOST {
            signal = Signal::KILL;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

pub(super) fn folder_of_all(locations: &Locations) -> PathBuf {
    locations.data.join("mariadb")
}

/// Where the folder of a server's socket is written down.
pub(super) fn note_of_socket(folder: &Path) -> PathBuf {
    folder.join("socket.folder")
}

/// A folder of a random name, locked, after a sweep.
pub(super) fn take_folder(locations: &Locations) -> Result<(PathBuf, OwnerLock), Error> {
    let all = folder_of_all(locations);
    create_folder(&all)?;
    let _all = lock_all(&all)?;
    sweep(&all, locations)?;
    let folder = all.join(format!("{TEMPORARY_PREFIX}{}", random_name()?));
    create_folder(&folder)?;
    match try_lock(&folder)? {
        Some(lock) => Ok((folder, lock)),
        None => Err(Error::InUse { directory: folder, owner: String::new() }),
    }
}

/// Held while folders appear, are locked and are swept, so that no other program sees one between.
fn lock_all(all: &Path) -> Result<File, Error> {
    let path = all.join(".lock");
    let file = open_lock(&path)?;
    file.lock().map_err(Error::io("lock", &path))?;
    Ok(file)
}

/// Stops the servers that killed programs left running, and removes their data.
pub(crate) fn stop_orphans(locations: &Locations) -> Result<(), Error> {
    let all = folder_of_all(locations);
    if !all.is_dir() {
        return Ok(());
    }
    let _all = lock_all(&all)?;
    sweep(&all, locations)
}

fn sweep(all: &Path, locations: &Locations) -> Result<(), Error> {
    for folder in folders(all) {
        // The holder of the lock is alive and in charge.
        if let Some(_lock) = try_lock(&folder)? {
            remove(&folder, locations)?;
        }
    }
    Ok(())
}

/// Those that belong to one server each.
fn folders(all: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(all).into_iter().flatten().filter_map(Result::ok);
    let folders = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
    folders.filter(|folder| name_of(folder).starts_with(TEMPORARY_PREFIX)).collect()
}

/// Stops the server of a folder and removes its data. The caller holds its lock.
fn remove(folder: &Path, locations: &Locations) -> Result<(), Error> {
    if let Some(pid) = running(folder) {
        stop_process(pid, || process::has_ended(pid, argument_of(folder).as_bytes()))?;
    }
    let socket = socket_folder(folder);
    if socket.parent().is_some_and(|parent| parent == locations.runtime) {
        remove_folder(&socket)?;
    }
    remove_folder(folder)
}

fn socket_folder(folder: &Path) -> PathBuf {
    std::fs::read_to_string(note_of_socket(folder)).unwrap_or_default().trim().into()
}

/// Every private MariaDB that runs.
pub(crate) fn running_servers(locations: &Locations) -> Result<Vec<ServerStatus>, Error> {
    let all = folder_of_all(locations);
    let mut servers = Vec::new();
    if !all.is_dir() {
        return Ok(servers);
    }
    // No start fails for a look at its lock.
    let _all = lock_all(&all)?;
    for folder in folders(&all) {
        let Some(pid) = running(&folder) else { continue };
        let is_orphan = try_lock(&folder)?.is_some();
        servers.push(ServerStatus {
            name: name_of(&folder),
            version: "MariaDB".to_owned(),
            pid,
            lifetime: if is_orphan { Lifetime::Orphan } else { Lifetime::WithOwner },
            owner: None,
            url: super::url_of(&socket_folder(&folder), ""),
            tcp_url: None,
            settings: Vec::new(),
            cpus: None,
            folder,
        });
    }
    Ok(servers)
}

/// Stops the server of a program that was killed, and removes its data.
pub(crate) fn stop_orphan(locations: &Locations, folder: &Path) -> Result<(), Error> {
    let _all = lock_all(&folder_of_all(locations))?;
    match try_lock(folder)? {
        Some(_lock) => remove(folder, locations),
        None => Err(Error::InUse { directory: folder.to_owned(), owner: String::new() }),
    }
}

/// The server that runs on a folder's data: the process of its pid file, if that is what it is.
fn running(folder: &Path) -> Option<u32> {
    let pid: u32 = std::fs::read_to_string(folder.join("server.pid")).ok()?.trim().parse().ok()?;
    process::has_argument(pid, argument_of(folder).as_bytes()).then_some(pid)
}

/// The argument that tells the server of a folder's data from other processes.
fn argument_of(folder: &Path) -> String {
    format!("--datadir={}", data_in(folder).display())
}

/// Copies a data directory, sharing its blocks where the file system can.
pub(super) fn copy_folder(from: &Path, to: &Path, account: &Account) -> Result<(), Error> {
    std::fs::create_dir(to).map_err(Error::io("create", to))?;
    let mode = from.metadata().map_err(Error::io("copy", from))?.mode();
    crate::locations::set_mode(to, mode & 0o777)?;
    account.give(to)?;
    for entry in std::fs::read_dir(from).map_err(Error::io("copy", from))? {
        let entry = entry.map_err(Error::io("copy", from))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().map_err(Error::io("copy", &source))?.is_dir() {
            copy_folder(&source, &target, account)?;
        } else {
            std::fs::copy(&source, &target).map_err(Error::io("copy", &source))?;
            account.give(&target)?;
        }
    }
    Ok(())
}
