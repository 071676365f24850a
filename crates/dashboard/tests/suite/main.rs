//! The dashboard on both engines: the same tests on a SQLite file and on a managed PostgreSQL.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod account;
mod backup;
mod brute_force;
mod database;
mod golden;
mod http;
mod import;
mod key;
mod plan;
mod reading;
mod rollup;
mod rows;
mod store;
mod upgrade;
