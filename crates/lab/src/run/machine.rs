//! What a plan asks of this machine, checked before anything is fetched or made.

use crate::plan::{Plan, PlanError};
use crate::resource::available_cpus;
use crate::schedule::Levels;

/// Refuses processors that are not there.
pub(super) fn check(plan: &Plan, cells: &[Levels]) -> Result<(), PlanError> {
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
    cells.iter().try_for_each(|levels| check("server_cpus", plan.server_cpus_at(levels)?))
}
