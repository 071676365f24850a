//! Options of a run: where it works, what it shows, how it is interrupted.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use host::HostOptions;
use indicatif::ProgressBar;
use parking_lot::Mutex;
use server::Locations;

use crate::forecast::Forecast;

/// Options of a run besides its plan.
#[derive(Clone)]
pub struct RunOptions<'a> {
    /// The folder of all runs.
    pub runs: &'a Path,
    /// As typed, without secrets.
    pub command_line: String,
    pub locations: &'a Locations,
    pub runtime: &'a tokio::runtime::Handle,
    /// Trials done, of those planned.
    pub progress: &'a ProgressBar,
    /// When the run is expected to end.
    pub expected_end: &'a ExpectedEnd,
    /// Tells the user one line, which stays on the screen.
    pub say: &'a dyn Fn(&str),
    /// The user asked to stop.
    pub interrupted: &'a AtomicBool,
    pub time_limit: Option<TimeLimit>,
}

/// The time that a run has.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimit {
    /// No trial begins later, and waits for a quiet machine take a tenth of the time until then.
    pub end: Instant,
    /// A run whose first block shows that fewer blocks will fit ends with it
    /// ([`RunError::BlocksDoNotFit`](crate::error::RunError::BlocksDoNotFit)).
    pub blocks_min: usize,
}

impl<'a> RunOptions<'a> {
    /// The part that setting an engine up needs.
    pub(crate) fn host(&self) -> HostOptions<'a> {
        let Self { locations, runtime, progress, interrupted, .. } = *self;
        HostOptions { locations, runtime, progress, interrupted }
    }
}

/// When a run is expected to end: a forecast and when it was made. Known once every engine was asked.
#[derive(Debug, Default)]
pub struct ExpectedEnd(Mutex<Option<(Instant, Forecast)>>);

impl ExpectedEnd {
    /// The time left until then; none before it is known, and none after it.
    pub fn left(&self) -> Option<Forecast> {
        let (made, forecast) = (*self.0.lock())?;
        forecast.after(made.elapsed())
    }

    pub(crate) fn set(&self, left: Forecast) {
        *self.0.lock() = Some((Instant::now(), left));
    }
}
