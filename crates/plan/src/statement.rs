//! `[[statement]]` and `[invariant]`: what workload `sql` executes. Files are read when the plan is
//! resolved, so that the plan kept with a run holds the texts themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use engine::EngineKind;
use serde::{Deserialize, Serialize};
use sql::Dialect;

use crate::PlanError;

/// One statement of the mix, or several as a transaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// A short name for tables; the file's name where there is none.
    #[serde(default)]
    pub name: String,
    /// A file with the text; `query.postgres.sql` beside `query.sql` replaces it for that engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The text: `:name` is a bound parameter, `{name}` the level of a factor.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Texts for single kinds of engine: `sqlite`, `postgres`, `mariadb`, `mysql`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
    /// How often it is executed in a round.
    #[serde(default = "one")]
    pub weight: u32,
    /// The plan's steps at which it is executed; at all where none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// Several statements, between BEGIN and COMMIT.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transaction: bool,
    /// Where the values of its `:name`s come from; a factor of that name needs no entry.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Parameter>,
    /// Sets of values that belong together, instead of `parameters` that are drawn one by one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<BTreeMap<String, Given>>,
    /// How often the user's log has it: its share of the log's total time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executions: Option<u64>,
    /// How many sets of values are drawn; all engines draw the same.
    #[serde(default = "thousand")]
    pub draws: u32,
    /// How answers are compared between engines.
    #[serde(default)]
    pub answer: ResultComparison,
    /// Significant digits to which numbers with a fraction are compared.
    #[serde(default = "fifteen")]
    pub digits: u8,
}

fn one() -> u32 {
    1
}

fn thousand() -> u32 {
    1_000
}

fn fifteen() -> u8 {
    15
}

/// A query that must give the same answer after every trial as before the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invariant {
    /// The query, for every engine.
    pub text: String,
}

/// Where the values of a parameter come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a parameter is { range = [first, last] }, { list = [...] } or \
                 { query = \"select ...\" }"
)]
pub enum Parameter {
    /// Whole numbers, both ends included, drawn evenly.
    Range {
        range: [i64; 2],
    },
    List {
        list: Vec<Given>,
    },
    /// The first column of a query's answer, drawn evenly.
    Query {
        /// The query, for every engine.
        query: String,
    },
}

/// A value written in a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "a value is a number, a text, true or false")]
pub enum Given {
    /// 1 or 0 for every engine.
    Boolean(bool),
    Integer(i64),
    /// A number with a fraction.
    Double(f64),
    /// A text, or a date in a text.
    Text(String),
}

/// How the answers of two engines are held against each other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultComparison {
    /// The same rows, in any order.
    #[default]
    Rows,
    /// The same rows; those with equal values in these columns belong together.
    Key(Vec<String>),
    /// The same rows in the same order.
    Ordered,
    Count,
    None,
}

impl Statement {
    pub fn all_texts(&self) -> impl Iterator<Item = &String> {
        [&self.text].into_iter().chain(self.texts.values())
    }

    /// Names of the values that the plan gives it.
    pub fn value_names(&self) -> impl Iterator<Item = &String> {
        self.parameters.keys().chain(self.sets.first().into_iter().flat_map(BTreeMap::keys))
    }

    /// Whether `:name` stands in it, though perhaps in a comment, and no list of values gives it.
    pub fn binds(&self, name: &str) -> bool {
        !self.parameters.contains_key(name)
            && !self.sets.first().is_some_and(|set| set.contains_key(name))
            && self.all_texts().any(|text| text.contains(&format!(":{name}")))
    }

    pub fn text_for(&self, kind: EngineKind) -> &str {
        // MySQL reads most of MariaDB's language, and the other way round.
        let twin = match kind {
            EngineKind::Mysql => EngineKind::Mariadb,
            EngineKind::Mariadb => EngineKind::Mysql,
            other => other,
        };
        let own = |kind: EngineKind| self.texts.get(kind.name());
        own(kind).or_else(|| own(twin)).unwrap_or(&self.text)
    }

    /// Where its text stands, for messages.
    pub fn place(&self) -> String {
        match &self.file {
            Some(file) => file.display().to_string(),
            None => format!("statement {}", self.name),
        }
    }

    /// Reads its files, unless it has a text, and gives it their name. `plan_folder` is where files
    /// are looked for that are not in the working directory.
    pub fn read_files(&mut self, plan_folder: Option<&Path>) -> Result<(), String> {
        let Some(file) = &self.file else { return Ok(()) };
        let file = locate(file, plan_folder);
        if self.text.is_empty() {
            self.text = read(&file)?;
            for kind in kinds_with_texts().map(EngineKind::name) {
                let replacement = file.with_extension(format!("{kind}.sql"));
                if replacement.is_file() {
                    self.texts.entry(kind.to_owned()).or_insert(read(&replacement)?);
                }
            }
        }
        if self.name.is_empty() {
            self.name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        Ok(())
    }

    pub(crate) fn check(&self, index: usize) -> Result<(), PlanError> {
        let refuse = |key: &str, message: String| {
            Err(PlanError::impossible(&format!("statement.{index}{key}"), message))
        };
        let name = &self.name;
        if name.is_empty() {
            let message = "one has neither a name nor a file; write name = \"...\"";
            return refuse("", message.to_owned());
        }
        if self.text.trim().is_empty() {
            let message = format!("{name} has no text; write text = \"select ...\" or file");
            return refuse(".text", message);
        }
        if self.weight == 0 {
            let message = format!("{name} has the weight 0; leave it out, or give it 1");
            return refuse(".weight", message);
        }
        if self.draws == 0 {
            return refuse(".draws", format!("{name} needs at least 1"));
        }
        if !(1..=17).contains(&self.digits) {
            return refuse(".digits", format!("{name} needs 1 to 17"));
        }
        if let Some(kind) = self.texts.keys().find(|kind| dialect_of(kind).is_none()) {
            let nearest = engine::nearest(kind, kinds_with_texts().map(EngineKind::name));
            let message = format!("{name} has a text for {kind}, which is no engine{nearest}");
            return refuse(&format!(".texts.{kind}"), message);
        }
        if let Some(first) = self.sets.first() {
            if !self.parameters.is_empty() {
                let message =
                    format!("{name} has sets of values already; leave one of the two out");
                return refuse(".parameters", message);
            }
            let differs = |set: &BTreeMap<String, Given>| !set.keys().eq(first.keys());
            if let Some(place) = self.sets.iter().position(differs) {
                let message = format!("{name}: this set has other names than the first");
                return refuse(&format!(".sets.{place}"), message);
            }
        }
        for (parameter, values) in &self.parameters {
            let why = match values {
                Parameter::Range { range: [first, last] } if first > last => {
                    format!("goes from {first} down to {last}")
                }
                Parameter::List { list } if list.is_empty() => "has an empty list".to_owned(),
                _ => continue,
            };
            let message = format!("{name}: parameter {parameter} {why}");
            return refuse(&format!(".parameters.{parameter}"), message);
        }
        Ok(())
    }
}

/// The SQL that engines of this kind read; none where nothing is asked in SQL.
#[must_use]
pub fn dialect(kind: EngineKind) -> Option<Dialect> {
    match kind {
        EngineKind::Sqlite => Some(Dialect::Sqlite),
        EngineKind::Postgres => Some(Dialect::Postgres),
        EngineKind::Mariadb | EngineKind::Mysql => Some(Dialect::Mysql),
        EngineKind::Http | EngineKind::Dir | EngineKind::Tree | EngineKind::SqliteDir => None,
    }
}

/// Kinds of engine that may have texts of their own.
pub fn kinds_with_texts() -> impl Iterator<Item = EngineKind> {
    EngineKind::ALL.iter().copied().filter(|kind| dialect(*kind).is_some())
}

/// The SQL of a text that a plan or a file's ending has for this kind of engine.
#[must_use]
pub fn dialect_of(kind: &str) -> Option<Dialect> {
    EngineKind::of_name(kind).and_then(dialect)
}

fn locate(file: &Path, plan_folder: Option<&Path>) -> PathBuf {
    match plan_folder.map(|folder| folder.join(file)) {
        Some(beside) if !file.is_file() && beside.is_file() => beside,
        _ => file.to_owned(),
    }
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| {
        format!(
            "cannot read {}: {error}; it is looked for in the working directory and beside the \
             plan",
            file.display()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(text: &str) -> Result<Statement, String> {
        let mut statement: Statement = toml::from_str(text).map_err(|error| error.to_string())?;
        statement.read_files(None)?;
        statement.check(0).map_err(|error| error.to_string())?;
        Ok(statement)
    }

    #[test]
    fn a_replacement_beside_a_file_is_for_that_engine_only() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("days.sql"), "SELECT 1").unwrap();
        std::fs::write(folder.path().join("days.postgres.sql"), "SELECT 2").unwrap();
        let mut statement = Statement { file: Some("days.sql".into()), ..Statement::default() };
        (statement.weight, statement.draws, statement.digits) = (1, 1, 15);
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
    fn parameters_and_answers_are_written_as_the_contract_says() {
        let text = r#"
            name = "a"
            text = "SELECT :id, :day, :word"
            answer = { key = ["id"] }
            [parameters]
            id = { range = [1, 9] }
            day = { list = [1, 2.5, "x", true] }
            word = { query = "SELECT word FROM words" }
        "#;
        let read = statement(text).unwrap();
        assert_eq!(read.answer, ResultComparison::Key(vec!["id".to_owned()]));
        assert_eq!(read.parameters["id"], Parameter::Range { range: [1, 9] });
        assert_eq!(read.draws, 1_000);
        assert_eq!(
            statement("name = 'a'\ntext = 'b'\nanswer = 'count'").unwrap().answer,
            ResultComparison::Count
        );
    }

    #[test]
    fn mistakes_are_named() {
        let mistake = |text: &str| statement(text).unwrap_err();
        assert!(mistake("text = 'SELECT 1'").contains("neither a name nor a file"));
        assert!(mistake("name = 'a'").contains("a has no text"));
        assert!(mistake("file = 'no.sql'").contains("cannot read no.sql"));
        let range = "name = 'a'\ntext = 'b'\nparameters = { n = { range = [2, 1] } }";
        assert!(mistake(range).contains("parameter n goes from 2 down to 1"));
        let unknown = "name = 'a'\ntext = 'b'\nparameters = { n = { from = 1 } }";
        assert!(mistake(unknown).contains("a parameter is { range = [first, last] }"));
    }
}
