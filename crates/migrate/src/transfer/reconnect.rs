//! Reconnection after a lost connection, a bounded number of times and after growing waits.
//! Finished steps stay finished; a migration in one transaction begins again.

use std::time::Duration;

use engine::PostgresUrl;

use super::begin::PreparedMigration;
use super::run::Migration;
use super::state;
use crate::target::TargetSession;
use crate::task::PATIENCE;
use crate::{Error, Task};

/// Doubled after each attempt, up to the longest.
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The connections that a migration has lost.
#[derive(Default)]
pub struct Outages {
    most: u32,
    pub replaced: u32,
    /// Attempts since a step was done.
    attempts: u32,
    /// Steps done at the last outage.
    steps_done: usize,
}

impl Outages {
    /// At most `most` attempts for each lost connection.
    pub fn at_most(most: u32) -> Self {
        Self { most, ..Self::default() }
    }

    fn wait(&self) -> Duration {
        FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.attempts)).min(LONGEST_WAIT)
    }

    /// Calls `connect` after growing waits until it succeeds.
    ///
    /// # Errors
    /// [`Error::Lost`] after the last attempt, [`Error::Interrupted`].
    pub async fn replace<T>(
        &mut self,
        lost: Error,
        task: Task<'_>,
        mut connect: impl AsyncFnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut cause = lost;
        while self.attempts < self.most {
            let wait = self.wait();
            self.attempts += 1;
            task.progress.set_message(format!(
                "{cause}; attempt {} of {} in {:.1} s",
                self.attempts,
                self.most,
                wait.as_secs_f64()
            ));
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = task.interruption() => return Err(Error::Interrupted),
            }
            match task.patiently(PATIENCE, connect()).await {
                Ok(connected) => {
                    self.replaced += 1;
                    return Ok(connected);
                }
                Err(error) if error.is_lost_connection() => cause = error,
                // The server may not know yet that the lost connection has ended.
                Err(error @ Error::Claimed { .. }) => cause = error,
                Err(error) => return Err(error),
            }
        }
        Err(Error::Lost { cause: Box::new(cause), attempts: self.most })
    }
}

impl Migration<'_> {
    /// Reconnects after `lost`, and reads from the target which steps are done.
    ///
    /// # Errors
    /// [`Error::Lost`] after the last attempt, [`Error::Interrupted`].
    pub async fn reconnect(
        &mut self,
        lost: Error,
        target: &PostgresUrl,
        task: Task<'_>,
    ) -> Result<(), Error> {
        let (session, prepared) = (&mut self.session, &mut self.prepared);
        let reattached = async || reattach(session, prepared, target, task).await;
        let done = self.outages.replace(lost, task, reattached).await?;
        if done > self.outages.steps_done {
            self.outages.attempts = 0;
        }
        self.outages.steps_done = done;
        Ok(())
    }
}

/// Reads over a new connection which steps are done; their number.
async fn reattach(
    session: &mut TargetSession,
    prepared: &mut PreparedMigration,
    target: &PostgresUrl,
    task: Task<'_>,
) -> Result<usize, Error> {
    // Only a worker may have lost its connection: then the advisory lock is still held.
    if session.run("ROLLBACK", task).await.is_err() {
        *session = TargetSession::claimed(target).await?;
    }
    session.wait_for_workers(task).await?;
    let found = state::find(&session.client).await?;
    let own = &prepared.saved;
    let same = |saved: &state::SavedMigration| {
        saved.source == own.source && saved.fingerprint == own.fingerprint
    };
    let found = found.filter(|found| same(&found.saved)).ok_or_else(|| {
        Error::Target(
            "while the connection was lost, another program ended this migration".to_owned(),
        )
    })?;
    prepared.steps = found.steps;
    Ok(prepared.steps.iter().filter(|step| step.done).count())
}

#[cfg(test)]
mod tests {
    use super::super::options::RECONNECTS;
    use super::*;

    #[test]
    fn waits_double_up_to_half_a_minute() {
        let waits = (0..RECONNECTS).map(|attempts| Outages { attempts, ..Outages::default() });
        let seconds: Vec<f64> = waits.map(|outages| outages.wait().as_secs_f64()).collect();
        assert_eq!(seconds, [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0]);
    }
}
