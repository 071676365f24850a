//! Sessions of an engine: a target and a pool of open ones for each of the plan's steps.

use connect::postgres::thin::WaitLimits;

use super::client::SqlSession;
use super::load::Pool;
use super::subject::SqlSubject;
use super::target::SqlTarget;
use crate::error::RunError;
use plan::{Level, Levels, PlanError, STEP};

impl<'a> SqlSubject<'a> {
    pub(super) fn close_sessions(&mut self) {
        let steps = self.deployed.targets.keys();
        self.pools = steps.map(|step| (step.clone(), Pool::default())).collect();
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
        let step = self.step_at(levels);
        match (self.deployed.targets.get(step), self.pools.get(step)) {
            (Some(target), Some(pool)) => Ok((target, pool)),
            _ => Err(PlanError::impossible(STEP, format!("there is no step `{step}`")).into()),
        }
    }

    /// The engine before any step.
    pub(super) fn first_target(&self) -> Result<&SqlTarget, RunError> {
        self.at(&self.site.plan.base()).map(|(target, _)| target)
    }

    pub(super) fn open(
        &self,
        target: &SqlTarget,
    ) -> Result<Box<dyn SqlSession + Send + 'a>, RunError> {
        let limits = WaitLimits {
            timeout: self.site.plan.load.timeout(),
            interrupted: self.site.interrupted,
        };
        let opened = target.open(limits);
        Ok(opened.map_err(host::DeployError::from)?)
    }

    /// A session of a client, or a new one.
    pub(super) fn pooled(
        &self,
        target: &SqlTarget,
        pool: &Pool<'a>,
    ) -> Result<Box<dyn SqlSession + Send + 'a>, RunError> {
        let open = pool.lock().iter_mut().find_map(Option::take);
        open.map_or_else(|| self.open(target), Ok)
    }

    pub(super) fn stoppable<T: Send>(&self, target: &SqlTarget, work: impl FnOnce() -> T) -> T {
        target.while_stoppable(self.site.interrupted, work)
    }
}
