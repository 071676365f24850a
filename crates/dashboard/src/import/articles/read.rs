//! A file of articles as rows of texts, in any of its forms.

use std::path::Path;

use serde_json::Value;

use super::feed;
use crate::import::input::InputFile;
use crate::import::table::{ColumnMapping, CsvTable, KnownColumn, find_columns};
use crate::import::{Error, quote};
use crate::schema::{Dimension, NAMED};

/// A row of a file: a cell for each of [`COLUMNS`], none for a column that the file lacks.
#[derive(Debug)]
pub(super) struct ArticleRow {
    /// The line or object in the file.
    pub place: String,
    pub cells: [Option<String>; COLUMNS.len()],
}

/// The first of [`NAMED`] among the [`COLUMNS`].
pub(super) const BLOG: usize = BEFORE.len();
/// The last column.
pub(super) const ORIGINAL: usize = BLOG + NAMED.len();

const BEFORE: [KnownColumn; 5] = [
    KnownColumn { name: "url", also: &["link", "permalink"], required: true },
    KnownColumn { name: "title", also: &["headline"], required: true },
    KnownColumn {
        name: "published",
        also: &["date", "publishedat", "publicationdate"],
        required: true,
    },
    KnownColumn { name: "uuid", also: &["guid"], required: false },
    KnownColumn { name: "slug", also: &[], required: false },
];

/// The columns of a file of articles: those before, one for each of [`NAMED`], the original.
pub(super) const COLUMNS: [KnownColumn; ORIGINAL + 1] = {
    let also: &[&str] = &["translationof", "originaluuid"];
    let mut columns = [KnownColumn { name: "original", also, required: false }; ORIGINAL + 1];
    let mut place = 0;
    while place < ORIGINAL {
        columns[place] = if place < BLOG { BEFORE[place] } else { named(NAMED[place - BLOG]) };
        place += 1;
    }
    columns
};

const fn named(dimension: Dimension) -> KnownColumn {
    let also: &[&str] = match dimension {
        Dimension::Blog => &["site"],
        Dimension::Language => &["computerlanguage", "programminglanguage"],
        Dimension::HumanLanguage => &["locale"],
        Dimension::Author
        | Dimension::Team
        | Dimension::Product
        | Dimension::Country
        | Dimension::Article => &[],
    };
    KnownColumn { name: dimension.name(), also, required: false }
}

/// All rows of a file.
pub(super) fn read(path: &Path, mapping: &ColumnMapping) -> Result<Vec<ArticleRow>, Error> {
    let input = InputFile::open(path)?;
    let start = input.start()?;
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start).trim_ascii_start();
    match start.first() {
        Some(b'[' | b'{') => read_json(&input, mapping),
        Some(b'<') => feed::read(&input, mapping),
        _ => read_csv(&input, mapping),
    }
}

fn read_csv(input: &InputFile, mapping: &ColumnMapping) -> Result<Vec<ArticleRow>, Error> {
    let mut table = CsvTable::open(input)?;
    let columns = table.columns(&COLUMNS, mapping)?;
    let width = table.header.len();
    let mut rows = Vec::new();
    while let Some(line) = table.advance()? {
        if table.cells() != width {
            return Err(table.width_error());
        }
        let mut cells = [const { None }; COLUMNS.len()];
        for (cell, column) in cells.iter_mut().zip(columns) {
            *cell = column.map(|column| table.text(column).map(str::to_owned)).transpose()?;
        }
        rows.push(ArticleRow { place: format!("line {line}"), cells });
    }
    match rows.is_empty() || table.ends_whole() {
        true => Ok(rows),
        false => Err(table.cut_error()),
    }
}

/// An array of objects, or an object on each line.
fn read_json(input: &InputFile, mapping: &ColumnMapping) -> Result<Vec<ArticleRow>, Error> {
    let (path, text) = (input.name.as_path(), input.text()?);
    let text = text.trim();
    let problem =
        |place: String, problem: String| Error::Row { path: path.to_owned(), place, problem };
    let objects: Vec<(String, Value)> = if text.starts_with('[') {
        let values: Vec<Value> = serde_json::from_str(text).map_err(|error| {
            Error::file(
                path,
                format!("it is not a JSON array: {}", quote::message(&error.to_string())),
            )
        })?;
        (1..).zip(values).map(|(number, value)| (format!("object {number}"), value)).collect()
    } else {
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
        let read = |(number, line): (u64, &str)| {
            let place = format!("line {number}");
            match serde_json::from_str(line) {
                Ok(value) => Ok((place, value)),
                Err(error) => {
                    let error = quote::message(&error.to_string());
                    Err(problem(place, format!("it is not a JSON object: {error}")))
                }
            }
        };
        lines.map(read).collect::<Result<_, Error>>()?
    };
    check_mapping(path, &objects, mapping)?;
    objects
        .into_iter()
        .map(|(place, value)| {
            let Value::Object(object) = value else {
                return Err(problem(place, "it is not a JSON object".to_owned()));
            };
            let names: Vec<String> = object.keys().cloned().collect();
            let mapping: Vec<_> =
                mapping.iter().filter(|(_, column)| names.contains(column)).cloned().collect();
            let columns = find_columns(path, &names, &COLUMNS, &mapping)
                .map_err(|error| problem(place.clone(), message_without_file(&error)))?;
            let mut cells = [const { None }; COLUMNS.len()];
            for ((cell, column), known) in cells.iter_mut().zip(columns).zip(&COLUMNS) {
                let value =
                    column.and_then(|column| names.get(column)).and_then(|it| object.get(it));
                *cell = match value {
                    None => None,
                    Some(Value::Null) => Some(String::new()),
                    Some(Value::String(text)) => Some(text.clone()),
                    Some(Value::Number(number)) => Some(number.to_string()),
                    Some(_) => {
                        return Err(problem(place, format!("{} is not a text", known.name)));
                    }
                };
            }
            Ok(ArticleRow { place, cells })
        })
        .collect()
}

/// Objects may lack columns; a mapping of a column that none of them has is a mistake.
fn check_mapping(
    path: &Path,
    objects: &[(String, Value)],
    mapping: &ColumnMapping,
) -> Result<(), Error> {
    let has = |(_, value): &(String, Value), column: &str| value.get(column).is_some();
    for (name, column) in mapping {
        let problem = if !COLUMNS.iter().any(|known| known.name == name) {
            format!(
                "there is no column {name}; write one of {}",
                COLUMNS.map(|it| it.name).join(", ")
            )
        } else if !objects.iter().any(|object| has(object, column)) {
            format!("no object of {} has it", path.display())
        } else {
            continue;
        };
        let (name, column) = (name.clone(), column.clone());
        return Err(Error::Mapping { name, column, problem });
    }
    Ok(())
}

/// Without the file, which the place names already.
fn message_without_file(error: &Error) -> String {
    match error {
        Error::File { problem, .. } => problem.clone(),
        error => error.to_string(),
    }
}
