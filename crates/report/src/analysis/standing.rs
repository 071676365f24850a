//! Eligibility of a treatment for a verdict: failures are tolerated up to a share, wrong answers
//! never.

use notation::{counted, thousands};
use plan::Plan;
use record::Trial;

/// Failures of a treatment, or of one request in it, over all blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Failures {
    /// All requests, those that failed among them.
    pub requests: u64,
    pub failed: u64,
    /// Failures by a wrong answer.
    pub wrong: u64,
    pub timed_out: u64,
}

/// Whether a treatment may get a verdict, and why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may: it failed seldom or never.
    Judged,
    /// Answers were wrong: the times are of other work than was asked for.
    WrongAnswers { request: String, wrong: u64, requests: u64 },
    /// More requests failed than the plan tolerates.
    TooManyFailures {
        /// The request; none where only all together fail too often.
        request: Option<String>,
        failed: u64,
        requests: u64,
    },
    /// Requests failed in a trial of a release that did not tell failures apart.
    Unclassified { failed: u64, requests: u64 },
}

impl Failures {
    /// Of one request of the mix.
    pub(super) fn of_request(name: &str, trials: &[&Trial]) -> Self {
        let mut sum = Self::default();
        for trial in trials {
            let Some(summary) = trial.by_request.iter().find(|one| one.name == name) else {
                continue;
            };
            let counts = summary.failures.unwrap_or_default();
            sum.requests += summary.requests;
            sum.failed += counts.all;
            sum.wrong += counts.wrong;
            sum.timed_out += counts.timed_out;
        }
        sum
    }

    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.failed += other.failed;
        self.wrong += other.wrong;
        self.timed_out += other.timed_out;
    }

    fn exceeds(&self, most: f64) -> bool {
        self.failed as f64 > self.requests as f64 * most
    }
}

impl Standing {
    /// Of the trials in which the engine lived.
    pub(super) fn of(plan: &Plan, trials: &[&Trial], by_request: &[(String, Failures)]) -> Self {
        let requests = trials.iter().map(|trial| trial.requests).sum();
        let failed = trials.iter().map(|trial| trial.failures).sum();
        if failed == 0 {
            return Self::Judged;
        }
        let is_classified =
            |trial: &&&Trial| trial.by_request.iter().any(|one| one.failures.is_some());
        let most = plan.failures_max();
        if trials.iter().filter(|trial| trial.failures > 0).any(|trial| !is_classified(&trial)) {
            // Of a rate the few failures of an older release do not say more than those of this.
            let tolerated = !plan.response().lower_is_better();
            return match tolerated && failed as f64 <= requests as f64 * most {
                true => Self::Judged,
                false => Self::Unclassified { failed, requests },
            };
        }
        if let Some((request, one)) = by_request.iter().find(|(_, one)| one.wrong > 0) {
            let (request, wrong, requests) = (request.clone(), one.wrong, one.requests);
            return Self::WrongAnswers { request, wrong, requests };
        }
        let share = |one: &Failures| one.failed as f64 / one.requests.max(1) as f64;
        let beyond = by_request.iter().filter(|(_, one)| one.exceeds(most));
        if let Some((request, one)) = beyond.max_by(|a, b| share(&a.1).total_cmp(&share(&b.1))) {
            let request = Some(request.clone());
            return Self::TooManyFailures { request, failed: one.failed, requests: one.requests };
        }
        match failed as f64 > requests as f64 * most {
            true => Self::TooManyFailures { request: None, failed, requests },
            false => Self::Judged,
        }
    }

    /// Whether it may get a verdict.
    pub fn is_judged(&self) -> bool {
        *self == Self::Judged
    }

    /// Why it may not: `5 of 1,000 requests "year" failed`; none where it may.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Judged => None,
            Self::WrongAnswers { request, wrong, requests } => Some(format!(
                "{} of {} answers to {request} were wrong",
                thousands(*wrong),
                thousands(*requests)
            )),
            Self::TooManyFailures { request: Some(request), failed, requests } => {
                let (failed, requests) = (thousands(*failed), counted(*requests, "request"));
                Some(format!("{failed} of {requests} {request} failed"))
            }
            Self::TooManyFailures { request: None, failed, requests }
            | Self::Unclassified { failed, requests } => {
                Some(format!("{} of {} requests failed", thousands(*failed), thousands(*requests)))
            }
        }
    }
}
