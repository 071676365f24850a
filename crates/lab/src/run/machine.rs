//! Requirements of a plan on this machine, checked before anything is fetched or made.

use crate::error::RunError;
use load::resource::MemoryGroup;
use plan::Levels;
use plan::available_cpus;
use plan::{Plan, PlanError};

/// Refuses processors that are not there, and memory that cannot be limited.
pub(super) fn check(plan: &Plan, cells: &[Levels]) -> Result<(), RunError> {
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
