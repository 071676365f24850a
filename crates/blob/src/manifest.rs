//! The file that marks a folder of blobs as ours, and what it says about them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{BlobForm, Error, Recipe};

/// How the names of unfinished files begin.
pub(crate) const UNFINISHED: &str = ".crossover-unfinished-";

/// The name of the file.
pub(crate) const NAME: &str = "crossover-blobs.json";

/// Description of an exported folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub form: BlobForm,
    pub files: u64,
    pub bytes: u64,
    pub largest_id: u64,
    /// Which they were; older exports did not note it.
    #[serde(default)]
    pub keys: Option<BlobKeys>,
    /// How the blobs were made, if that is known.
    #[serde(default)]
    pub recipe: Option<Recipe>,
    /// The newest generation of any of them.
    #[serde(default)]
    pub generation: u64,
}

/// Keys in ascending order: ranges, both ends included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct BlobKeys(Vec<(u64, u64)>);

impl BlobKeys {
    /// Adds a key that is larger than all so far.
    pub fn push(&mut self, key: u64) {
        match self.0.last_mut() {
            Some((_, last)) if *last + 1 == key => *last = key,
            _ => self.0.push((key, key)),
        }
    }

    fn contains(&self, key: u64) -> bool {
        let begun = self.0.partition_point(|(first, _)| *first <= key);
        self.0[..begun].last().is_some_and(|(_, last)| key <= *last)
    }
}

impl Manifest {
    /// Whether the file of this key was written by `export`.
    pub fn wrote(&self, key: u64) -> bool {
        let noted = self.keys.as_ref().is_none_or(|keys| keys.contains(key));
        noted && key <= self.largest_id
    }

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
            Ok(manifest) if manifest.form != BlobForm::Database => Ok(Some(manifest)),
            Ok(_) => not_an_export(folder, format!("{NAME} in it names no form of a folder")),
            Err(error) => not_an_export(folder, format!("{NAME} in it cannot be read: {error}")),
        }
    }

    /// Writes it, all or nothing and synced.
    pub fn write(&self, folder: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        let unfinished = folder.join(format!("{UNFINISHED}manifest-{}", std::process::id()));
        let written = fs::write(&unfinished, &text)
            .and_then(|()| whole_file::publish(&unfinished, &folder.join(NAME)));
        if written.is_err() {
            // The failure is returned below; a rest of the file is not worth another one.
            let _ = fs::remove_file(&unfinished);
        }
        written.map_err(Error::io("write", &folder.join(NAME)))
    }
}

fn not_an_export<T>(folder: &Path, problem: String) -> Result<T, Error> {
    Err(Error::NotOurs { path: folder.to_owned(), problem })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_kept_as_ranges_and_found_again() {
        let mut keys = BlobKeys::default();
        [1, 2, 3, 7, 9, 10].into_iter().for_each(|key| keys.push(key));
        assert_eq!(keys.0, [(1, 3), (7, 7), (9, 10)]);
        let found: Vec<u64> = (0..12).filter(|key| keys.contains(*key)).collect();
        assert_eq!(found, [1, 2, 3, 7, 9, 10]);
        assert!(!BlobKeys::default().contains(0));
    }
}
