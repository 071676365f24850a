//! The laboratory on real servers and processes.

#![expect(clippy::unwrap_used, reason = "tests")]

mod application;
mod article;
mod laboratory;
mod memory_limit;
mod planted;
mod resumed;
mod starved;
