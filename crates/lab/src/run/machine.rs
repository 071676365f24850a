//! Requirements of a plan on this machine, checked before anything is fetched or made.

use crate::error::RunError;
use load::resource::MemoryGroup;
use plan::Levels;
use plan::available_cpus;
use plan::{Plan, PlanError};

/// Refuses a processor that a program imitates: its times say nothing about any machine.
pub fn check_processor() -> Result<(), RunError> {
    if is_emulated() { Err(RunError::EmulatedProcessor) } else { Ok(()) }
}

/// QEMU's translator names itself where a hypervisor does, for single programs too.
#[cfg(target_arch = "x86_64")]
fn is_emulated() -> bool {
    const HYPERVISOR_LEAF: u32 = 0x4000_0000;
    let leaf = std::arch::x86_64::__cpuid(HYPERVISOR_LEAF);
    [leaf.ebx, leaf.ecx, leaf.edx].map(u32::to_le_bytes).concat() == b"TCGTCGTCGTCG"
}

#[cfg(not(target_arch = "x86_64"))]
fn is_emulated() -> bool {
    false
}

/// Refuses processors that are not there, and memory that cannot be limited.
pub(super) fn check(plan: &Plan, cells: &[Levels]) -> Result<(), RunError> {
    check_processor()?;
    let available = available_cpus();
    let check = |key: &str, cpus: Option<Vec<usize>>| {
        let cpus = cpus.unwrap_or_default();
        let missing = cpus.iter().find(|cpu| !available.contains(cpu));
        missing.map_or(Ok(()), |cpu| {
            let message =
                format!("there is no processor {cpu}; this process may use {available:?}");
            Err(PlanError::impossible(key, message))
        })
    };
    check("client_cpus", plan.client_cpus.clone())?;
    for levels in cells {
        check("server_cpus", plan.server_cpus_at(levels)?)?;
        if let Some(limit) = plan.server_memory_at(levels)? {
            // Made, read back and removed again.
            MemoryGroup::create(limit.0).map_err(|error| {
                let error = RunError::from(error);
                match error.is_usage() {
                    true => PlanError::impossible("server_memory", error.to_string()).into(),
                    false => error,
                }
            })?;
        }
    }
    Ok(())
}
