//! Fetching, whatever the server: a lock for each wish, a download, and a folder that gets its name
//! when it is complete.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use indicatif::ProgressBar;

use crate::Error;
use crate::locations::{Locations, create_folder, open_lock, random_name, set_mode};

/// Why a release was not fetched. Only the first kind lets an installed one take its place.
#[derive(Debug)]
pub(crate) enum FetchFailure {
    Network(String),
    Other(Error),
}

impl From<Error> for FetchFailure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// How long a download may stand still.
pub(crate) const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// Refuses a machine without certificates: clients of HTTPS cannot be made there, and panic.
pub(crate) fn check_certificates() -> Result<(), FetchFailure> {
    if rustls_native_certs::load_native_certs().certs.is_empty() {
        let reason = "this machine has no CA certificates; install them (on Debian the package \
                      ca-certificates)";
        return Err(FetchFailure::Network(reason.to_owned()));
    }
    Ok(())
}

/// The reason alone: the address in the client's message is of no use to anybody here.
pub(crate) fn without_address(reason: &str) -> String {
    match (reason.find(" for url ("), reason.rfind(')')) {
        (Some(start), Some(end)) if start < end => {
            format!("{}{}", &reason[..start], &reason[end + 1..])
        }
        _ => reason.to_owned(),
    }
}

/// The bytes at `address`, all of them or an error.
pub(crate) async fn download(
    address: &str,
    progress: &ProgressBar,
) -> Result<Vec<u8>, FetchFailure> {
    check_certificates()?;
    // Refused where another part of the program has chosen one, which will do as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let failed = |error: reqwest::Error| {
        // The client says "error sending request", its cause says why.
        let mut cause: &dyn std::error::Error = &error;
        while let Some(deeper) = cause.source() {
            cause = deeper;
        }
        let reason = without_address(&cause.to_string());
        FetchFailure::Network(format!("the network does not answer: {reason}"))
    };
    let still = |_| FetchFailure::Network("the download stands still".to_owned());
    let client = reqwest::Client::builder().build().map_err(failed)?;
    let answer = tokio::time::timeout(STALL_TIMEOUT, client.get(address).send()).await;
    let answer = answer.map_err(still)?.and_then(reqwest::Response::error_for_status);
    let mut answer = answer.map_err(failed)?;
    progress.set_length(answer.content_length().unwrap_or_default());
    let mut bytes = Vec::new();
    while let Some(chunk) =
        tokio::time::timeout(STALL_TIMEOUT, answer.chunk()).await.map_err(still)?.map_err(failed)?
    {
        bytes.extend_from_slice(&chunk);
        progress.set_position(bytes.len() as u64);
    }
    Ok(bytes)
}

/// Runs `work` unless or until SIGINT or SIGTERM arrives.
pub(crate) async fn interruptible<Value>(
    work: impl Future<Output = Value>,
    interrupted: &AtomicBool,
) -> Result<Value, Error> {
    let mut work = std::pin::pin!(work);
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        if let Ok(value) = tokio::time::timeout(Duration::from_millis(50), &mut work).await {
            return Ok(value);
        }
    }
}

/// Fetches by `work`, unless `locations` forbid it.
pub(crate) async fn fetch_by<Value>(
    work: impl Future<Output = Result<Value, FetchFailure>>,
    locations: &Locations,
    interrupted: &AtomicBool,
) -> Result<Result<Value, FetchFailure>, Error> {
    if locations.offline {
        return Ok(Err(FetchFailure::Network("--offline forbids it".to_owned())));
    }
    interruptible(work, interrupted).await
}

/// Where archives come from, in words.
pub(crate) const REGISTRY: &str = "the registry of Java packages";

/// A lock per wish; programs with different wishes for one release may both fetch it, and the
/// second finds the first one's folder when it renames its own.
pub(crate) async fn lock_fetching(
    releases: &Path,
    wanted: &str,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<std::fs::File, Error> {
    create_folder(releases)?;
    let path = releases.join(format!(".{wanted}.lock"));
    let file = open_lock(&path)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(std::fs::TryLockError::WouldBlock) => {
                progress.set_message("another Crossover is fetching it");
                interruptible(tokio::time::sleep(Duration::from_millis(100)), interrupted).await?;
            }
            Err(std::fs::TryLockError::Error(error)) => {
                return Err(Error::io("lock", &path)(error));
            }
        }
    }
}

/// Unpacks by `unpack` in a temporary folder beside `target`, then renames the folder that it
/// returns.
pub(crate) async fn unpack_into(
    target: &Path,
    is_complete: fn(&Path) -> bool,
    unpack: impl FnOnce(&Path) -> Result<PathBuf, Error> + Send + 'static,
) -> Result<(), Error> {
    let parent = target.parent().unwrap_or(target);
    remove_abandoned(parent);
    let temporary = parent.join(format!(".{}", random_name()?));
    std::fs::create_dir(&temporary).map_err(Error::io("create", &temporary))?;
    let work = {
        let (temporary, target) = (temporary.clone(), target.to_owned());
        move || {
            let unpacked =
                unpack(&temporary).and_then(|unpacked| place(&unpacked, &target, is_complete));
            // Whether it went well or not, nothing stays but the release.
            let _ = std::fs::remove_dir_all(&temporary);
            unpacked
        }
    };
    let finished = tokio::task::spawn_blocking(work).await;
    finished.map_err(|error| Error::io("unpack into", &temporary)(error.into()))?
}

/// Removes what a killed program left half unpacked: unpacking takes seconds, not an hour.
fn remove_abandoned(releases: &Path) {
    let entries = std::fs::read_dir(releases).into_iter().flatten().filter_map(Result::ok);
    for entry in entries {
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let age = entry.metadata().ok().and_then(|data| data.modified().ok()?.elapsed().ok());
        let old = age.is_some_and(|age| age > Duration::from_secs(60 * 60));
        if hidden && old && entry.path().is_dir() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

fn place(unpacked: &Path, target: &Path, is_complete: fn(&Path) -> bool) -> Result<(), Error> {
    open_to_all(unpacked)?;
    match std::fs::rename(unpacked, target) {
        // Another program was faster, with the same content.
        Err(_) if is_complete(target) => Ok(()),
        renamed => renamed.map_err(Error::io("rename into place", target)),
    }
}

/// Folders and programs readable by the servers' account, whatever our umask is.
fn open_to_all(path: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt;
    let found = path.symlink_metadata().map_err(Error::io("read", path))?;
    if found.is_symlink() {
        return Ok(());
    }
    let executable = found.is_dir() || found.permissions().mode() & 0o100 != 0;
    set_mode(path, if executable { 0o755 } else { 0o644 })?;
    if found.is_dir() {
        for entry in std::fs::read_dir(path).map_err(Error::io("read", path))? {
            open_to_all(&entry.map_err(Error::io("read", path))?.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_do_not_show_the_address() {
        let reason = "error sending request for url (https://host/path): dns error";
        assert_eq!(without_address(reason), "error sending request: dns error");
        assert_eq!(without_address("plain"), "plain");
    }
}
