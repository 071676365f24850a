//! Binding threads to processors, so that client and server do not compete for one.

#[cfg(target_os = "linux")]
use plan::available_cpus;
#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_setaffinity};

use super::ResourceError;

/// Binds the calling thread, and every process and thread that it starts from now on.
#[cfg(target_os = "linux")]
pub fn pin_this_thread(cpus: &[usize]) -> Result<(), ResourceError> {
    let available = available_cpus();
    let refuse = |source| ResourceError::Affinity {
        cpus: cpus.to_vec(),
        available: available.clone(),
        source,
    };
    // The kernel silently drops processors that do not exist; a measurement must not.
    if cpus.is_empty() || cpus.iter().any(|cpu| !available.contains(cpu)) {
        return Err(refuse(std::io::ErrorKind::InvalidInput.into()));
    }
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu);
    }
    sched_setaffinity(None, &set).map_err(|error| refuse(error.into()))
}

#[cfg(not(target_os = "linux"))]
pub fn pin_this_thread(_cpus: &[usize]) -> Result<(), ResourceError> {
    Err(ResourceError::LinuxOnly("binding to processors (server_cpus, client_cpus)"))
}
