//! Reject file: one JSON object per line with the whole row and the reason of its refusal, for
//! repair in any editor and reload. It gets its name before the commit, so a refused row is on disk
//! whenever the others are in the target.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use notation::thousands;
use rusqlite::Row;
use rusqlite::types::{Value as Stored, ValueRef};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::Error;
use crate::source::SourceTable;

#[derive(Debug, Serialize, Deserialize)]
pub struct Rejected {
    pub table: String,
    pub row: String,
    pub column: String,
    pub reason: String,
    /// The columns that `values` had when it was written; a repaired row needs them all. Empty in
    /// files of earlier builds.
    #[serde(default)]
    pub columns: Vec<String>,
    /// All values by column. Blobs are `{"blob": hex}`, text that is not UTF-8 `{"text": hex}`,
    /// infinities `{"real": "inf"}`.
    pub values: Map<String, Value>,
}

/// A reject file being written; removed if dropped before [`RejectFile::publish`].
#[derive(Debug)]
pub struct RejectFile {
    path: PathBuf,
    unfinished: PathBuf,
    writer: BufWriter<File>,
    count: u64,
    /// The first rows in words, with their reasons.
    first: Vec<String>,
    published: bool,
}

/// Rows that a report names.
const NAMED: usize = 5;

impl RejectFile {
    /// Begins a file; an existing one is never touched.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".unfinished");
        let unfinished = PathBuf::from(unfinished);
        let opened = open_alone(&unfinished).map_err(|error| failed(path, &error))?;
        let Some(opened) = opened else {
            let reason = format!(
                "another crossover is writing it, as {}: wait until that has ended (if none runs, \
                 delete it), or name another file by --reject-file",
                unfinished.display()
            );
            return Err(Error::RejectFile { path: path.to_owned(), reason });
        };
        let writer = BufWriter::new(opened);
        let file = Self {
            path: path.to_owned(),
            unfinished,
            writer,
            count: 0,
            first: Vec::new(),
            published: false,
        };
        file.refuse_existing()?;
        file.writer.get_ref().set_len(0).map_err(|error| failed(path, &error))?;
        Ok(file)
    }

    fn refuse_existing(&self) -> Result<(), Error> {
        if !self.path.exists() {
            return Ok(());
        }
        let reason = "it exists already: load it by --rejects, move it away, or name another by \
                      --reject-file"
            .to_owned();
        Err(Error::RejectFile { path: self.path.clone(), reason })
    }

    /// Adds a row; `row` is of a selection of `columns`.
    pub fn add(
        &mut self,
        table: &SourceTable,
        columns: &[usize],
        row: &Row<'_>,
        column: usize,
        reason: &str,
    ) -> Result<(), Error> {
        let mut values = Map::new();
        for (place, position) in columns.iter().enumerate() {
            let value = row.get_ref(place + 1).unwrap_or(ValueRef::Null);
            values.insert(table.columns[*position].name.clone(), to_json(value));
        }
        let rejected = Rejected {
            table: table.name.clone(),
            row: table.row_name(row, columns),
            column: table.columns[column].name.clone(),
            reason: reason.to_owned(),
            columns: values.keys().cloned().collect(),
            values,
        };
        if self.first.len() < NAMED {
            let Rejected { table, row, column, reason, .. } = &rejected;
            self.first.push(format!("{table}.{column}, {row}: {reason}"));
        }
        serde_json::to_writer(&mut self.writer, &rejected)
            .map_err(std::io::Error::from)
            .and_then(|()| self.writer.write_all(b"\n"))
            .map_err(|error| failed(&self.path, &error))?;
        self.count += 1;
        Ok(())
    }

    pub fn first(&self) -> &[String] {
        &self.first
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The error for more than `most` rejected rows.
    pub fn too_many(&self, most: u64) -> Error {
        let reason = format!(
            "more than {} rows would be refused: repair the source or the target's types \
             (crossover audit names them)",
            thousands(most)
        );
        Error::RejectFile { path: self.path.clone(), reason }
    }

    /// Writes everything to disk, still under its unfinished name.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.writer
            .flush()
            .and_then(|()| self.writer.get_ref().sync_all())
            .map_err(|error| failed(&self.path, &error))
    }

    /// Renames the file to its final name, durably: only then may the commit follow. Without
    /// rejects there is no file.
    pub fn publish(&mut self) -> Result<(), Error> {
        self.sync()?;
        if self.count == 0 {
            return Ok(());
        }
        self.refuse_existing()?;
        std::fs::rename(&self.unfinished, &self.path)
            .map_err(|error| failed(&self.path, &error))?;
        self.published = true;
        whole_file::sync_folder_of(&self.path).map_err(|error| {
            self.withdraw();
            failed(&self.path, &error)
        })
    }

    /// Removes the name: the commit was refused, so no row is missing in the target.
    pub fn withdraw(&mut self) {
        // If that fails the file stays, which loses nothing.
        self.published &= std::fs::rename(&self.path, &self.unfinished).is_err();
    }

    /// The file with the rejected rows, once it is durable.
    pub fn published(&self) -> Option<&Path> {
        self.published.then_some(self.path.as_path())
    }
}

impl Drop for RejectFile {
    fn drop(&mut self) {
        if !self.published {
            let _ = std::fs::remove_file(&self.unfinished);
        }
    }
}

/// Opens a file for one writer, which holds its lock. A file that a killed program left under this
/// name is overwritten: its migration never came to its commit.
fn open_alone(path: &Path) -> std::io::Result<Option<File>> {
    // It holds whole rows.
    match File::options().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let left = File::options().write(true).open(path)?;
            Ok(left.try_lock().is_ok().then_some(left))
        }
        created => {
            let created = created?;
            // Some network file systems have no locks: there the name alone excludes others.
            let taken = matches!(created.try_lock(), Err(std::fs::TryLockError::WouldBlock));
            Ok((!taken).then_some(created))
        }
    }
}

pub fn read(path: &Path) -> Result<Vec<Rejected>, Error> {
    let file = File::open(path).map_err(|error| failed(path, &error))?;
    let mut rejects = Vec::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(|error| failed(path, &error))?;
        if line.trim().is_empty() {
            continue;
        }
        let rejected = serde_json::from_str(&line).map_err(|error| Error::RejectFile {
            path: path.to_owned(),
            reason: format!("line {}: {error}", number + 1),
        })?;
        rejects.push(rejected);
    }
    Ok(rejects)
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::RejectFile { path: path.to_owned(), reason: error.to_string() }
}

fn to_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) if number.is_finite() => json!(number),
        ValueRef::Real(number) => json!({ "real": number.to_string() }),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => json!(text),
            Err(_) => json!({ "text": hex::encode(bytes) }),
        },
        ValueRef::Blob(bytes) => json!({ "blob": hex::encode(bytes) }),
    }
}

/// The stored value that a JSON value of a reject file denotes.
pub fn from_json(value: &Value) -> Option<Stored> {
    Some(match value {
        Value::Null => Stored::Null,
        Value::Bool(value) => Stored::Integer(i64::from(*value)),
        Value::Number(number) => match number.as_i64() {
            Some(integer) => Stored::Integer(integer),
            None => Stored::Real(number.as_f64()?),
        },
        Value::String(text) => Stored::Text(text.clone()),
        Value::Object(members) => match members.iter().next()? {
            (kind, Value::String(digits)) if kind == "blob" => {
                Stored::Blob(hex::decode(digits).ok()?)
            }
            // Repaired text is written as a plain string; this is still not UTF-8.
            (kind, Value::String(digits)) if kind == "text" => {
                Stored::Blob(hex::decode(digits).ok()?)
            }
            (kind, Value::String(number)) if kind == "real" => Stored::Real(number.parse().ok()?),
            _ => return None,
        },
        Value::Array(_) => return None,
    })
}
