//! Statements that are measured of a log: each distinct query with sets of its logged values, and its
//! slowest call where that is far from the mean.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;

use super::shape::{QueryShape, parametrized};
use super::{DistinctQuery, LogFacts, TAKEN_MAX};
use crate::error::{Error, Result};
use crate::names::QuotedNames;
use crate::sql_file;
use crate::statement::MeasuredStatement;

/// Sets of values that a statement is measured with.
const SETS_MAX: usize = 32;
/// The slowest call is measured by itself where it took this many times the mean, of the first queries.
const SLOWEST_FROM: f64 = 2.0;
const SLOWEST_MAX: usize = 5;

pub struct Taking<'a> {
    pub path: &'a Path,
    pub connection: &'a mut Connection,
    pub known: &'a QuotedNames,
}

impl Taking<'_> {
    pub fn statements(mut self, facts: LogFacts) -> Result<(Vec<MeasuredStatement>, LogFacts)> {
        let (mut statements, mut slowest, mut last) = (Vec::new(), Vec::new(), None);
        for query in facts.distinct.iter().take(TAKEN_MAX) {
            match self.of_query(query) {
                Ok(statement) => {
                    slowest.extend(self.slowest(query, &statement));
                    statements.push(statement);
                }
                Err(error) => last = Some(error),
            }
        }
        slowest.truncate(SLOWEST_MAX);
        statements.extend(slowest);
        match (statements.is_empty(), last) {
            (true, Some(error)) => Err(Error::UselessLog {
                log: self.path.display().to_string(),
                source: Box::new(error),
            }),
            _ => Ok((statements, facts)),
        }
    }

    /// A query with sets of its values where these have one shape, otherwise with those of its slowest
    /// call.
    fn of_query(&mut self, query: &DistinctQuery) -> Result<MeasuredStatement> {
        let alike = most_alike(&query.calls);
        let with_sets = parametrized(&alike).filter(|(_, sets)| !sets.is_empty());
        let mut statement = match with_sets {
            Some((text, sets)) => {
                let statement = self.check(query, &text, sets.first())?;
                let sets = sets.into_iter().take(SETS_MAX).collect();
                MeasuredStatement { text: statement.text, sets, ..statement }
            }
            None => self.check(query, query.slowest.text.as_deref().unwrap_or_default(), None)?,
        };
        statement.name.clone_from(&query.name);
        statement.executions = Some(query.count as u64);
        Ok(statement)
    }

    fn check(
        &mut self,
        query: &DistinctQuery,
        text: &str,
        set: Option<&BTreeMap<String, plan::Given>>,
    ) -> Result<MeasuredStatement> {
        let line = query.slowest.line;
        let names = set.map(|set| set.keys().cloned().collect()).unwrap_or_default();
        sql_file::one(self.path, line, text, names, self.connection, self.known)
    }

    /// The slowest call as a statement of its own, outside of the log's total.
    fn slowest(
        &mut self,
        query: &DistinctQuery,
        statement: &MeasuredStatement,
    ) -> Option<MeasuredStatement> {
        let mean = query.total_seconds? / query.count as f64;
        let is_far = query.slowest.seconds? > mean * SLOWEST_FROM;
        if !is_far || statement.sets.is_empty() {
            return None;
        }
        let alone = self.check(query, query.slowest.text.as_deref()?, None).ok()?;
        Some(MeasuredStatement { name: format!("{}, slowest call", query.name), ..alone })
    }
}

/// The calls of the shape that most of them have.
fn most_alike(calls: &[QueryShape]) -> Vec<&QueryShape> {
    let alike = |one: &QueryShape| calls.iter().filter(|other| other.is_like(one)).count();
    let most = calls.iter().max_by_key(|one| alike(one));
    most.map_or_else(Vec::new, |most| calls.iter().filter(|one| one.is_like(most)).collect())
}
