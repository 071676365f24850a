//! Designs: the tables from which queries are answered, and the choice between them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Error;
use crate::rollup;
use crate::rollup::dictionary::Cache;
use crate::schema::DataVersion;

/// The tables from which queries are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum AnswerDesign {
    /// From the daily facts, with the statements an ORM writes.
    #[default]
    Daily,
    /// From totals of days, months and years (see `rollup`).
    Rollup,
}

impl AnswerDesign {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The choice of the design: the one that the server was given; without one, totals while they
/// match the data, otherwise facts. Totals of other data never answer.
#[derive(Debug, Clone)]
pub(crate) struct Designs {
    asked_for: Option<AnswerDesign>,
    dictionary: Cache,
    /// Whether the log says that the totals are not used; it says so once until that changes.
    is_logged: Arc<AtomicBool>,
}

impl Designs {
    /// For a database with this data, and with a table of totals or none.
    pub fn new(
        asked_for: Option<AnswerDesign>,
        version: DataVersion,
        has_totals: bool,
    ) -> Result<Self, Error> {
        let designs = Self { asked_for, dictionary: Cache::default(), is_logged: Arc::default() };
        if designs.tries_totals() && !(has_totals && version.agrees()) {
            let totals = version.totals.filter(|_| has_totals);
            designs.without_totals(DataVersion { totals, ..version })?;
        }
        Ok(designs)
    }

    /// Whether totals may answer.
    pub fn tries_totals(&self) -> bool {
        self.asked_for != Some(AnswerDesign::Daily)
    }

    pub fn dictionary(&self) -> &Cache {
        &self.dictionary
    }

    /// The design that answered last, or will answer first.
    pub fn now(&self) -> AnswerDesign {
        if self.tries_totals() && !self.is_logged.load(Ordering::Relaxed) {
            AnswerDesign::Rollup
        } else {
            AnswerDesign::Daily
        }
    }

    /// For the caller to note that totals have answered.
    pub fn with_totals(&self) {
        self.is_logged.store(false, Ordering::Relaxed);
    }

    /// For the caller to note that the totals are not those of the data: an error if the server was
    /// given the design `rollup`, a line in the log otherwise.
    pub fn without_totals(&self, version: DataVersion) -> Result<(), Error> {
        let problem = match version.totals {
            None => rollup::Error::Missing,
            Some(_) => rollup::Error::Stale,
        };
        if self.asked_for == Some(AnswerDesign::Rollup) {
            return Err(Error::Totals(problem));
        }
        if !self.is_logged.swap(true, Ordering::Relaxed) {
            tracing::warn!("questions are answered from the facts of each day: {problem}");
        }
        Ok(())
    }
}
