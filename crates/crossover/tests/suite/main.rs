//! The program as a user calls it, on real files and real servers: one binary, so that it is linked
//! once.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod bench_blob;
mod blob;
mod client_processes;
mod connection_way;
mod dashboard;
mod data_folder;
mod demo;
mod distance;
mod documents;
mod durations;
mod experiment;
mod foreign_clients;
mod killed;
mod malformed;
mod migration;
mod oltp;
mod own_http;
mod own_sql;
mod packages;
mod place;
mod plans;
mod records;
mod schema;
mod server;
mod r#try;
mod usage;
mod watch;
