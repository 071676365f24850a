//! Answers of an engine, fetched untimed and compared with those of the engines before it, and of the
//! versions of the same statement.

use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_128;

use super::SqlSubject;
use crate::error::RunError;
use crate::workload::sql::answer::{AnswerTable, difference_of};
use crate::workload::sql::client::{SqlError, SqlFailure, SqlSession, fetch};
use crate::workload::sql::deck;
use crate::workload::sql::entry::StatementEntry;
use crate::workload::sql::kept::{Kept, note_for_resumption};
use crate::workload::sql::load::settle_plan;
use crate::workload::{Answers, SLOW};
use plan::{PlanError, Statement};

/// The most sets of values whose whole answers are compared, of each operation and cell ...
const CHECKED_SETS_MAX: usize = 100;
/// ... and fewer where that takes longer; at least one.
const CHECKING_AT_MOST: Duration = Duration::from_secs(3);

/// A statement at one cell.
pub(super) struct Asked<'a> {
    pub entry: &'a StatementEntry,
    pub statement: &'a Statement,
    /// Of the values drawn.
    pub names: Vec<String>,
    /// The data that it is asked of: answers of other data may differ.
    pub scope: String,
    /// The engine, with the version of the statement where it has some.
    pub label: String,
}

impl SqlSubject<'_> {
    /// Fetches the answers to the first sets of an entry and compares them; whether that took long.
    pub(super) fn check_entry(
        &self,
        session: &mut dyn SqlSession,
        asked: &Asked<'_>,
        answers: &mut Answers,
    ) -> Result<bool, RunError> {
        let entry = asked.entry;
        let (fetched, longest) = self.fetch_sets(session, entry)?;
        let is_slow = longest > SLOW;
        if !is_slow {
            let name = &entry.script.name;
            let settled = settle_plan(session, entry);
            settled.map_err(|error| error.at(&format!("{}, {name}", self.label())))?;
        }
        check_ignored(entry, fetched.first().map(Vec::as_slice).unwrap_or_default())?;
        let question = format!("{}{}", asked.scope, entry.question);
        let file = format!("answers-{:032x}.json", xxh3_128(question.as_bytes()));
        let file = self.site.scratch.join(file);
        let Some(kept) = Kept::read(&file)? else {
            note_for_resumption(self.label(), entry, &fetched, answers)?;
            Kept { engine: asked.label.clone(), answers: fetched }.write(&file)?;
            return Ok(is_slow);
        };
        let pairs = kept.answers.iter().zip(&fetched).zip(&entry.deck);
        for ((theirs, ours), values) in pairs {
            for (theirs, ours) in theirs.iter().zip(ours) {
                let (one, other) = ((kept.engine.as_str(), theirs), (asked.label.as_str(), ours));
                if let Some(found) = difference_of(&entry.script, one, other) {
                    let shown = deck::shown(asked.statement, &asked.names, values);
                    return Err(RunError::StatementAnswersDiffer {
                        statement: format!("{}{shown}", entry.script.name),
                        what: found.words,
                        columns: found.columns,
                    });
                }
            }
        }
        // A further version of the statement, which the engines before did not ask.
        if !answers.contains_key(&entry.key) {
            note_for_resumption(self.label(), entry, &fetched, answers)?;
        }
        Ok(is_slow)
    }

    fn fetch_sets(
        &self,
        session: &mut dyn SqlSession,
        entry: &StatementEntry,
    ) -> Result<(Vec<Vec<AnswerTable>>, Duration), RunError> {
        let (begun, mut longest) = (Instant::now(), Duration::ZERO);
        let script = &entry.script;
        let failed = |failure| match failure {
            SqlFailure::Statement(error) => RunError::Plan(error),
            SqlFailure::Connection(error) => error,
        };
        let in_first = |error: SqlError| match script.steps.first() {
            Some(step) => failed(error.in_step(self.label(), script, step)),
            None => error.at(self.label()),
        };
        session.prepare(script).map_err(in_first)?;
        let mut answers = Vec::new();
        for (set, values) in entry.deck.iter().take(CHECKED_SETS_MAX).enumerate() {
            if set > 0 && begun.elapsed() > CHECKING_AT_MOST {
                break;
            }
            let asked = Instant::now();
            let tables = fetch(session, self.label(), script, values).map_err(failed)?;
            longest = longest.max(asked.elapsed());
            let counted = tables.iter().map(AnswerTable::count).sum();
            entry.note_rows(set, counted);
            answers.push(tables);
        }
        Ok((answers, longest))
    }
}

/// Refuses a name that is not a column of the answer: nothing would be left out by it. That of a
/// statement that writes may be a column of its table.
fn check_ignored(entry: &StatementEntry, tables: &[AnswerTable]) -> Result<(), PlanError> {
    let script = &entry.script;
    if script.writes {
        return Ok(());
    }
    let columns = || tables.iter().flat_map(|table| &table.columns);
    let is_unknown = |name: &&String| !columns().any(|column| column.eq_ignore_ascii_case(name));
    let Some(unknown) = script.ignored.iter().find(is_unknown) else { return Ok(()) };
    let known: Vec<&str> = columns().map(String::as_str).collect();
    let message = format!(
        "{}: {unknown} is not a column of the answer; there are {}",
        script.name,
        known.join(", ")
    );
    Err(PlanError::impossible(&format!("statement.{}.ignore_columns", script.operation), message))
}
