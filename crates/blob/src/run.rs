//! The timed pass over the blobs of one target, and the separate pass that checks them. The clock
//! is read before the first blob and after the last, never in between.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde::Serialize;

use crate::{Access, Error, Recipe};

/// After this many ids in a row without a blob, no further one is expected.
const MISSES_MAX: u64 = 10_000_000;
/// How often progress is shown, in blobs: a power of two.
const SHOW_EVERY: u64 = 4096;

/// The operation on each blob.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    Read,
    /// Overwritten with the content of a generation; sizes stay unchanged.
    Update {
        seed: u64,
        generation: u64,
        /// From which the sizes follow; without it each is looked up, inside the clock.
        sizes: Option<Recipe>,
    },
    /// Its file is opened and closed, no more.
    OpenAndClose,
}

/// How many, and in how many transactions.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub count: u64,
    /// A transaction for each instead of one for all.
    pub transaction_per_blob: bool,
    /// Whether a checkpoint follows, timed by itself.
    pub checkpoint: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Timed {
    pub blobs: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Ids without a blob; they cost time too.
    pub misses: u64,
    /// From before BEGIN until after COMMIT.
    pub time: Duration,
    /// The checkpoint after it, where one was asked for.
    pub checkpoint: Option<Duration>,
}

impl Timed {
    #[must_use]
    pub fn with_checkpoint(&self) -> Duration {
        self.time + self.checkpoint.unwrap_or_default()
    }
}

/// Does `work` to `pace.count` blobs, in the order of `ids`. Interrupted, or failing, an update in
/// one transaction is rolled back, where the database has a journal to do it by.
///
/// # Errors
/// What the target says; [`Error::Settings`] if no id has a blob; [`Error::Interrupted`], or
/// [`Error::InterruptedAfter`] where blobs were overwritten and stay so.
pub fn time(
    access: &mut dyn Access,
    ids: &mut dyn Iterator<Item = u64>,
    work: Work,
    pace: &Pace,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Timed, Error> {
    progress.set_length(pace.count);
    let mut pass = TimedPass { work, blobs: 0, bytes: 0, misses: 0, buffer: Vec::new() };
    let begin = Instant::now();
    if !pace.transaction_per_blob {
        access.begin()?;
    }
    if let Err(error) = pass.all(access, ids, pace.count, progress, interrupted) {
        let undone = !pace.transaction_per_blob && access.rollback()?;
        let writes = matches!(work, Work::Update { .. });
        return Err(match error {
            Error::Interrupted if writes && !undone => {
                Error::InterruptedAfter { blobs: pass.blobs }
            }
            other => other,
        });
    }
    if !pace.transaction_per_blob {
        access.commit()?;
    }
    let time = begin.elapsed();
    let checkpoint = if pace.checkpoint {
        let begin = Instant::now();
        access.checkpoint()?;
        Some(begin.elapsed())
    } else {
        None
    };
    let TimedPass { blobs, bytes, misses, .. } = pass;
    Ok(Timed { blobs, bytes, misses, time, checkpoint })
}

struct TimedPass {
    work: Work,
    blobs: u64,
    bytes: u64,
    misses: u64,
    buffer: Vec<u8>,
}

impl TimedPass {
    fn all(
        &mut self,
        access: &mut dyn Access,
        ids: &mut dyn Iterator<Item = u64>,
        count: u64,
        progress: &ProgressBar,
        interrupted: &AtomicBool,
    ) -> Result<(), Error> {
        let mut misses = 0;
        while self.blobs < count {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let Some(id) = ids.next() else { return Ok(()) };
            if self.one(access, id)? {
                self.blobs += 1;
                misses = 0;
                if self.blobs.is_multiple_of(SHOW_EVERY) {
                    progress.set_position(self.blobs);
                }
                continue;
            }
            self.misses += 1;
            misses += 1;
            if misses == MISSES_MAX {
                let problem = format!("{misses} ids in a row have no blob: see --start, --max-id");
                return Err(Error::Settings { problem });
            }
        }
        Ok(())
    }

    fn one(&mut self, access: &mut dyn Access, id: u64) -> Result<bool, Error> {
        match self.work {
            Work::Read => {
                let bytes = &mut self.bytes;
                access.read(id, &mut |blob| *bytes += blob.len() as u64)
            }
            Work::OpenAndClose => access.open_and_close(id),
            Work::Update { seed, generation, sizes } => {
                let size = match sizes {
                    Some(recipe) if id <= recipe.count => recipe.size(id),
                    _ => match access.size(id)? {
                        Some(size) => size as usize,
                        None => return Ok(false),
                    },
                };
                self.buffer.resize(size, 0);
                crate::content(seed, id, generation, &mut self.buffer);
                let updated = access.update(id, &self.buffer)?;
                self.bytes += if updated { size as u64 } else { 0 };
                Ok(updated)
            }
        }
    }
}

/// Result of a checking pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Checked {
    /// Blobs that were looked at.
    pub blobs: u64,
    /// Ids whose blob is missing or has wrong bytes.
    pub wrong: Vec<u64>,
}

/// Reads the blobs of `ids` and compares every byte with what the recipe makes, in any generation
/// up to `newest`.
pub fn check(
    access: &mut dyn Access,
    recipe: &Recipe,
    newest: u64,
    ids: impl Iterator<Item = u64>,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Checked, Error> {
    let mut checked = Checked::default();
    for id in ids {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        let mut right = false;
        access.read(id, &mut |bytes| right = recipe.generation_of(id, newest, bytes).is_some())?;
        if !right {
            checked.wrong.push(id);
        }
        checked.blobs += 1;
        if checked.blobs.is_multiple_of(SHOW_EVERY) {
            progress.set_position(checked.blobs);
        }
    }
    Ok(checked)
}
