//! Blobs in files of their own, in one folder or in a tree of folders.

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::Access;
use super::reader::{Reader, found};
use super::writer::Writer;
use crate::names::Names;
use crate::{BlobForm, Error};
use plan::storage::FileSettings;

/// An open folder of blobs.
pub struct FileAccess {
    /// Paths as the reader wants them.
    names: Names,
    whole_names: Names,
    reader: Reader,
    writer: Writer,
}

impl FileAccess {
    /// For the files of `folder`, which lie in it as `form` says.
    pub fn open(folder: &Path, form: BlobForm, settings: &FileSettings) -> Result<Self, Error> {
        if form == BlobForm::Database {
            let problem = format!("{} is a database, not a folder of files", folder.display());
            return Err(Error::Settings { problem });
        }
        let reader = Reader::new(folder, settings.reading);
        let reader = reader.map_err(Error::errno("open", folder))?;
        Ok(Self {
            names: Names::below(reader.base(folder), form),
            whole_names: Names::below(folder, form),
            reader,
            writer: Writer::new(folder, settings),
        })
    }

    fn failed(&mut self, doing: &'static str, id: u64, errno: Errno) -> Error {
        let path: PathBuf = self.whole_names.as_path(id).to_owned();
        Error::Io { doing, path, source: errno.into() }
    }
}

impl Access for FileAccess {
    fn read(&mut self, id: u64, visit: &mut dyn FnMut(&[u8])) -> Result<bool, Error> {
        match self.reader.read(self.names.path(id)) {
            Ok(Some(bytes)) => {
                visit(bytes);
                Ok(true)
            }
            Ok(None) => Ok(false),
            Err(errno) => Err(self.failed("read", id, errno)),
        }
    }

    fn size(&mut self, id: u64) -> Result<Option<u64>, Error> {
        match found(rustix::fs::stat(self.whole_names.path(id))) {
            Ok(stat) => Ok(stat.map(|stat| stat.st_size.cast_unsigned())),
            Err(errno) => Err(self.failed("look at", id, errno)),
        }
    }

    fn update(&mut self, id: u64, bytes: &[u8]) -> Result<bool, Error> {
        if !self.writer.is_ours(id)? {
            return Ok(false);
        }
        let written = self.writer.write(self.whole_names.path(id), bytes);
        written.map_err(|errno| self.failed("write", id, errno))
    }

    fn open_and_close(&mut self, id: u64) -> Result<bool, Error> {
        let opened = self.reader.open_and_close(self.names.path(id));
        opened.map_err(|errno| self.failed("open", id, errno))
    }
}
