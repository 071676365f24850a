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

pub use client::{Client, Clients};
pub use event_loop::{Protocol, run_event_loop};
pub use expected::{Expected, Meaning};
pub use options::LoadError;
pub use poller::{Poller, Wait};
pub use recorder::{Recorded, Recorder};
pub use run::run;
pub use sample::{OperationTotals, TrialSample};
pub use threads::{Watch, in_threads, run_clients};
