//! A run on disk: `runs/<id>/` with run.json, plan.toml, trials and the report. Every file is
//! written to a temporary name, synced and renamed, so that a run that is cut off at any moment
//! holds whole trials only.

mod answer;
mod assessment;
mod captured_plan;
pub mod counter;
mod engine;
pub mod environment;
mod error;
mod file;
mod finished;
mod fixed_work;
mod folder;
mod histogram;
mod observation;
mod observation_log;
mod observations;
mod relay;
mod run;
mod trial;
mod written_table;

pub use self::engine::{BOOLEAN_CAST, BlobStore, EngineRecord, POOL_PROGRAM};
pub use answer::Answer;
pub use assessment::{AssessmentRecord, NotMeasured};
pub use captured_plan::{CapturedPlan, OperationPlan};
pub use counter::Counters;
pub use error::RecordError;
pub use finished::Finished;
pub use fixed_work::{FixedWork, work_at};
pub use folder::RunFolder;
pub use histogram::{PERCENTILES, ResponseTimes, read_histogram, write_histogram};
pub use observation::{FailureKind, Observation, Outcome};
pub use observation_log::{ObservationLog, Observations};
pub use observations::{describe, read_observations, write_observations};
pub use relay::RelayAddition;
pub use run::{DECLARED_DATA, Run, SCHEMA_VERSION};
pub use trial::{FailureCounts, NO_RIGHT_ANSWER, RequestSummary, Status, Trial};
pub use written_table::WrittenTable;
