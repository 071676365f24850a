//! PostgreSQL as installed on this machine or in a folder that the user names.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use engine::ExactVersion;

use super::{Origin, Release, is_folder_of_programs};
use crate::Error;
use crate::account::Account;

/// Folders that hold a folder per release, which holds `bin`: Debian's, Red Hat's.
const FOLDERS: [&str; 2] = ["/usr/lib/postgresql", "/usr"];

/// The release in `folder`, which is the folder of the programs or has them in `bin`.
pub(super) fn in_folder(folder: &Path, account: &Account) -> Result<Release, Error> {
    let folder = std::path::absolute(folder).map_err(Error::io("find", folder))?;
    let candidates = [folder.join("bin"), folder.clone()];
    let Some(binaries) = candidates.into_iter().find(|found| is_folder_of_programs(found)) else {
        return Err(Error::NoBinaries { path: folder });
    };
    account.check_reach(&binaries, "postgres:PATH")?;
    let version = version_of(&binaries, account)?;
    Ok(Release { version, binaries, origin: Origin::Folder, notice: None })
}

/// Every usable installed release, oldest first, each once.
pub(super) fn all(account: &Account) -> Vec<Release> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    for parent in FOLDERS {
        let entries = std::fs::read_dir(parent).into_iter().flatten().filter_map(Result::ok);
        let is_release = |name: &str| name.starts_with("pgsql") || parent.ends_with("postgresql");
        folders.extend(
            entries
                .filter(|entry| entry.file_name().to_str().is_some_and(is_release))
                .map(|entry| entry.path().join("bin")),
        );
    }
    let mut releases: Vec<Release> = folders
        .into_iter()
        .filter(|folder| is_folder_of_programs(folder))
        .filter_map(|folder| {
            // Where a link on PATH leads to, so that one release is not found twice.
            let program = folder.join("postgres").canonicalize().ok()?;
            let real = program.parent().filter(|real| is_folder_of_programs(real));
            let binaries = real.map_or(folder, Path::to_owned);
            let version = version_of(&binaries, account).ok()?;
            Some(Release { version, binaries, origin: Origin::Installed, notice: None })
        })
        .collect();
    releases.sort_by(|left, right| left.version.cmp(&right.version));
    releases.dedup_by(|left, right| left.version == right.version);
    releases
}

/// The answer of `postgres --version`: `postgres (PostgreSQL) 15.13 (Debian 15.13-0+deb12u1)`.
pub(super) fn version_of(binaries: &Path, account: &Account) -> Result<ExactVersion, Error> {
    let program = binaries.join("postgres");
    let failed = |reason: String| Error::Program { program: program.display().to_string(), reason };
    let mut command = Command::new(&program);
    account.prepare(&mut command);
    let output = command
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.split_whitespace().nth(2).unwrap_or_default();
    number.parse().map_err(|_| failed(format!("`--version` says `{}`, not a release", text.trim())))
}
