//! Options for setting an engine up, independent of the workload.

use std::sync::atomic::AtomicBool;

use indicatif::ProgressBar;
use server::Locations;

#[derive(Clone, Copy)]
pub struct HostOptions<'a> {
    pub locations: &'a Locations,
    pub runtime: &'a tokio::runtime::Handle,
    /// Shown while servers are fetched and filled.
    pub progress: &'a ProgressBar,
    /// The user asked to stop.
    pub interrupted: &'a AtomicBool,
}
