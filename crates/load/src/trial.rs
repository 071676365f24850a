//! Trial over HTTP: what its threads share.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::http::{PreparedRequest, Target};
use crate::{Expected, LoadError};
use plan::LoadOptions;
use record::Answer;
use record::Outcome;

/// State that all threads of a trial share.
pub(super) struct HttpTrial<'a> {
    pub target: &'a Target,
    pub options: &'a LoadOptions,
    pub(crate) requests: &'a [PreparedRequest],
    pub(crate) expected: &'a [Expected],
    /// The first answer of each request, where only likeness is expected.
    pub(crate) first: Vec<OnceLock<Answer>>,
    pub(crate) interrupted: &'a AtomicBool,
}

impl<'a> HttpTrial<'a> {
    pub(super) fn request(&self, index: u16) -> (&'a PreparedRequest, &'a Expected) {
        (&self.requests[usize::from(index)], &self.expected[usize::from(index)])
    }

    pub(super) fn judge(&self, index: u16, answer: &Answer, body: &[u8]) -> Outcome {
        let index = usize::from(index);
        self.expected[index].judge(answer, body, &self.first[index])
    }

    pub(super) fn check_interrupted(&self) -> Result<(), LoadError> {
        match self.interrupted.load(Ordering::Relaxed) {
            true => Err(LoadError::Interrupted),
            false => Ok(()),
        }
    }
}
