//! One trial as kept: treatment, block, what was observed, what it cost.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{OperationPlan, WrittenTable};
use plan::Levels;
use plan::{Level, ResponseVariable};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Ok,
    /// It does not, and why. It is kept, shown, and never repeated silently.
    Void(String),
}

/// Why a trial is void whose engine lived and failed.
pub const NO_RIGHT_ANSWER: &str = "a request of the mix has no right answer";

impl Status {
    /// Whether the engine lived through the trial, so that failures in it are its answers.
    pub fn is_answered(&self) -> bool {
        match self {
            Self::Ok => true,
            Self::Void(why) => why == NO_RIGHT_ANSWER,
        }
    }
}

/// A trial's figures for one request of the mix.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct RequestSummary {
    pub name: String,
    pub requests: u64,
    /// Mean over those with the right answer; none if there is none.
    pub response_time_ms_mean: Option<f64>,
    /// The percentiles of [`crate::PERCENTILES`] that have observations enough, ms; empty where no
    /// bound of the plan asks for them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub response_time_ms_percentiles: BTreeMap<String, f64>,
    /// How it failed; none in trials of releases that did not tell failures apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<FailureCounts>,
    /// Share of its executions that changed no row (0 to 1); none where it only reads, or effects
    /// are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without_effect_fraction: Option<f64>,
}

/// Failures of one request in one trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct FailureCounts {
    pub all: u64,
    pub wrong: u64,
    /// Requests without an answer in time.
    pub timed_out: u64,
    /// Mean over right answers and time-outs, each with the time waited; none where there
    /// is no time-out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_ms_mean_with_time_outs: Option<f64>,
}

impl Trial {
    /// Its value of a response that engines are compared by.
    pub fn value_of(&self, response: ResponseVariable) -> Option<f64> {
        match response {
            ResponseVariable::RequestsPerSecond | ResponseVariable::TransactionsPerSecond => {
                self.response_time_ms_mean.map(|_| self.requests_per_second)
            }
            _ => self.response_time_ms_mean.map(|mean| self.with_write_back(mean)),
        }
    }

    /// A mean response time, ms, with what was left to write when the clock stopped, as if all
    /// clients had waited for it: a mean under closed load is clients by throughput.
    pub fn with_write_back(&self, response_time_ms: f64) -> f64 {
        self.with_seconds_after(
            response_time_ms,
            self.checkpoint_seconds.unwrap_or(0.0) + self.sync_seconds.unwrap_or(0.0),
        )
    }

    /// The same with the checkpoint alone; none where nothing was written.
    pub fn with_checkpoint(&self, response_time_ms: f64) -> Option<f64> {
        // As releases recorded it that timed no sync.
        let counted = || self.counters.get("blob_checkpoint_seconds").copied();
        let seconds = self.checkpoint_seconds.or_else(counted)?;
        Some(self.with_seconds_after(response_time_ms, seconds))
    }

    fn with_seconds_after(&self, response_time_ms: f64, seconds: f64) -> f64 {
        let clients = self.levels.get("clients").and_then(Level::number).unwrap_or(1.0);
        let right = (self.requests - self.failures).max(1) as f64;
        response_time_ms + 1e3 * seconds * clients / right
    }
}

/// One trial: `trials/0001.json`.
#[derive(Clone, Debug, PartialEq, Serialize, schemars::JsonSchema, Deserialize)]
pub struct Trial {
    /// Counts from 1 in the order of the schedule.
    pub number: usize,
    pub block: usize,
    pub engine: String,
    /// The rest of the treatment.
    pub levels: Levels,
    pub status: Status,
    pub started: Timestamp,
    /// From the first request to the end of the last; in workload `oltp` the time in which answers
    /// and what they cost were counted, after which the last ones are waited for.
    pub wall_seconds: f64,
    pub requests: u64,
    /// Those of them that failed: wrong status, wrong answer, connection lost, timed out.
    pub failures: u64,
    /// The first failure in words.
    pub first_failure: Option<String>,
    /// Mean over the requests of the mix by their weights, each by its own mean, so that a trial
    /// in which one request happens to occur more often is not shifted by that. Over right answers;
    /// none if a request of the mix has none.
    pub response_time_ms_mean: Option<f64>,
    /// The same with time-outs, each with the time waited; none where there is no time-out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_time_ms_mean_with_time_outs: Option<f64>,
    /// A trial that writes ends with a checkpoint on every engine that has one: its time, and that of
    /// checkpoints between transactions. None where nothing was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint_seconds: Option<f64>,
    /// Workload `blob`: then, until nothing was left to be written to storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync_seconds: Option<f64>,
    /// Right answers per second.
    pub requests_per_second: f64,
    /// CPU time of the server side (application and database) per request; none where the trial
    /// was too short for the kernel's ticks to tell.
    pub cpu_seconds_per_request: Option<f64>,
    /// CPU time of the server side by wall time.
    pub cores_used: Option<f64>,
    /// CPU time of the measuring client by wall time.
    pub client_cores_used: f64,
    /// Share of the machine's CPU time that the hypervisor took away (0 to 1).
    pub steal_fraction: Option<f64>,
    /// CPU time of everything else on the machine by wall time: neither server side, client, idle
    /// nor stolen.
    pub other_cores_used: Option<f64>,
    /// Largest resident memory of the server side at the end, bytes.
    pub server_resident_bytes: Option<u64>,
    pub by_request: Vec<RequestSummary>,
    /// Percentiles of the response times of all right answers, ms, by `p50`, `p90`, `p95`, `p99`,
    /// `p999`: only those with ten observations or more beyond them.
    #[serde(default)]
    pub response_time_ms_percentiles: BTreeMap<String, f64>,
    /// Growth during the trial of the counters of engine, application, client and operating system;
    /// names with units last, as `postgres_temporary_bytes`.
    #[serde(default)]
    pub counters: BTreeMap<String, f64>,
    /// The plan of each operation in this treatment; empty where none was looked for.
    #[serde(default)]
    pub plans: Vec<OperationPlan>,
    /// How long the trial waited for the machine to be quiet.
    #[serde(default)]
    pub quiet_wait_seconds: f64,
    /// Bytes that the machine wrote to and read from swap.
    #[serde(default)]
    pub swapped_bytes: Option<u64>,
    /// Share of the time in which some process waited for a processor (0 to 1).
    #[serde(default)]
    pub cpu_pressure_fraction: Option<f64>,
    /// Share of the time in which some process waited for memory (0 to 1).
    #[serde(default)]
    pub memory_pressure_fraction: Option<f64>,
    /// Whether the warm-up before it ended because times stood still; none if not recorded.
    #[serde(default)]
    pub warm_up_steady: Option<bool>,
    /// Requests of that warm-up which failed.
    #[serde(default)]
    pub warm_up_failures: u64,
    /// Mean response time of the trial's second half by that of its first, each operation against
    /// itself; none where an operation is missing from a half.
    #[serde(default)]
    pub second_half_ratio: Option<f64>,
    /// Open load: requests offered per second.
    #[serde(default)]
    pub offered_per_second: Option<f64>,
    /// Open load: the server could not keep up with what was offered.
    #[serde(default)]
    pub saturated: bool,
    /// Right answers by the second of the measured part in which they ended, where that is kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers_by_second: Vec<u64>,
    /// The tables that it wrote to, by name; empty where it wrote nothing, or they are not compared.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub written: BTreeMap<String, WrittenTable>,
}
