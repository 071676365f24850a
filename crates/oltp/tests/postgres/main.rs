//! Loads on a real PostgreSQL: what it says it was asked, what its tables hold before and after, and
//! everything that can go wrong with a server under load.
#![expect(clippy::unwrap_used, reason = "tests")]

mod counting;
#[path = "../support/mod.rs"]
mod support;
mod tables;
mod trouble;
