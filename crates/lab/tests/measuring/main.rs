//! The measuring side of the laboratory on real sockets and real processes, a module per room.

#![expect(clippy::unwrap_used, reason = "tests")]

mod application;
mod article;
mod http;
mod laboratory;
mod load;
mod loopback;
mod memory_limit;
mod open_load;
mod planted;
mod process;
mod resource;
mod resumed;
mod starved;
