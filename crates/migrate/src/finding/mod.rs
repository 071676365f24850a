//! Finding of an audit: the problem, its count, examples, and the exact remedy.

mod loss;
mod text;

use std::fmt::{Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::display::escaped;

pub use loss::{Losses, Lost};
pub use text::sections;

/// Examples kept of each kind.
const EXAMPLES: usize = 5;

/// In the order of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Severity {
    /// PostgreSQL would refuse it: migration stops.
    Blocker,
    /// Something is not carried over, or not as declared.
    Warning,
    Note,
}

impl Severity {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    pub severity: Severity,
    /// A name for programs, for example `too_long`.
    pub kind: &'static str,
    /// The table (or view, or trigger).
    pub table: String,
    /// The column, if it is about one.
    pub column: Option<String>,
    pub count: u64,
    pub message: String,
    pub examples: Vec<Example>,
    /// The remedy; may be empty for a note.
    pub fix: String,
    /// A blocker's remedy as a rule of `--map`, where another type holds every value of the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping: Option<String>,
    /// A statement of PostgreSQL for what is not carried over: complete, or marked as a beginning.
    /// It is never run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statement: Option<String>,
    /// It is about certain rows, which could be rejected.
    pub is_about_rows: bool,
    /// The feature that is not carried over, if the finding is about one.
    #[serde(rename = "not_carried_over", skip_serializing_if = "Option::is_none")]
    pub lost: Option<Lost>,
    /// The view, trigger or virtual table that is not carried over, if the finding is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<LostObject>,
}

/// A view, trigger or virtual table that is not carried over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostObject {
    /// For example `virtual table`.
    pub kind: &'static str,
    /// A trigger's table, the tables that a view reads, the table whose rows an index holds.
    pub tables: Vec<String>,
    pub reason: String,
}

impl Finding {
    pub fn blocker(
        kind: &'static str,
        table: &str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self::of(Severity::Blocker, kind, table, message, fix)
    }

    pub fn warning(
        kind: &'static str,
        table: &str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self::of(Severity::Warning, kind, table, message, fix)
    }

    pub fn note(
        kind: &'static str,
        table: &str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self::of(Severity::Note, kind, table, message, fix)
    }

    /// A finding about a table as a whole.
    pub fn of(
        severity: Severity,
        kind: &'static str,
        table: &str,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            kind,
            table: table.to_owned(),
            column: None,
            count: 1,
            message: message.into(),
            examples: Vec::new(),
            fix: fix.into(),
            mapping: None,
            statement: None,
            is_about_rows: false,
            lost: None,
            object: None,
        }
    }

    /// The same, about one column.
    #[must_use]
    pub fn on_column(mut self, column: &str) -> Self {
        self.column = Some(column.to_owned());
        self
    }

    /// The same, about rows that could be rejected.
    #[must_use]
    pub fn about_rows(mut self) -> Self {
        self.is_about_rows = true;
        self
    }

    /// The same, with the rule of `--map` that is its remedy.
    #[must_use]
    pub fn with_rule(mut self, mapping: Option<String>) -> Self {
        self.mapping = mapping;
        self
    }

    /// The same, with a statement that people may run.
    #[must_use]
    pub fn proposing(mut self, statement: Option<String>) -> Self {
        self.statement = statement;
        self
    }

    /// The same, where something is not carried over.
    #[must_use]
    pub fn losing(mut self, lost: Lost) -> Self {
        self.lost = Some(lost);
        self
    }

    /// The same, about an object that is not a table.
    #[must_use]
    pub fn on_object(mut self, object: LostObject) -> Self {
        self.object = Some(object);
        self
    }

    /// The number of rows that the finding is about; `None` for one on a declaration.
    pub fn rows(&self) -> Option<u64> {
        (self.is_about_rows || !self.examples.is_empty()).then_some(self.count)
    }

    /// The table with the column, if it is about one.
    pub fn place(&self) -> String {
        let column = self.column.iter().flat_map(|column| [".", column]);
        escaped(&[self.table.as_str()].into_iter().chain(column).collect::<String>())
    }

    /// The place, the problem and one example, on one line.
    pub fn problem(&self) -> String {
        let mut text = format!("{}: {}", self.place(), escaped(&self.message));
        if let Some(example) = self.examples.first() {
            text.push_str(&format!(", e.g. {}", escaped(&example.row)));
            if !example.value.is_empty() {
                text.push_str(&format!(" {}", escaped(&example.value)));
            }
        }
        text
    }

    /// The same, with a count and examples.
    #[must_use]
    pub fn counted(mut self, count: u64, examples: Vec<Example>) -> Self {
        self.count = count;
        self.examples = examples;
        self
    }
}

impl Display for Finding {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.problem())?;
        if !self.fix.is_empty() {
            write!(formatter, "; {}", escaped(&self.fix))?;
        }
        Ok(())
    }
}

/// Values refused for one reason.
#[derive(Clone, Debug, Default)]
pub struct RefusedValues {
    pub count: u64,
    pub examples: Vec<Example>,
}

impl RefusedValues {
    /// Counts one; `example` is only asked for the first few.
    pub fn add(&mut self, example: impl FnOnce() -> Example) {
        self.count += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(example());
        }
    }
}

/// A row and the value in question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// For example `rowid 4711`.
    pub row: String,
    pub value: String,
}
