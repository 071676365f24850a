//! PostgreSQL as the laboratory hosts it, one file for each verb: `check`, `start` (and fill),
//! `copy` (for a trial), `changed` (copies of steps), `administration` (settle, checkpoint), `settings`,
//! `pool` (between clients and server), `durability`, `counters`, `watch` and `activity`,
//! `plan_shape` and `auto_explain`.

mod activity;
mod administration;
pub mod auto_explain;
mod changed;
mod check;
mod client_address;
mod copy;
mod counters;
mod database;
mod durability;
mod plan_shape;
mod pool;
mod settings;
mod start;
mod temporary_files;
#[cfg(test)]
mod tests;
mod watch;

pub use administration::{Administration, MAINTENANCE};
pub use client_address::ClientAddress;
pub use database::{PostgresDatabase, session_settings};
pub use pool::ConnectionPool;
pub use settings::OF_SHORT_TRANSACTIONS;
pub use start::start;
pub use watch::PostgresWatch;

pub(crate) use check::{check_managed, check_yours};
pub(crate) use database::{deploy_managed, deploy_yours};
pub(crate) use durability::durability;
pub(crate) use plan_shape::shape;
