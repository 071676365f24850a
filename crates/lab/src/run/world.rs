//! Engines, time and quiet, as a run needs them: tests of its order have mocks of all three.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use host::observe::{Quiet, QuietWait};
use load::resource::ServerSide;
use plan::Plan;

use crate::options::RunOptions;
use crate::workload::{self, Workload};

pub(super) trait World {
    /// The workload that the plan names.
    fn workload<'p>(&'p self, plan: &'p Plan) -> Box<dyn Workload + 'p>;

    fn now(&self) -> Instant;

    /// Waits until other programs leave the machine alone.
    fn wait_for_quiet(
        &self,
        quiet: &Quiet,
        side: Option<&ServerSide>,
        interrupted: &AtomicBool,
        tell: &dyn Fn(String),
    ) -> QuietWait;
}

/// This machine and its clock.
pub(super) struct ThisMachine;

impl World for ThisMachine {
    fn workload<'p>(&'p self, plan: &'p Plan) -> Box<dyn Workload + 'p> {
        workload::of(plan)
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn wait_for_quiet(
        &self,
        quiet: &Quiet,
        side: Option<&ServerSide>,
        interrupted: &AtomicBool,
        tell: &dyn Fn(String),
    ) -> QuietWait {
        quiet.wait(side, interrupted, tell)
    }
}

/// Options of a run and the world that it is carried out in.
#[derive(Clone, Copy)]
pub(super) struct Laboratory<'a> {
    pub options: &'a RunOptions<'a>,
    pub world: &'a dyn World,
}

impl Laboratory<'_> {
    /// Whether the time limit has passed.
    pub(super) fn is_over(&self) -> bool {
        self.options.time_limit.is_some_and(|limit| self.world.now() >= limit.end)
    }

    /// How long all waits for a quiet machine may take together.
    pub(super) fn wait_allowance(&self) -> Option<Duration> {
        const SHARE: u32 = 10;
        let limit = self.options.time_limit?;
        Some(limit.end.saturating_duration_since(self.world.now()) / SHARE)
    }
}
