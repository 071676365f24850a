//! Texts of a statement, read from its files: those that replace it on one kind of engine, and those at
//! each level of the factors in its path.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use engine::EngineKind;

use super::{Statement, StatementVersion};
use crate::model::placeholder::names_in;
use crate::model::sql_file::{SqlFile, read_sql};
use crate::{Factor, Level, Levels, Placeholders, expand};

impl Statement {
    /// Reads its files, unless it has a text or its path has placeholders, and gives it their name.
    /// `plan_folder` is where files are looked for that are not in the working directory.
    pub fn read_files(&mut self, plan_folder: Option<&Path>) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        if self.name.is_empty() {
            self.name = SqlFile::at(file).name().replace(['{', '}'], "");
        }
        if !self.text.is_empty() || !self.versions.is_empty() {
            return Ok(());
        }
        if names_in(&file.display().to_string()).next().is_some() {
            self.folder = plan_folder.map(Path::to_owned);
            return Ok(());
        }
        let (text, texts) = read(file, plan_folder)?;
        self.text = text;
        for (kind, text) in texts {
            self.texts.entry(kind).or_insert(text);
        }
        Ok(())
    }

    /// Reads the files of a path with placeholders, once constants and factors are known.
    pub fn read_versions(
        &mut self,
        constants: &Placeholders,
        factors: &BTreeMap<String, Factor>,
    ) -> Result<(), String> {
        let Some(file) = self.file.as_ref().map(|file| file.display().to_string()) else {
            return Ok(());
        };
        let folder = self.folder.take();
        if !self.text.is_empty() || !self.versions.is_empty() {
            return Ok(());
        }
        for levels in combinations(&file, factors) {
            let mut values = constants.clone();
            values.extend(levels.iter().map(|(name, level)| (name.clone(), level.to_string())));
            let path = expand(&file, "file", &values).map_err(|error| error.to_string())?;
            let (text, texts) = read(Path::new(&path), folder.as_deref())?;
            if levels.is_empty() {
                (self.text, self.texts) = (text, texts);
            } else {
                self.versions.push(StatementVersion { levels, text, texts });
            }
        }
        Ok(())
    }
}

/// Every combination of the levels of the factors that are in `path`; one without a level where none
/// does.
pub fn combinations(path: &str, factors: &BTreeMap<String, Factor>) -> Vec<Levels> {
    let mut combinations = vec![Levels::new()];
    for name in names_in(path).collect::<BTreeSet<_>>() {
        let Some(factor) = factors.get(name) else { continue };
        let with = |levels: &Levels| {
            let of = |level: &Level| {
                let mut levels = levels.clone();
                levels.insert(name.to_owned(), level.clone());
                levels
            };
            factor.levels.iter().map(of).collect::<Vec<_>>()
        };
        combinations = combinations.iter().flat_map(with).collect();
    }
    combinations
}

fn locate(file: &Path, plan_folder: Option<&Path>) -> PathBuf {
    match plan_folder.map(|folder| folder.join(file)) {
        Some(beside) if !file.is_file() && beside.is_file() => beside,
        _ => file.to_owned(),
    }
}

/// The text of a file, and those that replace it, by kind of engine.
fn read(
    file: &Path,
    plan_folder: Option<&Path>,
) -> Result<(String, BTreeMap<String, String>), String> {
    let file = SqlFile::at(&locate(file, plan_folder));
    let text = read_sql(&file.path).map_err(|message| match file.path.is_file() {
        true => message,
        false => {
            format!("{message}; it is looked for in the working directory and beside the plan")
        }
    })?;
    let twin =
        |(kind, path): (&EngineKind, &PathBuf)| Ok((kind.name().to_owned(), read_sql(path)?));
    Ok((text, file.twins.iter().map(twin).collect::<Result<_, String>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn of_file(file: &str) -> Statement {
        let mut statement = Statement { file: Some(file.into()), ..Statement::default() };
        (statement.weight, statement.draws, statement.digits) = (1, 1, 15);
        statement
    }

    #[test]
    fn a_replacement_beside_a_file_is_for_that_engine_only() {
        let folder =
            folder(&[("days.sql", "\u{feff}SELECT 1"), ("days.postgres.sql", "\u{feff}SELECT 2")]);
        let mut statement = of_file("days.sql");
        statement.read_files(Some(folder.path())).unwrap();
        assert_eq!(statement.name, "days");
        assert_eq!(statement.text_for(EngineKind::Sqlite), "SELECT 1");
        assert_eq!(statement.text_for(EngineKind::Postgres), "SELECT 2");
        // The plan kept with a run needs no files any more, and reads the same.
        let kept = toml::to_string(&statement).unwrap();
        drop(folder);
        let mut again: Statement = toml::from_str(&kept).unwrap();
        again.read_files(None).unwrap();
        assert_eq!(again, statement);
    }

    #[test]
    fn a_factor_in_the_path_is_a_text_for_each_level() {
        let folder = folder(&[
            ("old/q.sql", "SELECT 1"),
            ("new/q.sql", "SELECT 2"),
            ("new/q.postgres.sql", "SELECT 3"),
        ]);
        let levels = ["old", "new"].map(|level| Level::Text(level.to_owned()));
        let factors = BTreeMap::from([("version".to_owned(), Factor::new(levels.to_vec()))]);
        let constants = Placeholders::from([("name".to_owned(), "q".to_owned())]);
        let mut statement = of_file("{version}/{name}.sql");
        statement.read_files(Some(folder.path())).unwrap();
        statement.read_versions(&constants, &factors).unwrap();
        assert_eq!(statement.name, "name");
        let at = |kind: EngineKind, level: &str| {
            let values = Placeholders::from([("version".to_owned(), level.to_owned())]);
            statement.text_at(kind, &values).to_owned()
        };
        assert_eq!(at(EngineKind::Sqlite, "old"), "SELECT 1");
        assert_eq!(at(EngineKind::Postgres, "old"), "SELECT 1");
        assert_eq!(at(EngineKind::Sqlite, "new"), "SELECT 2");
        assert_eq!(at(EngineKind::Postgres, "new"), "SELECT 3");
        let kept = toml::to_string(&statement).unwrap();
        let mut again: Statement = toml::from_str(&kept).unwrap();
        again.read_files(None).unwrap();
        again.read_versions(&constants, &factors).unwrap();
        assert_eq!(again, statement);

        let constant =
            Placeholders::from(["version", "name"].map(|name| {
                (name.to_owned(), if name == "name" { "q" } else { "new" }.to_owned())
            }));
        let mut of_constant = of_file("{version}/{name}.sql");
        of_constant.read_files(Some(folder.path())).unwrap();
        of_constant.read_versions(&constant, &BTreeMap::new()).unwrap();
        assert_eq!(of_constant.text_for(EngineKind::Postgres), "SELECT 3");

        let mut unknown = of_file("{release}/q.sql");
        unknown.read_files(None).unwrap();
        let error = unknown.read_versions(&constants, &factors).unwrap_err();
        assert!(error.contains("unknown placeholder {release}"), "{error}");
    }
}
