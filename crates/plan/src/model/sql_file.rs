//! SQL files as a command line or a plan names them: single ones or folders, each with the files that
//! replace it on one kind of engine, cut into statements with names of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use engine::EngineKind;
use sql::{Dialect, Part};

use crate::model::dialect::{dialect, kinds_with_texts};

/// A file, and by kind of engine what replaces it there: `query.postgres.sql` beside `query.sql`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqlFile {
    pub path: PathBuf,
    pub twins: BTreeMap<EngineKind, PathBuf>,
}

/// A text at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedText {
    pub path: PathBuf,
    /// The line of its first word, from 1.
    pub line: usize,
    pub text: String,
}

/// One statement of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStatement {
    /// The file's name without its ending; of several statements with their lines.
    pub name: String,
    text: PlacedText,
    /// The texts that replace it on single kinds of engine.
    pub twins: BTreeMap<EngineKind, PlacedText>,
    /// The names of the `:name`s in any of its texts.
    pub parameters: BTreeSet<String>,
}

/// The files that `paths` name; of a folder all that end in `.sql`. A mistake is a sentence.
pub fn sql_files(paths: &[PathBuf]) -> Result<Vec<SqlFile>, String> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(of_folder(path)?);
        } else {
            files.push(SqlFile::at(path));
        }
    }
    Ok(files)
}

fn of_folder(folder: &Path) -> Result<Vec<SqlFile>, String> {
    let unreadable = |error| format!("cannot read the folder {}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(unreadable)?;
    let entries = entries.collect::<std::io::Result<Vec<_>>>().map_err(unreadable)?;
    let is_sql = |path: &PathBuf| path.extension().is_some_and(|it| it == "sql") && path.is_file();
    let mut paths: Vec<PathBuf> =
        entries.iter().map(std::fs::DirEntry::path).filter(is_sql).collect();
    paths.sort();
    let (twins, own): (Vec<_>, Vec<_>) =
        paths.into_iter().partition(|path| replaced(path).is_some());
    for (twin, base) in twins.iter().filter_map(|twin| Some((twin, replaced(twin)?))) {
        if !own.contains(&base) {
            let (twin, base) = (twin.display(), base.display());
            return Err(format!("{twin} replaces {base} on one engine, and there is no such file"));
        }
    }
    if own.is_empty() {
        return Err(format!("{}: no file there ends in .sql", folder.display()));
    }
    Ok(own.iter().map(|path| SqlFile::at(path)).collect())
}

/// The file that `path` replaces on one kind of engine, by its name.
fn replaced(path: &Path) -> Option<PathBuf> {
    let stem = path.file_stem()?.to_str()?;
    let base =
        kinds_with_texts().find_map(|kind| stem.strip_suffix(&format!(".{}", kind.name())))?;
    Some(path.with_file_name(format!("{base}.sql")))
}

impl SqlFile {
    /// The file at `path` with what replaces it.
    pub fn at(path: &Path) -> Self {
        let twin = |kind: EngineKind| {
            let twin = path.with_extension(format!("{}.sql", kind.name()));
            twin.is_file().then_some((kind, twin))
        };
        Self { path: path.to_owned(), twins: kinds_with_texts().filter_map(twin).collect() }
    }

    /// Its path and those of what replaces it.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.path).chain(self.twins.values()).map(PathBuf::as_path)
    }

    /// The file's name without its ending.
    pub fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Its statements, one by one.
    pub fn statements(&self) -> Result<Vec<FileStatement>, String> {
        let own = parts(&self.path, Dialect::Sqlite)?;
        let mut statements: Vec<FileStatement> = own
            .iter()
            .map(|part| FileStatement {
                name: match own.len() {
                    1 => self.name(),
                    _ => format!("{}:{}", self.name(), part.line),
                },
                text: placed(&self.path, part),
                twins: BTreeMap::new(),
                parameters: part.parameters.iter().cloned().collect(),
            })
            .collect();
        for (kind, path) in &self.twins {
            let twins = parts(path, dialect(*kind).unwrap_or(Dialect::Sqlite))?;
            if twins.len() != own.len() {
                return Err(format!(
                    "{} has {} statements, its twin for {} {}: they replace each other in their \
                     order, so there must be as many",
                    self.path.display(),
                    own.len(),
                    kind.name(),
                    twins.len()
                ));
            }
            for (statement, twin) in statements.iter_mut().zip(&twins) {
                statement.twins.insert(*kind, placed(path, twin));
                statement.parameters.extend(twin.parameters.iter().cloned());
            }
        }
        Ok(statements)
    }
}

impl FileStatement {
    /// The text that engines of `kind` get.
    pub fn for_kind(&self, kind: EngineKind) -> &PlacedText {
        self.twins.get(&kind).unwrap_or(&self.text)
    }

    /// The text that nothing replaces.
    pub fn own(&self) -> &PlacedText {
        &self.text
    }
}

impl PlacedText {
    /// `queries/days.sql, line 3`
    pub fn place(&self) -> String {
        format!("{}, line {}", self.path.display(), self.line)
    }
}

fn placed(path: &Path, part: &Part) -> PlacedText {
    PlacedText { path: path.to_owned(), line: part.line, text: part.text.clone() }
}

fn parts(path: &Path, dialect: Dialect) -> Result<Vec<Part>, String> {
    let text = read_sql(path)?;
    let parts = sql::split(&text, dialect)
        .map_err(|(line, message)| format!("{}, line {line}: {message}", path.display()))?;
    match parts.is_empty() {
        true => Err(format!("{} holds no statement", path.display())),
        false => Ok(parts),
    }
}

/// The text of a SQL file, without the mark of its byte order.
pub(crate) fn read_sql(path: &Path) -> Result<String, String> {
    let bytes = std::fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("there is no file {}", path.display()),
        _ => format!("cannot read {}: {error}", path.display()),
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let place = error.utf8_error().valid_up_to() + 1;
        format!("{} is not a UTF-8 text (byte {place}); save it as UTF-8", path.display())
    })?;
    Ok(text.strip_prefix('\u{feff}').map_or_else(|| text.clone(), str::to_owned))
}

/// Tells equal names apart by a number: `days`, `days (2)`. Two folders may hold files of one name, a
/// line two statements.
pub fn number_equal<'n>(names: impl Iterator<Item = &'n mut String>) {
    let mut seen = BTreeSet::new();
    for name in names {
        let (plain, mut number) = (name.clone(), 2);
        while !seen.insert(name.clone()) {
            *name = format!("{plain} ({number})");
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn statements(files: &[(&str, &str)]) -> Result<Vec<FileStatement>, String> {
        let folder = folder(files);
        let mut all = Vec::new();
        for file in sql_files(&[folder.path().to_owned()])? {
            all.extend(file.statements()?);
        }
        number_equal(all.iter_mut().map(|one| &mut one.name));
        Ok(all)
    }

    #[test]
    fn a_dot_in_a_name_hides_no_file_and_twins_belong_to_theirs() {
        let found = statements(&[
            ("a.sql", "SELECT 1"),
            ("v1.2.sql", "\u{feff}SELECT 2"),
            ("v1.2.postgres.sql", "\u{feff}\nSELECT :b"),
            ("notes.txt", "no SQL"),
        ]);
        let found = found.unwrap();
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["a", "v1.2"]);
        assert_eq!(found[1].for_kind(EngineKind::Sqlite).text, "SELECT 2");
        let twin = found[1].for_kind(EngineKind::Postgres);
        assert_eq!((twin.text.as_str(), twin.line), ("SELECT :b", 2));
        assert!(twin.place().ends_with("v1.2.postgres.sql, line 2"));
        assert!(found[1].parameters.contains("b"));
    }

    #[test]
    fn statements_of_one_line_have_names_of_their_own() {
        let found = statements(&[("q.sql", "SELECT 1; SELECT 2;\nSELECT 3")]).unwrap();
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["q:1", "q:1 (2)", "q:2"]);
    }

    #[test]
    fn mistakes_name_the_file() {
        let mistake = |files: &[(&str, &str)]| statements(files).unwrap_err();
        assert!(mistake(&[("a.txt", "")]).ends_with("no file there ends in .sql"));
        let twin = mistake(&[("a.sql", "SELECT 1"), ("b.postgres.sql", "SELECT 2")]);
        assert!(twin.contains("b.postgres.sql replaces"), "{twin}");
        let fewer = [("a.sql", "SELECT 1; SELECT 2"), ("a.postgres.sql", "SELECT 2")];
        assert!(mistake(&fewer).contains("has 2 statements, its twin for postgres 1"));
        assert!(mistake(&[("a.sql", "-- nothing")]).ends_with("a.sql holds no statement"));
        assert!(mistake(&[("a.sql", "SELECT\n'a")]).contains("a.sql, line 2: this string"));
        let folder = folder(&[]);
        std::fs::write(folder.path().join("a.sql"), [b'S', 0xff]).unwrap();
        let error = SqlFile::at(&folder.path().join("a.sql")).statements().unwrap_err();
        assert!(error.contains("is not a UTF-8 text (byte 2)"), "{error}");
        let error = SqlFile::at(&folder.path().join("b.sql")).statements().unwrap_err();
        assert!(error.contains("there is no file"), "{error}");
    }
}
