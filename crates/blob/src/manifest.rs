//! The file that marks a folder of blobs as ours, and what it says about them.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::access::UNFINISHED;
use crate::{Error, Form, Recipe};

/// The name of the file.
pub(crate) const NAME: &str = "crossover-blobs.json";

/// What is known of an exported folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub form: Form,
    /// Files that were written.
    pub files: u64,
    pub bytes: u64,
    pub largest_id: u64,
    /// How the blobs were made, if that is known.
    #[serde(default)]
    pub recipe: Option<Recipe>,
    /// The newest generation of any of them.
    #[serde(default)]
    pub generation: u64,
}

impl Manifest {
    /// That of `folder`; `None` if it has none.
    pub fn read(folder: &Path) -> Result<Option<Self>, Error> {
        let path = folder.join(NAME);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            Err(source) => return Err(Error::Io { doing: "read", path, source }),
        };
        match serde_json::from_slice::<Self>(&text) {
            Ok(manifest) if manifest.form != Form::Database => Ok(Some(manifest)),
            Ok(_) => not_ours(folder, format!("{NAME} in it names no form of a folder")),
            Err(error) => not_ours(folder, format!("{NAME} in it cannot be read: {error}")),
        }
    }

    /// Writes it, all or nothing and synced.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        let unfinished = folder.join(format!("{UNFINISHED}manifest-{}", std::process::id()));
        let written = File::create(&unfinished)
            .and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&unfinished, folder.join(NAME)));
        if written.is_err() {
            // The failure is told below; what is left of the file is not worth another one.
            let _ = fs::remove_file(&unfinished);
        }
        written.map_err(Error::io("write", &folder.join(NAME)))
    }
}

fn not_ours<T>(folder: &Path, problem: String) -> Result<T, Error> {
    Err(Error::NotOurs { path: folder.to_owned(), problem })
}
