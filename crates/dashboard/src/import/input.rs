//! Files as users have them: plain, packed by gzip, the only file of a ZIP archive, in UTF-16, or standard
//! input (`-`). What is not plain is written into a temporary file first.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek as _, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use tempfile::NamedTempFile;
use zip::ZipArchive;

use super::{Error, packed, quote};

const STANDARD_INPUT: &str = "-";
/// The most bytes that a file may have unpacked: a small archive may hold endless zeros.
const UNPACKED_BYTES_MAX: u64 = 8 << 30;
/// Files of an archive that are named where there are several.
const NAMED_MAX: usize = 5;

/// A file to import.
pub(super) struct InputFile {
    /// Its name in messages.
    pub name: PathBuf,
    path: PathBuf,
    /// The plain text, where the file itself is not.
    unpacked: Option<NamedTempFile>,
}

impl InputFile {
    /// Opens a file, and unpacks it where that is needed.
    ///
    /// # Errors
    /// A form that is not read, an archive of several files, a damaged one.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut input = Self { name: path.to_owned(), path: path.to_owned(), unpacked: None };
        if path == Path::new(STANDARD_INPUT) {
            input.name = PathBuf::from("standard input");
            input.replace_by(&mut io::stdin().lock())?;
        }
        let start = input.start()?;
        if start.starts_with(b"\x1f\x8b") {
            let packed = input.read()?;
            input.replace_by(&mut MultiGzDecoder::new(packed))?;
        } else if start.starts_with(b"PK\x03\x04") && !packed::is_workbook(&start) {
            input.unpack_archive()?;
        }
        let start = input.start()?;
        packed::refuse(&input.name, &start)?;
        let utf16: Option<fn([u8; 2]) -> u16> = match start.get(..2) {
            Some(b"\xff\xfe") => Some(u16::from_le_bytes),
            Some(b"\xfe\xff") => Some(u16::from_be_bytes),
            _ => None,
        };
        if let Some(unit) = utf16 {
            input.decode(unit)?;
        }
        Ok(input)
    }

    /// The file with the plain text.
    pub fn path(&self) -> &Path {
        self.unpacked.as_ref().map_or(&self.path, |unpacked| unpacked.path())
    }

    pub fn read(&self) -> Result<BufReader<File>, Error> {
        let file = File::open(self.path()).map_err(Error::io(&self.name))?;
        Ok(BufReader::with_capacity(256 << 10, file))
    }

    /// All of it as UTF-8, without a byte order mark.
    pub fn text(&self) -> Result<String, Error> {
        let mut text = String::new();
        self.read()?.read_to_string(&mut text).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData => self.error("it is not UTF-8"),
            _ => Error::io(&self.name)(error),
        })?;
        Ok(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        })
    }

    /// Its first bytes.
    pub fn start(&self) -> Result<Vec<u8>, Error> {
        let mut start = Vec::new();
        let read = self.read()?.take(1024).read_to_end(&mut start);
        read.map_err(Error::io(&self.name))?;
        Ok(start)
    }

    pub fn error(&self, problem: impl Into<String>) -> Error {
        Error::file(&self.name, problem)
    }

    /// Takes these bytes in place of the file's.
    fn replace_by(&mut self, bytes: &mut impl Read) -> Result<(), Error> {
        let mut unpacked = NamedTempFile::new().map_err(Error::Temporary)?;
        let mut taken = bytes.take(UNPACKED_BYTES_MAX + 1);
        let (mut buffer, mut written) = (vec![0; 256 << 10], 0);
        loop {
            let read = taken.read(&mut buffer).map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof
                | io::ErrorKind::InvalidData
                | io::ErrorKind::InvalidInput => {
                    self.error(format!("it cannot be unpacked: {error}; export it again"))
                }
                _ => Error::io(&self.name)(error),
            })?;
            if read == 0 {
                break;
            }
            written += read as u64;
            unpacked.write_all(&buffer[..read]).map_err(Error::Temporary)?;
        }
        if written > UNPACKED_BYTES_MAX {
            let most = notation::bytes(UNPACKED_BYTES_MAX);
            return Err(self.error(format!("it has more than {most} unpacked; import it in parts")));
        }
        unpacked.rewind().map_err(Error::Temporary)?;
        self.unpacked = Some(unpacked);
        Ok(())
    }

    fn unpack_archive(&mut self) -> Result<(), Error> {
        let damaged = |error: zip::result::ZipError| {
            let problem = format!("it is a damaged ZIP archive: {error}; export it again");
            Error::file(&self.name, problem)
        };
        let mut archive = ZipArchive::new(self.read()?).map_err(damaged)?;
        let is_text = |name: &String| {
            let last = name.rsplit('/').next().unwrap_or_default();
            !last.is_empty() && !last.starts_with('.') && !name.starts_with("__MACOSX/")
        };
        let names = archive.file_names().map(|name| name.map(Cow::into_owned));
        let names: Vec<String> = names.collect::<Result<_, _>>().map_err(damaged)?;
        let names: Vec<String> = names.into_iter().filter(is_text).collect();
        let [name] = &names[..] else {
            let shown = quote::list(names.iter().map(String::as_str).take(NAMED_MAX));
            return Err(self.error(match names.len() {
                0 => "it is a ZIP archive without a file; export it again".to_owned(),
                many => format!(
                    "it is a ZIP archive of {many} files ({shown}); unpack it with `unzip` and name those \
                     to import"
                ),
            }));
        };
        let mut file = archive.by_name(name).map_err(damaged)?;
        self.replace_by(&mut file)
    }

    /// Writes UTF-16 as UTF-8; `unit` puts two bytes together.
    fn decode(&mut self, unit: fn([u8; 2]) -> u16) -> Result<(), Error> {
        let mut broken = None;
        let source = self.read()?;
        let mut unpacked = NamedTempFile::new().map_err(Error::Temporary)?;
        {
            let mut writer = BufWriter::new(unpacked.as_file_mut());
            let units = Units { source, unit, broken: &mut broken };
            let mut letter = [0; 4];
            for decoded in char::decode_utf16(units).skip(1) {
                let decoded = decoded.map_err(|_| self.error("it is not whole UTF-16"))?;
                let bytes = decoded.encode_utf8(&mut letter).as_bytes();
                writer.write_all(bytes).map_err(Error::Temporary)?;
            }
            writer.flush().map_err(Error::Temporary)?;
        }
        match broken {
            Some(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.error("it is UTF-16 with half of a character at its end; export it again"))
            }
            Some(error) => Err(Error::io(&self.name)(error)),
            None => {
                self.unpacked = Some(unpacked);
                Ok(())
            }
        }
    }
}

/// The units of UTF-16 of a file; an error ends them and is kept.
struct Units<'e, R> {
    source: R,
    unit: fn([u8; 2]) -> u16,
    broken: &'e mut Option<io::Error>,
}

impl<R: BufRead> Iterator for Units<'_, R> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        match self.source.fill_buf() {
            Ok([]) => return None,
            Ok(_) => {}
            Err(error) => {
                *self.broken = Some(error);
                return None;
            }
        }
        let mut pair = [0; 2];
        match self.source.read_exact(&mut pair) {
            Ok(()) => Some((self.unit)(pair)),
            Err(error) => {
                *self.broken = Some(error);
                None
            }
        }
    }
}
