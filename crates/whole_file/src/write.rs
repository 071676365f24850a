//! A file written under a temporary name beside its own.

use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use crate::publish::publish;

/// Writes `bytes` so that `path` holds either what it held before or all of them.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// The same with exactly these rights, whatever the umask.
pub fn write_with_mode(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    replace(path, mode, |file| {
        file.set_permissions(Permissions::from_mode(mode))?;
        file.write_all(bytes)
    })
}

/// As [`write()`], for what need not be in memory all at once.
pub fn write_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    replace(path, 0o666, write)
}

fn replace(
    path: &Path,
    mode: u32,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".tmp");
    let temporary = path.with_file_name(name);
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(mode);
    let written = options.open(&temporary).and_then(|mut file| write(&mut file));
    written.and_then(|()| publish(&temporary, path)).inspect_err(|_| {
        // The first error is the one to report; a leftover is overwritten by the next try.
        let _ = std::fs::remove_file(&temporary);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_that_fails_leaves_what_was_there_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        write(&path, b"before").unwrap();
        let failed = write_with(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("interrupted"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "interrupted");
        assert_eq!(std::fs::read(&path).unwrap(), b"before");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_has_the_rights_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("password");
        write_with_mode(&path, b"secret", 0o600).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read(&path).unwrap(), b"secret");
    }
}
