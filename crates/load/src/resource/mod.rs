//! Resources that a trial uses: processor time, memory, context switches, bytes, of each side.
//! Only Linux reports all of them; elsewhere each function says so instead of guessing.

mod affinity;
mod machine;
mod memory_controller;
mod memory_limit;
pub mod process_stat;
mod process_tree;
mod thread;

pub use affinity::pin_this_thread;
pub use machine::MachineCounters;
pub use memory_limit::{Inside, MemoryGroup, MemoryLimitError};
pub use process_tree::{ResourceSnapshot, ResourceUse, ServerSide};
pub use thread::ThreadUse;

use std::io;

/// A counter that could not be read, or a restriction that could not be set.
#[derive(Debug, thiserror::Error)]
pub enum ResourceError {
    #[error("{0} is available on Linux only")]
    LinuxOnly(&'static str),
    /// A process of the server side has ended.
    #[error("process {0} has ended, so its resources cannot be counted")]
    NoSuchProcess(u32),
    /// A file of the kernel could not be read or was not understood.
    #[error("{path}: {reason}")]
    Unreadable {
        path: String,
        /// The fault.
        reason: String,
    },
    /// A thread cannot be bound to these processors.
    #[error("cannot use the processors {cpus:?}: {source}; this process may use {available:?}")]
    Affinity {
        cpus: Vec<usize>,
        /// Those that this process may use.
        available: Vec<usize>,
        source: io::Error,
    },
}
