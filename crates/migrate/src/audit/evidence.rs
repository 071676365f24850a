//! A column with the results of its scan.

use crate::finding::{Finding, Severity};
use crate::mapping::Candidate;
use crate::source::{SourceColumn, SourceTable};
use crate::target::GeneratedColumn;
use crate::value::{Profile, TargetField};

/// A column with the results of its scan.
pub struct ColumnEvidence<'a> {
    pub table: &'a SourceTable,
    pub position: usize,
    /// The type its values were tried against.
    pub candidate: &'a Candidate,
    pub field: &'a TargetField,
    pub profile: &'a Profile,
    /// The type of its texts' form would make values of a unique key equal.
    pub form_collides: bool,
    /// The existing column of the target, if types come from there.
    pub target: Option<TargetColumn<'a>>,
}

/// A column of an existing table; the names are quoted.
pub struct TargetColumn<'a> {
    pub table: &'a str,
    pub name: String,
    pub generated: Option<&'a GeneratedColumn>,
}

impl ColumnEvidence<'_> {
    pub fn column(&self) -> &SourceColumn {
        &self.table.columns[self.position]
    }

    pub fn declared(&self) -> String {
        match self.column().declared_type.as_str() {
            "" => "without a type".to_owned(),
            declared => format!("declared {}", declared.to_ascii_lowercase()),
        }
    }

    pub fn finding(
        &self,
        severity: Severity,
        kind: &'static str,
        message: String,
        fix: String,
    ) -> Finding {
        Finding::of(severity, kind, &self.table.name, message, fix).on_column(&self.column().name)
    }
}
