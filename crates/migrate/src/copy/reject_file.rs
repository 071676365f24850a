//! The reject file: one JSON object per line with the whole row and why it was refused, to be
//! repaired with any editor and loaded again. It appears under its name only with the commit.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::Row;
use rusqlite::types::{Value as Stored, ValueRef};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::Error;
use crate::inspect::{Table, thousands};

/// A refused row.
#[derive(Debug, Serialize, Deserialize)]
pub struct Rejected {
    /// The source's table.
    pub table: String,
    /// The row, for people.
    pub row: String,
    /// The column at fault.
    pub column: String,
    /// Why it was refused.
    pub reason: String,
    /// All values by column. Blobs are `{"blob": hex}`, text that is not UTF-8 `{"text": hex}`,
    /// infinities `{"real": "inf"}`.
    pub values: Map<String, Value>,
}

/// A reject file being written; dropped without [`RejectFile::keep`], it goes away.
#[derive(Debug)]
pub struct RejectFile {
    path: PathBuf,
    unfinished: PathBuf,
    writer: Option<BufWriter<File>>,
    count: u64,
}

impl RejectFile {
    /// Begins a file; an existing one is never touched.
    pub fn create(path: &Path) -> Result<Self, Error> {
        if path.exists() {
            let reason = "it exists already: load it by --rejects, move it away, or name another \
                          by --reject-file"
                .to_owned();
            return Err(Error::RejectFile { path: path.to_owned(), reason });
        }
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".unfinished");
        let unfinished = PathBuf::from(unfinished);
        let file = File::create(&unfinished).map_err(|error| failed(path, &error))?;
        let writer = Some(BufWriter::new(file));
        Ok(Self { path: path.to_owned(), unfinished, writer, count: 0 })
    }

    /// Adds a row; `row` is of a selection of `columns`.
    pub fn add(
        &mut self,
        table: &Table,
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
            values,
        };
        let path = &self.path;
        let Some(writer) = &mut self.writer else { return Ok(()) };
        serde_json::to_writer(&mut *writer, &rejected)
            .map_err(std::io::Error::from)
            .and_then(|()| writer.write_all(b"\n"))
            .map_err(|error| failed(path, &error))?;
        self.count += 1;
        Ok(())
    }

    /// Rows so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The error for more rows than anybody would repair one by one.
    pub fn too_many(&self, most: u64) -> Error {
        let reason = format!(
            "more than {} rows would be refused: repair the source or the target's types \
             (crossover audit names them)",
            thousands(most)
        );
        Error::RejectFile { path: self.path.clone(), reason }
    }

    /// Writes everything to disk, still under its unfinished name: after this the commit may come.
    pub fn sync(&mut self) -> Result<(), Error> {
        let path = &self.path;
        let Some(writer) = &mut self.writer else { return Ok(()) };
        writer
            .flush()
            .and_then(|()| writer.get_ref().sync_all())
            .map_err(|error| failed(path, &error))
    }

    /// Gives the file its name; without rejects there is none.
    pub fn keep(mut self) -> Result<Option<PathBuf>, Error> {
        self.writer = None;
        if self.count == 0 {
            return Ok(None);
        }
        std::fs::rename(&self.unfinished, &self.path)
            .map_err(|error| failed(&self.path, &error))?;
        Ok(Some(self.path.clone()))
    }
}

impl Drop for RejectFile {
    fn drop(&mut self) {
        // After `keep` there is nothing under this name.
        let _ = std::fs::remove_file(&self.unfinished);
    }
}

/// Reads a reject file, line by line.
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
            Err(_) => json!({ "text": hexadecimal(bytes) }),
        },
        ValueRef::Blob(bytes) => json!({ "blob": hexadecimal(bytes) }),
    }
}

/// The stored value that a JSON value of a reject file stands for.
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
            (kind, Value::String(hex)) if kind == "blob" => Stored::Blob(bytes(hex)?),
            // Repaired text is written as a plain string; this is still not UTF-8.
            (kind, Value::String(hex)) if kind == "text" => Stored::Blob(bytes(hex)?),
            (kind, Value::String(number)) if kind == "real" => Stored::Real(number.parse().ok()?),
            _ => return None,
        },
        Value::Array(_) => return None,
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}
