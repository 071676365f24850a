//! A thread that starts one child and stays until the child has ended and may be forgotten.
//! It must stay: the kernel ties the child to this thread, not to our process.

use std::io;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};

use load::resource::{ResourceError, pin_this_thread};

pub(super) struct Keeper {
    pid: u32,
    watch: Arc<ChildWatch>,
    thread: Option<JoinHandle<()>>,
}

/// Why no child was started.
pub(super) enum KeeperError {
    Start(io::Error),
    Cpus(ResourceError),
}

#[derive(Clone, Debug)]
pub(super) struct Ending {
    pub(super) success: bool,
    /// "exit code 1", "signal 9".
    pub(super) how: String,
}

#[derive(Default)]
struct ChildWatch {
    state: Mutex<KeeperState>,
    changed: Condvar,
}

#[derive(Default)]
struct KeeperState {
    ending: Option<Ending>,
    released: bool,
}

impl Keeper {
    /// Starts `command`, on `cpus` if given: a child inherits the processors of its thread.
    pub(super) fn start(
        mut command: Command,
        cpus: Option<Vec<usize>>,
    ) -> Result<Self, KeeperError> {
        let watch = Arc::new(ChildWatch::default());
        let (sender, started) = mpsc::sync_channel(1);
        let shared = Arc::clone(&watch);
        let body = move || {
            if let Err(error) = cpus.as_deref().map_or(Ok(()), pin_this_thread) {
                let _ = sender.send(Err(KeeperError::Cpus(error)));
                return;
            }
            match command.spawn() {
                Ok(child) => {
                    let _ = sender.send(Ok(child.id()));
                    shared.keep(child);
                }
                Err(error) => {
                    let _ = sender.send(Err(KeeperError::Start(error)));
                }
            }
        };
        let thread = thread::Builder::new()
            .name("keeper".to_owned())
            .spawn(body)
            .map_err(KeeperError::Start)?;
        let pid = started
            .recv()
            .unwrap_or_else(|gone| Err(KeeperError::Start(io::Error::other(gone))))?;
        Ok(Self { pid, watch, thread: Some(thread) })
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// How the child ended, if it has.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.watch.state.lock().ending.clone()
    }

    /// Waits for the child's end, at most this long.
    pub(super) fn wait(&self, at_most: Duration) -> Option<Ending> {
        let mut state = self.watch.state.lock();
        let lasts = |state: &mut KeeperState| state.ending.is_none();
        self.watch.changed.wait_while_for(&mut state, lasts, at_most);
        state.ending.clone()
    }

    /// Whether the child is forgotten, so that its number may be another process's by now.
    pub(super) fn is_released(&self) -> bool {
        self.thread.is_none()
    }

    /// Forgets the child, which must have ended or have been sent SIGKILL.
    pub(super) fn release(&mut self) {
        self.watch.change(|state| state.released = true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl ChildWatch {
    fn keep(&self, mut child: Child) {
        let ending = await_end(&child);
        self.change(|state| state.ending = Some(ending));
        let mut state = self.state.lock();
        self.changed.wait_while(&mut state, |state| !state.released);
        drop(state);
        // Only now: until then its number cannot go to a stranger, whom signals to the group
        // of that number would hit.
        let _ = child.wait();
    }

    fn change(&self, edit: impl FnOnce(&mut KeeperState)) {
        edit(&mut self.state.lock());
        self.changed.notify_all();
    }
}

/// Waits for the child's end and leaves its status to be asked for again.
fn await_end(child: &Child) -> Ending {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(Pid::from_child(child)), options) {
            Ok(Some(status)) => return describe(&status),
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => {
                return Ending { success: false, how: format!("an unknown status ({error})") };
            }
        }
    }
}

fn describe(status: &WaitIdStatus) -> Ending {
    let how = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    };
    Ending { success: status.exit_status() == Some(0), how }
}
