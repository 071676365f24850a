//! Readings of every counter at the two ends of a clock, taken by the owner of the clock: a trial
//! around the whole load, or a workload around the measured part of one whose clients connect and
//! warm up first.

use crate::workload::Counters;
use load::resource::{MachineCounters, ResourceSnapshot, ResourceUse, ServerSide};

/// All counters at one moment.
pub(crate) struct CounterReading {
    used: Option<ResourceSnapshot>,
    machine: Option<MachineCounters>,
    counters: Counters,
}

/// Use and growth between two readings.
#[derive(Clone, Debug, Default)]
pub(crate) struct MeasuredPart {
    pub used: Option<ResourceUse>,
    pub machine: Option<MachineCounters>,
    /// Growth of the engine's counters.
    pub counters: Counters,
    /// Right answers by the second in which they ended, where they are counted so.
    pub answers_by_second: Vec<u64>,
}

impl CounterReading {
    pub(crate) fn take(side: Option<&ServerSide>) -> Self {
        Self {
            used: side.and_then(|side| side.snapshot().ok()),
            machine: MachineCounters::read().ok(),
            counters: Counters::new(),
        }
    }

    /// Adds the engine's own counters. Asking for them costs the server time: the last ones are read
    /// after the processes, and a trial's first ones before.
    pub(crate) fn with(self, counters: Counters) -> Self {
        Self { counters, ..self }
    }

    /// From `self` to `after`. A counter counts that both have.
    pub(crate) fn until(self, after: Self) -> MeasuredPart {
        let grown = after.counters.into_iter().filter_map(|(name, value)| {
            let grown = value - self.counters.get(&name)?;
            Some((name, grown))
        });
        MeasuredPart {
            used: after.used.zip(self.used).map(|(after, before)| after.since(&before)),
            machine: after.machine.zip(self.machine).map(|(after, before)| after.since(&before)),
            counters: grown.collect(),
            answers_by_second: Vec::new(),
        }
    }
}
