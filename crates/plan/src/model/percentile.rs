//! Percentiles that a plan sets a threshold for, and the right answers that a trial needs for them.

use stats::percentile_min_observations;

use notation::thousands;

use crate::{Plan, ResponseVariable, Seconds, TrialSettings};

/// A percentile of the response time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentileNeed {
    /// As `p99`.
    pub name: &'static str,
    /// Right answers in a trial.
    pub answers: u64,
}

impl ResponseVariable {
    /// None of a response that is not a percentile.
    pub fn percentile(self) -> Option<PercentileNeed> {
        let (name, p) = match self {
            Self::ResponseTimeMsP50 => ("p50", 0.5),
            Self::ResponseTimeMsP90 => ("p90", 0.9),
            Self::ResponseTimeMsP95 => ("p95", 0.95),
            Self::ResponseTimeMsP99 => ("p99", 0.99),
            Self::ResponseTimeMsP999 => ("p999", 0.999),
            _ => return None,
        };
        Some(PercentileNeed { name, answers: percentile_min_observations(p) })
    }
}

impl Plan {
    /// Of the thresholds on percentiles.
    pub fn percentile_needs(&self) -> Vec<PercentileNeed> {
        self.thresholds.keys().filter_map(|response| response.percentile()).collect()
    }
}

impl PercentileNeed {
    /// `p99 needs 1,000 right answers in each trial`.
    pub fn in_words(self) -> String {
        format!("{} needs {} right answers in each trial", self.name, thousands(self.answers))
    }

    /// The trial that has them at this rate of right answers, with a tenth to spare.
    pub fn trial(self, per_second: f64) -> Seconds {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above 0")]
        let seconds = (self.answers as f64 / per_second * 1.1).ceil().min(1e9) as u64;
        Seconds(seconds.max(1))
    }

    /// The flag that makes a trial of `plan` long enough at this rate of right answers; none where it is
    /// long enough.
    pub fn remedy(self, plan: &Plan, per_second: f64) -> Option<String> {
        match plan.trial {
            TrialSettings::Steady { time } => {
                let enough = per_second * time.duration().as_secs_f64() >= self.answers as f64;
                (!enough).then(|| {
                    format!("trials of {time} are too short: --time {}", self.trial(per_second))
                })
            }
            TrialSettings::Passes { .. } => None,
        }
    }
}
