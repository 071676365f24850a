//! Migration against real SQLite files and a real PostgreSQL: one binary, so that one server
//! serves all tests.

#![expect(clippy::unwrap_used, reason = "tests")]

mod audit;
mod audit_clean;
mod audit_keys;
mod audit_named;
mod audit_target;
mod bad_input;
mod commit;
mod data_only;
mod dependents;
mod excluded_columns;
mod expressions;
mod first_attempt;
mod frameworks;
mod generated;
mod key_triggers;
mod large;
mod lock_wait;
mod losses;
mod many_tables;
mod migrate;
mod moments;
mod names;
mod nocase;
mod not_valid_keys;
mod numbering;
mod outage;
mod partitions;
mod presets;
mod properties;
mod reject;
mod reload;
mod remedies;
mod resume;
mod rights;
mod seeded;
mod structure;
mod support;
mod text;
mod types;
mod unwritten;
mod utf8_blobs;
mod values;
mod verify;
mod wide_tables;
