//! The content-traffic dashboard: its schema, its reference dataset, its queries, its HTTP server.

pub mod account;
pub mod answer;
pub mod backup;
mod cache;
pub mod catalog;
pub mod database;
pub mod generate;
pub mod http;
pub mod import;
mod imported_days;
pub mod init;
pub mod key;
pub mod mend;
mod metadata;
mod name;
mod new_file;
pub mod query;
pub mod rollup;
pub mod schema;
mod spelling;
pub mod statement;
pub mod store;
pub mod transfer;
mod tsv;
pub mod upgrade;
