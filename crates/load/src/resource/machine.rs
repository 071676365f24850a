//! Counters of the whole machine, read before and after a trial: time stolen by the hypervisor,
//! pressure on processors, memory and disk, swapping.

use std::fs;

use rustix::param::{clock_ticks_per_second, page_size};
use serde::{Deserialize, Serialize};

use super::ResourceError;

/// Counters since the machine started, or their difference over a trial.
/// What this kernel does not offer is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineCounters {
    /// Processors that are counted below: all that are on, also those that this program may not use.
    pub processors: usize,
    /// Seconds, summed over processors, in which this virtual machine was ready to run and the
    /// hypervisor ran something else.
    pub steal_seconds: Option<f64>,
    /// Seconds, summed over processors, without work, waiting for a disk included.
    pub idle_seconds: Option<f64>,
    /// Seconds in which at least one task waited for a processor.
    pub cpu_pressure_seconds: Option<f64>,
    /// Seconds in which at least one task waited for memory.
    pub memory_pressure_seconds: Option<f64>,
    /// Seconds in which at least one task waited for a disk.
    pub io_pressure_seconds: Option<f64>,
    pub swapped_in_bytes: Option<u64>,
    pub swapped_out_bytes: Option<u64>,
}

impl MachineCounters {
    pub fn read() -> Result<Self, ResourceError> {
        let stat = fs::read_to_string("/proc/stat")
            .map_err(|_| ResourceError::LinuxOnly("counters of the machine"))?;
        let vmstat = fs::read_to_string("/proc/vmstat").unwrap_or_default();
        Ok(Self {
            processors: processors(&stat),
            steal_seconds: processor_seconds(&stat, &[8]),
            idle_seconds: processor_seconds(&stat, &[4, 5]),
            cpu_pressure_seconds: pressure_seconds("cpu"),
            memory_pressure_seconds: pressure_seconds("memory"),
            io_pressure_seconds: pressure_seconds("io"),
            swapped_in_bytes: swapped_bytes(&vmstat, "pswpin"),
            swapped_out_bytes: swapped_bytes(&vmstat, "pswpout"),
        })
    }

    /// Growth from `earlier` to now.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let seconds = |now: Option<f64>, then: Option<f64>| Some((now? - then?).max(0.0));
        let bytes = |now: Option<u64>, then: Option<u64>| Some(now?.saturating_sub(then?));
        Self {
            processors: self.processors,
            steal_seconds: seconds(self.steal_seconds, earlier.steal_seconds),
            idle_seconds: seconds(self.idle_seconds, earlier.idle_seconds),
            cpu_pressure_seconds: seconds(self.cpu_pressure_seconds, earlier.cpu_pressure_seconds),
            memory_pressure_seconds: seconds(
                self.memory_pressure_seconds,
                earlier.memory_pressure_seconds,
            ),
            io_pressure_seconds: seconds(self.io_pressure_seconds, earlier.io_pressure_seconds),
            swapped_in_bytes: bytes(self.swapped_in_bytes, earlier.swapped_in_bytes),
            swapped_out_bytes: bytes(self.swapped_out_bytes, earlier.swapped_out_bytes),
        }
    }
}

/// The lines `cpu0`, `cpu1`... of /proc/stat, whose sum is its first line.
fn processors(stat: &str) -> usize {
    let numbered = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    stat.lines().filter(numbered).count()
}

/// Sum of some columns of /proc/stat's first line (`cpu user nice system idle iowait irq softirq
/// steal ...`), which counts clock ticks.
fn processor_seconds(stat: &str, columns: &[usize]) -> Option<f64> {
    let words: Vec<&str> = stat.lines().next()?.split_whitespace().collect();
    let mut ticks = 0;
    for &column in columns {
        ticks += words.get(column)?.parse::<u64>().ok()?;
    }
    Some(ticks as f64 / clock_ticks_per_second() as f64)
}

/// `total=` of the line `some`, in microseconds; no such file on kernels without PSI.
fn pressure_seconds(resource: &str) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/pressure/{resource}")).ok()?;
    let some = text.lines().find(|line| line.starts_with("some "))?;
    let total = some.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
    Some(total.parse::<u64>().ok()? as f64 / 1e6)
}

fn swapped_bytes(vmstat: &str, name: &str) -> Option<u64> {
    let line = vmstat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    Some(line.trim().parse::<u64>().ok()? * page_size() as u64)
}
