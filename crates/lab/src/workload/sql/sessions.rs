//! Sessions of an engine: a target and a pool of open ones for each of the plan's steps and each way to
//! connect.

use connect::postgres::thin::WaitLimits;

use super::client::SqlSession;
use super::load::Pool;
use super::subject::SqlSubject;
use super::target::{SessionPlace, SqlTarget};
use crate::error::RunError;
use plan::{Level, Levels, PlanError, STEP};

impl<'a> SqlSubject<'a> {
    pub(super) fn close_sessions(&mut self) {
        let places = self.deployed.targets.keys();
        self.pools = places.map(|place| (place.clone(), Pool::default())).collect();
    }

    /// The name of the step at `levels`.
    pub(super) fn step_at<'l>(&self, levels: &'l Levels) -> &'l str {
        match levels.get(STEP) {
            Some(Level::Text(step)) if !self.site.plan.steps.is_empty() => step,
            _ => "",
        }
    }

    /// The engine and its open sessions at the step of `levels`.
    pub(super) fn at(&self, levels: &Levels) -> Result<(&SqlTarget, &Pool<'a>), RunError> {
        let place = self.place_at(levels)?;
        match (self.deployed.targets.get(&place), self.pools.get(&place)) {
            (Some(target), Some(pool)) => Ok((target, pool)),
            _ => {
                let message = format!("there is no step `{}`", place.step);
                Err(PlanError::impossible(STEP, message).into())
            }
        }
    }

    pub(super) fn place_at(&self, levels: &Levels) -> Result<SessionPlace, RunError> {
        let of_step = SessionPlace::of_step(self.step_at(levels));
        let place = SessionPlace { by: self.site.plan.connection_by(levels)?, ..of_step.clone() };
        Ok(if self.deployed.targets.contains_key(&place) { place } else { of_step })
    }

    /// The engine before any step.
    pub(super) fn first_target(&self) -> Result<&SqlTarget, RunError> {
        self.at(&self.site.plan.base()).map(|(target, _)| target)
    }

    fn limits(&self) -> WaitLimits<'a> {
        WaitLimits { timeout: self.site.plan.load.timeout(), interrupted: self.site.interrupted }
    }

    /// A session for the laboratory's own questions.
    pub(super) fn open(
        &self,
        target: &SqlTarget,
    ) -> Result<Box<dyn SqlSession + Send + 'a>, RunError> {
        let opened = target.open_own(self.limits());
        Ok(opened.map_err(host::DeployError::from)?)
    }

    /// A session of a client, or a new one.
    pub(super) fn pooled(
        &self,
        target: &SqlTarget,
        pool: &Pool<'a>,
    ) -> Result<Box<dyn SqlSession + Send + 'a>, RunError> {
        let open = pool.lock().iter_mut().find_map(Option::take);
        let opened = open.map_or_else(|| target.open(self.limits()), Ok);
        Ok(opened.map_err(host::DeployError::from)?)
    }

    pub(super) fn stoppable<T: Send>(&self, target: &SqlTarget, work: impl FnOnce() -> T) -> T {
        target.while_stoppable(self.site.interrupted, work)
    }
}
