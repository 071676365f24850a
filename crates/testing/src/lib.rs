//! Helpers that the tests of all crates share. Knows no other crate of the workspace.

pub mod benchmark;
pub mod bundled_sqlite;
pub mod dashboard;
pub mod loopback;
mod mounts;
mod seed;
mod skip;

pub use mounts::run_with_own_mounts;
pub use seed::{cases, prove, repetitions, seed};
pub use skip::skip;
