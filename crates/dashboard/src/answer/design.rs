//! Designs: the tables from which questions are answered.

/// How the database answers: which tables the statements read. One variant for each design.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Design {
    /// From the daily facts, with the statements an ORM writes.
    #[default]
    Daily,
    /// From totals of days, months and years (see `rollup`).
    Rollup,
}

impl Design {
    /// Every design with its name on the command line and in the header `Crossover-Design`.
    pub const ALL: [(&'static str, Self); 2] = [("daily", Self::Daily), ("rollup", Self::Rollup)];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Rollup => "rollup",
        }
    }
}
