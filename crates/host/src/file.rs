//! Files beside a run's record: digests of data and of this program.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::DeployError;

/// XXH3 of a file.
pub fn digest(path: &Path) -> Result<String, DeployError> {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    read_all(path, |bytes| hasher.update(bytes))?;
    Ok(format!("{:032x}", hasher.digest128()))
}

/// SHA-256 of this program.
pub fn program_digest() -> Result<String, DeployError> {
    let mut hasher = Sha256::new();
    read_all(&program()?, |bytes| hasher.update(bytes))?;
    Ok(hex::encode(hasher.finalize()))
}

/// The file of this program, for the placeholder {crossover}.
pub fn program() -> Result<PathBuf, DeployError> {
    std::env::current_exe()
        .map_err(|source| DeployError::Io { path: PathBuf::from("this program"), source })
}

/// Removes a file that may not be there.
pub fn remove_if_there(path: &Path) -> Result<(), DeployError> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(DeployError::Io { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

fn read_all(path: &Path, mut use_bytes: impl FnMut(&[u8])) -> Result<(), DeployError> {
    let io = |source| DeployError::Io { path: path.to_owned(), source };
    let mut file = engine::sqlite::file::open(path).map_err(io)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(io)? {
            0 => return Ok(()),
            read => use_bytes(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// Length and digest of a SQLite file that is closed.
pub fn contents(path: &Path) -> Result<String, DeployError> {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    let mut bytes = 0;
    read_all(path, |part| {
        bytes += part.len();
        hasher.update(part);
    })?;
    Ok(format!("{bytes} bytes, digest {:032x}", hasher.digest128()))
}
