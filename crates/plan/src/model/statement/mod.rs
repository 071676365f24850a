//! `[[statement]]` and `[invariant]`: what workload `sql` executes. Files are read when the plan is
//! resolved, so that the plan kept with a run holds the texts themselves.

mod files;

use std::collections::BTreeMap;
use std::path::PathBuf;

use engine::{EngineKind, EngineSpec};
use serde::{Deserialize, Serialize};

use crate::model::dialect::{dialect, dialect_of, kinds_with_texts};
use crate::{Levels, Placeholders, PlanError, expand};

pub use files::combinations;

/// One statement of the mix, or several as a transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Statement {
    /// A short name for tables; the file's name where there is none.
    pub name: String,
    /// A file with the text; `query.postgres.sql` beside `query.sql` replaces it for that engine. A
    /// factor in its path, as in `{version}/query.sql`, is another text for each level.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// The folder of the plan, until the file is read.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
    /// The text: `:name` is a bound parameter, `{name}` the level of a factor.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Texts for single kinds of engine: `sqlite`, `postgres`, `mariadb`, `mysql`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
    /// Its texts at each level of the factors in the path of its file.
    #[serde(rename = "version", skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<StatementVersion>,
    /// How often it is executed in a round.
    pub weight: u32,
    /// The plan's steps at which it is executed; at all where none is named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// Several statements, between BEGIN and COMMIT.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub transaction: bool,
    /// When a transaction that writes takes SQLite's lock.
    #[serde(skip_serializing_if = "TransactionBegin::is_immediate")]
    pub begin: TransactionBegin,
    /// Where the values of its `:name`s come from; a factor of that name needs no entry.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Parameter>,
    /// Sets of values that belong together, instead of `parameters` that are drawn one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sets: Vec<BTreeMap<String, Given>>,
    /// How often the user's log has it: its share of the log's total time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executions: Option<u64>,
    /// How many sets of values are drawn; all engines draw the same.
    pub draws: u32,
    /// How answers are compared between engines.
    pub answer: ResultComparison,
    /// Significant digits to which numbers with a fraction are compared.
    pub digits: u8,
    /// Columns of the answer that are not compared, such as the time of the last change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore_columns: Vec<String>,
}

impl Default for Statement {
    fn default() -> Self {
        Self {
            name: String::new(),
            file: None,
            folder: None,
            text: String::new(),
            texts: BTreeMap::new(),
            versions: Vec::new(),
            weight: 1,
            steps: Vec::new(),
            transaction: false,
            begin: TransactionBegin::Immediate,
            parameters: BTreeMap::new(),
            sets: Vec::new(),
            executions: None,
            draws: 1_000,
            answer: ResultComparison::default(),
            digits: 15,
            ignore_columns: Vec::new(),
        }
    }
}

/// When a transaction that writes takes SQLite's write lock. PostgreSQL locks rows as it comes to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransactionBegin {
    /// `BEGIN IMMEDIATE`: at its beginning, so that it waits its turn.
    #[default]
    Immediate,
    /// `BEGIN`: at its first write, which is refused at once where another has written since its first
    /// read, whatever the timeout.
    Deferred,
}

impl TransactionBegin {
    /// The choice of an engine for all its transactions: `sqlite[begin=deferred]`.
    ///
    /// # Errors
    /// Another word.
    pub fn of_engine(engine: &EngineSpec) -> Result<Option<Self>, PlanError> {
        match engine.own("begin") {
            None => Ok(None),
            Some("immediate") => Ok(Some(Self::Immediate)),
            Some("deferred") => Ok(Some(Self::Deferred)),
            Some(other) => {
                let label = engine.label();
                let message = format!("{label}: begin is immediate or deferred, not `{other}`");
                Err(PlanError::impossible("engines", message))
            }
        }
    }

    fn is_immediate(&self) -> bool {
        *self == Self::Immediate
    }
}

/// The texts of a statement at some levels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatementVersion {
    /// Of the factors in the path of the file.
    pub levels: Levels,
    pub text: String,
    /// Texts for single kinds of engine.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
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
        let of_versions = self
            .versions
            .iter()
            .flat_map(|version| [&version.text].into_iter().chain(version.texts.values()));
        let own = [&self.text].into_iter().filter(|text| !text.is_empty());
        own.chain(self.texts.values()).chain(of_versions)
    }

    /// The factors in the path of its file.
    pub fn version_factors(&self) -> impl Iterator<Item = &String> {
        self.versions.first().into_iter().flat_map(|version| version.levels.keys())
    }

    /// Names of the values that the plan gives it.
    pub fn value_names(&self) -> impl Iterator<Item = &String> {
        self.parameters.keys().chain(self.sets.first().into_iter().flat_map(BTreeMap::keys))
    }

    /// Whether `:name` is in it, though perhaps in a comment, and no list of values gives it.
    pub fn binds(&self, name: &str) -> bool {
        !self.parameters.contains_key(name)
            && !self.sets.first().is_some_and(|set| set.contains_key(name))
            && self.all_texts().any(|text| text.contains(&format!(":{name}")))
    }

    /// The text of a statement without versions.
    pub fn text_for(&self, kind: EngineKind) -> &str {
        text_for(kind, &self.text, &self.texts)
    }

    /// The text where the plan's placeholders have these values.
    pub fn text_at(&self, kind: EngineKind, values: &Placeholders) -> &str {
        let is_here = |version: &&StatementVersion| {
            let mut levels = version.levels.iter();
            levels.all(|(name, level)| values.get(name) == Some(&level.to_string()))
        };
        match self.versions.iter().find(is_here) {
            Some(version) => text_for(kind, &version.text, &version.texts),
            None => self.text_for(kind),
        }
    }

    /// Where its text stands, for messages.
    pub fn place(&self, values: &Placeholders) -> String {
        match &self.file {
            Some(file) => {
                let file = file.display().to_string();
                expand(&file, "", values).unwrap_or(file)
            }
            None => format!("statement {}", self.name),
        }
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
        if self.all_texts().all(|text| text.trim().is_empty()) {
            let message = format!("{name} has no text; write text = \"select ...\" or file");
            return refuse(".text", message);
        }
        if self.begin == TransactionBegin::Deferred && !self.transaction {
            let message =
                format!("{name} is a single statement; write transaction = true beside it");
            return refuse(".begin", message);
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
            let message = format!("{name} has a text for {kind}, which is not an engine{nearest}");
            return refuse(&format!(".texts.{kind}"), message);
        }
        if let Some(first) = self.sets.first() {
            if let Some(both) = self.parameters.keys().find(|own| first.contains_key(*own)) {
                let message = format!("{name}: the sets of values have {both} already");
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

fn text_for<'t>(kind: EngineKind, text: &'t str, texts: &'t BTreeMap<String, String>) -> &'t str {
    let own = |kind: EngineKind| texts.get(kind.name());
    // MySQL reads most of MariaDB's language, and the other way round.
    let mut twins = kinds_with_texts().filter(|twin| dialect(*twin) == dialect(kind));
    own(kind).or_else(|| twins.find_map(own)).map_or(text, String::as_str)
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
        assert!(mistake("file = 'no.sql'").contains("there is no file no.sql"));
        let range = "name = 'a'\ntext = 'b'\nparameters = { n = { range = [2, 1] } }";
        assert!(mistake(range).contains("parameter n goes from 2 down to 1"));
        let unknown = "name = 'a'\ntext = 'b'\nparameters = { n = { from = 1 } }";
        assert!(mistake(unknown).contains("a parameter is { range = [first, last] }"));
    }
}
