//! Transfer of a database: schema, rows by binary COPY, keys and indexes, step by step, verified
//! before it is published.

mod begin;
mod comparison;
mod dependents;
mod load_rejects;
mod migration;
mod options;
mod prepare;
mod publish;
mod reconnect;
mod reject;
mod reject_file;
mod report;
mod run;
mod seeded;
mod sequences;
mod state;
mod step;
mod suspend_indexes;
mod workers;

pub use migration::{abandon, load_rejects, migrate, unfinished};
pub use options::{MigrateOptions, SeededRows};
pub use report::{MigratedTable, MigrationReport, PhaseSeconds};
