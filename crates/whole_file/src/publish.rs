//! A finished file gets its name, durably.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Gives the closed file `unfinished` the name `path` in the same folder, durably.
pub fn publish(unfinished: &Path, path: &Path) -> io::Result<()> {
    File::open(unfinished)?.sync_all()?;
    std::fs::rename(unfinished, path)?;
    sync_folder_of(path)
}

/// Brings the name of `path` to the disk: it is there only when its folder is.
pub fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all()) {
        // Some file systems cannot sync a folder: there its names are as safe as they can be.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}
