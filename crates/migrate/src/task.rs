//! Control of a long task: a progress bar to move, and the user's request to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use indicatif::ProgressBar;

use crate::Error;

/// Interval of the checks for an interruption while a server works.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

static HIDDEN: LazyLock<ProgressBar> = LazyLock::new(ProgressBar::hidden);

#[derive(Clone, Copy)]
pub struct Task<'a> {
    pub progress: &'a ProgressBar,
    /// Set by SIGINT and SIGTERM.
    pub interrupted: &'a AtomicBool,
}

impl Task<'_> {
    /// The same task, for rows that have been counted before.
    pub fn uncounted(&self) -> Self {
        Self { progress: &HIDDEN, interrupted: self.interrupted }
    }

    pub fn advance(&self, rows: u64) -> Result<(), Error> {
        self.progress.inc(rows);
        self.check()
    }

    pub fn check(&self) -> Result<(), Error> {
        if self.interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Returns when the user asks to stop.
    pub async fn interruption(&self) {
        while !self.interrupted.load(Ordering::Relaxed) {
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
    }
}

/// Stops work on another thread when dropped.
#[derive(Default)]
pub struct StopOnDrop(Arc<AtomicBool>);

impl StopOnDrop {
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs blocking `work` on a thread of its own; an interruption reaches it.
pub async fn blocking<T: Send + 'static>(
    task: Task<'_>,
    work: impl FnOnce(Task<'_>) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let stopper = StopOnDrop::default();
    let mut running = tokio::task::spawn_blocking({
        let (stop, progress) = (stopper.flag(), task.progress.clone());
        move || work(Task { progress: &progress, interrupted: &stop })
    });
    let done = tokio::select! {
        done = &mut running => done,
        () = task.interruption() => {
            drop(stopper);
            running.await
        }
    };
    done.map_err(|error| Error::Worker(error.to_string()))?
}
