//! Warnings of workload `oltp` alone: releases that could not be set alike, and trials in different
//! phases of an engine.

use std::collections::{BTreeMap, BTreeSet};

use super::Warning;
use plan::{Checkpoints, Plan};
use record::{Run, Status, Trial};

/// Settings that identify an engine and do not change how it works.
const IDENTITY: [&str; 2] = ["version()", "compiled with"];
/// The value of a setting that a release does not have.
const ABSENT: &str = "none";
/// Checkpoints that ended in a trial.
const ENDED: &str = "checkpoints_ended";

pub(super) fn find(plan: &Plan, run: &Run, trials: &[Trial]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    warnings.extend(settings_differ(plan, run));
    warnings.extend(uneven_checkpoints(plan, trials));
    warnings
}

/// Of the releases of PostgreSQL, without what the plan sets differently itself.
fn settings_differ(plan: &Plan, run: &Run) -> Option<Warning> {
    let releases =
        plan.engines.iter().filter(|it| it.source.kind().properties().has_dated_releases);
    let chosen: BTreeSet<&str> =
        plan.engines.iter().flat_map(|engine| engine.engine_settings()).map(|(n, _)| n).collect();
    let records: Vec<_> = releases.filter_map(|engine| run.engines.get(&engine.label())).collect();
    let names: BTreeSet<&str> = records
        .iter()
        .flat_map(|record| record.settings.iter().map(|(name, _)| name.as_str()))
        .filter(|name| !IDENTITY.contains(name) && !chosen.contains(name))
        .collect();
    let mut differing = Vec::new();
    for name in names {
        let mut by_value: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for record in &records {
            let found = record.settings.iter().find(|(known, _)| known == name);
            let value = found.map_or(ABSENT, |(_, value)| value.as_str());
            by_value.entry(value).or_default().push(&record.name);
        }
        if by_value.len() > 1 {
            let values = by_value.iter().map(|(value, of)| format!("{value} in {}", of.join(", ")));
            differing.push(format!("{name} is {}", values.collect::<Vec<_>>().join(" and ")));
        }
    }
    (!differing.is_empty()).then_some(Warning::SettingsDiffer { settings: differing })
}

/// Treatments whose trials are not all between checkpoints, nor all sustained; or not what was
/// asked for.
fn uneven_checkpoints(plan: &Plan, trials: &[Trial]) -> Option<Warning> {
    let wanted = plan.oltp.as_ref().and_then(|oltp| oltp.checkpoints);
    let mut by_treatment: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.status == Status::Ok) {
        let ended = trial.counters.iter().find(|(name, _)| name.ends_with(ENDED));
        if let Some((_, ended)) = ended {
            by_treatment.entry((&trial.engine, &trial.levels)).or_default().push(*ended);
        }
    }
    let uneven = by_treatment.into_iter().filter(|(_, ended)| {
        let none = ended.iter().all(|count| *count < 0.5);
        let sustained = ended.iter().all(|count| *count > 1.5);
        match wanted {
            Some(Checkpoints::Between) => !none,
            Some(Checkpoints::Sustained) => !sustained,
            None => !none && !sustained,
        }
    });
    let uneven: Vec<_> = uneven.collect();
    let ((engine, levels), ended) = uneven.first()?;
    let mut first = vec![(*engine).clone()];
    first.extend(levels.iter().map(|(name, level)| format!("{name} {level}")));
    let counts: Vec<String> = ended.iter().map(f64::to_string).collect();
    Some(Warning::UnevenCheckpoints {
        treatments: uneven.len(),
        first: format!("{}: {}", first.join(", "), counts.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{plan, trials};
    use plan::Oltp;

    #[test]
    fn trials_of_an_unrequested_engine_phase_are_named() {
        let (between, sustained) = (Some(Checkpoints::Between), Some(Checkpoints::Sustained));
        // Of the first block, and of the others.
        for (wanted, first, others, named) in [
            (None, 0.0, 0.0, false),
            (None, 2.0, 3.0, false),
            (None, 1.0, 1.0, true),
            (None, 0.0, 2.0, true),
            (between, 0.0, 0.0, false),
            (between, 2.0, 2.0, true),
            (sustained, 2.0, 3.0, false),
            (sustained, 0.0, 0.0, true),
        ] {
            let mut plan = plan(5);
            plan.oltp = Some(Oltp { checkpoints: wanted, ..Oltp::default() });
            let rounds = vec![plan.first_round()];
            let mut trials = trials(&plan, &rounds, |_, days, _| days);
            for trial in &mut trials {
                let ended = if trial.block == 1 { first } else { others };
                trial.counters.insert("postgres_checkpoints_ended".to_owned(), ended);
            }
            let found = uneven_checkpoints(&plan, &trials);
            assert_eq!(found.is_some(), named, "{wanted:?} {first} {others}");
        }
    }
}
