//! Blobs in files whose names are in a database: the name is looked up, then the file read, as
//! the applications do that the studies cited by the article describe.

use std::path::{Path, PathBuf};

use rusqlite::Statement;
use rustix::io::Errno;

use super::Access;
use super::held::Held;
use super::reader::{Reader, found};
use super::sqlite::set;
use super::writer::Writer;
use crate::Error;
use plan::storage::{FileSettings, SqliteSettings};

/// An open database of names and the folder that they are relative to.
pub struct LookupAccess {
    // Before the connection that it borrows from, and so dropped before it.
    select: Statement<'static>,
    held: Held,
    database: PathBuf,
    folder: PathBuf,
    reader: Reader,
    writer: Writer,
    /// The path as the reader wants it, as looked up last, and a zero byte.
    path: Vec<u8>,
    /// Where the name begins in it.
    begin: usize,
}

impl LookupAccess {
    /// For the files of `folder` whose names [`crate::write_names`] put into `database`.
    pub fn open(
        database: &Path,
        folder: &Path,
        sqlite: &SqliteSettings,
        files: &FileSettings,
    ) -> Result<Self, Error> {
        let connection = connect::sqlite::open_existing(database)?;
        set(&connection, sqlite)?;
        let held = Held::new(connection);
        // SAFETY: the statement is a field before `held`.
        #[expect(unsafe_code, reason = "a statement and its connection in one struct")]
        let connection = unsafe { held.lasting() };
        let select = connection.prepare("SELECT name FROM file WHERE k = ?1");
        let reader = Reader::new(folder, files.reading).map_err(Error::errno("open", folder))?;
        let mut path = reader.base(folder).as_os_str().as_encoded_bytes().to_vec();
        if !path.is_empty() {
            path.push(b'/');
        }
        Ok(Self {
            select: select.map_err(Error::sqlite(database))?,
            held,
            database: database.to_owned(),
            folder: folder.to_owned(),
            writer: Writer::new(folder, files),
            reader,
            begin: path.len(),
            path,
        })
    }

    /// Puts the path of blob `id` into `self.path`; false if it has no name.
    fn look_up(&mut self, id: u64) -> Result<bool, Error> {
        let failed = Error::sqlite(&self.database);
        self.path.truncate(self.begin);
        self.select.raw_bind_parameter(1, id.cast_signed()).map_err(&failed)?;
        let mut rows = self.select.raw_query();
        let Some(row) = rows.next().map_err(&failed)? else { return Ok(false) };
        let name = row.get_ref(0).map_err(&failed)?;
        self.path.extend_from_slice(crate::table::bytes_of(name, id, &self.database)?);
        self.path.push(0);
        Ok(true)
    }

    /// The whole path that was looked up last.
    fn whole_path(&self) -> PathBuf {
        let name = self.path.get(self.begin..self.path.len().saturating_sub(1)).unwrap_or_default();
        self.folder.join(String::from_utf8_lossy(name).as_ref())
    }

    fn failed(&self, doing: &'static str, errno: Errno) -> Error {
        Error::Io { doing, path: self.whole_path(), source: errno.into() }
    }

    fn execute(&self, sql: &str) -> Result<(), Error> {
        self.held.connection().execute_batch(sql).map_err(Error::sqlite(&self.database))
    }
}

/// The path that was looked up, for the system. A name with a zero byte in it ends there.
fn c_path(path: &[u8]) -> &std::ffi::CStr {
    std::ffi::CStr::from_bytes_until_nul(path).unwrap_or_default()
}

impl Access for LookupAccess {
    fn read(&mut self, id: u64, visit: &mut dyn FnMut(&[u8])) -> Result<bool, Error> {
        if !self.look_up(id)? {
            return Ok(false);
        }
        match self.reader.read(c_path(&self.path)) {
            Ok(Some(bytes)) => {
                visit(bytes);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(errno) => Err(self.failed("read", errno)),
        }
    }

    fn size(&mut self, id: u64) -> Result<Option<u64>, Error> {
        if !self.look_up(id)? {
            return Ok(None);
        }
        let stat = found(rustix::fs::stat(self.whole_path()));
        let stat = stat.map_err(|errno| self.failed("look at", errno))?;
        Ok(stat.map(|stat| stat.st_size.cast_unsigned()))
    }

    fn update(&mut self, id: u64, bytes: &[u8]) -> Result<bool, Error> {
        if !self.writer.is_ours(id)? || !self.look_up(id)? {
            return Ok(false);
        }
        // Whole paths need no copy; a relative one is completed.
        let whole;
        let path = if self.begin > 0 {
            c_path(&self.path)
        } else {
            let text = self.whole_path().into_os_string().into_encoded_bytes();
            whole = std::ffi::CString::new(text).unwrap_or_default();
            whole.as_c_str()
        };
        let written = self.writer.write(path, bytes);
        written.map_err(|errno| self.failed("write", errno))
    }

    fn open_and_close(&mut self, id: u64) -> Result<bool, Error> {
        if !self.look_up(id)? {
            return Ok(false);
        }
        let opened = self.reader.open_and_close(c_path(&self.path));
        opened.map_err(|errno| self.failed("open", errno))
    }

    fn begin(&mut self) -> Result<(), Error> {
        self.execute("BEGIN")
    }

    fn commit(&mut self) -> Result<(), Error> {
        self.execute("COMMIT")
    }

    fn rollback(&mut self) -> Result<bool, Error> {
        if !self.held.connection().is_autocommit() {
            self.execute("ROLLBACK")?;
        }
        // The names are unchanged; the files are in no transaction.
        Ok(false)
    }
}
