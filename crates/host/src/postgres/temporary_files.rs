//! Bytes of temporary files by a managed server's log (`log_temp_files = 0`): a line when each is
//! removed, before its statement is over. `pg_stat_database` has the same sum, but each process
//! adds to it at most once a second, so the files of one trial would count for the next.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The setting that makes the server write these lines, whatever the size of the file.
pub const SETTING: (&str, &str) = ("log_temp_files", "0");

/// The log's lines from the moment it was opened.
#[derive(Debug)]
pub struct TemporaryFiles {
    path: PathBuf,
    read_to: u64,
    bytes: u64,
}

impl TemporaryFiles {
    pub fn open(log: &Path) -> io::Result<Self> {
        Ok(Self { path: log.to_owned(), read_to: std::fs::metadata(log)?.len(), bytes: 0 })
    }

    /// All of them so far.
    pub fn bytes(&mut self) -> io::Result<u64> {
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read_to))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        // A line that is only half written is read the next time.
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        text.truncate(whole);
        self.read_to += whole as u64;
        self.bytes += String::from_utf8_lossy(&text).lines().filter_map(size).sum::<u64>();
        Ok(self.bytes)
    }
}

/// `... LOG:  temporary file: path "base/pgsql_tmp/pgsql_tmp7.0", size 1400000`
fn size(line: &str) -> Option<u64> {
    let (_, file) = line.split_once("LOG:  temporary file: path ")?;
    file.rsplit_once("size ")?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn whole_lines_count_once_from_the_opening_on() {
        let mut log = tempfile::NamedTempFile::new().unwrap();
        let line = |size: u32| {
            format!("2026-01-01 UTC [7] LOG:  temporary file: path \"a size 9\", size {size}\n")
        };
        write!(log, "{}", line(1)).unwrap();
        let mut files = TemporaryFiles::open(log.path()).unwrap();
        assert_eq!(files.bytes().unwrap(), 0, "what was there before is not ours");
        let (begin, end) = (line(4096), line(100));
        write!(log, "{begin}2026 LOG:  checkpoint starting: size 3\n{}", &end[..30]).unwrap();
        assert_eq!(files.bytes().unwrap(), 4096);
        write!(log, "{}", &end[30..]).unwrap();
        assert_eq!(files.bytes().unwrap(), 4196);
        assert_eq!(files.bytes().unwrap(), 4196);
    }
}
