//! Time that only one block of a run takes: copies and fillings that later blocks find made.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// Time in a block that other blocks do not take.
#[derive(Debug, Default)]
pub struct OneOff(Cell<Duration>);

impl OneOff {
    /// Does something that only this block does.
    pub fn time<T>(&self, work: impl FnOnce() -> T) -> T {
        let begun = Instant::now();
        let done = work();
        self.add(begun.elapsed());
        done
    }

    pub fn add(&self, took: Duration) {
        self.0.set(self.0.get() + took);
    }

    pub fn take(&self) -> Duration {
        self.0.take()
    }
}
