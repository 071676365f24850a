//! The database file, its log and the index of its log, read as bytes.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::fstatfs;

use crate::error::WatchError;

/// How SQLite protects a transaction of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JournalForm {
    /// A write-ahead log
    Wal,
    /// A rollback journal: delete, truncate or persist
    Rollback,
}

/// Device and inode: the same file under any name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    pub device: u64,
    pub inode: u64,
}

impl FileIdentity {
    pub fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self { device: metadata.dev(), inode: metadata.ino() })
    }

    /// The file that a path leads to now.
    pub fn at(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self { device: metadata.dev(), inode: metadata.ino() })
    }
}

/// An open file with its identity.
#[derive(Debug)]
pub struct IdentifiedFile {
    pub file: File,
    pub identity: FileIdentity,
}

impl IdentifiedFile {
    fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        Ok(Self { identity: FileIdentity::of(&file)?, file })
    }
}

/// The database whose locks are watched. It is never opened through SQLite: when a process closes a
/// file, the kernel drops all locks of that process on it.
#[derive(Debug)]
pub struct DatabaseFile {
    /// Its path as typed.
    pub named: PathBuf,
    /// The path without links.
    path: PathBuf,
    pub database: IdentifiedFile,
    /// The index of the log (`-shm`): it is there while a program has the file open in WAL mode.
    pub log_index: Option<IdentifiedFile>,
}

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// In the header: the version of the form that readers need, 2 for a write-ahead log.
const READ_VERSION_AT: usize = 19;
/// In the header: the counter that each commit in rollback mode raises.
const CHANGE_COUNTER_AT: u64 = 24;
/// The index of the log begins with two copies of its header, each of this size.
const INDEX_HEADER_BYTES: usize = 48;
const INDEX_BYTES: usize = 136;

impl DatabaseFile {
    pub fn open(path: &Path) -> Result<Self, WatchError> {
        let failed = |source| WatchError::File { path: path.to_owned(), source };
        // Opening a pipe would wait for its writer.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Err(WatchError::NotSqlite(path.to_owned()));
        }
        let database = IdentifiedFile::open(path).map_err(failed)?;
        if let Some(file_system) = foreign_file_system(&database.file) {
            return Err(WatchError::FileSystem { path: path.to_owned(), file_system });
        }
        let mut magic = [0; MAGIC.len()];
        let read = database.file.read_exact_at(&mut magic, 0);
        // A file without a byte is a database without a table.
        let is_empty = database.file.metadata().map_err(failed)?.len() == 0;
        match read {
            Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(failed(error)),
            read if !is_empty && (read.is_err() || magic != *MAGIC) => {
                return Err(WatchError::NotSqlite(path.to_owned()));
            }
            _ => {}
        }
        // SQLite keeps the log beside the file itself, not beside a link to it.
        let (named, path) = (path.to_owned(), std::fs::canonicalize(path).map_err(failed)?);
        let mut opened = Self { named, path, database, log_index: None };
        let index = opened.beside("-shm");
        if let Err(source) = File::open(&index)
            && source.kind() == ErrorKind::PermissionDenied
        {
            return Err(WatchError::File { path: index, source });
        }
        opened.follow_log_index();
        Ok(opened)
    }

    pub fn journal_mode(&self) -> JournalForm {
        let mut version = [0];
        let read = self.database.file.read_exact_at(&mut version, READ_VERSION_AT as u64);
        if read.is_ok() && version == [2] { JournalForm::Wal } else { JournalForm::Rollback }
    }

    /// Opens the index of the log that is there now: the last program that closes the database removes
    /// it, the next one makes another.
    pub fn follow_log_index(&mut self) {
        let path = self.beside("-shm");
        let now = FileIdentity::at(&path);
        if now != self.log_index.as_ref().map(|index| index.identity) {
            self.log_index = IdentifiedFile::open(&path).ok();
        }
    }

    /// `true` if another file has taken its name since.
    pub fn is_replaced(&self) -> bool {
        FileIdentity::at(&self.named) != Some(self.database.identity)
    }

    pub fn log_bytes(&self) -> Option<u64> {
        Some(std::fs::metadata(self.beside("-wal")).ok()?.len())
    }

    /// Commits so far, by a counter that wraps around.
    pub fn commits(&self) -> Option<u32> {
        let mut counter = [0; 4];
        self.database.file.read_exact_at(&mut counter, CHANGE_COUNTER_AT).ok()?;
        Some(u32::from_be_bytes(counter))
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(ending);
        PathBuf::from(name)
    }
}

/// The header of the index of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogIndex {
    /// Commits so far; the counter wraps around.
    pub commits: u32,
    pub page_bytes: u32,
    /// Frames in the log.
    pub frames: u32,
    /// Frames that are in the database file already.
    pub checkpointed: u32,
    /// Another number after each reset of the log.
    pub salt: u32,
    /// Frames that a reader with each of the five marks sees.
    pub marks: [u32; 5],
}

impl LogIndex {
    /// `None` if the two copies of the header differ: it is being written.
    pub fn read(index: &File) -> Option<Self> {
        let mut bytes = [0; INDEX_BYTES];
        index.read_exact_at(&mut bytes, 0).ok()?;
        let (first, rest) = bytes.split_at(INDEX_HEADER_BYTES);
        if first != &rest[..INDEX_HEADER_BYTES] {
            return None;
        }
        let word = |at: usize| bytes[at..at + 4].try_into().map_or(0, u32::from_ne_bytes);
        let page_bytes = u32::from(u16::from_ne_bytes([bytes[14], bytes[15]]));
        Some(Self {
            commits: word(8),
            // One stands for 65,536.
            page_bytes: (page_bytes & 0xfe00) + ((page_bytes & 1) << 16),
            frames: word(16),
            salt: word(32),
            checkpointed: word(96),
            marks: [100, 104, 108, 112, 116].map(word),
        })
    }
}

/// The kind of a file system whose locks other machines or programs keep.
fn foreign_file_system(file: &File) -> Option<&'static str> {
    const FOREIGN: [(i64, &str); 6] = [
        (0x6969, "NFS"),
        (0x517b, "SMB"),
        (0xfe53_4d42, "SMB"),
        (0xff53_4d42, "SMB"),
        (0x6573_5546, "FUSE"),
        (0x0102_1997, "9p"),
    ];
    let kind = fstatfs(file).ok()?.f_type;
    FOREIGN.iter().find(|(known, _)| *known == kind).map(|(_, name)| *name)
}
