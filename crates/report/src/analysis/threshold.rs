//! Thresholds of the plan and every treatment's result, judged by the end of an interval and
//! never by the point: a bound inside the interval is undecided.

use notation::thousands;
use stats::{Estimate, Method};

use super::Treatment;
use plan::Levels;
use plan::{Bound, Plan, ResponseVariable, TrialSettings};

/// A threshold where it was applied.
#[derive(Clone, Debug)]
pub struct Judgement {
    pub response: ResponseVariable,
    pub bound: Bound,
    pub engine: String,
    /// The rest of the treatment.
    pub levels: Levels,
    /// The value measured; none where nothing was.
    pub estimate: Option<Estimate>,
    /// Why nothing was measured; none where something was.
    pub why_not: Option<String>,
    /// Whether it is kept; none where the blocks do not tell.
    pub met: Option<bool>,
}

pub(super) fn judge(plan: &Plan, treatments: &[Treatment]) -> Vec<Judgement> {
    let judge_all = |(response, bound): (&ResponseVariable, &Bound)| {
        let judged = treatments.iter().map(|treatment| {
            let estimate = measured(treatment, *response);
            Judgement {
                response: *response,
                bound: *bound,
                engine: treatment.engine.clone(),
                levels: treatment.levels.clone(),
                why_not: estimate.is_none().then(|| why_not(plan, treatment, *response)),
                estimate,
                met: estimate
                    .filter(|_| is_judged(treatment, *response))
                    .and_then(|estimate| met(&estimate, *bound)),
            }
        });
        judged.collect::<Vec<_>>()
    };
    plan.thresholds.iter().flat_map(judge_all).collect()
}

/// Times and rates of a treatment that failed are not those of the work asked for; its share of
/// failures is reported all the same.
fn is_judged(treatment: &Treatment, response: ResponseVariable) -> bool {
    response == ResponseVariable::FailureFraction || treatment.standing.is_judged()
}

fn measured(treatment: &Treatment, response: ResponseVariable) -> Option<Estimate> {
    let percentile = |name: &str| {
        treatment.percentiles.iter().find(|found| found.name == name).map(|found| found.estimate)
    };
    match response {
        // The mean that users wait is not a geometric one.
        ResponseVariable::ResponseTimeMsMean => treatment.response_time_arithmetic,
        ResponseVariable::ResponseTimeMsP50 => percentile("p50"),
        ResponseVariable::ResponseTimeMsP90 => percentile("p90"),
        ResponseVariable::ResponseTimeMsP95 => percentile("p95"),
        ResponseVariable::ResponseTimeMsP99 => percentile("p99"),
        ResponseVariable::ResponseTimeMsP999 => percentile("p999"),
        ResponseVariable::RequestsPerSecond | ResponseVariable::TransactionsPerSecond => {
            treatment.throughput
        }
        ResponseVariable::CpuSecondsPerRequest => treatment.cpu_seconds_estimate,
        ResponseVariable::FailureFraction => treatment.failure_fraction,
    }
}

/// Why there is no value of a response.
fn why_not(plan: &Plan, treatment: &Treatment, response: ResponseVariable) -> String {
    let Some(least) = treatment.least_answers else { return "no trial counts".to_owned() };
    match response.percentile() {
        Some(need) => {
            let remedy = match plan.trial {
                TrialSettings::Steady { time } => {
                    let per_second = least as f64 / time.duration().as_secs_f64();
                    need.remedy(plan, per_second).map(|remedy| format!("; {remedy}"))
                }
                TrialSettings::Passes { passes } => {
                    let passes = (u64::from(passes) * need.answers).div_ceil(least.max(1));
                    Some(format!("; trial.passes = {passes} has them"))
                }
            };
            let remedy = remedy.filter(|_| least > 0).unwrap_or_default();
            format!("{}, one had {}{remedy}", need.in_words(), thousands(least))
        }
        None if response == ResponseVariable::CpuSecondsPerRequest => {
            "a trial was too short for the clock ticks of its processor time".to_owned()
        }
        None => "a request of the mix has no right answer".to_owned(),
    }
}

fn met(estimate: &Estimate, bound: Bound) -> Option<bool> {
    if estimate.method == Method::RangeOnly {
        return None;
    }
    let ends = [bound.holds(estimate.low?), bound.holds(estimate.high?)];
    match ends {
        [true, true] => Some(true),
        [false, false] => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_inside_the_interval_is_undecided() {
        let estimate = stats::mean_estimate(&[190.0, 195.0, 200.0, 192.0, 198.0], 0.95).unwrap();
        let below = |bound| met(&estimate, Bound::Below(bound));
        assert_eq!((below(210.0), below(199.0), below(180.0)), (Some(true), None, Some(false)));
        assert_eq!(met(&estimate, Bound::Above(180.0)), Some(true));
        let few = stats::mean_estimate(&[1.0, 2.0, 3.0], 0.95).unwrap();
        assert_eq!(met(&few, Bound::Below(100.0)), None, "three blocks have no interval");
    }

    #[test]
    fn a_percentile_that_is_not_measured_says_what_it_needs() {
        let mut plan = crate::formula::plan(5);
        plan.thresholds =
            [(ResponseVariable::ResponseTimeMsP99, Bound::Below(200.0))].into_iter().collect();
        let rounds = [plan.first_round()];
        let mut trials = crate::formula::trials(&plan, &rounds, |_, days, _| days);
        let void = |trial: &record::Trial| trial.engine == "sqlite";
        for trial in trials.iter_mut().filter(|trial| void(trial)) {
            trial.status = record::Status::Void("it died".to_owned());
        }
        let treatments =
            super::super::analyse(&plan::Design::of(&plan), &rounds[0].cells, &trials).treatments;
        let judged = judge(&plan, &treatments);
        let reason = |engine: &str| {
            let one = judged.iter().find(|one| one.engine == engine).unwrap();
            assert!(one.estimate.is_none() && one.met.is_none());
            one.why_not.clone().unwrap()
        };
        assert_eq!(reason("sqlite"), "no trial counts");
        assert_eq!(
            reason("postgres:18"),
            "p99 needs 1,000 right answers in each trial, one had 90; trials of 10s are too short: \
             --time 123s"
        );
    }
}
