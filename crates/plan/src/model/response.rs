//! The responses that a plan can set a threshold for, and the one that its engines are compared by.

use serde::{Deserialize, Serialize};
use stats::Estimate;

/// A response of a treatment. A percentile is there only where every trial has ten observations or
/// more beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ResponseVariable {
    /// Arithmetic mean of the response times, ms.
    ResponseTimeMsMean,
    /// Median response time, ms.
    ResponseTimeMsP50,
    /// 90 of 100 are faster, ms.
    ResponseTimeMsP90,
    /// 95 of 100 are faster, ms.
    ResponseTimeMsP95,
    /// 99 of 100 are faster, ms.
    ResponseTimeMsP99,
    /// 999 of 1,000 are faster, ms.
    ResponseTimeMsP999,
    /// Right answers per second.
    RequestsPerSecond,
    /// The same of workload `oltp`, whose requests are transactions.
    TransactionsPerSecond,
    /// CPU time of the server side per request, seconds.
    CpuSecondsPerRequest,
    /// Failed requests by all requests, 0 to 1.
    FailureFraction,
}

impl ResponseVariable {
    /// As written in a plan.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Its name on an axis or over a column, without its unit.
    pub fn label(self) -> &'static str {
        match self {
            Self::ResponseTimeMsMean => "Mean response time",
            Self::ResponseTimeMsP50 => "Median response time",
            Self::ResponseTimeMsP90 => "Response time p90",
            Self::ResponseTimeMsP95 => "Response time p95",
            Self::ResponseTimeMsP99 => "Response time p99",
            Self::ResponseTimeMsP999 => "Response time p99.9",
            Self::RequestsPerSecond => "Requests per second",
            Self::TransactionsPerSecond => "Transactions per second",
            Self::CpuSecondsPerRequest => "CPU time per request",
            Self::FailureFraction => "Failed requests",
        }
    }

    /// The unit of its values; none for counts per second and shares, which their names tell.
    pub fn unit(self) -> Option<&'static str> {
        match self {
            Self::RequestsPerSecond | Self::TransactionsPerSecond | Self::FailureFraction => None,
            Self::CpuSecondsPerRequest => Some("s"),
            _ => Some("ms"),
        }
    }

    /// Whether less of it is faster: a time, and not a rate.
    pub fn lower_is_better(self) -> bool {
        !matches!(self, Self::RequestsPerSecond | Self::TransactionsPerSecond)
    }

    /// Its noun in a sentence about one engine: `postgres:18's time`.
    pub fn noun(self) -> &'static str {
        if self.lower_is_better() { "time" } else { "throughput" }
    }

    /// A value as something of which less is faster, as comparisons and crossings want it.
    pub fn cost(self, value: f64) -> f64 {
        if self.lower_is_better() { value } else { 1.0 / value }
    }

    /// A ratio of such costs as a ratio of this response.
    pub fn ratio(self, of_costs: Estimate) -> Estimate {
        if self.lower_is_better() { of_costs } else { of_costs.inverse() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_it_is_named() {
        let all = [
            ResponseVariable::ResponseTimeMsMean,
            ResponseVariable::ResponseTimeMsP50,
            ResponseVariable::ResponseTimeMsP90,
            ResponseVariable::ResponseTimeMsP95,
            ResponseVariable::ResponseTimeMsP99,
            ResponseVariable::ResponseTimeMsP999,
            ResponseVariable::RequestsPerSecond,
            ResponseVariable::TransactionsPerSecond,
            ResponseVariable::CpuSecondsPerRequest,
            ResponseVariable::FailureFraction,
        ];
        for response in all {
            assert_eq!(serde_json::to_value(response).unwrap(), response.name());
        }
    }

    #[test]
    fn a_ratio_of_rates_is_that_of_times_the_other_way_round() {
        let (times, others) = ([4.0, 4.2, 3.9, 4.1, 4.0], [2.0, 2.0, 2.1, 1.9, 2.0]);
        let of_times = stats::ratio_comparison(&times, &others, 0.95).unwrap().ratio;
        assert_eq!(ResponseVariable::ResponseTimeMsMean.ratio(of_times), of_times);
        let of_rates = ResponseVariable::TransactionsPerSecond.ratio(of_times);
        assert!((of_rates.value * of_times.value - 1.0).abs() < 1e-12);
        assert!(of_rates.low < Some(of_rates.value) && Some(of_rates.value) < of_rates.high);
        assert_eq!(ResponseVariable::TransactionsPerSecond.cost(4.0), 0.25);
    }
}
