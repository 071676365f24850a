//! Work with SQLite that the user can stop: no timeout ends one of its statements.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::InterruptHandle;

/// How often it is looked whether the user asked to stop.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Does `work`, during which the connections of `handles` are interrupted once the user asks to stop.
pub fn while_stoppable<T: Send>(
    handles: &Mutex<Vec<InterruptHandle>>,
    interrupted: &AtomicBool,
    work: impl FnOnce() -> T,
) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                if interrupted.load(Ordering::Relaxed) {
                    let handles = handles.lock();
                    handles.iter().for_each(InterruptHandle::interrupt);
                }
                thread::park_timeout(LOOK_EVERY);
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        watch.thread().unpark();
        result
    })
}
