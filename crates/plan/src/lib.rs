//! The plan of an experiment: what a TOML file says, checked and made complete.
//! The resolved plan is written into the run's folder, so a run can be read without the program.

mod access_log;
mod application;
mod blob;
mod cell;
mod data;
mod dialect;
mod durability;
mod duration;
mod effect;
mod enough;
mod error;
mod experiment;
mod factor;
mod header;
mod load_model;
pub mod oltp;
mod parse;
mod percentile;
mod period;
mod place;
mod placeholder;
mod quantity;
mod regression;
mod request;
mod request_source;
mod response;
pub mod schedule;
mod size;
mod sql_file;
mod statement;
mod step;
mod steps;
#[cfg(test)]
mod tests;
mod toml_message;
mod words;
mod workload;

pub use self::oltp::{Checkpoints, Initdb, Oltp, Setting, Transport};
pub use ::load::{Arrivals, ConnectionUse};
pub use application::Application;
pub use application::FORMS_OF_ADDRESSES;
pub use blob::{Blob, Knob};
pub use blob::{BlobCell, BlobOperation};
pub use data::Data;
pub use dialect::dialect;
pub use durability::Durability;
pub use duration::Seconds;
pub use effect::canonical_levels;
pub use effect::distinguishing_levels;
pub use enough::{EnoughBound, EnoughStatistic};
pub use error::PlanError;
pub use experiment::{Compare, OnError, Plan, WorkloadKind};
pub use factor::{Factor, Level, Levels, Scale};
pub use header::Headers;
pub use load_model::{Load, LoadModel, Pause, TrialSettings, clients};
pub use parse::{parse, read};
pub use percentile::PercentileNeed;
pub use period::{days_of, last_day};
pub use placeholder::{Placeholders, expand};
pub use quantity::{Bound, Bytes, Percent};
pub use regression::RegressionSides;
pub use request::is_safe;
pub use request::{AnswerCheck, Request};
pub use request_source::RequestSource;
pub use response::ResponseVariable;
pub use sql_file::{FileStatement, PlacedText, SqlFile, number_equal, sql_files};
pub use statement::{
    Given, Invariant, Parameter, ResultComparison, Statement, StatementVersion, combinations,
};
pub use step::{STEP, Step, StepChanges};
pub use words::{capitalised, counted, with_commas};
pub use workload::{BlobStorage, Operation, StorageForm, WorkloadRules};
