//! Reading a whole file by its path, in the ways that are compared. The system calls of each are
//! all that differs: buffers are kept.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

use plan::storage::Reading;

/// Bytes that C's library reads at once into a buffer of its own (BUFSIZ for files on ext4).
const STDIO_BYTES: usize = 4096;

pub(super) struct Reader {
    reading: Reading,
    /// The folder, where paths are relative to it.
    folder: Option<OwnedFd>,
    bytes: Vec<u8>,
    /// Where the end of a file is read to before it is copied.
    end: [u8; STDIO_BYTES],
}

impl Reader {
    /// For files in `folder`.
    pub fn new(folder: &Path, reading: Reading) -> rustix::io::Result<Self> {
        let folder = match reading {
            Reading::Openat => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
                Some(rustix::fs::open(folder, flags, Mode::empty())?)
            }
            Reading::Stdio | Reading::Plain => None,
        };
        Ok(Self { reading, folder, bytes: Vec::new(), end: [0; STDIO_BYTES] })
    }

    /// The folder that paths are relative to: empty where paths must be whole.
    pub fn base<'a>(&self, folder: &'a Path) -> &'a Path {
        if self.folder.is_some() { Path::new("") } else { folder }
    }

    /// The whole file; `None` if there is none.
    pub fn read(&mut self, path: &CStr) -> rustix::io::Result<Option<&[u8]>> {
        let length = match self.reading {
            Reading::Stdio => self.read_as_stdio(path),
            Reading::Plain | Reading::Openat => self.read_plain(path),
        };
        Ok(found(length)?.map(|length| &self.bytes[..length]))
    }

    /// Opens the file and closes it; whether there is one.
    pub fn open_and_close(&self, path: &CStr) -> rustix::io::Result<bool> {
        Ok(found(self.open(path))?.is_some())
    }

    fn open(&self, path: &CStr) -> rustix::io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        match &self.folder {
            Some(folder) => rustix::fs::openat(folder, path, flags, Mode::empty()),
            None => rustix::fs::openat(CWD, path, flags, Mode::empty()),
        }
    }

    fn read_plain(&mut self, path: &CStr) -> rustix::io::Result<usize> {
        let file = self.open(path)?;
        let length = rustix::fs::fstat(&file)?.st_size as usize;
        fill(&file, room(&mut self.bytes, length))
    }

    /// kvtest asks for the size by the path; the first `fread` asks again to choose a buffer, reads
    /// whole blocks straight into the caller's memory, and the rest through that buffer, which it
    /// tries to fill.
    fn read_as_stdio(&mut self, path: &CStr) -> rustix::io::Result<usize> {
        let length = rustix::fs::stat(path)?.st_size as usize;
        let file = self.open(path)?;
        rustix::fs::fstat(&file)?;
        let whole = length - length % STDIO_BYTES;
        let bytes = room(&mut self.bytes, length);
        let read = if whole > 0 { fill(&file, &mut bytes[..whole])? } else { 0 };
        if read < whole || whole == length {
            return Ok(read);
        }
        let rest = rustix::io::read(&file, &mut self.end[..])?.min(length - whole);
        bytes[whole..whole + rest].copy_from_slice(&self.end[..rest]);
        Ok(whole + rest)
    }
}

/// The first `length` bytes of a buffer that only ever grows.
fn room(bytes: &mut Vec<u8>, length: usize) -> &mut [u8] {
    if bytes.len() < length {
        bytes.resize(length, 0);
    }
    &mut bytes[..length]
}

/// Reads until `bytes` are full or the file ends; how many there were.
fn fill(file: impl AsFd, bytes: &mut [u8]) -> rustix::io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match rustix::io::read(&file, &mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A file that is not there is no failure.
pub(super) fn found<T>(result: rustix::io::Result<T>) -> rustix::io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(error) => Err(error),
    }
}
