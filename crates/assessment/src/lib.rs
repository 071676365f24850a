//! Assessment of a user's own SQLite file: what PostgreSQL refuses, a copy moved and proved, every
//! statement measured on both, the verdict, and the plan that repeats it.

mod audit;
mod block_time;
mod budget;
mod candidates;
mod derive;
mod distance;
mod engines;
mod error;
mod index_advice;
mod ladder;
mod names;
mod notes;
mod options;
mod outcome;
mod pilot;
mod place;
mod plan_file;
mod preparation;
mod preview;
mod remedies;
mod run;
mod screening;
mod size;
mod sql_file;
mod sql_log;
mod statement;
mod tuning;
mod writers;

pub use error::Error;
pub use options::{AssessmentOptions, Caller};
pub use outcome::Assessment;
pub use preview::preview;
pub use run::assess;
pub use writers::{
    BeginChoice, ExpectedRate, Headroom, WriterAssessment, WriterOptions, assess_writers,
    preview_writers,
};
