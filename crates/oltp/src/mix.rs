//! The transactions that can be offered, by the names of their sysbench twins where they have one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::statement::{Statement, Step};
use crate::{Error, Schema};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mix {
    /// Ten point selects; a simple, a sum, an ordered and a distinct range of 100 rows.
    ReadOnly,
    /// Read only, then an indexed update, another update, a delete and an insert of one row.
    ReadWrite,
    /// One row by its key, without BEGIN.
    PointSelect,
    /// The writes of read write alone.
    WriteOnly,
    /// `k` of one row, which has an index, without BEGIN.
    UpdateIndex,
    /// `c` of one row, which has none, without BEGIN.
    UpdateNonIndex,
    /// A new row, without BEGIN.
    Insert,
    /// One row by its key, without BEGIN; rows become fewer.
    Delete,
    /// Rows by `k`: ten of one value, a range counted, a range ordered by `k`.
    SecondaryIndex,
    /// Customer, order and items of one order, and the orders of one customer: three tables.
    Join,
    /// The same three tables by two columns that depend on each other, which a planner that takes
    /// them for independent estimates a hundred times too low.
    JoinMisled,
    /// Rows of skewed lengths, from a few bytes to several pages, read, replaced by others.
    VariableRows,
    /// Deletes the oldest rows and inserts as many new ones: bloat and vacuum over time.
    Churn,
    /// Hungarian text, read, ordered and written.
    Encoding,
}

impl Mix {
    pub const ALL: [Self; 14] = [
        Self::ReadOnly,
        Self::ReadWrite,
        Self::PointSelect,
        Self::WriteOnly,
        Self::UpdateIndex,
        Self::UpdateNonIndex,
        Self::Insert,
        Self::Delete,
        Self::SecondaryIndex,
        Self::Join,
        Self::JoinMisled,
        Self::VariableRows,
        Self::Churn,
        Self::Encoding,
    ];

    /// Its name in plans and on the command line: `read_only`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::ReadWrite => "read_write",
            Self::PointSelect => "point_select",
            Self::WriteOnly => "write_only",
            Self::UpdateIndex => "update_index",
            Self::UpdateNonIndex => "update_non_index",
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::SecondaryIndex => "secondary_index",
            Self::Join => "join",
            Self::JoinMisled => "join_misled",
            Self::VariableRows => "variable_rows",
            Self::Churn => "churn",
            Self::Encoding => "encoding",
        }
    }

    /// The tables that it needs.
    #[must_use]
    pub fn schema(self) -> Schema {
        match self {
            Self::Join | Self::JoinMisled => Schema::Orders,
            Self::VariableRows => Schema::Variable,
            Self::Encoding => Schema::Text,
            _ => Schema::Sbtest,
        }
    }

    #[must_use]
    pub fn writes(self) -> bool {
        self.steps().iter().any(|step| step.statement.writes())
    }

    /// The statements of one transaction, BEGIN and COMMIT included.
    #[must_use]
    pub fn statements(self) -> u64 {
        let steps: u64 = self.steps().iter().map(|step| u64::from(step.times)).sum();
        if self.has_transaction() { steps + 2 } else { steps }
    }

    /// Whether its statements stand between BEGIN and COMMIT.
    #[must_use]
    pub fn has_transaction(self) -> bool {
        self.steps().len() > 1
    }

    /// What it does, in order.
    pub(crate) fn steps(self) -> &'static [Step] {
        use Statement as S;
        const READS: [Step; 5] = [
            Step::times(S::PointSelect, 10),
            Step::once(S::SimpleRange),
            Step::once(S::SumRange),
            Step::once(S::OrderRange),
            Step::once(S::DistinctRange),
        ];
        const WRITES: [Step; 4] = [
            Step::once(S::IndexUpdate),
            Step::once(S::NonIndexUpdate),
            Step::once(S::Delete),
            Step::once(S::InsertAgain),
        ];
        const BOTH: [Step; 9] = [
            READS[0], READS[1], READS[2], READS[3], READS[4], WRITES[0], WRITES[1], WRITES[2],
            WRITES[3],
        ];
        match self {
            Self::ReadOnly => &READS,
            Self::ReadWrite => &BOTH,
            Self::PointSelect => const { &[Step::once(S::PointSelect)] },
            Self::WriteOnly => &WRITES,
            Self::UpdateIndex => const { &[Step::once(S::IndexUpdate)] },
            Self::UpdateNonIndex => const { &[Step::once(S::NonIndexUpdate)] },
            Self::Insert => const { &[Step::once(S::InsertNew)] },
            Self::Delete => const { &[Step::once(S::Delete)] },
            Self::SecondaryIndex => {
                const {
                    &[
                        Step::times(S::ByIndex, 10),
                        Step::once(S::CountIndexRange),
                        Step::once(S::OrderByIndex),
                    ]
                }
            }
            Self::Join => {
                const { &[Step::once(S::OrderWithItems), Step::once(S::OrdersOfCustomer)] }
            }
            Self::JoinMisled => const { &[Step::once(S::MisledJoin)] },
            Self::VariableRows => {
                const {
                    &[
                        Step::times(S::SelectVariable, 4),
                        Step::once(S::LongestOfRange),
                        Step::once(S::ReplaceVariable),
                    ]
                }
            }
            Self::Churn => {
                const { &[Step::times(S::DeleteOldest, 2), Step::times(S::InsertNew, 2)] }
            }
            Self::Encoding => {
                const {
                    &[
                        Step::times(S::SelectText, 4),
                        Step::once(S::OrderText),
                        Step::once(S::ReplaceText),
                    ]
                }
            }
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Mix {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|mix| mix.name() == text);
        found.ok_or_else(|| Error::unknown_name("workload", text, Self::ALL.map(Self::name)))
    }
}
