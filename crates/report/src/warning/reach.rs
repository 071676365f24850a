//! Warnings about requests that the application answered without the database that is measured.

use engine::EngineSpec;

use super::Warning;
use plan::Plan;
use record::Trial;
use record::counter::{PROBED_AT_ENGINE, PROBED_OUT_OF_SIGHT, PROBED_REQUESTS};

pub(super) fn find(plan: &Plan, trials: &[Trial]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut out_of_sight = Vec::new();
    let started = plan.engines.iter().filter(|it| !it.source.kind().properties().is_application);
    let started: Vec<String> = started.map(EngineSpec::label).collect();
    for engine in &started {
        let sum = |name: &str| -> f64 {
            let of_engine = trials.iter().filter(|trial| trial.engine == *engine);
            of_engine.filter_map(|trial| trial.counters.get(name)).sum()
        };
        let (all, hidden) = (sum(PROBED_REQUESTS), sum(PROBED_OUT_OF_SIGHT));
        let (seen, at_engine) = (all - hidden, sum(PROBED_AT_ENGINE));
        if hidden > 0.0 {
            out_of_sight.push(engine.clone());
        }
        if at_engine < seen {
            let (engine, fraction) = (engine.clone(), at_engine / seen);
            warnings.push(Warning::AnsweredWithoutEngine { engine, fraction });
        }
    }
    if plan.application.own_database {
        out_of_sight = started;
    }
    if !out_of_sight.is_empty() {
        warnings.push(Warning::ReachOutOfSight { engines: out_of_sight });
    }
    warnings
}
