//! From a wish (`18`) to programs on this disk: the cache first, then the network, then what is
//! installed. What is cached needs no network; only `postgres` without a number asks for news,
//! once a day.

mod fetch;
mod installed;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use engine::{ExactVersion, VersionRequest};
use indicatif::ProgressBar;

use crate::account::Account;
use crate::fetching::{FetchFailure, fetch_by, lock_fetching};
use crate::locations::{Locations, write_whole};
use crate::{Error, StartOptions};

/// PostgreSQL's programs on this disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    pub version: ExactVersion,
    /// The folder with `postgres` and `initdb`.
    pub binaries: PathBuf,
    pub origin: Origin,
    /// A notice to the user about the choice, in one line.
    pub notice: Option<String>,
}

impl Release {
    /// The error for a fetched release whose programs do not run, for `reason`.
    pub(crate) fn damaged(&self, reason: String) -> Error {
        let folder = self.binaries.parent().unwrap_or(&self.binaries).to_owned();
        Error::DamagedRelease { version: self.version.to_string(), folder, reason }
    }
}

/// Where the programs of a release come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Fetched,
    /// Installed on this machine, taken for want of a network.
    Installed,
    /// A folder that the user named.
    Folder,
}

/// How long an answer to "what is the newest release?" is good for.
const NEWEST_IS_GOOD_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Finds the release that `options` ask for, fetching it if need be.
pub(crate) async fn resolve(
    locations: &Locations,
    options: &StartOptions,
    account: &Account,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Release, Error> {
    if let Some(folder) = &options.folder {
        return installed::in_folder(folder, account);
    }
    let wanted = &options.version;
    account.check_reach(&locations.releases(), "CROSSOVER_CACHE_DIR")?;
    if let Some(release) = cached(locations, wanted) {
        return whole(release, account);
    }
    // Another program may be fetching the same just now; then its copy serves us too.
    let name = wanted.to_string();
    let _lock = lock_fetching(&locations.releases(), &name, progress, interrupted).await?;
    if let Some(release) = cached(locations, wanted) {
        return whole(release, account);
    }
    match fetch_by(fetch::fetch(locations, wanted, progress), locations, interrupted).await? {
        Ok(version) => {
            if wanted.is_newest() {
                write_whole(&newest_file(locations), &version.to_string(), 0o644)?;
            }
            Ok(fetched(locations, version))
        }
        Err(FetchFailure::Network(reason)) => without_network(locations, wanted, account, &reason),
        Err(FetchFailure::Other(error)) => Err(error),
    }
}

/// The newest cached release that was asked for. For "newest" only if the question was asked of
/// the network lately.
fn cached(locations: &Locations, wanted: &VersionRequest) -> Option<Release> {
    if wanted.is_newest() {
        let file = newest_file(locations);
        let age = file.metadata().ok()?.modified().ok()?.elapsed().unwrap_or_default();
        let version = std::fs::read_to_string(&file).ok()?.trim().parse().ok()?;
        let there = fetched_releases(locations).contains(&version);
        return (there && age < NEWEST_IS_GOOD_FOR).then(|| fetched(locations, version));
    }
    newest_fetched(locations, wanted)
}

/// `release`, unless its folder in the cache was damaged since it was fetched.
fn whole(release: Release, account: &Account) -> Result<Release, Error> {
    match installed::version_of(&release.binaries, account) {
        Ok(_) => Ok(release),
        Err(error) => Err(release.damaged(error.to_string())),
    }
}

fn newest_fetched(locations: &Locations, wanted: &VersionRequest) -> Option<Release> {
    let matching = fetched_releases(locations).into_iter().filter(|found| wanted.matches(found));
    matching.max().map(|version| fetched(locations, version))
}

fn fetched(locations: &Locations, version: ExactVersion) -> Release {
    let binaries = folder_of(locations, &version).join("bin");
    Release { version, binaries, origin: Origin::Fetched, notice: None }
}

fn newest_file(locations: &Locations) -> PathBuf {
    locations.releases().join("newest")
}

fn folder_of(locations: &Locations, version: &ExactVersion) -> PathBuf {
    locations.releases().join(version.to_string())
}

/// The releases in the cache, oldest first.
#[must_use]
pub fn fetched_releases(locations: &Locations) -> Vec<ExactVersion> {
    let Ok(entries) = std::fs::read_dir(locations.releases()) else { return Vec::new() };
    // A folder gets its name by a rename at the very end, so one that is there is complete.
    let mut versions: Vec<ExactVersion> = entries
        .filter_map(Result::ok)
        .filter(|entry| is_folder_of_programs(&entry.path().join("bin")))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    versions.sort();
    versions
}

/// The releases installed on this machine: on PATH and in Debian's and Red Hat's folders.
#[must_use]
pub fn installed_releases() -> Vec<Release> {
    Account::detect().map_or_else(|_| Vec::new(), |account| installed::all(&account))
}

fn is_folder_of_programs(folder: &Path) -> bool {
    folder.join("postgres").is_file() && folder.join("initdb").is_file()
}

fn without_network(
    locations: &Locations,
    wanted: &VersionRequest,
    account: &Account,
    reason: &str,
) -> Result<Release, Error> {
    if let Some(release) = newest_fetched(locations, wanted) {
        let notice = format!(
            "cannot ask for the newest PostgreSQL ({reason}): using {} from the cache",
            release.version
        );
        return Ok(Release { notice: Some(notice), ..release });
    }
    let installed = installed::all(account);
    let matching = installed.iter().filter(|release| wanted.matches(&release.version));
    if let Some(release) = matching.max_by_key(|release| release.version.clone()) {
        let notice = format!(
            "{} cannot be fetched ({reason}): using {} installed in {}",
            described(wanted),
            release.version,
            release.binaries.display()
        );
        return Ok(Release { notice: Some(notice), ..release.clone() });
    }
    let names: Vec<String> = installed
        .iter()
        .map(|release| format!("{} (postgres:{})", release.version, release.binaries.display()))
        .collect();
    Err(Error::Offline {
        wanted: described(wanted),
        cache: locations.releases(),
        reason: reason.to_owned(),
        by_path: "postgres:PATH",
        there: [("in the cache", cached_names(locations)), ("installed", names)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(place, names)| format!("; {place}: {}", names.join(", ")))
            .collect(),
    })
}

fn cached_names(locations: &Locations) -> Vec<String> {
    fetched_releases(locations).iter().map(ExactVersion::to_string).collect()
}

/// `PostgreSQL 18` or `the newest PostgreSQL`, as in a sentence.
fn described(wanted: &VersionRequest) -> String {
    match wanted.is_newest() {
        true => "the newest PostgreSQL".to_owned(),
        false => format!("PostgreSQL {wanted}"),
    }
}
