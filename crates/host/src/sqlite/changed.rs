//! A copy of a SQLite file with a step's statements carried out, made once and kept for the run.

use std::path::{Path, PathBuf};

use crate::error::DeployError;
use crate::file::remove_if_there;
use crate::site::Site;
use crate::stoppable::carry_out;

/// The closed file `previous` with `statements` carried out on top of it.
pub fn changed_copy(
    site: &Site<'_>,
    previous: &Path,
    statements: &[String],
) -> Result<PathBuf, DeployError> {
    let stem = previous.file_stem().unwrap_or_default().to_string_lossy();
    let digest = xxhash_rust::xxh3::xxh3_64(format!("{statements:?}").as_bytes());
    let path = site.scratch.join(format!("{stem}-{digest:016x}.db"));
    if path.exists() {
        return Ok(path);
    }
    let unfinished = path.with_extension("making");
    let made = site.one_off.time(|| make(site, previous, &unfinished, statements));
    if made.is_err() {
        remove_if_there(&unfinished)?;
    }
    made?;
    let io = |source| DeployError::Io { path: path.clone(), source };
    std::fs::rename(&unfinished, &path).map_err(io)?;
    Ok(path)
}

fn make(
    site: &Site<'_>,
    previous: &Path,
    path: &Path,
    statements: &[String],
) -> Result<(), DeployError> {
    let io = |source| DeployError::Io { path: path.to_owned(), source };
    remove_if_there(path)?;
    connect::sqlite::file::copy(previous, path).map_err(io)?;
    carry_out(path, statements, "step", site.progress, site.interrupted)
}
