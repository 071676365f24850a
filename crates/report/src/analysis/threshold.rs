//! Thresholds of the plan and every treatment's result, judged by the end of an interval and
//! never by the point: a bound inside the interval is undecided.

use stats::{Estimate, Method};

use super::Treatment;
use plan::Levels;
use plan::{Bound, Plan, ResponseVariable};

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
        // The mean that users wait is no geometric one.
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
}
