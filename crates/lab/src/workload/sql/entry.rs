//! An operation at one cell: its script, the values it is executed with, and what is known of its
//! answers, by which timed executions are judged.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::client::Seen;
use super::script::Script;
use super::supply::Supply;
use super::value::AnswerValue;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use plan::{Level, Levels, Placeholders, ResultComparison, STEP, Statement};
use record::Outcome;

/// An operation at one cell, shared by all clients of an engine.
pub(crate) struct StatementEntry {
    /// Stands for operation and values on every engine.
    pub key: String,
    /// The same whatever the version of its text: all versions must answer it alike.
    pub question: String,
    pub script: Script,
    /// Values that the plan fills in everywhere.
    pub bound: Placeholders,
    /// The sets that are dealt; of a statement that writes the first ones of its supply.
    pub deck: Vec<Vec<AnswerValue>>,
    /// Of a statement that writes.
    pub supply: Option<Supply>,
    /// The known answer to each set.
    known: Vec<KnownEntry>,
    /// The first failure under the present load, in the engine's words.
    first_error: Mutex<Option<String>>,
    /// Executions under the present load, and those of them that changed no row.
    executions: AtomicU64,
    without_effect: AtomicU64,
    /// Attempts after the first.
    retries: AtomicU64,
}

/// An entry as a client process gets it.
#[derive(Serialize, Deserialize)]
pub(crate) struct EntryJob {
    key: String,
    script: Script,
    values: EntryValues,
    known: Vec<(Option<u64>, Option<u64>)>,
}

/// Executions of an entry by a client process in a trial.
#[derive(Serialize, Deserialize)]
pub(crate) struct EntryNotes {
    /// Rows and hash of the answer to each set, where it has been executed.
    known: Vec<(Option<u64>, Option<u64>)>,
    first_error: Option<String>,
    executions: u64,
    without_effect: u64,
    retries: u64,
}

/// The values that an operation is executed with.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct EntryValues {
    deck: Vec<Vec<AnswerValue>>,
    supply: Option<Supply>,
}

impl EntryValues {
    /// Sets that are drawn and drawn again.
    pub(crate) fn dealt(deck: Vec<Vec<AnswerValue>>) -> Self {
        Self { deck, supply: None }
    }

    /// Sets that are used up; `draws` of them are looked at before.
    pub(crate) fn supplied(supply: Supply, draws: u32) -> Self {
        let deck = (0..supply.sets().min(draws.into())).map(|number| supply.set(number)).collect();
        Self { deck, supply: Some(supply) }
    }
}

/// The known answer: of the untimed pass, otherwise of the first execution.
#[derive(Default)]
struct KnownEntry {
    rows: OnceLock<u64>,
    hash: OnceLock<u64>,
}

impl KnownEntry {
    /// Keeps what is not known yet; `false` where something else is.
    fn take_over(&self, rows: Option<u64>, hash: Option<u64>) -> bool {
        let keep = |known: &OnceLock<u64>, seen: Option<u64>| {
            seen.is_none_or(|seen| *known.get_or_init(|| seen) == seen)
        };
        keep(&self.rows, rows) & keep(&self.hash, hash)
    }
}

impl StatementEntry {
    pub(crate) fn new(
        key: String,
        question: String,
        script: Script,
        bound: Placeholders,
        values: EntryValues,
    ) -> Self {
        let EntryValues { deck, supply } = values;
        let known = deck.iter().map(|_| KnownEntry::default()).collect();
        Self {
            key,
            question,
            script,
            bound,
            deck,
            supply,
            known,
            first_error: Mutex::default(),
            executions: AtomicU64::new(0),
            without_effect: AtomicU64::new(0),
            retries: AtomicU64::new(0),
        }
    }

    pub(crate) fn job(&self) -> EntryJob {
        let (key, script) = (self.key.clone(), self.script.clone());
        let values = EntryValues { deck: self.deck.clone(), supply: self.supply.clone() };
        EntryJob { key, script, values, known: self.known_answers() }
    }

    pub(crate) fn of_job(job: &EntryJob) -> Self {
        let (key, script, values) = (job.key.clone(), job.script.clone(), job.values.clone());
        let entry = Self::new(key, String::new(), script, Placeholders::new(), values);
        for (known, (rows, hash)) in entry.known.iter().zip(&job.known) {
            known.take_over(*rows, *hash);
        }
        entry
    }

    pub(crate) fn notes(&self) -> EntryNotes {
        EntryNotes {
            known: self.known_answers(),
            first_error: self.first_error(),
            executions: self.executions.load(Ordering::Relaxed),
            without_effect: self.without_effect.load(Ordering::Relaxed),
            retries: self.retries.swap(0, Ordering::Relaxed),
        }
    }

    /// Takes over what a client process saw; `false` where it got another answer than is known.
    pub(crate) fn add_notes(&self, notes: &EntryNotes) -> bool {
        self.executions.fetch_add(notes.executions, Ordering::Relaxed);
        self.without_effect.fetch_add(notes.without_effect, Ordering::Relaxed);
        self.retries.fetch_add(notes.retries, Ordering::Relaxed);
        if let Some(error) = &notes.first_error {
            self.note_error(error);
        }
        let both = self.known.iter().zip(&notes.known);
        both.fold(true, |same, (known, (rows, hash))| known.take_over(*rows, *hash) && same)
    }

    fn known_answers(&self) -> Vec<(Option<u64>, Option<u64>)> {
        self.known.iter().map(|one| (one.rows.get().copied(), one.hash.get().copied())).collect()
    }

    /// Notes how many rows the whole answer to one set had.
    pub(crate) fn note_rows(&self, set: usize, rows: u64) {
        if let Some(known) = self.known.get(set) {
            known.rows.get_or_init(|| rows);
        }
    }

    /// Forgets the failures and effects of earlier loads.
    pub(crate) fn begin_load(&self) {
        *self.first_error.lock() = None;
        self.executions.store(0, Ordering::Relaxed);
        self.without_effect.store(0, Ordering::Relaxed);
    }

    /// Executions under the present load, and those of them that changed no row; none of a statement
    /// that only reads.
    pub(crate) fn effects(&self) -> Option<(u64, u64)> {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        self.script.changes_rows().then(|| (read(&self.executions), read(&self.without_effect)))
    }

    pub(crate) fn note_retry(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    /// Attempts after the first so far: another transaction was in the way.
    pub(crate) fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// Keeps what the engine said, if nothing else is kept.
    pub(crate) fn note_error(&self, words: impl ToString) {
        let mut first = self.first_error.lock();
        first.get_or_insert_with(|| words.to_string());
    }

    pub(crate) fn first_error(&self) -> Option<String> {
        self.first_error.lock().clone()
    }

    /// The values of a statement that writes, executed the `turn`th time by client `number` of
    /// `clients`: every `clients`th set of one list.
    pub(crate) fn supplied(
        &self,
        turn: u64,
        number: u16,
        clients: u16,
    ) -> Option<Vec<AnswerValue>> {
        let place = turn.saturating_mul(clients.into()).saturating_add(number.into());
        self.supply.as_ref().map(|supply| supply.set(place))
    }

    /// Judges a timed execution. In a mix that changes data (`changing`) answers may differ from
    /// one execution to the next, so nothing is expected of them.
    pub(crate) fn judge(&self, set: usize, seen: Seen, changing: bool) -> Outcome {
        if self.script.changes_rows() {
            self.executions.fetch_add(1, Ordering::Relaxed);
            self.without_effect.fetch_add(u64::from(seen.changed_rows == 0), Ordering::Relaxed);
        }
        let Some(known) = self.known.get(set) else { return Outcome::Ok };
        let comparison = &self.script.comparison;
        if changing || *comparison == ResultComparison::None {
            return Outcome::Ok;
        }
        let rows = seen.rows == *known.rows.get_or_init(|| seen.rows);
        let hash = *comparison == ResultComparison::Count
            || seen.hash == *known.hash.get_or_init(|| seen.hash);
        if rows && hash { Outcome::Ok } else { Outcome::WrongAnswer }
    }
}

/// Stands for an operation, its version and its values on every engine, whatever their texts are.
pub(crate) fn key_of(statement: &Statement, placeholders: &Placeholders) -> String {
    named(statement, placeholders, |name| {
        stands(statement, name) || statement.version_factors().any(|factor| factor == name)
    })
}

/// The same for all versions: another text asks the same question.
pub(crate) fn question_of(statement: &Statement, placeholders: &Placeholders) -> String {
    named(statement, placeholders, |name| stands(statement, name))
}

/// Whether the value of `name` is in the text of the statement, or bound by it.
fn stands(statement: &Statement, name: &str) -> bool {
    let (text, bound) = (format!("{{{name}}}"), format!(":{name}"));
    statement.all_texts().any(|one| one.contains(&text) || one.contains(&bound))
}

fn named(
    statement: &Statement,
    placeholders: &Placeholders,
    wanted: impl Fn(&str) -> bool,
) -> String {
    let used = placeholders.iter().filter(|(name, _)| wanted(name));
    let used: Vec<String> = used.map(|(name, value)| format!("{name}={value}")).collect();
    if used.is_empty() {
        statement.name.clone()
    } else {
        format!("{} ({})", statement.name, used.join(", "))
    }
}

/// A statement with its values, at a step.
pub(crate) type AskedAtStep = (Option<Level>, String);

pub(crate) fn at_step(levels: &Levels, entry: &StatementEntry) -> AskedAtStep {
    (levels.get(STEP).cloned(), entry.key.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(comparison: ResultComparison) -> StatementEntry {
        let script = Script {
            id: 0,
            operation: 0,
            name: "a".to_owned(),
            place: "a.sql".to_owned(),
            steps: Vec::new(),
            transaction: false,
            locks_at_begin: false,
            writes: false,
            comparison,
            digits: 15,
            ignored: Vec::new(),
        };
        StatementEntry::new(
            "a".to_owned(),
            "a".to_owned(),
            script,
            Placeholders::new(),
            EntryValues::dealt(vec![vec![AnswerValue::Integer(1)], vec![AnswerValue::Integer(2)]]),
        )
    }

    #[test]
    fn a_timed_answer_is_compared_with_the_first_of_its_values() {
        let rows = entry(ResultComparison::Rows);
        rows.note_rows(0, 2);
        let seen = |rows, hash| Seen { rows, hash, ..Seen::default() };
        assert_eq!(rows.judge(0, seen(2, 7), false), Outcome::Ok);
        assert_eq!(rows.judge(0, seen(3, 7), false), Outcome::WrongAnswer);
        assert_eq!(rows.judge(0, seen(2, 8), false), Outcome::WrongAnswer);
        assert_eq!(rows.judge(0, seen(2, 8), true), Outcome::Ok);
        assert_eq!(rows.judge(1, seen(5, 1), false), Outcome::Ok);
        assert_eq!(rows.judge(1, seen(4, 1), false), Outcome::WrongAnswer);

        let count = entry(ResultComparison::Count);
        assert_eq!(count.judge(0, seen(2, 7), false), Outcome::Ok);
        assert_eq!(count.judge(0, seen(2, 8), false), Outcome::Ok);
        assert_eq!(count.judge(0, seen(1, 7), false), Outcome::WrongAnswer);
        assert_eq!(entry(ResultComparison::None).judge(0, seen(1, 7), false), Outcome::Ok);
    }
}
