//! Warnings about statements that write and change no row.

use std::collections::BTreeMap;

use super::Warning;
use record::{Status, Trial};

/// A share beyond this is said.
pub(super) const WITHOUT_EFFECT_MAX: f64 = 0.1;

/// The statement with the largest share on any engine, with its largest on each.
pub(super) fn find(trials: &[Trial]) -> Option<Warning> {
    let mut largest: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.status == Status::Ok) {
        for request in &trial.by_request {
            let Some(fraction) = request.without_effect_fraction else { continue };
            let by_engine = largest.entry(&request.name).or_default();
            let known = by_engine.entry(&trial.engine).or_default();
            *known = known.max(fraction);
        }
    }
    let worst = |by_engine: &BTreeMap<&str, f64>| by_engine.values().copied().fold(0.0, f64::max);
    let (request, by_engine) =
        largest.into_iter().max_by(|(_, a), (_, b)| worst(a).total_cmp(&worst(b)))?;
    let is_much = worst(&by_engine) > WITHOUT_EFFECT_MAX;
    let by_engine = by_engine.into_iter().map(|(engine, share)| (engine.to_owned(), share));
    is_much.then(|| Warning::WritesWithoutEffect {
        request: request.to_owned(),
        by_engine: by_engine.collect(),
    })
}
