//! The responses that a plan can set a threshold for.

use serde::{Deserialize, Serialize};

/// A response of a treatment. A percentile is there only where every trial has ten observations or
/// more beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// Mean response time, ms.
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
    /// CPU time of the server side per request, seconds.
    CpuSecondsPerRequest,
    /// Failed requests by all requests, 0 to 1.
    FailureFraction,
}

impl Response {
    /// As it is written in a plan.
    pub fn name(self) -> &'static str {
        match self {
            Self::ResponseTimeMsMean => "response_time_ms_mean",
            Self::ResponseTimeMsP50 => "response_time_ms_p50",
            Self::ResponseTimeMsP90 => "response_time_ms_p90",
            Self::ResponseTimeMsP95 => "response_time_ms_p95",
            Self::ResponseTimeMsP99 => "response_time_ms_p99",
            Self::ResponseTimeMsP999 => "response_time_ms_p999",
            Self::RequestsPerSecond => "requests_per_second",
            Self::CpuSecondsPerRequest => "cpu_seconds_per_request",
            Self::FailureFraction => "failure_fraction",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_it_is_named() {
        let all = [
            Response::ResponseTimeMsMean,
            Response::ResponseTimeMsP50,
            Response::ResponseTimeMsP90,
            Response::ResponseTimeMsP95,
            Response::ResponseTimeMsP99,
            Response::ResponseTimeMsP999,
            Response::RequestsPerSecond,
            Response::CpuSecondsPerRequest,
            Response::FailureFraction,
        ];
        for response in all {
            assert_eq!(serde_json::to_value(response).unwrap(), response.name());
        }
    }
}
