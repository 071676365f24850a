//! Options of a run: where it works, what it shows, how it is interrupted.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use host::HostOptions;
use indicatif::ProgressBar;
use parking_lot::Mutex;
use server::Locations;

/// Options of a run besides its plan.
pub struct RunOptions<'a> {
    /// The folder of all runs.
    pub runs: &'a Path,
    /// As it was typed, without secrets.
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
}

impl<'a> RunOptions<'a> {
    /// The part that setting an engine up needs.
    pub(crate) fn host(&self) -> HostOptions<'a> {
        let Self { locations, runtime, progress, interrupted, .. } = *self;
        HostOptions { locations, runtime, progress, interrupted }
    }
}

/// When a run is expected to end; known after its first block.
#[derive(Debug, Default)]
pub struct ExpectedEnd(Mutex<Option<Instant>>);

impl ExpectedEnd {
    /// The time left until then.
    pub fn left(&self) -> Option<Duration> {
        let end = *self.0.lock();
        end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    pub(crate) fn set(&self, left: Duration) {
        let end = Instant::now().checked_add(left);
        *self.0.lock() = end;
    }
}
