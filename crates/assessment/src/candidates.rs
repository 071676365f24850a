//! The statements that might be measured, and those that are not, each with its reason.

use std::path::Path;
use std::time::Duration;

use engine::EngineSpec;
use migrate::{AuditReport, SourceSchema};

use crate::budget::{LeftOut, TimedStatement};
use crate::derive::Tables;
use crate::error::Result;
use crate::pilot::{self, PilotResult};
use crate::preparation::PilotResults;
use crate::remedies::Remedies;
use crate::result::duration;
use crate::statement::MeasuredStatement;

pub struct Candidates {
    statements: Vec<MeasuredStatement>,
    /// The same, in the same order, with values in the place of parameters.
    pub filled: Vec<MeasuredStatement>,
    /// The statements that are not measured so far.
    pub left_out: Vec<LeftOut>,
}

impl Candidates {
    /// The user's statements, or those derived from the tables, without those on tables that
    /// cannot be compared.
    pub fn new(
        written: Option<Vec<MeasuredStatement>>,
        copy: &Path,
        schema: &SourceSchema,
        audit: &AuditReport,
        remedies: &Remedies,
    ) -> Result<Self> {
        let connection = engine::sqlite::open_read_only(copy)?;
        let all = match written {
            Some(written) => written,
            None => Tables::new(schema, audit)
                .statements(&connection, |table| remedies.may_be_measured(table))?,
        };
        let mut candidates =
            Self { statements: Vec::new(), filled: Vec::new(), left_out: Vec::new() };
        for statement in all {
            let unfit = statement.tables.iter().find(|table| !remedies.may_be_measured(table));
            if let Some(table) = unfit {
                let why = format!(
                    "it reads {table}, of which PostgreSQL refuses too much: mend that first"
                );
                candidates.left_out.push(LeftOut::new(&statement, why));
                continue;
            }
            match pilot::filled(&statement, &connection)? {
                Some(filled) => {
                    candidates.filled.push(filled);
                    candidates.statements.push(statement);
                }
                None => {
                    let why = "there is no value for its parameter".to_owned();
                    candidates.left_out.push(LeftOut::new(&statement, why));
                }
            }
        }
        Ok(candidates)
    }

    /// Those that every engine answers in time, with their times in the order of `engines`. Further
    /// lines of SQLite have the times of the first.
    pub fn timed(&mut self, engines: &[EngineSpec], tried: &[PilotResults]) -> Vec<TimedStatement> {
        let on = |engine: &EngineSpec| {
            let label = engine.label();
            tried.iter().find(|results| results.engine == label).or(tried.first())
        };
        let mut timed = Vec::new();
        for (place, statement) in self.statements.iter().enumerate() {
            let outcomes: Vec<(String, &PilotResult)> = engines
                .iter()
                .filter_map(|engine| Some((engine.label(), on(engine)?.results.get(place)?)))
                .collect();
            let times = outcomes.iter().map(|(_, outcome)| match outcome {
                PilotResult::Took(time) => Some(*time),
                _ => None,
            });
            match times.collect::<Option<Vec<Duration>>>() {
                Some(times) => timed.push(TimedStatement { statement: statement.clone(), times }),
                None => {
                    let why = why_not(statement, &outcomes);
                    self.left_out.push(LeftOut::new(statement, why));
                }
            }
        }
        timed
    }
}

/// The reason of the first engine that has one, and the times of the others.
fn why_not(statement: &MeasuredStatement, outcomes: &[(String, &PilotResult)]) -> String {
    for (engine, outcome) in outcomes {
        match outcome {
            PilotResult::Took(_) => {}
            PilotResult::Refused(message) => {
                return format!("{message}{}", way_out(statement, message));
            }
            PilotResult::TooSlow(limit) => {
                let took = outcomes.iter().filter_map(|(engine, outcome)| match outcome {
                    PilotResult::Took(time) => Some(format!("{engine} took {}", duration(*time))),
                    _ => None,
                });
                let took: Vec<String> = took.collect();
                let others = match took.is_empty() {
                    true => String::new(),
                    false => format!("; tried a few times, {}", took.join(", ")),
                };
                return format!(
                    "more than {} s on {engine}: it does not fit the budget (--budget){others}",
                    limit.as_secs()
                );
            }
        }
    }
    String::new()
}

/// Where a user's statement fails on PostgreSQL, its other form has a place.
fn way_out(statement: &MeasuredStatement, message: &str) -> String {
    let file = statement.place.as_ref().and_then(|place| place.split(", line").next());
    match file.filter(|_| message.starts_with("PostgreSQL")) {
        Some(file) => match file.strip_suffix(".sql") {
            Some(stem) => format!("; write it in PostgreSQL's words in {stem}.postgres.sql"),
            None => "; write it by hand as q.sql with q.postgres.sql beside it (--sql)".to_owned(),
        },
        None => String::new(),
    }
}
