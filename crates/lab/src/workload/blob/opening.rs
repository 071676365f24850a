//! Share of opening and closing in the time that a file takes: nothing in a database.
//! Measured beside a trial and without a clock for each file, on files that were touched as long ago
//! as those of the trial.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::session_error::SessionError;
use super::trial::TrialWork;
use load::LoadError;
use load::resource::ThreadUse;

/// Number of files that are read; as many others are opened and closed.
const FILES: usize = 5_000;
/// Files between two looks at the clock, which then cost nothing.
const AT_ONCE: usize = 50;
/// Measured again while something had to come from storage, but not for ever.
const ATTEMPTS_MAX: u64 = 3;

/// Means, microseconds of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    pub reading_us: f64,
    pub opening_and_closing_us: f64,
}

pub(super) fn opening(work: &TrialWork<'_>) -> Result<Opening, LoadError> {
    let mut attempt = 0;
    loop {
        let before = ThreadUse::of_this_thread();
        let opening = measure(work, attempt)?;
        attempt += 1;
        let from_storage = ThreadUse::of_this_thread().since(&before).read_bytes;
        if from_storage == 0 || attempt == ATTEMPTS_MAX {
            return Ok(opening);
        }
    }
}

#[derive(Default)]
struct Took {
    files: usize,
    time: Duration,
}

impl Took {
    fn add(&mut self, files: usize, time: Duration) {
        self.files += files;
        self.time += time;
    }

    fn mean_us(&self) -> f64 {
        self.time.as_secs_f64() * 1e6 / self.files.max(1) as f64
    }
}

/// In turn some files are read and others opened, so that whatever the machine does meets both.
fn measure(work: &TrialWork<'_>, attempt: u64) -> Result<Opening, LoadError> {
    let mut session = work.open()?;
    // An order that no pass of the trial has.
    let mut ids = work.order(u64::MAX - attempt);
    ids.truncate(2 * FILES);
    let at_once = (ids.len() / 2).clamp(1, AT_ONCE);
    let failed = |error: SessionError| LoadError::InvalidLoad(error.0);
    let (mut read, mut opened) = (Took::default(), Took::default());
    for (turn, ids) in ids.chunks(at_once).enumerate() {
        let reads = turn.is_multiple_of(2);
        let start = Instant::now();
        for id in ids {
            let found = match reads {
                true => session.read(*id, &mut |bytes| {
                    black_box(bytes);
                }),
                false => session.open_and_close(*id),
            };
            found.map_err(failed)?;
        }
        let took = if reads { &mut read } else { &mut opened };
        took.add(ids.len(), start.elapsed());
    }
    Ok(Opening { reading_us: read.mean_us(), opening_and_closing_us: opened.mean_us() })
}
