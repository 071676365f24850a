//! Warnings about single engines: failures, answers, cores, plans, times that moved, promises.

use std::collections::{BTreeMap, BTreeSet};

use engine::EngineSpec;
use stats::{outlier, quantile};

use super::Warning;
use plan::Durability;
use plan::{Level, Plan};
use record::{CapturedPlan, Run, Status, Trial};

/// An engine that uses this many times the cores of another is not compared at equal means.
pub(super) const CORES_RATIO_MAX: f64 = 1.3;
/// Up to here one core does the work, with the rounding of clock ticks; below it more cores means
/// less waiting.
pub(super) const ONE_CORE: f64 = 1.05;
/// Means of the first and the last block that differ by more than this hint at drift.
pub(super) const DRIFT_RATIO_MAX: f64 = 1.25;
/// Halves of trials that differ by more than this, in every block of a treatment alike, are not
/// chance, and their mean would hide it.
pub(super) const STEADY_RATIO_MAX: f64 = 1.1;
/// Blocks of a treatment that agree before that is said.
pub(super) const STEADY_BLOCKS_MIN: usize = 3;
/// The chance that a run of normal noise has any outlier; divided among its treatments.
pub(super) const OUTLIER_SIGNIFICANCE: f64 = 0.05;
/// A block closer to the median than this is not reported, however close the others are.
pub(super) const OUTLIER_RATIO_MIN: f64 = 1.1;

pub(super) fn find(plan: &Plan, run: &Run, trials: &[Trial]) -> Vec<Warning> {
    let labels: Vec<String> = plan.engines.iter().map(EngineSpec::label).collect();
    let each = |check: &dyn Fn(&str, &[Trial]) -> Option<Warning>| {
        labels.iter().filter_map(|engine| check(engine, trials)).collect::<Vec<_>>()
    };
    let mut warnings: Vec<Warning> = void_trials(trials).into_iter().collect();
    warnings.extend(each(&failures));
    warnings.extend(each(&warm_up_failures));
    warnings.extend(each(&saturated));
    warnings.extend(each(&answers_differ));
    warnings.extend(durability_differs(plan, run));
    warnings.extend(durability_unknown(plan, run));
    warnings.extend(writes_stay(plan));
    warnings.extend(unequal_cores(plan, &labels, trials));
    warnings.extend(each(&plan_changed));
    warnings.extend(each(&drift));
    warnings.extend(each(&|engine, trials| not_steady(plan, engine, trials)));
    warnings.extend(outliers(trials));
    warnings.extend(statistics_missing(plan, run));
    warnings
}

/// Where the plan says itself that there are none, by `analyze=off`, that is what it measures.
fn statistics_missing(plan: &Plan, run: &Run) -> Vec<Warning> {
    let chosen: Vec<String> = plan
        .engines
        .iter()
        .filter(|engine| engine.own("analyze").is_some())
        .map(EngineSpec::label)
        .collect();
    let without = run.engines.values().filter(|one| one.statistics_present == Some(false));
    let names: BTreeSet<&String> =
        without.map(|record| &record.name).filter(|name| !chosen.contains(name)).collect();
    names.into_iter().map(|name| Warning::StatisticsMissing { engine: name.clone() }).collect()
}

fn void_trials(trials: &[Trial]) -> Option<Warning> {
    let reasons: Vec<&str> = trials
        .iter()
        .filter_map(|trial| match &trial.status {
            Status::Void(reason) => Some(reason.as_str()),
            Status::Ok => None,
        })
        .collect();
    let first = (*reasons.first()?).to_owned();
    let (mut unmeasured, mut measured) = (BTreeSet::new(), BTreeSet::new());
    for trial in trials {
        let set = if trial.status == Status::Ok { &mut measured } else { &mut unmeasured };
        set.insert(trial.engine.clone());
    }
    let unmeasured = unmeasured.difference(&measured).cloned().collect();
    Some(Warning::VoidTrials { trials: reasons.len(), first, unmeasured })
}

fn failures(engine: &str, trials: &[Trial]) -> Option<Warning> {
    // Of all requests that the engine lived to answer, as the headline counts them.
    let own = trials.iter().filter(|t| t.engine == engine && t.status.is_answered());
    let failed = own.clone().find(|trial| trial.failures > 0)?;
    Some(Warning::Failures {
        engine: engine.to_owned(),
        failures: own.clone().map(|trial| trial.failures).sum(),
        requests: own.map(|trial| trial.requests).sum(),
        first: failed.first_failure.clone().unwrap_or_default(),
    })
}

fn saturated(engine: &str, trials: &[Trial]) -> Option<Warning> {
    let saturated: Vec<&Trial> =
        trials.iter().filter(|trial| trial.engine == engine && trial.saturated).collect();
    let first = saturated.first()?;
    Some(Warning::Saturated {
        engine: engine.to_owned(),
        trials: saturated.len(),
        offered_per_second: first.offered_per_second.unwrap_or_default(),
        answered_per_second: first.requests_per_second,
    })
}

/// Of each warm-up once: the trials of one turn share it.
fn warm_up_failures(engine: &str, trials: &[Trial]) -> Option<Warning> {
    let failed: Vec<&Trial> =
        trials.iter().filter(|t| t.engine == engine && t.warm_up_failures > 0).collect();
    let by_block: BTreeMap<usize, u64> =
        failed.iter().map(|trial| (trial.block, trial.warm_up_failures)).collect();
    let failures = by_block.values().sum();
    let engine = engine.to_owned();
    (!failed.is_empty()).then_some(Warning::WarmUpFailures {
        engine,
        failures,
        trials: failed.len(),
    })
}

/// Failures that are wrong answers are worse than others: right ones may be wrong too.
fn answers_differ(engine: &str, trials: &[Trial]) -> Option<Warning> {
    let wrong = |trial: &Trial| {
        let of = trial.by_request.iter();
        let mut of = of.filter(|one| one.failures.is_some_and(|failures| failures.wrong > 0));
        of.next().map(|one| one.name.clone())
    };
    let names: Vec<String> =
        trials.iter().filter(|trial| trial.engine == engine).filter_map(wrong).collect();
    let first = names.first()?.clone();
    Some(Warning::AnswersDiffer { engine: engine.to_owned(), trials: names.len(), first })
}

fn durability_differs(plan: &Plan, run: &Run) -> Option<Warning> {
    let known = run.engines.iter().filter(|(_, one)| one.durability != Durability::Unknown);
    let mut promises: BTreeMap<&str, Vec<(String, Durability)>> = BTreeMap::new();
    for (start, one) in known {
        // Where durability may be a factor, engines are compared where it is the same.
        let levels = match plan.workload.properties().sets_durability {
            true => start.strip_prefix(&one.name).unwrap_or_default(),
            false => "",
        };
        promises.entry(levels).or_default().push((one.name.clone(), one.durability));
    }
    let only_reads = plan.only_reads();
    promises.into_values().find_map(|mut promises| {
        promises.sort_by_key(|(_, durability)| *durability);
        let (less, more) = (promises.first()?.clone(), promises.last()?.clone());
        (less.1 != more.1).then_some(Warning::DurabilityDiffers { more, less, only_reads })
    })
}

fn durability_unknown(plan: &Plan, run: &Run) -> Option<Warning> {
    let unknown = run.engines.values().filter(|one| one.durability == Durability::Unknown);
    let engines: BTreeSet<String> = unknown.map(|one| one.name.clone()).collect();
    let has_application = plan.workload.properties().has_application;
    let matters =
        has_application && plan.engines.len() > 1 && !plan.only_reads() && !engines.is_empty();
    matters.then(|| Warning::DurabilityUnknown { engines: engines.into_iter().collect() })
}

/// Copies are made of data that Crossover put there; applications and databases of the user's are
/// measured where they are.
fn writes_stay(plan: &Plan) -> Option<Warning> {
    if !plan.workload.properties().has_application || plan.only_reads() {
        return None;
    }
    let yours = plan.engines.iter().filter(|engine| engine.source.is_yours());
    let engines: Vec<String> = yours.map(EngineSpec::label).collect();
    (!engines.is_empty()).then_some(Warning::WritesStay { engines })
}

/// With several clients every engine can use all cores; what one client's request uses tells them
/// apart.
fn unequal_cores(plan: &Plan, engines: &[String], trials: &[Trial]) -> Option<Warning> {
    let level = |trial: &Trial, name| trial.levels.get(name).and_then(Level::number);
    let one_client = |trial: &&Trial| level(trial, "clients").is_none_or(|clients| clients <= 1.0);
    let used = |engine: &String| {
        let single = trials.iter().filter(|t| t.engine == *engine).filter(one_client);
        let cores = single.filter_map(|trial| trial.cores_used).max_by(f64::total_cmp)?;
        Some((engine.clone(), cores))
    };
    let mut by_use: Vec<(String, f64)> = engines.iter().filter_map(used).collect();
    by_use.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let (less, less_cores) = by_use.first()?.clone();
    let (more, more_cores) = by_use.last()?.clone();
    let at_one_core = trials.iter().any(|trial| level(trial, "server_cpus") == Some(1.0));
    let equal_at = (at_one_core && plan.factors.contains_key("server_cpus"))
        .then(|| "server_cpus = 1".to_owned());
    let unequal = more_cores > ONE_CORE && more_cores > less_cores * CORES_RATIO_MAX;
    let among_clients = trials.iter().any(|trial| !one_client(&trial));
    let unequal_cores =
        Warning::UnequalCores { more, more_cores, less, less_cores, among_clients, equal_at };
    unequal.then_some(unequal_cores)
}

fn plan_changed(engine: &str, trials: &[Trial]) -> Option<Warning> {
    let mut hashes: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.engine == engine) {
        for one in &trial.plans {
            if let CapturedPlan::Observed { hash, .. } = &one.plan {
                hashes.entry((&trial.levels, &one.operation)).or_default().insert(hash);
            }
        }
    }
    let changed = hashes.into_iter().filter(|(_, hashes)| hashes.len() > 1);
    let changed: BTreeSet<&String> = changed.map(|((_, operation), _)| operation).collect();
    let operations: Vec<String> = changed.into_iter().cloned().collect();
    (!operations.is_empty()).then(|| Warning::PlanChanged { engine: engine.to_owned(), operations })
}

/// Geometric mean over the treatments that the engine's first and last block share.
fn drift(engine: &str, trials: &[Trial]) -> Option<Warning> {
    let counting = || trials.iter().filter(|t| t.engine == engine && t.status == Status::Ok);
    let first = counting().map(|trial| trial.block).min()?;
    let ratios: Vec<f64> = counting()
        .filter(|trial| trial.block == first)
        .filter_map(|begin| {
            let same = counting().filter(|trial| trial.levels == begin.levels);
            let end = same.max_by_key(|trial| trial.block).filter(|end| end.block > first)?;
            Some((end.response_time_ms_mean? / begin.response_time_ms_mean?).ln())
        })
        .collect();
    if ratios.is_empty() {
        return None;
    }
    let ratio = (ratios.iter().sum::<f64>() / ratios.len() as f64).exp();
    let beyond = !(1.0 / DRIFT_RATIO_MAX..=DRIFT_RATIO_MAX).contains(&ratio);
    beyond.then(|| Warning::Drift { engine: engine.to_owned(), ratio })
}

/// The treatment whose trials moved most, if its blocks all moved the same way.
fn not_steady(plan: &Plan, engine: &str, trials: &[Trial]) -> Option<Warning> {
    let of_engine = || trials.iter().filter(|trial| trial.engine == engine);
    let unsettled = of_engine().filter(|trial| trial.warm_up_steady == Some(false)).count();
    let mut by_levels: BTreeMap<_, Vec<f64>> = BTreeMap::new();
    for trial in of_engine().filter(|trial| trial.status == Status::Ok) {
        if let Some(ratio) = trial.second_half_ratio {
            by_levels.entry(&trial.levels).or_default().push(ratio.ln());
        }
    }
    let moved = by_levels.into_iter().filter_map(|(levels, logarithms)| {
        let all = |sign: f64| logarithms.iter().all(|one| one * sign > 0.0);
        let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
        let alike = logarithms.len() >= STEADY_BLOCKS_MIN && (all(1.0) || all(-1.0));
        (alike && mean.abs() > STEADY_RATIO_MAX.ln()).then_some((mean, levels))
    });
    let most = moved.max_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()));
    let rules = plan.rules();
    (most.is_some() || unsettled > 0).then(|| Warning::NotSteady {
        engine: engine.to_owned(),
        ratio: most.map(|(mean, _)| mean.exp()),
        read_ahead: most.is_some_and(|(mean, levels)| mean < 0.0 && rules.is_cold(levels)),
        unsettled,
    })
}

/// Grubbs' test on the logarithms of each treatment's blocks, its significance divided among the
/// treatments; the farthest is reported.
fn outliers(trials: &[Trial]) -> Option<Warning> {
    let mut by_treatment: BTreeMap<_, Vec<(usize, f64)>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.status == Status::Ok) {
        if let Some(mean) = trial.response_time_ms_mean {
            let blocks = by_treatment.entry((&trial.engine, &trial.levels)).or_default();
            blocks.push((trial.block, mean.ln()));
        }
    }
    let significance = OUTLIER_SIGNIFICANCE / by_treatment.len().max(1) as f64;
    let mut found: Vec<_> = by_treatment
        .into_iter()
        .filter_map(|((engine, levels), blocks)| {
            let values: Vec<f64> = blocks.iter().map(|(_, value)| *value).collect();
            let (block, value) = *blocks.get(outlier(&values, significance)?)?;
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            let distance = value - quantile(&sorted, 0.5)?;
            let far = distance.abs() > OUTLIER_RATIO_MIN.ln();
            far.then_some((distance, engine, levels, block))
        })
        .collect();
    let treatments = found.len();
    found.sort_by(|(a, ..), (b, ..)| b.abs().total_cmp(&a.abs()));
    let (distance, engine, levels, block) = found.into_iter().next()?;
    let mut treatment = vec![engine.clone()];
    treatment.extend(levels.iter().map(|(name, level)| format!("{name} {level}")));
    Some(Warning::Outlier {
        treatment: treatment.join(", "),
        block,
        ratio: distance.exp(),
        treatments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula;
    use plan::Levels;

    #[test]
    fn faster_cold_trials_are_explained_by_read_ahead() {
        let http = formula::plan(1);
        let mut trials = formula::trials(&http, &[http.first_round()], |_, _, _| 1.0);
        trials.truncate(STEADY_BLOCKS_MIN);
        for trial in &mut trials {
            trial.engine = "sqlite".to_owned();
            trial.levels = Levels::new();
            trial.second_half_ratio = Some(0.5);
        }
        let advice = |cache: &str, trials: &[Trial]| {
            let text = "title = \"t\"\nworkload = \"blob\"\nengines = [\"sqlite\", \"dir\"]\n";
            let text = format!("{text}[blob]\ncache = \"{cache}\"\n");
            let plan = plan::read(&text, "blob.toml").unwrap();
            not_steady(&plan, "sqlite", trials).unwrap().advice(true)
        };
        let longer = "longer trials";
        assert!(advice("warm", &trials).contains(longer), "{}", advice("warm", &trials));
        let of_cold = advice("cold", &trials);
        assert!(of_cold.contains("reads = \"2%\"") && !of_cold.contains(longer), "{of_cold}");
        trials.iter_mut().for_each(|trial| trial.second_half_ratio = Some(2.0));
        assert!(advice("cold", &trials).contains(longer), "{}", advice("cold", &trials));
    }
}
