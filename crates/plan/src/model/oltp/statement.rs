//! Statements that transactions are made of, by what they do. Their text is crate `oltp`'s.

use serde::{Deserialize, Serialize};

/// A statement, by what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MixStatement {
    /// `BEGIN`; `BEGIN IMMEDIATE` in SQLite where the transaction writes.
    Begin,
    Commit,
    /// `c` of one row by its key.
    PointSelect,
    /// `c` of 100 rows.
    SimpleRange,
    /// The sum of `k` over 100 rows.
    SumRange,
    /// `c` of 100 rows in its order.
    OrderRange,
    /// The different `c` of 100 rows in their order.
    DistinctRange,
    /// One added to `k`, which has an index.
    IndexUpdate,
    /// Another `c`.
    NonIndexUpdate,
    /// One row by its key.
    Delete,
    /// The row that was just deleted, with another `k` and `c` and, so that it can be checked,
    /// its first `pad`.
    InsertAgain,
    /// A row with a key that the engine chooses.
    InsertNew,
    /// `c` of the rows of one `k`, at most ten.
    ByIndex,
    /// How many rows lie in a range of `k`.
    CountIndexRange,
    /// The first ten rows from one `k` on.
    OrderByIndex,
    /// One order with its customer and its items.
    OrderWithItems,
    /// The latest ten orders of one customer with their items summed up.
    OrdersOfCustomer,
    /// All that the customers of one town and its postal code have ordered.
    MisledJoin,
    /// One row of texts of skewed lengths.
    SelectVariable,
    /// The length of the longest text among 100 rows.
    LongestOfRange,
    /// Other texts of other lengths in one row.
    ReplaceVariable,
    /// The oldest row of this client's share.
    DeleteOldest,
    /// One row of Hungarian text.
    SelectText,
    /// The names of 100 rows in their order.
    OrderText,
    ReplaceText,
}

/// A statement and how often it is executed in one go, on one table.
#[derive(Clone, Copy, Debug)]
pub struct MixStep {
    pub statement: MixStatement,
    pub times: u8,
}

impl MixStep {
    pub const fn once(statement: MixStatement) -> Self {
        Self { statement, times: 1 }
    }

    pub const fn times(statement: MixStatement, times: u8) -> Self {
        Self { statement, times }
    }
}

impl MixStatement {
    #[must_use]
    pub fn writes(self) -> bool {
        self.rows_added() != 0
            || matches!(
                self,
                Self::IndexUpdate
                    | Self::NonIndexUpdate
                    | Self::ReplaceVariable
                    | Self::ReplaceText
            )
    }

    /// By how many rows each row that it changes makes the table longer.
    pub fn rows_added(self) -> i64 {
        match self {
            Self::InsertAgain | Self::InsertNew => 1,
            Self::Delete | Self::DeleteOldest => -1,
            _ => 0,
        }
    }
}
