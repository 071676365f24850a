//! Load on real sockets, and what real processes use.

#![expect(clippy::unwrap_used, reason = "tests")]

mod closed_load;
mod failures;
mod http;
mod open_load;
mod resource;
