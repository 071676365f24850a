//! One treatment's trials, put together.

use stats::{best_of, mean_estimate};

use super::{CONFIDENCE_LEVEL, RequestResult, Treatment};
use crate::plan::Plan;
use crate::record::{Status, Trial};
use crate::schedule::Levels;

/// All treatments in the order of the plan's engines and of `cells`.
pub(super) fn collect(plan: &Plan, cells: &[Levels], trials: &[Trial]) -> Vec<Treatment> {
    let engines = plan.engines.iter().map(engine::EngineSpec::label);
    engines
        .flat_map(|engine| {
            cells.iter().map(move |levels| {
                let of_treatment: Vec<&Trial> = trials
                    .iter()
                    .filter(|trial| trial.engine == engine && trial.levels == *levels)
                    .collect();
                treatment(plan, engine.clone(), levels, &of_treatment)
            })
        })
        .collect()
}

fn treatment(plan: &Plan, engine: String, levels: &Levels, trials: &[&Trial]) -> Treatment {
    let counting: Vec<&Trial> =
        trials.iter().copied().filter(|trial| trial.status == Status::Ok).collect();
    let blocks: Vec<(usize, f64)> =
        counting.iter().filter_map(|t| Some((t.block, t.response_time_ms_mean?))).collect();
    let values = values(&blocks);
    Treatment {
        engine,
        levels: levels.clone(),
        estimate: mean_estimate(&values, CONFIDENCE_LEVEL),
        best_of_three: best_of(&values, 3),
        blocks,
        ratio: None,
        cpu_seconds_per_request: mean(counting.iter().map(|t| t.cpu_seconds_per_request)),
        cores_used: mean(counting.iter().map(|t| t.cores_used)),
        requests_per_second: mean(counting.iter().map(|t| Some(t.requests_per_second))),
        requests: counting.iter().map(|t| t.requests).sum(),
        failures: counting.iter().map(|t| t.failures).sum(),
        void: trials.len() - counting.len(),
        by_request: plan.operations().iter().map(|one| by_request(&one.name, &counting)).collect(),
    }
}

fn by_request(name: &str, trials: &[&Trial]) -> RequestResult {
    let blocks: Vec<(usize, f64)> = trials
        .iter()
        .filter_map(|trial| {
            let summary = trial.by_request.iter().find(|summary| summary.name == name)?;
            Some((trial.block, summary.response_time_ms_mean?))
        })
        .collect();
    RequestResult {
        name: name.to_owned(),
        estimate: mean_estimate(&values(&blocks), CONFIDENCE_LEVEL),
        blocks,
        ratio: None,
    }
}

fn values(blocks: &[(usize, f64)]) -> Vec<f64> {
    blocks.iter().map(|(_, value)| *value).collect()
}

/// The mean, or none if one of the values could not be obtained.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
