//! Control of a long task: a progress bar to move, and the user's request to stop, which ends every
//! wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use indicatif::ProgressBar;

use crate::Error;

/// Interval of the checks for an interruption while a server works.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// Time that a server has to end its work once the user asked to stop. One that is mute by then is
/// left alone, as by a program that was killed.
pub const PATIENCE: Duration = Duration::from_secs(5);

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

    /// The result of `work`, or the interruption as soon as it comes: for work that leaves nothing
    /// behind.
    pub async fn unless_interrupted<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.patiently(Duration::ZERO, work).await
    }

    /// The same for work that ends by itself when the user asks to stop, if the server answers: it
    /// has that long.
    pub async fn patiently<T>(
        &self,
        patience: Duration,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let impatience = async {
            self.interruption().await;
            tokio::time::sleep(patience).await;
        };
        tokio::select! {
            biased;
            done = work => done,
            () = impatience => Err(Error::Interrupted),
        }
    }
}

/// The result of `work`, or [`Error::Interrupted`] as soon as the flag is set: for questions that
/// change nothing.
pub async fn unless_interrupted<T>(
    interrupted: &AtomicBool,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    Task { progress: &HIDDEN, interrupted }.unless_interrupted(work).await
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
