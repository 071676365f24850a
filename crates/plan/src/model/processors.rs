//! Processors of this machine that a level may name.

#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity};

/// The processors that the calling thread may use.
#[cfg(target_os = "linux")]
#[must_use]
pub fn available_cpus() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

/// As many numbers as there are processors: this system does not tell which ones.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn available_cpus() -> Vec<usize> {
    (0..std::thread::available_parallelism().map_or(1, usize::from)).collect()
}
