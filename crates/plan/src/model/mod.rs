//! Model of a plan: what its TOML file may say, a file for each table or kind of value.

pub(crate) mod access_log;
pub(crate) mod application;
mod blob;
mod connection_by;
mod data;
pub(crate) mod dialect;
mod durability;
mod duration;
mod enough;
mod experiment;
mod factor;
mod header;
pub(crate) mod load_model;
mod load_options;
pub mod oltp;
mod percentile;
mod period;
pub(crate) mod placeholder;
mod processors;
mod quantity;
mod regression;
mod request;
mod request_source;
mod response;
mod seed;
mod sql_file;
mod statement;
mod step;
pub mod storage;
mod workload_kind;

pub use application::{Application, FORMS_OF_ADDRESSES};
pub use blob::{Blob, BlobCell, BlobOperation, Knob};
pub use connection_by::{CONNECTION_BY, ConnectionBy};
pub use data::Data;
pub use dialect::dialect;
pub use durability::Durability;
pub use duration::Seconds;
pub use enough::{EnoughBound, EnoughStatistic};
pub use experiment::{Compare, OnError, Plan};
pub use factor::{Factor, Level, Levels, Scale};
pub use header::Headers;
pub use load_model::{Arrivals, ConnectionUse, Load, LoadModel, Pause, TrialSettings, clients};
pub use load_options::{LoadOptions, Mode};
pub use oltp::{Checkpoints, Initdb, Oltp, Setting};
pub use percentile::PercentileNeed;
pub use period::{days_of, last_day};
pub use placeholder::{Placeholders, expand};
pub use processors::available_cpus;
pub use quantity::{Bound, Bytes, Percent};
pub use regression::RegressionSides;
pub use request::{AnswerCheck, Request, is_safe};
pub use request_source::RequestSource;
pub use response::ResponseVariable;
pub use seed::derive_seed;
pub use sql_file::{FileStatement, PlacedText, SqlFile, number_equal, sql_files};
pub use statement::{
    Given, Invariant, Parameter, ResultComparison, Statement, StatementVersion, TransactionBegin,
    combinations,
};
pub use step::{STEP, Step, StepChanges};
pub use workload_kind::{WorkloadKind, WorkloadProperties};
