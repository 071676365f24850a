//! Barrier that can be cancelled: no client waits for ever for one that
//! could not be started.

use std::sync::{Condvar, Mutex, PoisonError};

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
    /// A client arrives and waits. True: start; false: called off.
    pub fn pass(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.arrived += 1;
        self.changed.notify_all();
        loop {
            if let Some(decision) = state.decision {
                return decision;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Opens the gate as soon as `clients` have arrived.
    pub(super) fn open_for(&self, clients: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.arrived < clients {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.decision = Some(true);
        self.changed.notify_all();
    }

    /// Ends the wait of all threads, those that arrive later too: none may start.
    pub(super) fn call_off(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.decision = Some(false);
        self.changed.notify_all();
    }
}
