//! Load on a server under test, and what each request of it came to.
//! Closed load: a fixed number of clients, each sending its next request when it has the answer.
//! Open load: requests that are due by a clock, whether or not the server keeps up.

mod arrivals;
mod client;
mod closed;
mod event_loop;
mod expected;
mod gate;
pub mod http;
mod lanes;
mod observation;
mod observations;
mod offer;
mod open;
mod options;
mod order;
mod poller;
mod recorder;
pub mod resource;
mod run;
mod sample;
mod threads;
mod trial;
mod walk;

pub use arrivals::Arrivals;
pub use client::{Client, Clients};
pub use event_loop::{Protocol, run_event_loop};
pub use expected::{Expected, Meaning};
pub use observation::{FailureKind, Observation, OperationTotals, Outcome};
pub use observations::Observations;
pub use options::{ConnectionUse, LoadError, LoadOptions, Mode};
pub use order::derive_seed;
pub use poller::{Poller, Wait};
pub use recorder::{Recorded, Recorder};
pub use run::run;
pub use sample::TrialSample;
pub use threads::{Watch, in_threads, run_clients};
