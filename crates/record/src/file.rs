//! Files that are whole or absent: temporary name, sync, rename.

use std::io::Write as _;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{RecordError, SCHEMA_VERSION};

/// Writes `bytes` so that `path` holds either what it held before or all of them.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    write_with(path, |file| file.write_all(bytes))
}

/// As [`write_atomically`], for what need not be in memory all at once.
pub(super) fn write_with(
    path: &Path,
    write: impl FnOnce(&mut std::fs::File) -> std::io::Result<()>,
) -> Result<(), RecordError> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".tmp");
    let temporary = path.with_file_name(name);
    let written = std::fs::File::create(&temporary).and_then(|mut file| {
        write(&mut file)?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&temporary, path)).map_err(|source| {
        // The first error is the one to report; a leftover is overwritten by the next try.
        let _ = std::fs::remove_file(&temporary);
        RecordError::Io { path: path.to_owned(), source }
    })
}

pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), RecordError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| damaged(path, &error))?;
    text.push(b'\n');
    write_atomically(path, &text)
}

pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, RecordError> {
    let bytes =
        std::fs::read(path).map_err(|source| RecordError::Io { path: path.to_owned(), source })?;
    serde_json::from_slice(&bytes).map_err(|error| damaged(path, &error))
}

pub(super) fn refuse_newer(path: &Path) -> Result<(), RecordError> {
    #[derive(serde::Deserialize)]
    struct Version {
        schema_version: u32,
    }
    let Version { schema_version } = read_json(path)?;
    if schema_version > SCHEMA_VERSION {
        return Err(RecordError::Newer { path: path.to_owned(), found: schema_version });
    }
    Ok(())
}

fn damaged(path: &Path, error: &serde_json::Error) -> RecordError {
    RecordError::Damaged { path: path.to_owned(), message: error.to_string() }
}
