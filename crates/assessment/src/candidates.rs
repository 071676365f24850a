//! The statements that might be measured, and those that are not, each with its reason.

use std::path::Path;
use std::time::Duration;

use engine::EngineSpec;
use migrate::{AuditReport, SourceSchema};
use record::NotMeasured;

use crate::block_time::TimedStatement;
use crate::derive::Tables;
use crate::error::Result;
use crate::pilot::{self, PilotResult};
use crate::preparation::StepResults;
use crate::remedies::Remedies;
use crate::statement::MeasuredStatement;

pub struct Candidates {
    statements: Vec<MeasuredStatement>,
    /// The same, in the same order, with values in the place of parameters.
    pub filled: Vec<MeasuredStatement>,
    /// The statements that are not measured so far.
    pub left_out: Vec<NotMeasured>,
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
        let connection = connect::sqlite::open_read_only(copy)?;
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
                    "it reads {table}, of which PostgreSQL refuses too much: repair that first"
                );
                candidates.left_out.push(statement.left_out(why));
                continue;
            }
            match pilot::filled(&statement, &connection)? {
                Some(filled) => {
                    candidates.filled.push(filled);
                    candidates.statements.push(statement);
                }
                None => {
                    let why = "there is no value for its parameter";
                    candidates.left_out.push(statement.left_out(why));
                }
            }
        }
        Ok(candidates)
    }

    /// How often the log has each.
    pub fn executions(&self) -> Vec<Option<u64>> {
        self.statements.iter().map(|statement| statement.executions).collect()
    }

    /// Those that every engine answers in time at some step. `results` are those of each of `engines`.
    pub fn timed(
        &mut self,
        engines: &[EngineSpec],
        results: &[StepResults],
    ) -> Vec<TimedStatement> {
        let mut timed = Vec::new();
        for (place, statement) in self.statements.iter().enumerate() {
            let of_statement: Vec<Vec<Option<&PilotResult>>> = results
                .iter()
                .map(|steps| steps.iter().map(|step| step.as_ref()?.get(place)).collect())
                .collect();
            match usable(statement, &of_statement) {
                Some(usable) => timed.push(usable),
                None => self.left_out.push(statement.left_out(why_not(
                    statement,
                    engines,
                    &of_statement,
                ))),
            }
        }
        timed
    }
}

/// A statement with the steps at which every engine answers in time; none where there is no such step.
fn usable(
    statement: &MeasuredStatement,
    results: &[Vec<Option<&PilotResult>>],
) -> Option<TimedStatement> {
    let time = |result: &PilotResult| match result {
        PilotResult::Took(time) => Some(*time),
        PilotResult::TooSlow(_) | PilotResult::Refused(_) => None,
    };
    let times: Vec<Vec<Option<Duration>>> = results
        .iter()
        .map(|steps| steps.iter().map(|result| result.and_then(time)).collect())
        .collect();
    let count = results.iter().map(Vec::len).max().unwrap_or(0);
    // At a step that does not change an engine it is what it was before.
    let works = |of_engine: &Vec<Option<&PilotResult>>, step: usize| {
        let last = of_engine.iter().take(step + 1).rev().find_map(|result| *result);
        last.is_some_and(|result| time(result).is_some())
    };
    let steps: Vec<bool> =
        (0..count).map(|step| results.iter().all(|of_engine| works(of_engine, step))).collect();
    let is_usable = steps.contains(&true);
    is_usable.then(|| TimedStatement { statement: statement.clone(), times, steps })
}

/// The reason of the first engine that has one.
fn why_not(
    statement: &MeasuredStatement,
    engines: &[EngineSpec],
    results: &[Vec<Option<&PilotResult>>],
) -> String {
    for (engine, of_engine) in engines.iter().zip(results) {
        let refused = of_engine.iter().flatten().find_map(|result| match result {
            PilotResult::Refused(message) => Some(message),
            PilotResult::Took(_) | PilotResult::TooSlow(_) => None,
        });
        if let Some(message) = refused {
            return format!("{message}{}", way_out(statement, message));
        }
        let last = of_engine.iter().flatten().next_back();
        if let Some(PilotResult::TooSlow(limit)) = last {
            return format!(
                "more than {} s on {}, at its last step too: it does not fit the budget (--budget)",
                limit.as_secs(),
                engine.label()
            );
        }
    }
    "at no step do all engines answer in time (--budget)".to_owned()
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
