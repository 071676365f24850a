//! Load on a server under test, and what each request of it came to.
//! Closed load: a fixed number of clients, each sending its next request when it has the answer.

mod client;
mod closed;
mod gate;
mod order;
mod sample;

pub use client::{Client, Clients};
pub use closed::{ConnectionUse, LoadError, LoadOptions, Mode, run_closed};
pub use order::derive_seed;
pub use sample::{Expected, Observation, Outcome, TrialSample};
