//! The statements that might be measured, and those that are not, each with its reason.

use std::path::Path;

use engine::EngineSpec;
use migrate::{AuditReport, SourceSchema};

use super::budget::{LeftOut, Timed};
use super::cure::Cure;
use super::derive::Tables;
use super::moved::Moved;
use super::pilot::{self, Tried};
use super::statement::Statement;

pub struct Candidates {
    statements: Vec<Statement>,
    /// The same, in the same order, with values in the place of parameters.
    pub filled: Vec<Statement>,
    /// What is not measured so far.
    pub left_out: Vec<LeftOut>,
}

impl Candidates {
    /// The user's statements, or those derived from the tables, without those on tables that
    /// cannot be compared.
    pub fn new(
        written: Option<Vec<Statement>>,
        copy: &Path,
        schema: &SourceSchema,
        audit: &AuditReport,
        cure: &Cure,
    ) -> anyhow::Result<Self> {
        let connection = engine::sqlite::open_read_only(copy)?;
        let all = match written {
            Some(written) => written,
            None => Tables::new(schema, audit)
                .statements(&connection, |table| cure.may_be_measured(table))?,
        };
        let mut candidates =
            Self { statements: Vec::new(), filled: Vec::new(), left_out: Vec::new() };
        for statement in all {
            let unfit = statement.tables.iter().find(|table| !cure.may_be_measured(table));
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

    /// Those that every engine answers in time, with their times in the order of `engines`.
    pub fn timed(
        &mut self,
        engines: &[EngineSpec],
        on_sqlite: &[Tried],
        moved: &[Moved],
    ) -> Vec<Timed> {
        let mut timed = Vec::new();
        for (place, statement) in self.statements.iter().enumerate() {
            let tried = engines.iter().map(|engine| {
                let label = engine.label();
                let there = moved.iter().find(|moved| moved.engine == label);
                let tried = there.map_or(on_sqlite, |moved| &moved.tried);
                (label, tried.get(place))
            });
            let mut times = Vec::new();
            let mut why = None;
            for (engine, tried) in tried {
                match tried {
                    Some(Tried::Took(time)) => times.push(*time),
                    Some(Tried::TooSlow(limit)) => {
                        why = Some(format!(
                            "more than {} s on {engine}: it does not fit the budget (--budget)",
                            limit.as_secs()
                        ));
                        break;
                    }
                    Some(Tried::Refused(message)) => {
                        why = Some(format!("{message}{}", way_out(statement, message)));
                        break;
                    }
                    None => {}
                }
            }
            match why {
                None => timed.push(Timed { statement: statement.clone(), times }),
                Some(why) => self.left_out.push(LeftOut::new(statement, why)),
            }
        }
        timed
    }
}

/// Where a user's statement fails on PostgreSQL, its other form has a place.
fn way_out(statement: &Statement, message: &str) -> String {
    let file = statement.place.as_ref().and_then(|place| place.split(", line").next());
    match file.filter(|_| message.starts_with("PostgreSQL")) {
        Some(file) => {
            let stem = file.strip_suffix(".sql").unwrap_or(file);
            format!("; write it in PostgreSQL's words in {stem}.postgres.sql")
        }
        None => String::new(),
    }
}
