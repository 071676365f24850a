//! Designs: the tables from which queries are answered, and the choice between them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Error;
use crate::rollup;
use crate::rollup::dictionary::Cache;
use crate::schema::DataVersion;

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

/// The choice of the design: the one that the server was given; without one, totals as long as they
/// are those of the data, facts when they are not. Totals of other data never answer.
#[derive(Debug, Clone)]
pub(crate) struct Designs {
    asked_for: Option<Design>,
    dictionary: Cache,
    /// Whether it was said that the totals are not used; said again when that changes.
    told: Arc<AtomicBool>,
}

impl Designs {
    /// For a database with this data, and with a table of totals or none.
    pub fn new(
        asked_for: Option<Design>,
        version: DataVersion,
        has_totals: bool,
    ) -> Result<Self, Error> {
        let designs = Self { asked_for, dictionary: Cache::default(), told: Arc::default() };
        if designs.tries_totals() && !(has_totals && version.agrees()) {
            let totals = version.totals.filter(|_| has_totals);
            designs.without_totals(DataVersion { totals, ..version })?;
        }
        Ok(designs)
    }

    /// Whether totals are to answer if they are those of the data.
    pub fn tries_totals(&self) -> bool {
        self.asked_for != Some(Design::Daily)
    }

    /// What ids stand for in the data.
    pub fn dictionary(&self) -> &Cache {
        &self.dictionary
    }

    /// The design that answered last, or will answer first.
    pub fn now(&self) -> Design {
        if self.tries_totals() && !self.told.load(Ordering::Relaxed) {
            Design::Rollup
        } else {
            Design::Daily
        }
    }

    /// To be called when totals have answered.
    pub fn with_totals(&self) {
        self.told.store(false, Ordering::Relaxed);
    }

    /// To be called where the totals are not those of the data: lets the facts answer, and says so
    /// once.
    pub fn without_totals(&self, version: DataVersion) -> Result<(), Error> {
        let problem = match version.totals {
            None => rollup::Error::Missing,
            Some(_) => rollup::Error::Stale,
        };
        if self.asked_for == Some(Design::Rollup) {
            return Err(Error::Totals(problem));
        }
        if !self.told.swap(true, Ordering::Relaxed) {
            tracing::warn!("questions are answered from the facts of each day: {problem}");
        }
        Ok(())
    }
}
