//! Files of a run: JSON written and read, versions refused.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{RecordError, SCHEMA_VERSION};

/// Writes `bytes` whole or not at all.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), RecordError> {
    whole_file::write(path, bytes).map_err(failed(path))
}

/// The error about the file at `path`.
pub(super) fn failed(path: &Path) -> impl Fn(std::io::Error) -> RecordError {
    |source| RecordError::Io { path: path.to_owned(), source }
}

pub(super) fn write_json(path: &Path, value: &impl Serialize) -> Result<(), RecordError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|error| damaged(path, &error))?;
    text.push(b'\n');
    write(path, &text)
}

pub(super) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, RecordError> {
    let bytes = std::fs::read(path).map_err(failed(path))?;
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
