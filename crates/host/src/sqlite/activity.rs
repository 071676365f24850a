//! Activity at a SQLite file, by inotify: opens, reads and writes of the file, its write-ahead log, the
//! log's index and its rollback journal.

use std::ffi::OsString;
use std::io;
use std::io::Read as _;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use connect::sqlite::file as sqlite_file;
use load::resource::ServerSide;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use crate::activity::{Activity, Sight};

/// The files of a database.
const ENDINGS: [&str; 4] = ["", "-wal", "-shm", "-journal"];
/// Byte of a SQLite file that is 2 where it has a write-ahead log
/// (<https://www.sqlite.org/fileformat2.html>, section 1.3).
const READ_VERSION: usize = 19;
/// An application that holds a lock is waited for so long.
const BUSY_TIMEOUT_MS: &str = "2000";
const EVENT_BYTES: usize = 4096;

/// The folder of a file, watched.
pub(super) struct FileActivity {
    path: PathBuf,
    names: [OsString; 4],
    events: OwnedFd,
    /// Ours to write to.
    is_copy: bool,
    /// Whether the next statement of any session has to read the file.
    is_exposed: bool,
}

impl FileActivity {
    /// Begins to watch; the reason where the system does not report what happens there.
    pub(super) fn watch(path: &Path, is_copy: bool) -> Result<Self, String> {
        let place = path.display();
        let failed = |error: io::Error| format!("{place} cannot be watched: {error}");
        let activity = Self::begun(path, is_copy).map_err(failed)?;
        activity.header().map_err(failed)?;
        match activity.anything() {
            Ok(true) => Ok(activity),
            Ok(false) => Err(format!("the file system of {place} does not report accesses")),
            Err(error) => Err(failed(error)),
        }
    }

    fn begun(path: &Path, is_copy: bool) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let events = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        let wanted = WatchFlags::OPEN | WatchFlags::ACCESS | WatchFlags::MODIFY;
        inotify::add_watch(&events, folder, wanted)?;
        let names = ENDINGS.map(|ending| {
            sqlite_file::beside(&path, ending).file_name().unwrap_or_default().to_owned()
        });
        Ok(Self { path, names, events, is_copy, is_exposed: false })
    }

    /// Whether there were events of the database's files since the last look.
    fn anything(&self) -> io::Result<bool> {
        let mut buffer = [MaybeUninit::uninit(); EVENT_BYTES];
        let mut events = inotify::Reader::new(&self.events, &mut buffer);
        let mut found = false;
        loop {
            match events.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => {
                    return Err(io::Error::other("too much happens in its folder"));
                }
                Ok(event) => {
                    let name = event.file_name().map(|name| name.to_bytes());
                    found |= self.names.iter().any(|known| Some(known.as_bytes()) == name);
                }
                Err(rustix::io::Errno::WOULDBLOCK) => return Ok(found),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn header(&self) -> io::Result<[u8; 100]> {
        let mut header = [0; 100];
        sqlite_file::open(&self.path)?.read_exact(&mut header)?;
        Ok(header)
    }

    /// Changes the copy without changing a row: sessions forget the pages that they hold, and the next
    /// statement is seen to read.
    fn expose(&self) -> Result<(), connect::Error> {
        let connection = connect::sqlite::open_existing(&self.path)?;
        connect::sqlite::pragmas(&connection, [("busy_timeout", BUSY_TIMEOUT_MS)])?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        connection.pragma_update(None, "user_version", version)?;
        Ok(())
    }

    /// Why statements may have been executed that read nothing.
    fn blind_spot(&self, application: &ServerSide) -> Option<String> {
        if is_mapped(&self.path, application) {
            return Some(
                "the application reads the file by mmap, which leaves no trace".to_owned(),
            );
        }
        if self.is_exposed {
            return None;
        }
        if self.is_copy {
            return Some("the application keeps the file locked".to_owned());
        }
        match self.header() {
            Ok(header) if header[READ_VERSION] != 2 => None,
            Ok(_) => {
                let why = "with a write-ahead log sessions answer from pages that they hold";
                Some(why.to_owned())
            }
            Err(error) => Some(error.to_string()),
        }
    }
}

impl Activity for FileActivity {
    fn begin(&mut self) {
        self.is_exposed = self.is_copy && self.expose().is_ok();
        let _ = self.anything();
    }

    fn sight(&mut self, application: &ServerSide) -> Sight {
        match self.anything() {
            Ok(true) => Sight::Used,
            Ok(false) => self.blind_spot(application).map_or(Sight::Unused, Sight::Hidden),
            Err(error) => Sight::Hidden(format!("{}: {error}", self.path.display())),
        }
    }

    fn looked_at(&self) -> String {
        format!("opened, read or wrote {}, its -wal or its -shm", self.path.display())
    }
}

/// Whether a process has mapped the file itself: its memory, where it reads by `mmap_size`.
fn is_mapped(path: &Path, application: &ServerSide) -> bool {
    let ends = format!(" {}", path.display());
    let mapped = |pid: u32| {
        let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        maps.lines().any(|line| line.ends_with(&ends))
    };
    application.processes().into_iter().any(mapped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    fn this_process() -> ServerSide {
        ServerSide { roots: vec![std::process::id()] }
    }

    /// A file with a row, and the session of an application that has read it.
    fn used(folder: &Path, journal_mode: &str) -> (PathBuf, Connection) {
        let path = folder.join("shop.db");
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "journal_mode", journal_mode).unwrap();
        connection.execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1)").unwrap();
        read(&connection);
        (path, connection)
    }

    fn read(connection: &Connection) {
        connection.query_row("SELECT a FROM t", [], |_| Ok(())).unwrap();
    }

    #[test]
    fn statements_of_a_session_are_seen_whatever_pages_it_holds() {
        for journal_mode in ["delete", "wal"] {
            let folder = tempfile::tempdir().unwrap();
            let (path, connection) = used(folder.path(), journal_mode);
            let mut activity = FileActivity::begun(&path, true).unwrap();
            for sql in ["SELECT a FROM t", "SELECT a FROM t", "INSERT INTO t VALUES (2)"] {
                activity.begin();
                assert_eq!(activity.sight(&this_process()), Sight::Unused, "{journal_mode}");
                connection.execute_batch(sql).unwrap();
                assert_eq!(activity.sight(&this_process()), Sight::Used, "{journal_mode}: {sql}");
            }
        }
    }

    #[test]
    fn a_file_that_is_left_alone_was_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let (path, connection) = used(folder.path(), "wal");
        drop(connection);
        let mut activity = FileActivity::watch(&path, true).unwrap();
        activity.begin();
        std::fs::write(folder.path().join("beside.db"), "x").unwrap();
        assert_eq!(activity.sight(&this_process()), Sight::Unused);
        read(&Connection::open(&path).unwrap());
        assert_eq!(activity.sight(&this_process()), Sight::Used);
    }

    #[test]
    fn a_log_that_is_not_ours_hides_reads_of_kept_pages() {
        let folder = tempfile::tempdir().unwrap();
        let (path, connection) = used(folder.path(), "wal");
        drop(connection);
        let mut activity = FileActivity::watch(&path, false).unwrap();
        activity.begin();
        let Sight::Hidden(why) = activity.sight(&this_process()) else { panic!("seen") };
        assert!(why.contains("write-ahead log"), "{why}");
    }
}
