//! Load on a server under test, and what each request of it came to.
//! Closed load: a fixed number of clients, each sending its next request when it has the answer.
//! Open load: requests that are due by a clock, whether or not the server keeps up.

mod arrivals;
mod child;
mod client;
mod closed;
mod event_loop;
mod expected;
mod frame;
mod gate;
pub mod http;
mod lanes;
mod monotonic;
mod offer;
mod open;
mod options;
mod order;
mod poller;
mod processes;
mod recorder;
pub mod resource;
mod run;
mod sample;
mod threads;
mod trial;
mod walk;

pub use child::{ClientChild, Job};
pub use client::{Client, Clients};
pub use event_loop::{Protocol, run_event_loop};
pub use expected::{Expected, Meaning};
pub use monotonic::{from_monotonic_ns, to_monotonic_ns};
pub use options::LoadError;
pub use poller::{Poller, Wait};
pub use processes::{CLIENT, ClientProcess, in_processes, prepare_processes};
pub use recorder::{Recorded, RecordedNotes, Recorder};
pub use run::run;
pub use sample::{OperationTotals, TrialSample};
pub use threads::{Watch, in_threads, run_client, run_clients};
