//! A process group as a whole: signals to all of it, and whether any of it still runs.

use rustix::process::{Pid, Signal, kill_process_group};

use load::resource::process_stat;

/// Sends a signal to every member; an empty group is not an error.
pub(super) fn signal(leader: u32, signal: Signal) {
    let leader = i32::try_from(leader).ok().and_then(Pid::from_raw);
    if let Some(leader) = leader {
        let _ = kill_process_group(leader, signal);
    }
}

/// Whether a member other than an ended, unreaped one exists; `None` where this cannot be seen.
pub(super) fn is_running(leader: u32) -> Option<bool> {
    let all = process_stat::read_all().ok()?;
    Some(all.values().any(|process| process.group == leader && !process.has_ended()))
}
