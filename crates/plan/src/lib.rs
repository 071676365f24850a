//! The plan of an experiment: what a TOML file says, checked and made complete, and the design that
//! follows from it. The resolved plan is written into the run's folder, so a run can be read without
//! the program.

mod cell;
mod design;
mod error;
mod model;
mod parse;
mod place;
mod size;
#[cfg(test)]
mod tests;
mod toml_message;
mod workload;

pub(crate) use cell::delay_acts;
pub use cell::{
    CLIENTS_AS, ClientsAs, DATA_FOLDER, DELAY_MS, Delay, PROCESSES_MAX, Round,
    SERVER_MEMORY_BYTES_MIN, SqliteOrigin, data_folder_at,
};
pub use design::{Design, PlannedTrial, trial_seed};
pub use error::PlanError;
pub use model::*;
pub use parse::{parse, read};
pub use workload::{BlobStorage, Operation, StorageForm, WorkloadRules};
