//! The servers that run on this machine's data directories: listed, and stopped when asked.

use std::path::Path;

use crate::folder::{name_of, try_lock};
use crate::record::Record;
use crate::status::{Lifetime, ServerStatus};
use crate::sweep::{folders, lock_all, stop, sweep};
use crate::{Error, Locations, mariadb, postmaster};

/// Stops the servers that a killed program left behind.
///
/// # Errors
/// [`Error::NotStopped`] where one does not stop, [`Error::Io`].
pub fn stop_orphans(locations: &Locations) -> Result<(), Error> {
    mariadb::stop_orphans(locations)?;
    if !locations.clusters().is_dir() {
        return Ok(());
    }
    let _all = lock_all(locations)?;
    sweep(locations)
}

/// Of a running server. The caller holds [`lock_all`], so that no start fails for this look.
fn status(folder: &Path) -> Result<Option<ServerStatus>, Error> {
    let Some((record, pid)) = Record::read(folder).zip(postmaster::find(folder)) else {
        return Ok(None);
    };
    let lifetime = match record.persistent {
        true => Lifetime::UntilStopped,
        false if try_lock(folder)?.is_some() => Lifetime::Orphan,
        false => Lifetime::WithOwner,
    };
    Ok(Some(ServerStatus {
        name: name_of(folder),
        folder: folder.to_owned(),
        url: record.url(&record.database).to_string(),
        tcp_url: record.tcp_url(folder, &record.database),
        version: record.version,
        pid,
        lifetime,
        owner: Some(record.owner),
        settings: record.settings,
        cpus: record.cpus,
    }))
}

/// Every server that runs on a data directory of `locations`, those of killed programs too.
pub fn running_servers(locations: &Locations) -> Result<Vec<ServerStatus>, Error> {
    let mut servers = mariadb::running_servers(locations)?;
    if locations.clusters().is_dir() {
        let _all = lock_all(locations)?;
        for folder in folders(locations) {
            servers.extend(status(&folder)?);
        }
    }
    servers.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(servers)
}

/// Stops a server by its name, as [`running_servers`] gives it, unless the program that started it
/// is running.
pub fn stop_server(locations: &Locations, name: &str) -> Result<(), Error> {
    let not_running = || Error::NotRunning { name: name.to_owned() };
    let server = running_servers(locations)?.into_iter().find(|server| server.name == name);
    let server = server.ok_or_else(not_running)?;
    if server.folder.parent() != Some(&locations.clusters()) {
        return mariadb::stop_orphan(locations, &server.folder);
    }
    let _all = lock_all(locations)?;
    let Some(_lock) = try_lock(&server.folder)? else {
        let owner = server.owner.map(|owner| format!(" (process {owner})")).unwrap_or_default();
        return Err(Error::InUse { directory: server.folder, owner });
    };
    stop(&server.folder)
}
