//! The content-traffic dashboard: its schema, its reference dataset, its queries, its HTTP server.

pub mod schema;
