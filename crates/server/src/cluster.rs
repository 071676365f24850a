//! Data directory: it belongs to an exact release, the choices of initdb and a digest of its data.
//! One program at a time locks it; a directory that was not filled to the end is made again.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

use sha2::{Digest, Sha256};

use crate::account::Account;
use crate::fetching::interruptible;
use crate::folder::{OwnerLock, TEMPORARY_PREFIX, data_in, remove_folder, try_lock};
use crate::locations::{Locations, create_folder, random_name, write_whole};
use crate::record::{Record, USER};
use crate::{Error, Origin, Release, StartOptions, sweep};

/// The folder of one data directory, held by this program.
///
/// `data/` is PostgreSQL's own, `owner.lock` is locked while held, `ready` says that the data is
/// whole and what it is, `server.json` describes the running server, `server.log` is its log,
/// `port` the one of its last start with TCP.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) folder: PathBuf,
    pub(crate) temporary: bool,
    lock: OwnerLock,
}

impl Cluster {
    /// Takes the data directory for `release` and `options`, after sweeping what killed programs
    /// left running.
    pub(crate) fn open(
        locations: &Locations,
        release: &Release,
        options: &StartOptions,
    ) -> Result<Self, Error> {
        create_folder(&locations.clusters())?;
        // Held while folders appear, are locked and are swept: no other program sees one between.
        let _all = sweep::lock_all(locations)?;
        sweep::sweep(locations)?;
        // A server that outlives this program keeps its data.
        let temporary = options.temporary && !options.persistent;
        let name = if temporary {
            format!("{TEMPORARY_PREFIX}{}", random_name()?)
        } else {
            directory_name(release, options)
        };
        let folder = locations.clusters().join(name);
        create_folder(&folder)?;
        let Some(lock) = try_lock(&folder)? else {
            let owner = Record::read(&folder).map(|record| format!(" (process {})", record.owner));
            let owner = owner.unwrap_or_default();
            return Err(Error::InUse { directory: folder, owner });
        };
        if let Some(record) = Record::read(&folder) {
            // The sweep leaves only those that `server start` started.
            let url = record.url(&record.database).to_string();
            return Err(Error::AlreadyRunning { folder, version: record.version, url });
        }
        Ok(Self { folder, temporary, lock })
    }

    pub(crate) fn data(&self) -> PathBuf {
        data_in(&self.folder)
    }

    pub(crate) fn log_path(&self) -> PathBuf {
        self.folder.join("server.log")
    }

    /// The name of the folder of the server's socket: for `server start` always the same, so that
    /// a URL that was written down goes on being right.
    pub(crate) fn socket_name(&self, options: &StartOptions) -> Result<String, Error> {
        if !options.persistent {
            return random_name();
        }
        let digest = Sha256::digest(self.folder.as_os_str().as_encoded_bytes());
        Ok(hex::encode(&digest[..4]))
    }

    /// The port of the last start with TCP.
    pub(crate) fn last_port(&self) -> Option<u16> {
        std::fs::read_to_string(self.port_path()).ok()?.trim().parse().ok()
    }

    pub(crate) fn keep_port(&self, port: u16) -> Result<(), Error> {
        write_whole(&self.port_path(), &port.to_string(), 0o644)
    }

    fn port_path(&self) -> PathBuf {
        self.folder.join("port")
    }

    fn ready_path(&self) -> PathBuf {
        self.folder.join("ready")
    }

    /// Says that the data is whole; from now on the directory is reused.
    pub(crate) fn mark_ready(&self, note: &str) -> Result<(), Error> {
        write_whole(&self.ready_path(), note, 0o644)
    }

    pub(crate) fn note(&self) -> Result<String, Error> {
        let path = self.ready_path();
        std::fs::read_to_string(&path).map_err(Error::io("read", &path))
    }

    /// Makes sure that there is an initialised data directory: the one that is whole (then true),
    /// otherwise a new one in place of whatever a killed program left.
    pub(crate) async fn prepare(
        &self,
        release: &Release,
        options: &StartOptions,
        account: &Account,
        interrupted: &AtomicBool,
    ) -> Result<bool, Error> {
        let data = self.data();
        if self.ready_path().is_file() && data.join("PG_VERSION").is_file() {
            return Ok(true);
        }
        let _ = std::fs::remove_file(self.ready_path());
        let new = self.folder.join("data.new");
        for folder in [&data, &new] {
            remove_folder(folder)?;
        }
        self.initdb(release, options, account, &new, interrupted).await?;
        std::fs::rename(&new, &data).map_err(Error::io("rename into place", &data))?;
        // `server start` keeps what people put there; only named data is filled by a program.
        if options.data_digest.is_empty() && !self.temporary {
            self.mark_ready("")?;
        }
        Ok(false)
    }

    async fn initdb(
        &self,
        release: &Release,
        options: &StartOptions,
        account: &Account,
        target: &Path,
        interrupted: &AtomicBool,
    ) -> Result<(), Error> {
        std::fs::create_dir(target).map_err(Error::io("create", target))?;
        crate::locations::set_mode(target, 0o700)?;
        account.give(target)?;
        let program = release.binaries.join("initdb");
        let mut command = Command::new(&program);
        account.prepare(&mut command);
        command.arg("-D").arg(target).args(["-U", USER, "-A", "trust"]);
        command.args(["-E", &options.initdb.encoding, "--locale", &options.initdb.locale]);
        let major = release.version.components().first().copied().unwrap_or_default();
        match options.initdb.data_checksums {
            true => command.arg("--data-checksums"),
            // Off was the default before release 18, which has an option to say so.
            false if major >= 18 => command.arg("--no-data-checksums"),
            false => &mut command,
        };
        if self.temporary {
            // Not synced: no program reads this after a crash of the machine.
            command.arg("-N");
        }
        command.stdin(Stdio::null());
        let mut command = tokio::process::Command::from(command);
        let output = command.kill_on_drop(true).output();
        let output =
            interruptible(output, interrupted).await?.map_err(Error::io("run", &program))?;
        if output.status.success() {
            return Ok(());
        }
        let reason = reason_of_initdb(&String::from_utf8_lossy(&output.stderr));
        let of_release = release
            .binaries
            .parent()
            .is_some_and(|folder| reason.contains(&folder.display().to_string()));
        if release.origin == Origin::Fetched && of_release {
            return Err(release.damaged(reason));
        }
        Err(Error::Program { program: program.display().to_string(), reason })
    }

    /// Connections by the socket are let in (its folder is 0700), others only by password. The file
    /// is outside of PostgreSQL's own folder, where its account might have put a link.
    pub(crate) fn write_access_rules(&self, tcp: bool) -> Result<PathBuf, Error> {
        let path = self.folder.join("pg_hba.conf");
        let by_tcp = if tcp { "host all all 127.0.0.1/32 scram-sha-256\n" } else { "" };
        write_whole(&path, &format!("local all all trust\n{by_tcp}"), 0o644)?;
        Ok(path)
    }

    /// An empty log that only this program's account reads: it may quote statements.
    pub(crate) fn create_log(&self) -> Result<File, Error> {
        let path = self.log_path();
        let mut options = File::options();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.open(&path).map_err(Error::io("create", &path))
    }

    /// Gives the folder back; one made for this server alone goes with it.
    pub(crate) fn close(&self) -> Result<(), Error> {
        if self.temporary {
            remove_folder(&self.folder)?;
        }
        self.lock.give_back().map_err(Error::io("unlock", &self.folder))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.temporary {
            // A start that failed; the next one sweeps what cannot be removed now.
            let _ = remove_folder(&self.folder);
        }
    }
}

/// The line that says why: the server's FATAL if there is one, or initdb's own error, or its last
/// line.
fn reason_of_initdb(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let fatal = lines().find_map(|line| line.split_once("FATAL:").map(|(_, reason)| reason));
    let mut own = lines().filter_map(|line| line.strip_prefix("initdb: "));
    let own = own.find(|line| !line.starts_with("warning") && !line.starts_with("hint"));
    let own = own.map(|line| line.trim_start_matches("error: "));
    fatal.or(own).or_else(|| lines().next_back()).unwrap_or("no message").trim().to_owned()
}

/// The release, then a digest of everything else that the data depends on.
fn directory_name(release: &Release, options: &StartOptions) -> String {
    let mut digest = Sha256::new();
    let initdb = options.initdb.describe();
    // Two builds of one release may differ in what their files hold (block size).
    let binaries = match release.origin {
        Origin::Fetched => String::new(),
        _ => release.binaries.display().to_string(),
    };
    for part in [&initdb, &options.data_digest, &binaries] {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    format!("{}-{}", release.version, hex::encode(&digest.finalize()[..6]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_initdb_is_the_line_that_says_why() {
        let new = "initdb: warning: trust\ninitdb: error: could not write\ninitdb: removing data\n";
        assert_eq!(reason_of_initdb(new), "could not write");
        let old =
            "initdb: unrecognized option '--x'\nTry \"initdb --help\" for more information.\n";
        assert_eq!(reason_of_initdb(old), "unrecognized option '--x'");
        let full = "FATAL:  could not write: No space left on device\nchild process exited\n\
                    initdb: removing contents of data directory\n";
        assert_eq!(reason_of_initdb(full), "could not write: No space left on device");
    }
}
