//! A folder for copies that a run measures on, removed with the run.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::error::RunError;

/// A folder for copies of the data, removed when the run ends or is given up.
pub(super) struct Scratch {
    pub(super) path: PathBuf,
    /// Held while the run lives; a folder whose lock is free belongs to a program that was killed.
    _lock: File,
}

impl Scratch {
    pub(super) fn create(data: &Path) -> Result<Self, RunError> {
        let all = data.join("scratch");
        // One of its own for a run that is taken up again, too: its trials have changed the files of
        // the last one in the middle.
        let path = all.join(format!("{}-{}", Timestamp::now().as_nanosecond(), std::process::id()));
        let io = |source| RunError::Scratch { path: path.clone(), source };
        std::fs::create_dir_all(&all).map_err(io)?;
        // Nobody sweeps between the making of this folder and its lock.
        let gate = File::create(all.join(".lock")).map_err(io)?;
        gate.lock().map_err(io)?;
        Self::sweep(&all);
        // Copies and answers are rows of the user's.
        DirBuilder::new().mode(0o700).create(&path).map_err(io)?;
        let lock = File::create(path.join(Self::LOCK)).map_err(io)?;
        lock.lock().map_err(io)?;
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
