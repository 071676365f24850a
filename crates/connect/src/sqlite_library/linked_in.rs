//! SQLite inside a file that serves no other program: drivers of Node, programs in Go and Rust, archives
//! of Java.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// The most that is read of a file.
const READ_MAX: u64 = 512 << 20;
const PIECE: usize = 4 << 20;
/// The longest text that is looked for, so that none is cut in two.
const OVERLAP: usize = 128;

/// A source id: the check-in's date, time and hash.
const DATE: &[u8] = b"dddd-dd-dd dd:dd:dd ";
const HASH_DIGITS_MIN: usize = 40;

/// The library inside the archive of sqlite-jdbc.
const OF_JAVA: &[u8] = b"libsqlitejdbc";

/// The SQLite that `path` has inside, in words: `SQLite 3.45.1 (source of 2024-01-30)`.
pub(super) fn linked_in(path: &Path) -> Option<String> {
    let found = FoundSqlite::read(path).ok()?;
    if found.is_archive && found.of_java {
        let name = path.file_name()?.to_string_lossy().into_owned();
        return Some(format!("SQLite packed in the Java archive {name}"));
    }
    let date = found.date?;
    Some(match found.versions.as_slice() {
        [version] => format!("SQLite {version} (source of {date})"),
        _ => format!("SQLite (source of {date})"),
    })
}

#[derive(Default)]
struct FoundSqlite {
    is_archive: bool,
    of_java: bool,
    date: Option<String>,
    /// Different texts that have the form of a version.
    versions: Vec<String>,
}

impl FoundSqlite {
    fn read(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let (mut found, mut at) = (Self::default(), 0);
        while at < READ_MAX {
            file.seek(SeekFrom::Start(at))?;
            let mut piece = Vec::new();
            (&file).take((PIECE + OVERLAP) as u64).read_to_end(&mut piece)?;
            found.is_archive |= at == 0 && piece.starts_with(b"PK\x03\x04");
            found.look(&piece);
            if piece.len() <= PIECE {
                break;
            }
            at += PIECE as u64;
        }
        Ok(found)
    }

    fn look(&mut self, bytes: &[u8]) {
        self.of_java |= self.is_archive && bytes.windows(OF_JAVA.len()).any(|part| part == OF_JAVA);
        for (start, byte) in bytes.iter().enumerate() {
            let rest = &bytes[start..];
            match byte {
                b'2' if self.date.is_none() => self.date = date_of_source(rest),
                // The constant before it need not end with 0.
                b'3' if start == 0 || !bytes[start - 1].is_ascii_graphic() => {
                    let version = version(rest);
                    let new = version.filter(|version| !self.versions.contains(version));
                    self.versions.extend(new);
                }
                _ => {}
            }
        }
    }
}

fn date_of_source(bytes: &[u8]) -> Option<String> {
    let date = bytes.get(..DATE.len())?;
    let matches = |(byte, form): (&u8, &u8)| match form {
        b'd' => byte.is_ascii_digit(),
        other => byte == other,
    };
    let hash = bytes.get(DATE.len()..DATE.len() + HASH_DIGITS_MIN)?;
    let is_source = date.iter().zip(DATE).all(matches) && hash.iter().all(u8::is_ascii_hexdigit);
    is_source.then(|| String::from_utf8_lossy(&date[..10]).into_owned())
}

/// A text such as `3.45.1`, up to the zero that ends it.
fn version(bytes: &[u8]) -> Option<String> {
    const LENGTH_MAX: usize = 8;
    let end = bytes.iter().take(LENGTH_MAX + 1).position(|byte| *byte == 0)?;
    let text = std::str::from_utf8(&bytes[..end]).ok()?;
    let parts: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
    matches!(parts?.as_slice(), [3, (7..), _]).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_id_across_two_pieces_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("driver.node");
        let id = format!("2024-01-30 16:01:20 {}", "e8".repeat(32));
        let mut bytes = vec![b'x'; PIECE - 40];
        bytes.extend(id.as_bytes());
        bytes.extend(b"\x013.45.1\0");
        std::fs::write(&path, &bytes).unwrap();
        let words = linked_in(&path).unwrap();
        assert_eq!(words, "SQLite 3.45.1 (source of 2024-01-30)");
        bytes.extend(b"\x003.21.0\0");
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(linked_in(&path).unwrap(), "SQLite (source of 2024-01-30)");
        std::fs::write(&path, "2024-01-30 16:01:20 of no source").unwrap();
        assert_eq!(linked_in(&path), None);
    }
}
