//! Files that a run reads and makes beside its record: digests of them, and a folder for copies.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::RunError;

/// XXH3 of a file.
pub(super) fn digest(path: &Path) -> Result<String, RunError> {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    read_all(path, |bytes| hasher.update(bytes))?;
    Ok(format!("{:032x}", hasher.digest128()))
}

/// SHA-256 of this program.
pub(super) fn program_digest() -> Result<String, RunError> {
    let mut hasher = Sha256::new();
    read_all(&program()?, |bytes| hasher.update(bytes))?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The file of this program, for the placeholder {crossover}.
pub(super) fn program() -> Result<PathBuf, RunError> {
    std::env::current_exe()
        .map_err(|source| RunError::Io { path: PathBuf::from("this program"), source })
}

/// Removes a file that may not be there.
pub(super) fn remove_if_there(path: &Path) -> Result<(), RunError> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
            Err(RunError::Io { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

fn read_all(path: &Path, mut use_bytes: impl FnMut(&[u8])) -> Result<(), RunError> {
    let io = |source| RunError::Io { path: path.to_owned(), source };
    let mut file = engine::sqlite::file::open(path).map_err(io)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(io)? {
            0 => return Ok(()),
            read => use_bytes(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// A folder for copies of the data, removed when the run ends or is given up.
pub(super) struct Scratch {
    pub(super) path: PathBuf,
    /// Held while the run lives; a folder whose lock is free belongs to a program that was killed.
    _lock: File,
}

impl Scratch {
    pub(super) fn create(data: &Path, id: &str) -> Result<Self, RunError> {
        let all = data.join("scratch");
        let path = all.join(id);
        let io = |source| RunError::Scratch { path: path.clone(), source };
        std::fs::create_dir_all(&path).map_err(io)?;
        // Nobody sweeps between the making of this folder and its lock.
        let gate = File::create(all.join(".lock")).map_err(io)?;
        gate.lock().map_err(io)?;
        let lock = File::create(path.join(Self::LOCK)).map_err(io)?;
        lock.lock().map_err(io)?;
        Self::sweep(&all);
        Ok(Self { path, _lock: lock })
    }

    const LOCK: &'static str = "owner.lock";

    /// Removes the copies of killed programs.
    fn sweep(all: &Path) {
        let folders = std::fs::read_dir(all).into_iter().flatten().flatten();
        for folder in folders.map(|entry| entry.path()) {
            let owner = File::open(folder.join(Self::LOCK));
            if owner.is_ok_and(|owner| owner.try_lock().is_ok()) {
                let _ = std::fs::remove_dir_all(&folder);
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover costs disk space only, and the next run has a folder of its own.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
