//! The blobs of a run: made once for each set of levels, in the run's scratch folder, and from
//! there copied into every form. What is updated is a copy of its own.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use blob::{BlobForm, BlobTarget, ExportOptions, InitOptions, Recipe};
use indicatif::ProgressBar;

use crate::error::RunError;
use host::Site;
use plan::{BlobCell, BlobOperation};

/// Blocks of `st_blocks`, whatever the file system's own are.
const BLOCK_BYTES: u64 = 512;

/// The blobs of one cell.
pub(super) struct Store<'a> {
    pub site: &'a Site<'a>,
    pub recipe: Recipe,
    pub operation: BlobOperation,
}

impl<'a> Store<'a> {
    pub(super) fn new(site: &'a Site<'a>, cell: &BlobCell) -> Self {
        let recipe = Recipe {
            count: cell.count,
            blob_bytes: cell.bytes,
            variance_bytes: cell.variance,
            page_bytes: Some(cell.page_bytes),
            seed: cell.seed,
        };
        Self { site, recipe, operation: cell.operation }
    }

    /// Names these blobs in file names and databases.
    pub(super) fn key(&self) -> String {
        let Recipe { count, blob_bytes, variance_bytes, seed, .. } = self.recipe;
        format!("{count}x{blob_bytes}v{variance_bytes}s{seed}")
    }

    /// The bytes of all blobs.
    pub(super) fn content_bytes(&self) -> u64 {
        (1..=self.recipe.count).map(|id| self.recipe.size(id) as u64).sum()
    }

    /// The SQLite file of these blobs; for updates a copy that is made again each time.
    pub(super) fn database(&self) -> Result<PathBuf, RunError> {
        let page_bytes = self.recipe.page_bytes.unwrap_or_default();
        let path = self.path(&format!("blobs-{}-p{page_bytes}.db", self.key()));
        if !path.exists() {
            self.say("making blobs");
            let options = InitOptions::default();
            blob::init(&path, &self.recipe, &options, &hidden(), self.site.interrupted)
                .map_err(failed)?;
        }
        if self.operation == BlobOperation::Read {
            return Ok(path);
        }
        let copy = self.path("trial.db");
        host::sqlite::copy_filled("sqlite", &path, &copy)?;
        Ok(copy)
    }

    /// The files of these blobs; those that are updated lie apart, and are put back at the end of
    /// a turn.
    pub(super) fn folder(&self, form: BlobForm) -> Result<PathBuf, RunError> {
        let name = format!("{}-{}-{}", form.name(), self.key(), self.operation.name());
        let path = self.path(&name);
        if !path.exists() {
            let reading = Self { operation: BlobOperation::Read, recipe: self.recipe, ..*self };
            let database = reading.database()?;
            self.say("writing blobs into files");
            let options = ExportOptions { form, replace: false };
            blob::export(&database, &path, &options, &hidden(), self.site.interrupted)
                .map_err(failed)?;
        }
        Ok(path)
    }

    /// The database with the names of the files of `folder`.
    pub(super) fn names(&self, folder: &Path) -> Result<PathBuf, RunError> {
        let path = self.path(&format!("names-{}.db", self.key()));
        if !path.exists() {
            let target = BlobTarget::open(folder).map_err(failed)?;
            blob::write_names(&target, &path).map_err(failed)?;
        }
        Ok(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.site.scratch.join(name)
    }

    pub(super) fn say(&self, what: &str) {
        let Recipe { count, blob_bytes, .. } = self.recipe;
        self.site.progress.set_message(format!("{what}: {count} of {blob_bytes} bytes"));
    }
}

/// The bar of the laboratory counts trials.
fn hidden() -> ProgressBar {
    ProgressBar::hidden()
}

/// The length of a file, or of all files below a folder, and what they take on storage: folders
/// and the rest of each last block count too.
pub(super) fn room_of(path: &Path) -> Result<(u64, u64), RunError> {
    let io = |source| RunError::Io { path: path.to_owned(), source };
    let metadata = std::fs::symlink_metadata(path).map_err(io)?;
    let own = metadata.blocks() * BLOCK_BYTES;
    if !metadata.is_dir() {
        return Ok((metadata.len(), own));
    }
    let (mut length, mut allocated) = (0, own);
    for entry in std::fs::read_dir(path).map_err(io)? {
        let (more, taken) = room_of(&entry.map_err(io)?.path())?;
        length += more;
        allocated += taken;
    }
    Ok((length, allocated))
}

pub(super) fn failed(error: blob::Error) -> RunError {
    RunError::Blob(error.to_string())
}
