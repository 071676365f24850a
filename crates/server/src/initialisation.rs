//! Initialised data directories, by initdb, or copied in a fraction of its time from one that a
//! fetched release keeps beside its programs for the same choices.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;

use sha2::{Digest, Sha256};

use crate::account::Account;
use crate::folder::remove_folder;
use crate::locations::{open_lock, set_mode};
use crate::record::USER;
use crate::release::interruptible;
use crate::{Error, InitdbChoices, Origin, Release};

/// How a data directory is made.
pub(crate) struct Initialisation<'a> {
    pub release: &'a Release,
    pub choices: &'a InitdbChoices,
    pub account: &'a Account,
    /// Whether it must be whole after a crash of the machine.
    pub durable: bool,
    /// By initdb itself, which gives it an identifier of its own.
    pub anew: bool,
    pub interrupted: &'a AtomicBool,
}

impl Initialisation<'_> {
    /// Makes `target`. Where nothing can be kept or copied, initdb makes it and names what is wrong.
    pub(crate) async fn make(&self, target: &Path) -> Result<(), Error> {
        if !self.anew
            && let Some(kept) = self.kept().await?
        {
            if self.copy(&kept, target).await? {
                return Ok(());
            }
            remove_folder(target)?;
        }
        self.initdb(target, self.durable).await
    }

    /// The directory that the release keeps, made if it is not there yet; none where it cannot be
    /// kept, or is being made.
    async fn kept(&self) -> Result<Option<PathBuf>, Error> {
        let folder = match self.release.origin {
            Origin::Fetched => self.release.binaries.parent(),
            Origin::Installed | Origin::Folder => None,
        };
        let Some(folder) = folder else { return Ok(None) };
        let choices = Sha256::digest(self.choices.describe());
        let kept = folder.join(format!("initdb-{}", hex::encode(&choices[..6])));
        if kept.is_dir() {
            return Ok(Some(kept));
        }
        let Ok(lock) = open_lock(&kept.with_extension("lock")) else { return Ok(None) };
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        let new = kept.with_extension("new");
        // Renamed when it is whole, so one that is there is.
        let made = match remove_folder(&new) {
            _ if kept.is_dir() => return Ok(Some(kept)),
            Ok(()) => self.initdb(&new, true).await,
            failed => failed,
        };
        match made {
            Ok(()) if std::fs::rename(&new, &kept).is_ok() => Ok(Some(kept)),
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Ok(()) | Err(_) => {
                let _ = remove_folder(&new);
                Ok(None)
            }
        }
    }

    /// Copies as the account whose files they are; whether that worked.
    async fn copy(&self, kept: &Path, target: &Path) -> Result<bool, Error> {
        self.create(target)?;
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(kept.join(".")).arg(target);
        if !self.run(copy).await?.status.success() {
            return Ok(false);
        }
        if !self.durable {
            return Ok(true);
        }
        let mut sync = Command::new(self.program());
        sync.arg("--sync-only").arg("-D").arg(target);
        Ok(self.run(sync).await?.status.success())
    }

    async fn initdb(&self, target: &Path, durable: bool) -> Result<(), Error> {
        self.create(target)?;
        let mut command = Command::new(self.program());
        command.arg("-D").arg(target).args(["-U", USER, "-A", "trust"]);
        command.args(["-E", &self.choices.encoding, "--locale", &self.choices.locale]);
        let major = self.release.version.components().first().copied().unwrap_or_default();
        match self.choices.data_checksums {
            true => command.arg("--data-checksums"),
            // Off was the default before release 18, which has an option to say so.
            false if major >= 18 => command.arg("--no-data-checksums"),
            false => &mut command,
        };
        if !durable {
            // Not synced: no program reads this after a crash of the machine.
            command.arg("-N");
        }
        let output = self.run(command).await?;
        if output.status.success() {
            return Ok(());
        }
        let reason = reason_of_initdb(&String::from_utf8_lossy(&output.stderr));
        Err(Error::Program { program: self.program().display().to_string(), reason })
    }

    fn program(&self) -> PathBuf {
        self.release.binaries.join("initdb")
    }

    fn create(&self, folder: &Path) -> Result<(), Error> {
        std::fs::create_dir(folder).map_err(Error::io("create", folder))?;
        set_mode(folder, 0o700)?;
        self.account.give(folder)
    }

    async fn run(&self, mut command: Command) -> Result<Output, Error> {
        self.account.prepare(&mut command);
        command.stdin(Stdio::null());
        let program = PathBuf::from(command.get_program());
        let mut command = tokio::process::Command::from(command);
        let output = command.kill_on_drop(true).output();
        interruptible(output, self.interrupted).await?.map_err(Error::io("run", &program))
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
