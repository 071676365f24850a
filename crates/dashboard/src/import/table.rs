//! A CSV file as rows of named columns: byte order marks, comment lines before the header,
//! semicolons and tabs instead of commas, quotes. Errors name line and column.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, Reader, ReaderBuilder};

use super::input::InputFile;
use super::{Error, quote};

/// `--map NAME=COLUMN`: what the import calls a column, and what the file calls it.
pub(super) type ColumnMapping = [(String, String)];

/// A column that the import knows.
#[derive(Clone, Copy)]
pub(super) struct KnownColumn {
    /// The name in the import.
    pub name: &'static str,
    /// The names in files, in lower case, without blanks and underscores.
    pub also: &'static [&'static str],
    /// Whether a file must have it.
    pub required: bool,
}

/// An open CSV file behind its header.
pub(super) struct CsvTable {
    pub path: PathBuf,
    /// The columns as the file calls them.
    pub header: Vec<String>,
    reader: Reader<PlainLines<HeaderFirst>>,
    record: ByteRecord,
    skipped: u64,
}

/// The header line, which is read already, and the rest of the file.
type HeaderFirst = Chain<Cursor<Vec<u8>>, BufReader<File>>;

/// A reader that gives one line at a time, each with the same end, and counts them: crate csv counts
/// none between the two bytes of a line end.
struct PlainLines<R> {
    inner: R,
    line: Vec<u8>,
    /// Bytes of the line that were handed on.
    given: usize,
    /// Number of the line, from 1.
    lines: u64,
}

impl<R: BufRead> PlainLines<R> {
    fn new(inner: R) -> Self {
        Self { inner, line: Vec::new(), given: 0, lines: 0 }
    }

    /// Goes to the next line; at the end of the file the last one is kept.
    fn advance(&mut self) -> io::Result<()> {
        let mut next = Vec::new();
        if self.inner.read_until(b'\n', &mut next)? > 0 {
            if next.ends_with(b"\r\n") {
                next.truncate(next.len() - 2);
                next.push(b'\n');
            }
            (self.line, self.given) = (next, 0);
            self.lines += 1;
        }
        Ok(())
    }
}

impl<R: BufRead> Read for PlainLines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.line.len() {
            self.advance()?;
        }
        let read = self.line.get(self.given..).unwrap_or_default().read(buffer)?;
        self.given += read;
        Ok(read)
    }
}

impl CsvTable {
    /// Opens a file and reads its header.
    pub fn open(input: &InputFile) -> Result<Self, Error> {
        let path = input.name.as_path();
        let mut reader = input.read()?;
        let (mut line, mut skipped) = (Vec::new(), 0);
        loop {
            line.clear();
            reader.read_until(b'\n', &mut line).map_err(Error::io(path))?;
            if skipped == 0 {
                check_encoding(path, &line)?;
                if let Some(rest) = line.strip_prefix(b"\xef\xbb\xbf") {
                    line = rest.to_vec();
                }
            }
            let text = line.trim_ascii();
            if line.is_empty() {
                return Err(Error::file(path, "it has no header line"));
            }
            if !text.is_empty() && !text.starts_with(b"#") {
                break;
            }
            skipped += 1;
        }
        let delimiter = delimiter(&line);
        let reader = ReaderBuilder::new()
            .flexible(true)
            .has_headers(false)
            .delimiter(delimiter)
            .from_reader(PlainLines::new(Cursor::new(line).chain(reader)));
        let (header, record) = (Vec::new(), ByteRecord::new());
        let mut table = Self { path: path.to_owned(), header, reader, record, skipped };
        if table.advance()?.is_none() {
            return Err(Error::file(path, "it has no header line"));
        }
        let header: Result<Vec<String>, Error> =
            (0..table.record.len()).map(|place| Ok(table.text(place)?.trim().to_owned())).collect();
        table.header = header?;
        Ok(table)
    }

    /// The columns of the file that are the known ones, by place; [`None`] for those it lacks.
    ///
    /// # Errors
    /// A required column that is not there, one that is there twice, a mapping of nothing.
    pub fn columns<const N: usize>(
        &self,
        known: &[KnownColumn; N],
        mapping: &ColumnMapping,
    ) -> Result<[Option<usize>; N], Error> {
        find_columns(&self.path, &self.header, known, mapping)
    }

    /// Goes to the next row; its line.
    pub fn advance(&mut self) -> Result<Option<u64>, Error> {
        let read = self.reader.read_byte_record(&mut self.record);
        match read {
            Ok(false) => Ok(None),
            Ok(true) => Ok(Some(self.line())),
            Err(error) => match error.into_kind() {
                csv::ErrorKind::Io(reason) => Err(Error::io(&self.path)(reason)),
                kind => Err(Error::file(&self.path, format!("{kind:?}"))),
            },
        }
    }

    /// Whether the file, read to its end, ends with a line end: otherwise it may be cut off.
    pub fn ends_whole(&self) -> bool {
        matches!(self.reader.get_ref().line.last(), Some(b'\n' | b'\r'))
    }

    /// Refusal of a file that may be cut off.
    pub fn cut_error(&self) -> Error {
        Error::file(
            &self.path,
            "it ends without a line end, so it may be cut off within its last cell; if it is whole, \
             add a line end (`echo >> FILE`)",
        )
    }

    /// The row's first line in the file, from 1: the reader is at its last.
    pub fn line(&self) -> u64 {
        let inside = self.record.as_slice().iter().filter(|byte| **byte == b'\n').count();
        self.skipped + self.reader.get_ref().lines - inside as u64
    }

    /// The number of cells of the row.
    pub fn cells(&self) -> usize {
        self.record.len()
    }

    /// The error of a row with more or fewer cells than the header.
    pub fn width_error(&self) -> Error {
        let (cells, width) = (self.cells(), self.header.len());
        self.row_error(format!(
            "it has {}, the header has {width}; is a quote missing, or a comma inside a value without \
             quotes?",
            notation::counted(cells, "cell")
        ))
    }

    /// A cell as written, to be compared only.
    pub fn bytes(&self, place: usize) -> &[u8] {
        self.record.get(place).unwrap_or_default()
    }

    /// A cell as text; a missing one is empty.
    pub fn text(&self, place: usize) -> Result<&str, Error> {
        let problem = "it is not UTF-8; save the file as UTF-8";
        std::str::from_utf8(self.bytes(place)).map_err(|_| self.cell_error(place, problem))
    }

    /// The error of a cell of the row.
    pub fn cell_error(&self, place: usize, problem: impl Into<String>) -> Error {
        let column = self.header.get(place).filter(|column| !column.is_empty());
        Error::Cell {
            path: self.path.clone(),
            place: format!("line {}", self.line()),
            column: column.map_or_else(|| (place + 1).to_string(), |column| quote::name(column)),
            problem: problem.into(),
        }
    }

    fn row_error(&self, problem: impl Into<String>) -> Error {
        let place = format!("line {}", self.line());
        Error::Row { path: self.path.clone(), place, problem: problem.into() }
    }
}

/// Refuses what is not a text.
fn check_encoding(path: &Path, first: &[u8]) -> Result<(), Error> {
    if first.contains(&0) {
        return Err(Error::file(
            path,
            "it is not UTF-8 (perhaps UTF-16 without a byte order mark); save it as UTF-8",
        ));
    }
    Ok(())
}

/// The sign between the columns of a header: whichever there is most of, commas before others.
fn delimiter(header: &[u8]) -> u8 {
    let count = |sign: u8| header.iter().filter(|byte| **byte == sign).count();
    let signs = [b'\t', b';', b','];
    signs.into_iter().max_by_key(|sign| count(*sign)).unwrap_or(b',')
}

/// A column's name as compared.
pub(super) fn plain(name: &str) -> String {
    let letters = name.chars().filter(|letter| !letter.is_whitespace() && *letter != '_');
    letters.flat_map(char::to_lowercase).collect()
}

/// See [`CsvTable::columns`]; `header` may be that of any document.
pub(super) fn find_columns<const N: usize>(
    path: &Path,
    header: &[String],
    known: &[KnownColumn; N],
    mapping: &ColumnMapping,
) -> Result<[Option<usize>; N], Error> {
    let has = || quote::list(header.iter().map(String::as_str));
    for (name, column) in mapping {
        let problem = if !known.iter().any(|known| known.name == name) {
            let names: Vec<&str> = known.iter().map(|known| known.name).collect();
            format!("there is no column {name}; write one of {}", names.join(", "))
        } else if !header.contains(column) {
            format!("{} has no column {column}; it has {}", path.display(), has())
        } else {
            continue;
        };
        let (name, column) = (name.clone(), column.clone());
        return Err(Error::Mapping { name, column, problem });
    }
    let mut places = [None; N];
    for (place, known) in places.iter_mut().zip(known) {
        let mapped = mapping.iter().find(|(name, _)| name == known.name).map(|(_, column)| column);
        // Its own name is preferred to the names that files use.
        let has_own_name = header.iter().any(|column| plain(column) == plain(known.name));
        let is_it = |column: &String| match mapped {
            Some(mapped) => column == mapped,
            None if has_own_name => plain(column) == plain(known.name),
            None => known.also.contains(&plain(column).as_str()),
        };
        let mut found = header.iter().enumerate().filter(|(_, column)| is_it(column));
        *place = found.next().map(|(place, _)| place);
        if let Some((_, second)) = found.next() {
            let problem = format!(
                "more than one column can be {}, one of them {}; say which by --map {}=COLUMN",
                known.name,
                quote::name(second),
                known.name
            );
            return Err(Error::file(path, problem));
        }
        if place.is_none() && known.required {
            let problem = format!(
                "it has no column {}; it has {}; if one of them is it, say so by --map {}=COLUMN",
                known.name,
                has(),
                known.name
            );
            return Err(Error::file(path, problem));
        }
    }
    Ok(places)
}
