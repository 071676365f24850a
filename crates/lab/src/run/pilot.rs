//! Pilot before the first block: one pass over every engine, so that answers that differ end a run
//! before hours of measuring. The requests of a log are sampled into rounds that fit a trial.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::EngineSpec;

use super::fixed_work;
use super::round::TurnSetting;
use super::warmed::{WARM_WINDOWS_MIN, check_answers};
use crate::error::RunError;
use crate::workload::{SLOW, Subject};
use plan::{Design, Levels};
use plan::{LoadModel, Plan, Seconds, TrialSettings};
use plan::{LoadOptions, Mode};
use record::Finished;

/// Factor by which each step towards rounds that fit shortens them.
const STEP: f64 = 0.95;
/// A sample of fewer requests says little of a log.
const ROUND_MIN: usize = 10;

/// Compares the answers of all engines, each at its first start; what other levels of its factors
/// answer is compared when their turn comes. Returns the time that a trial takes by that, with its share
/// of a start.
pub(super) fn carry_out(
    finished: &mut Finished,
    setting: &TurnSetting<'_>,
) -> Result<Option<Duration>, RunError> {
    let plan = finished.plan.clone();
    if !finished.trials.is_empty() || !is_wanted(&plan, setting)? {
        return Ok(None);
    }
    let logs = finished.logs()?;
    let site = setting.site(&plan, &plan.base(), &logs, None);
    let workload = setting.workload(&plan);
    let design = Design::of(&plan);
    let cells = design.cells();
    let (mut rounds, mut work) = (Vec::new(), Vec::new());
    let mut block = BlockTime::default();
    for index in 0..plan.engines.len() {
        setting.check_interrupted(&finished.folder)?;
        let of_engine = |cell: &&Levels| !plan.rules().repeats(index, cell);
        let Some(first) = cells.iter().find(of_engine) else { continue };
        let start = design.deployment_levels(first);
        let same_start: Vec<Levels> = cells
            .iter()
            .filter(|cell| of_engine(cell) && design.deployment_levels(cell) == start)
            .cloned()
            .collect();
        let spec = plan.engine_at(index, &start)?;
        setting.one_off().take();
        let begun = setting.now();
        setting.options.progress.set_message(format!("asking {} first", spec.label()));
        let asked = workload.deploy(&site, &spec, &start).and_then(|mut subject| {
            let asked = setting.now();
            let checked = check_answers(finished, &same_start, subject.as_mut());
            let cells = u32::try_from(same_start.len()).unwrap_or(u32::MAX);
            let look = (setting.now() - asked) / cells;
            let timed = checked.and_then(|()| {
                rounds.extend(times(&plan, &spec, &same_start, subject.as_mut())?);
                fixed_work::observe(&design, index, &same_start, subject.as_mut())
            });
            let retired = subject.retire();
            timed.and_then(|work| retired.map(|()| (look, work)))
        });
        let (look, own_work) = match asked {
            Err(error) if error.is_crash() && plan.goes_on_without_an_engine() => {
                (setting.options.say)(&format!(
                    "{error}; the run goes on, and tries {} again in each block",
                    spec.label()
                ));
                continue;
            }
            asked => asked?,
        };
        let load_time: Duration = own_work.iter().map(|one| one.load_time).sum();
        work.extend(own_work);
        let own: Vec<&Levels> = cells.iter().filter(of_engine).collect();
        let starts: BTreeSet<_> = own.iter().map(|cell| design.deployment_levels(cell)).collect();
        let one_off = setting.one_off().take() + load_time;
        let taken = (setting.now() - begun).saturating_sub(one_off);
        let warm_up = warm_up_after(look, plan.operations().len());
        block.starts += (taken + warm_up) * u32::try_from(starts.len()).unwrap_or(u32::MAX);
        block.trials += u32::try_from(own.len()).unwrap_or(u32::MAX);
    }
    short_trials(&plan, &rounds).iter().for_each(|said| (setting.options.say)(said));
    if let Some(said) = fit_rounds(&mut finished.plan, &rounds) {
        (setting.options.say)(&said);
        finished.folder.write_plan(&finished.plan.to_toml()?)?;
    }
    let decided = fixed_work::decide(&design, &work)?;
    decided.said.iter().for_each(|said| (setting.options.say)(said));
    finished.run.fixed_work = decided.work;
    block.trial_time = decided.trial_time;
    finished.folder.write_run(&finished.run)?;
    Ok(block.of_trial(&finished.plan, workload.warm_up()))
}

/// One engine has nothing to be compared with, but its trials may need sizing.
fn is_wanted(plan: &Plan, setting: &TurnSetting<'_>) -> Result<bool, RunError> {
    let wanted = plan.engines.len() > 1
        || plan.fit_rounds
        || !plan.percentile_needs().is_empty()
        || (fixed_work::is_wanted(plan) && setting.workload(plan).changes_data()?);
    Ok(wanted && plan.workload.properties().copies_data)
}

/// About the time that a warm-up takes, by one look at every answer: slow operations are left out of it.
fn warm_up_after(look: Duration, operations: usize) -> Duration {
    let quick = look.min(SLOW * u32::try_from(operations).unwrap_or(u32::MAX));
    quick * WARM_WINDOWS_MIN
}

/// Time of a block's starts, as the pilot saw it, and its trials.
#[derive(Default)]
struct BlockTime {
    starts: Duration,
    trials: u32,
    /// Of fixed work.
    trial_time: Option<Duration>,
}

impl BlockTime {
    /// A trial with its share of a start; none where trials end with their passes.
    fn of_trial(&self, plan: &Plan, warm_up: Duration) -> Option<Duration> {
        let TrialSettings::Steady { time } = plan.trial else { return None };
        let time = self.trial_time.unwrap_or(time.duration());
        Some(time + warm_up + self.starts.checked_div(self.trials)?)
    }
}

/// How long an engine takes for each operation in one cell, s.
struct Times {
    engine: String,
    clients: u16,
    seconds: Vec<f64>,
}

/// The percentiles for which trials are too short at the rate of the slowest engine.
fn short_trials(plan: &Plan, rounds: &[Times]) -> Vec<String> {
    let weights: Vec<f64> =
        plan.operations().iter().map(|operation| f64::from(operation.weight)).collect();
    let per_second = |times: &Times| {
        let round: f64 = times.seconds.iter().zip(&weights).map(|(one, weight)| one * weight).sum();
        f64::from(times.clients) * weights.iter().sum::<f64>() / round
    };
    let rates = rounds.iter().map(|times| (per_second(times), times.engine.as_str()));
    let rates = rates.filter(|(rate, _)| rate.is_finite());
    let Some((rate, engine)) = rates.min_by(|(x, _), (y, _)| x.total_cmp(y)) else {
        return Vec::new();
    };
    let needs = plan.percentile_needs().into_iter();
    let short = needs.filter_map(|need| {
        let remedy = need.remedy(plan, rate)?;
        let rate = notation::digits(rate);
        Some(format!("{}; {engine} gives about {rate} per second: {remedy}", need.in_words()))
    });
    short.collect()
}

/// Does each operation once in every cell, where the plan wants rounds that fit, or percentiles.
fn times(
    plan: &Plan,
    engine: &EngineSpec,
    cells: &[Levels],
    subject: &mut dyn Subject,
) -> Result<Vec<Times>, RunError> {
    let closed = plan.load.model == LoadModel::Closed;
    let wanted = plan.fit_rounds || !plan.percentile_needs().is_empty();
    if !wanted || !closed || !matches!(plan.trial, TrialSettings::Steady { .. }) {
        return Ok(Vec::new());
    }
    let timed = cells.iter().map(|levels| {
        let options = LoadOptions { mode: Mode::EachOnce, ..plan.load_at(levels, 0)? };
        let sample = subject.load(levels, &options)?;
        let pause = options.think_time.as_secs_f64();
        let means = sample.operations.iter().map(|one| one.mean_response_time_ns());
        let seconds = means.map(|mean| mean.unwrap_or(0.0) / 1e9 + pause).collect();
        Ok(Times { engine: engine.label(), clients: plan::clients(levels), seconds })
    });
    timed.collect()
}

/// Samples the requests until a round of them fits a trial in every cell; what was done, or why a
/// trial lasts longer, in a sentence. None where the whole round fits.
fn fit_rounds(plan: &mut Plan, rounds: &[Times]) -> Option<String> {
    let TrialSettings::Steady { time } = plan.trial else { return None };
    if !plan.fit_rounds {
        return None;
    }
    let wanted: Vec<u32> = plan.requests.iter().map(|request| request.weight).collect();
    let all = total(&wanted);
    let least = ROUND_MIN.min(wanted.len()) as f64;
    let (mut weights, mut kept) = (wanted.clone(), all as f64);
    let (mut seconds, mut engine) = longest(&weights, rounds)?;
    while seconds > time.duration().as_secs_f64() && kept > least {
        kept = (kept * STEP).floor().max(least);
        weights = sampled(&wanted, kept);
        (seconds, engine) = longest(&weights, rounds)?;
    }
    if weights == wanted && seconds <= time.duration().as_secs_f64() {
        return None;
    }
    let kept = total(&weights);
    let mut said = format!("a sample of {kept} of {all} requests in a round");
    if seconds <= time.duration().as_secs_f64() {
        said.push_str(&format!(", so that one fits a trial of {time}"));
    } else {
        let lasts = Seconds(Duration::from_secs_f64(seconds.ceil()).as_secs());
        said.push_str(&format!(
            ", and a trial lasts about {lasts} and not {time}: each client does a whole round, which \
             takes {engine} so long; --most with fewer requests than {} shortens it",
            weights.iter().filter(|weight| **weight > 0).count()
        ));
    }
    let mut weights = weights.into_iter();
    plan.requests.retain_mut(|request| {
        request.weight = weights.next().unwrap_or_default();
        request.weight > 0
    });
    plan.add_condition(&said);
    Some(said)
}

fn total(weights: &[u32]) -> u64 {
    weights.iter().map(|weight| u64::from(*weight)).sum()
}

/// The longest round, s, and whose it is.
fn longest<'t>(weights: &[u32], rounds: &'t [Times]) -> Option<(f64, &'t str)> {
    let seconds = |times: &Times| {
        let each = times.seconds.iter().zip(weights);
        each.map(|(seconds, weight)| seconds * f64::from(*weight)).sum::<f64>()
    };
    let all = rounds.iter().map(|times| (seconds(times), times.engine.as_str()));
    all.max_by(|(one, _), (other, _)| one.total_cmp(other))
}

/// About `count` requests in the proportions of `weights`, by largest remainders; the rarest may have
/// no place.
fn sampled(weights: &[u32], count: f64) -> Vec<u32> {
    let share = count / total(weights) as f64;
    let exact: Vec<f64> = weights.iter().map(|weight| f64::from(*weight) * share).collect();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it only shrinks")]
    let mut sample: Vec<u32> = exact.iter().map(|exact| exact.floor() as u32).collect();
    let left = count as u64 - total(&sample).min(count as u64);
    let mut by_remainder: Vec<usize> = (0..exact.len()).collect();
    by_remainder.sort_by(|a, b| exact[*b].fract().total_cmp(&exact[*a].fract()));
    for index in by_remainder.into_iter().take(usize::try_from(left).unwrap_or(usize::MAX)) {
        sample[index] += 1;
    }
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"
        title = "t"
        workload = "http"
        engines = ["http://127.0.0.1:1"]
        trial = { mode = "steady", time = "5s" }
        fit_rounds = true
        request = [{ path = "/a", weight = 600 }, { path = "/b", weight = 399 },
                   { path = "/c", weight = 1 }]
    "#;

    fn fitted(seconds: [f64; 3]) -> (Plan, Option<String>) {
        let mut plan = plan::read(PLAN, "t.toml").unwrap();
        let rounds = [
            Times { engine: "fast".to_owned(), clients: 1, seconds: vec![0.001; 3] },
            Times { engine: "slow".to_owned(), clients: 1, seconds: seconds.to_vec() },
        ];
        let said = fit_rounds(&mut plan, &rounds);
        (plan, said)
    }

    fn weights(plan: &Plan) -> Vec<u32> {
        plan.requests.iter().map(|one| one.weight).collect()
    }

    #[test]
    fn rounds_that_fit_stay_as_they_are() {
        let (plan, said) = fitted([0.004; 3]);
        assert_eq!((weights(&plan), said, plan.conditions.as_str()), (vec![600, 399, 1], None, ""));
    }

    #[test]
    fn longer_rounds_become_a_sample_fit_for_the_slowest_engine() {
        let (plan, said) = fitted([0.1; 3]);
        let sample = weights(&plan);
        let total: u32 = sample.iter().sum();
        assert!((45..=50).contains(&total), "{sample:?}");
        assert_eq!(sample.len(), 2, "one of a thousand has no place in a round of fifty");
        let ratio = f64::from(sample[0]) / f64::from(sample[1]);
        assert!((1.4..1.6).contains(&ratio), "{sample:?}");
        assert_eq!(said.as_deref(), Some(plan.conditions.as_str()));
        let told = format!("a sample of {total} of 1000 requests in a round, so that one fits");
        assert!(plan.conditions.starts_with(&told), "{}", plan.conditions);

        let mut again = plan::read(PLAN, "t.toml").unwrap();
        again.take_sample_of(&plan);
        assert_eq!(again.first_difference(&plan).unwrap(), None, "it can be resumed by its file");
    }

    #[test]
    fn a_trial_that_must_last_longer_says_why_and_names_the_flag() {
        let (plan, said) = fitted([3.0, 2.5, 4.0]);
        assert_eq!(weights(&plan), [2, 1]);
        let said = said.unwrap();
        assert!(said.contains("a trial lasts about 9s and not 5s: each client"), "{said}");
        assert!(
            said.ends_with("takes slow so long; --most with fewer requests than 2 shortens it")
        );
    }

    #[test]
    fn trials_too_short_for_a_percentile_have_a_remedy() {
        let text =
            PLAN.replace("fit_rounds = true", "thresholds = { response_time_ms_p99 = '< 9' }");
        let plan = plan::read(&text, "t.toml").unwrap();
        let of = |clients, seconds: f64| {
            let fast = Times { engine: "fast".to_owned(), clients, seconds: vec![0.001; 3] };
            let slow = Times { engine: "slow".to_owned(), clients, seconds: vec![seconds; 3] };
            short_trials(&plan, &[fast, slow])
        };
        assert_eq!(
            of(2, 0.02),
            [
                "p99 needs 1,000 right answers in each trial; slow gives about 100 per second: trials of \
              5s are too short: --time 11s"
            ]
        );
        assert!(of(2, 0.002).is_empty());
    }
}
