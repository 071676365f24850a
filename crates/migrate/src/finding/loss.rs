//! Losses: rows of the source that are left behind, and rules that are not carried over.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};

use notation::thousands;
use serde::{Deserialize, Serialize};

use super::Finding;
use crate::display::{escaped, list, rows};

/// A feature that is not carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lost {
    /// Rows of a virtual table.
    Rows,
    /// A column that `--exclude` leaves out.
    Column,
    Trigger,
    View,
    /// A virtual table, as the index that it is.
    VirtualTable,
    PrimaryKey,
    /// An index, or the unique key that it ensures.
    Index,
    /// A unique key becomes weaker: it compared by a collation.
    UniqueKey,
    ForeignKey,
    Check,
    Default,
    /// The numbers that SQLite gives a key.
    Numbering,
    GeneratedColumn,
    Collation,
    ConflictClause,
}

impl Lost {
    fn nouns(self) -> (&'static str, &'static str) {
        match self {
            Self::Rows => ("row", "rows"),
            Self::Column => ("column", "columns"),
            Self::Trigger => ("trigger", "triggers"),
            Self::View => ("view", "views"),
            Self::VirtualTable => ("virtual table", "virtual tables"),
            Self::PrimaryKey => ("primary key", "primary keys"),
            Self::Index => ("index", "indexes"),
            Self::UniqueKey => ("unique key under a collation", "unique keys under a collation"),
            Self::ForeignKey => ("foreign key", "foreign keys"),
            Self::Check => ("check", "checks"),
            Self::Default => ("default", "defaults"),
            Self::Numbering => ("numbering of a key", "numberings of keys"),
            Self::GeneratedColumn => ("generated column", "generated columns"),
            Self::Collation => ("collation", "collations"),
            Self::ConflictClause => ("conflict clause", "conflict clauses"),
        }
    }
}

/// Rows and rules of a source that do not arrive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    pub rows: BTreeMap<String, u64>,
    pub rules: BTreeMap<Lost, u64>,
}

impl Losses {
    pub fn of(findings: &[Finding]) -> Self {
        let mut losses = Self::default();
        for finding in findings {
            match finding.lost {
                Some(Lost::Rows) => {
                    losses.rows.insert(finding.table.clone(), finding.count);
                }
                Some(rule) => *losses.rules.entry(rule).or_default() += 1,
                None => {}
            }
        }
        losses
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.rules.is_empty()
    }

    /// Something is lost that was not accepted. Rows are accepted by `--exclude` alone.
    pub fn are_findings(&self, accepted: bool) -> bool {
        !self.rows.is_empty() || (!self.rules.is_empty() && !accepted)
    }

    pub fn line(&self) -> Option<String> {
        (!self.is_empty()).then(|| format!("not carried over: {self}"))
    }
}

/// For example `120 rows of search, 39 triggers, 1 view`.
impl Display for Losses {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let of_tables = self
            .rows
            .iter()
            .map(|(table, count)| format!("{} of {}", rows(*count), escaped(table)));
        let of_kinds = self.rules.iter().map(|(rule, count)| {
            let (one, several) = rule.nouns();
            format!("{} {}", thousands(*count), if *count == 1 { one } else { several })
        });
        formatter.write_str(&list(of_tables.chain(of_kinds)))
    }
}
