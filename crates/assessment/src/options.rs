//! Options of an assessment, and callbacks to its caller.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::EngineSpec;
use indicatif::ProgressBar;
use lab::error::RunError;
use lab::options::TimeLimit;
use plan::{Delay, EnoughBound, Plan, Seconds};
use record::Finished;
use server::Locations;
use tokio::runtime::Handle;

#[derive(Clone, Debug)]
pub struct AssessmentOptions {
    /// The SQLite file; it is only read.
    pub source: PathBuf,
    /// Files and folders of statements; with no log either they are derived from the tables.
    pub sql: Vec<PathBuf>,
    /// Logs of applications whose queries are measured.
    pub sql_logs: Vec<PathBuf>,
    /// The shared library that takes the place of the built-in SQLite.
    pub sqlite_library: Option<PathBuf>,
    /// Engines that SQLite is compared with; `sqlite` for none.
    pub engines: Vec<EngineSpec>,
    /// Distances to PostgreSQL; one without a relay where there are none.
    pub delays: Vec<Delay>,
    /// Searches for ANALYZE, indexes and settings that are measured too.
    pub tuned: bool,
    /// How long the measurement may take; audit and move come before it.
    pub budget: Seconds,
    /// Of all random choices.
    pub seed: u64,
    /// The bound of the user's own that makes a step enough.
    pub enough: Option<EnoughBound>,
    pub wait_for_quiet: bool,
    /// Keeps the copies and PostgreSQL's data directory.
    pub keep: bool,
    /// The folder of all runs.
    pub runs: PathBuf,
    /// For the plan that is written.
    pub command_line: String,
    /// The same command on SQLite alone, for where PostgreSQL cannot be had.
    pub command_on_sqlite: String,
    /// The same command that compares PostgreSQL, for where it was not compared.
    pub command_on_postgres: String,
}

/// Callbacks to the caller: how progress is shown, and how a plan is carried out.
pub struct Caller<'a> {
    pub runtime: &'a Handle,
    pub interrupted: &'a Arc<AtomicBool>,
    /// Where servers lie, and whether more may be fetched.
    pub locations: &'a Locations,
    /// A bar for a part of the work, by its name.
    pub progress: &'a dyn Fn(&str) -> ProgressBar,
    /// Something that the user must know.
    pub say: &'a dyn Fn(&str),
    /// A part of the work that is done, in a line.
    pub done: &'a dyn Fn(&str),
    /// Carries a plan out, with servers at these locations, within this time.
    pub measure: &'a dyn Fn(Plan, &Locations, TimeLimit) -> Result<Finished, RunError>,
}
