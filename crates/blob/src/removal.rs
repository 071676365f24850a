//! Removal of an older export: it is set aside, and deleted when a new one has its place. Only
//! what `export` wrote is ever deleted.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifest::UNFINISHED;
use crate::manifest::{self, Manifest};
use crate::names::id_of;
use crate::{BlobForm, Error};

/// Everything in an exported folder, files before the folders that they are in.
pub(crate) struct FolderContents {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

/// Lists an exported folder and refuses it if there is anything in it that `export` does not write.
pub(crate) fn list(folder: &Path, manifest: &Manifest) -> Result<FolderContents, Error> {
    let mut contents = FolderContents { files: Vec::new(), folders: Vec::new() };
    list_into(folder, folder, manifest, &mut contents)?;
    Ok(contents)
}

fn list_into(
    root: &Path,
    folder: &Path,
    manifest: &Manifest,
    contents: &mut FolderContents,
) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
        let entry = entry.map_err(Error::io("read", folder))?;
        let (path, file_name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().map_err(Error::io("look at", &path))?;
        let name = path.strip_prefix(root).unwrap_or(&path);
        let own = folder == root
            && (file_name == manifest::NAME || file_name.to_string_lossy().starts_with(UNFINISHED));
        let blob = id_of(name, manifest.form).is_some_and(|id| manifest.wrote(id));
        let level = name.components().count();
        let two_digits = file_name.len() == 2 && file_name.as_encoded_bytes().is_ascii();
        if kind.is_file() && (own || blob) {
            contents.files.push(path);
        } else if kind.is_dir() && manifest.form == BlobForm::Tree && level < 3 && two_digits {
            list_into(root, &path, manifest, contents)?;
        } else {
            let problem = format!("{} in it is none of its files", name.display());
            return Err(Error::NotOurs { path: root.to_owned(), problem });
        }
    }
    contents.folders.push(folder.to_owned());
    Ok(())
}

/// Deletes a folder that [`crate::export`] wrote, file by file; nothing if there is anything else in it.
pub fn remove_export(folder: &Path) -> Result<(), Error> {
    let Some(manifest) = Manifest::read(folder)? else {
        let problem = format!("it has no {}", manifest::NAME);
        return Err(Error::NotOurs { path: folder.to_owned(), problem });
    };
    let contents = list(folder, &manifest)?;
    // The mark goes last: what is cut off here can be gone on with.
    let (marks, blobs): (Vec<_>, Vec<_>) =
        contents.files.iter().partition(|path| path.ends_with(manifest::NAME));
    for path in blobs.into_iter().chain(marks) {
        fs::remove_file(path).map_err(Error::io("remove", path))?;
    }
    for path in &contents.folders {
        fs::remove_dir(path).map_err(Error::io("remove", path))?;
    }
    Ok(())
}

/// Gives an export another name beside its own: until another one has its place it can be put back.
/// `None` for an empty folder, which gives way by itself.
pub(crate) fn set_aside(folder: &Path, parent: &Path) -> Result<Option<PathBuf>, Error> {
    let Some(manifest) = Manifest::read(folder)? else { return Ok(None) };
    // Files that arrived while the new one was written stay in place.
    list(folder, &manifest)?;
    let aside = tempfile::Builder::new()
        .prefix(".crossover-replaced-")
        .tempdir_in(parent)
        .map_err(Error::io("make a folder in", parent))?;
    fs::rename(folder, aside.path()).map_err(Error::io("set aside", folder))?;
    Ok(Some(aside.keep()))
}
