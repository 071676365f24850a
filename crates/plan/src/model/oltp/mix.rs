//! The transactions that can be offered, by the names of their sysbench twins where they have one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::name::{UnknownName, by_name};
use super::{MixStatement, MixStep, Schema};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
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
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in plans and on the command line: `read_only`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
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

    /// Its statements, in order.
    #[must_use]
    pub fn steps(self) -> &'static [MixStep] {
        use MixStatement as S;
        const READS: [MixStep; 5] = [
            MixStep::times(S::PointSelect, 10),
            MixStep::once(S::SimpleRange),
            MixStep::once(S::SumRange),
            MixStep::once(S::OrderRange),
            MixStep::once(S::DistinctRange),
        ];
        const WRITES: [MixStep; 4] = [
            MixStep::once(S::IndexUpdate),
            MixStep::once(S::NonIndexUpdate),
            MixStep::once(S::Delete),
            MixStep::once(S::InsertAgain),
        ];
        const BOTH: [MixStep; 9] = [
            READS[0], READS[1], READS[2], READS[3], READS[4], WRITES[0], WRITES[1], WRITES[2],
            WRITES[3],
        ];
        match self {
            Self::ReadOnly => &READS,
            Self::ReadWrite => &BOTH,
            Self::PointSelect => const { &[MixStep::once(S::PointSelect)] },
            Self::WriteOnly => &WRITES,
            Self::UpdateIndex => const { &[MixStep::once(S::IndexUpdate)] },
            Self::UpdateNonIndex => const { &[MixStep::once(S::NonIndexUpdate)] },
            Self::Insert => const { &[MixStep::once(S::InsertNew)] },
            Self::Delete => const { &[MixStep::once(S::Delete)] },
            Self::SecondaryIndex => {
                const {
                    &[
                        MixStep::times(S::ByIndex, 10),
                        MixStep::once(S::CountIndexRange),
                        MixStep::once(S::OrderByIndex),
                    ]
                }
            }
            Self::Join => {
                const { &[MixStep::once(S::OrderWithItems), MixStep::once(S::OrdersOfCustomer)] }
            }
            Self::JoinMisled => const { &[MixStep::once(S::MisledJoin)] },
            Self::VariableRows => {
                const {
                    &[
                        MixStep::times(S::SelectVariable, 4),
                        MixStep::once(S::LongestOfRange),
                        MixStep::once(S::ReplaceVariable),
                    ]
                }
            }
            Self::Churn => {
                const { &[MixStep::times(S::DeleteOldest, 2), MixStep::times(S::InsertNew, 2)] }
            }
            Self::Encoding => {
                const {
                    &[
                        MixStep::times(S::SelectText, 4),
                        MixStep::once(S::OrderText),
                        MixStep::once(S::ReplaceText),
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
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        by_name("workload", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_have_the_statements_of_sysbench() {
        let statements = [
            (Mix::ReadOnly, 16),
            (Mix::ReadWrite, 20),
            (Mix::WriteOnly, 6),
            (Mix::PointSelect, 1),
            (Mix::UpdateIndex, 1),
            (Mix::Insert, 1),
        ];
        for (mix, count) in statements {
            assert_eq!(mix.statements(), count, "{mix}");
        }
        let reads = Mix::ALL.iter().copied().filter(|mix| !mix.writes());
        let reads: Vec<_> = reads.map(Mix::name).collect();
        assert_eq!(reads, ["read_only", "point_select", "secondary_index", "join", "join_misled"]);
    }
}
