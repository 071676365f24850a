//! The content-traffic dashboard: its schema, its reference dataset, its queries, its HTTP server.

pub mod answer;
pub mod generate;
pub mod http;
pub mod key;
pub mod mend;
mod new_file;
pub mod query;
pub mod rollup;
pub mod schema;
pub mod statement;
pub mod store;
