//! Statements of the files that `--sql` names, as entries of a plan: one for each statement, with its
//! texts for single engines and, where a factor is in the path, for each of its levels.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use plan::{
    Factor, FileStatement, Levels, Parameter, PlacedText, Placeholders, SqlFile, Statement,
    StatementVersion, combinations, expand, number_equal, sql_files,
};

use crate::shared::Usage;

/// The entries of all files that `paths` name. `template` has what is the same for all.
pub(super) fn read(
    paths: &[PathBuf],
    factors: &BTreeMap<String, Factor>,
    parameters: &BTreeMap<String, Parameter>,
    template: &Statement,
) -> Result<Vec<Statement>, Usage> {
    let mut statements = Vec::new();
    for path in paths {
        for file in versioned_files(path, factors)? {
            for (mut statement, names) in file.entries(factors, template)? {
                let given = |name: String| {
                    let values = parameters.get(&name)?.clone();
                    Some((name, values))
                };
                statement.parameters = names.into_iter().filter_map(given).collect();
                statements.push(statement);
            }
        }
    }
    number_equal(statements.iter_mut().map(|statement| &mut statement.name));
    Ok(statements)
}

/// A file at each level of the factors in its path.
struct VersionedFile {
    /// As written in the plan, with its placeholders.
    path: PathBuf,
    /// One without levels where no factor is in the path.
    versions: Vec<(Levels, SqlFile)>,
}

/// An entry, and the names of the `:name`s in its texts.
type Entry = (Statement, BTreeSet<String>);

fn versioned_files(
    path: &Path,
    factors: &BTreeMap<String, Factor>,
) -> Result<Vec<VersionedFile>, Usage> {
    if path.exists() {
        let files = sql_files(&[path.to_owned()]).map_err(Usage)?.into_iter();
        let alone = |file: SqlFile| VersionedFile {
            path: file.path.clone(),
            versions: vec![(Levels::new(), file)],
        };
        return Ok(files.map(alone).collect());
    }
    let text = path.display().to_string();
    let mut files: Vec<VersionedFile> = Vec::new();
    for levels in combinations(&text, factors) {
        let values = levels.iter().map(|(name, level)| (name.clone(), level.to_string()));
        let place = expand(&text, "--sql", &values.collect()).map_err(|_| {
            Usage(format!(
                "--sql {text}: give the name in braces its levels: --factor NAME=old,new"
            ))
        })?;
        let here = sql_files(&[PathBuf::from(&place)]).map_err(Usage)?;
        if files.is_empty() {
            let is_folder = Path::new(&place).is_dir();
            files.extend(here.iter().map(|file| VersionedFile {
                path: match (is_folder, file.path.file_name()) {
                    (true, Some(name)) => path.join(name),
                    _ => path.to_owned(),
                },
                versions: Vec::new(),
            }));
        } else {
            check_equal_names(&files, &here)?;
        }
        for (file, here) in files.iter_mut().zip(here) {
            file.versions.push((levels.clone(), here));
        }
    }
    Ok(files)
}

/// Files that only one version has cannot be compared.
fn check_equal_names(before: &[VersionedFile], here: &[SqlFile]) -> Result<(), Usage> {
    fn names<'f>(files: impl Iterator<Item = &'f SqlFile>) -> BTreeMap<OsString, &'f Path> {
        let named = |file: &'f SqlFile| Some((file.path.file_name()?.to_owned(), &*file.path));
        files.filter_map(named).collect()
    }
    let first = before.iter().filter_map(|file| file.versions.first()).map(|(_, file)| file);
    let (one, other) = (names(first), names(here.iter()));
    // A single file may have another name in each version.
    if one.len() == 1 && other.len() == 1 {
        return Ok(());
    }
    let only = one.iter().find(|(name, _)| !other.contains_key(*name));
    let only = only.or_else(|| other.iter().find(|(name, _)| !one.contains_key(*name)));
    match only {
        Some((_, path)) => Err(Usage(format!(
            "{} is in one version only; a statement is compared with itself in every version",
            path.display()
        ))),
        None => Ok(()),
    }
}

impl VersionedFile {
    fn entries(
        &self,
        factors: &BTreeMap<String, Factor>,
        template: &Statement,
    ) -> Result<Vec<Entry>, Usage> {
        let mut versions: Vec<(&Levels, Vec<FileStatement>)> = Vec::new();
        for (levels, file) in &self.versions {
            let statements = file.statements().map_err(Usage)?;
            if let Some((_, first)) =
                versions.first().filter(|(_, one)| one.len() != statements.len())
            {
                return Err(Usage(format!(
                    "{} has {} statements, and {} in another version: there must be as many",
                    file.path.display(),
                    statements.len(),
                    first.len()
                )));
            }
            versions.push((levels, statements));
        }
        let count = versions.first().map_or(0, |(_, first)| first.len());
        if template.transaction || count == 1 {
            let all = versions.iter().flat_map(|(_, statements)| statements);
            let names = all.flat_map(|one| one.parameters.iter().cloned()).collect();
            return Ok(vec![(self.whole(factors, template)?, names)]);
        }
        let entry = |index: usize| part(&versions, index, template);
        Ok((0..count).filter_map(entry).collect())
    }

    /// The whole file as one entry, whose lines are those of the file.
    fn whole(
        &self,
        factors: &BTreeMap<String, Factor>,
        template: &Statement,
    ) -> Result<Statement, Usage> {
        let mut whole = Statement { file: Some(self.path.clone()), ..template.clone() };
        whole.read_files(None).map_err(Usage)?;
        whole.read_versions(&Placeholders::new(), factors).map_err(Usage)?;
        Ok(whole)
    }
}

/// One of several statements of a file; its lines are those of its own text.
fn part(
    versions: &[(&Levels, Vec<FileStatement>)],
    index: usize,
    template: &Statement,
) -> Option<Entry> {
    let mut entry =
        Statement { name: versions.first()?.1.get(index)?.name.clone(), ..template.clone() };
    let mut names = BTreeSet::new();
    for (levels, statements) in versions {
        let statement = statements.get(index)?;
        names.extend(statement.parameters.iter().cloned());
        let text = statement.own().text.clone();
        let twin = |(kind, twin): (&engine::EngineKind, &PlacedText)| {
            (kind.name().to_owned(), twin.text.clone())
        };
        let texts = statement.twins.iter().map(twin).collect();
        if levels.is_empty() {
            (entry.text, entry.texts) = (text, texts);
        } else {
            entry.versions.push(StatementVersion { levels: (*levels).clone(), text, texts });
        }
    }
    Some((entry, names))
}
