//! CPU affinity of a server. Only Linux has it: a thread of this program takes the mask, starts the
//! child, which inherits it before its first instruction, and ends; no unsafe code is needed.

use std::process::{Child, Command};

use crate::Error;

/// Refuses CPUs that this program may not use itself, before anything starts.
#[cfg(target_os = "linux")]
pub(crate) fn check(cpus: &[usize]) -> Result<(), Error> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let allowed = sched_getaffinity(None).map_err(|_| Error::NoAffinity)?;
    let is_allowed = |cpu: usize| cpu < CpuSet::MAX_CPU && allowed.is_set(cpu);
    match cpus.iter().find(|cpu| !is_allowed(**cpu)) {
        None => Ok(()),
        Some(cpu) => {
            let names = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
            let names: Vec<String> = names.map(|cpu| cpu.to_string()).collect();
            Err(Error::NoSuchCpu { cpu: *cpu, allowed: names.join(",") })
        }
    }
}

/// Starts `command` bound to `cpus`.
#[cfg(target_os = "linux")]
pub(crate) fn spawn_bound(mut command: Command, cpus: &[usize]) -> std::io::Result<Child> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu));
    let started = std::thread::spawn(move || {
        sched_setaffinity(None, &set)?;
        command.spawn()
    });
    started.join().map_err(|_| std::io::Error::other("the starting thread ended"))?
}

/// Refuses: there is no such thing here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn check(_cpus: &[usize]) -> Result<(), Error> {
    Err(Error::NoAffinity)
}

/// Never reached: `check` refuses first.
#[cfg(not(target_os = "linux"))]
pub(crate) fn spawn_bound(_command: Command, _cpus: &[usize]) -> std::io::Result<Child> {
    Err(std::io::ErrorKind::Unsupported.into())
}
