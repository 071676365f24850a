//! Answers of one engine, kept in the run's scratch folder until the other engines' come.

use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::answer::AnswerTable;
use super::entry::StatementEntry;
use crate::error::RunError;
use crate::workload::Answers;
use plan::ResultComparison;
use record::Answer;

/// The answers to the first sets of a deck, as they wait for the other engines.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    pub engine: String,
    /// By set, then by statement.
    pub answers: Vec<Vec<AnswerTable>>,
}

/// A run that is taken up again has only this to compare with: how many rows each answer had.
pub(crate) fn note_for_resumption(
    engine: &str,
    entry: &StatementEntry,
    fetched: &[Vec<AnswerTable>],
    answers: &mut Answers,
) -> Result<(), RunError> {
    let first: u64 = fetched.first().into_iter().flatten().map(AnswerTable::count).sum();
    let hash = xxh3_128(format!("{:?}", entry.deck.first()).as_bytes());
    let answer = Answer { status: 0, body_bytes: first, body_hash: hash };
    match answers.get(&entry.key) {
        Some(before) if *before != answer && entry.script.comparison != ResultComparison::None => {
            let what = format!(
                "before the run was taken up again its first answer had {} rows, now {engine} has \
                 {first}, or it was asked with other values",
                before.body_bytes
            );
            let (statement, columns) = (entry.key.clone(), Vec::new());
            Err(RunError::StatementAnswersDiffer { statement, what, columns })
        }
        Some(_) => Ok(()),
        None => {
            answers.insert(entry.key.clone(), answer);
            Ok(())
        }
    }
}

impl Kept {
    /// The answers that another engine, or an earlier turn, has left.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, RunError> {
        let failed = |source| RunError::Io { path: path.to_owned(), source };
        match File::open(path) {
            Ok(file) => {
                let kept = serde_json::from_reader(BufReader::new(file));
                kept.map(Some).map_err(|error| failed(error.into()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }

    /// Leaves it for the others.
    pub(crate) fn write(&self, path: &Path) -> Result<(), RunError> {
        let failed = |source| RunError::Io { path: path.to_owned(), source };
        let file = BufWriter::new(File::create(path).map_err(failed)?);
        serde_json::to_writer(file, self).map_err(|error| failed(error.into()))
    }
}
