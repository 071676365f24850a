//! Reading and copying database files beside SQLite. POSIX drops every lock that a process holds on
//! a file when the process closes any descriptor of it, so a file is refused here as long as SQLite
//! has it open in this process (<https://www.sqlite.org/howtocorrupt.html>, section 2.2).

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use parking_lot::{Mutex, MutexGuard};

/// The descriptors of this process, on Linux and elsewhere.
const DESCRIPTORS: &str = "/dev/fd";

/// Of the database and of what SQLite keeps beside it.
const ENDINGS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

type FileId = (u64, u64);

/// How many [`OpenFile`]s there are of each file. They are not SQLite's, which keeps its own
/// descriptors of a file open until its last lock on it is gone.
static OPEN: LazyLock<Mutex<HashMap<FileId, usize>>> = LazyLock::new(Mutex::default);

/// A file that was not open through SQLite when it was opened.
#[derive(Debug)]
pub struct OpenFile {
    // Closed before it is no longer counted: fields are dropped in this order.
    file: File,
    _counted: Counted,
}

/// One of the files in [`OPEN`].
#[derive(Debug)]
struct Counted(FileId);

/// Opens a file for reading.
pub fn open(path: &Path) -> io::Result<OpenFile> {
    let id = id_of(&path.metadata()?);
    let mut open = open_files();
    if descriptors_of(id) > open.get(&id).copied().unwrap_or(0) {
        return Err(io::Error::new(
            io::ErrorKind::ResourceBusy,
            "this process has the file open; closing it a second time would drop SQLite's locks",
        ));
    }
    let file = File::open(path)?;
    *open.entry(id).or_default() += 1;
    Ok(OpenFile { file, _counted: Counted(id) })
}

impl Deref for OpenFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.file
    }
}

impl Read for OpenFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.file.read(buffer)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut open = open_files();
        if let Some(count) = open.get_mut(&self.0) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.0);
            }
        }
    }
}

fn open_files() -> MutexGuard<'static, HashMap<FileId, usize>> {
    OPEN.lock()
}

fn id_of(file: &Metadata) -> FileId {
    (file.dev(), file.ino())
}

/// Whether `path` is the file of `database`, or its `-wal`, `-shm` or `-journal`. It opens nothing.
#[must_use]
pub fn is_part_of(path: &Path, database: &Path) -> bool {
    let Ok(given) = path.metadata().map(|file| id_of(&file)) else { return false };
    let parts = ENDINGS.map(|ending| beside(database, ending));
    parts.iter().any(|part| part.metadata().is_ok_and(|part| id_of(&part) == given))
}

/// How many descriptors of this process are of that file. Metadata opens nothing.
fn descriptors_of(id: FileId) -> usize {
    let descriptors = std::fs::read_dir(DESCRIPTORS).into_iter().flatten().flatten();
    let files = descriptors.filter_map(|one| std::fs::metadata(one.path()).ok());
    files.filter(|file| id_of(file) == id).count()
}

/// Copies a file that SQLite has closed, with its permissions.
pub fn copy(from: &Path, to: &Path) -> io::Result<u64> {
    let source = open(from)?;
    let options = File::options().write(true).create(true).truncate(true).mode(0o600).clone();
    let mut copy = options.open(to)?;
    copy.set_permissions(source.metadata()?.permissions())?;
    io::copy(&mut &*source, &mut copy)
}

/// The folder of a file, or the folder itself, opened: what syncs a file system without opening a
/// database of it.
pub fn folder_of(path: &Path) -> io::Result<File> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(if path.is_dir() { path } else { parent.unwrap_or(Path::new(".")) })
}

/// Removes a database with everything that SQLite keeps beside it; none of them need exist.
pub fn remove(path: &Path) -> io::Result<()> {
    for ending in ENDINGS {
        match std::fs::remove_file(beside(path, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// `path` with `ending` added to its name: `-wal`, `-shm`, `-journal`.
#[must_use]
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
