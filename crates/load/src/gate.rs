//! Barrier that can be cancelled: no client waits for ever for one that could not be started.

use parking_lot::{Condvar, Mutex};

use crate::LoadError;
use crate::resource::pin_this_thread;

/// Holds clients back until all of them are there.
#[derive(Default)]
pub struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    arrived: usize,
    decision: Option<bool>,
}

impl Gate {
    /// Binds the calling thread to processors, prepares it and waits for the others. Interrupted:
    /// one of them could not be started.
    pub fn wait_for_all<T>(
        &self,
        cpus: Option<&[usize]>,
        prepare: impl FnOnce() -> T,
    ) -> Result<T, LoadError> {
        let bound = cpus.map_or(Ok(()), pin_this_thread);
        let prepared = prepare();
        let is_open = self.pass();
        bound?;
        if is_open { Ok(prepared) } else { Err(LoadError::Interrupted) }
    }

    /// A client arrives and waits. True: start; false: called off.
    fn pass(&self) -> bool {
        let mut state = self.state.lock();
        state.arrived += 1;
        self.changed.notify_all();
        loop {
            if let Some(decision) = state.decision {
                return decision;
            }
            self.changed.wait(&mut state);
        }
    }

    /// Opens the gate as soon as `clients` have arrived.
    pub(super) fn open_for(&self, clients: usize) {
        let mut state = self.state.lock();
        while state.arrived < clients {
            self.changed.wait(&mut state);
        }
        state.decision = Some(true);
        self.changed.notify_all();
    }

    /// Ends the wait of all threads, those that arrive later too: none may start.
    pub(super) fn cancel_all(&self) {
        let mut state = self.state.lock();
        state.decision = Some(false);
        self.changed.notify_all();
    }
}
