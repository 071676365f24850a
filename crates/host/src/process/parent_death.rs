//! Death signal that ends a child with this process, even where it cannot act, as after kill -9.
//! The only unsafe code of this crate.

use std::process::Command;

/// The kernel shall kill the child when the *thread* that started it ends: the caller must start
/// it from a thread that outlives it (see the keeper). Grandchildren are not reached this way.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "std offers no safe way to run prctl between fork and exec")]
pub(super) fn end_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt;

    use rustix::process::{Signal, getpid, getppid, set_parent_process_death_signal};

    let parent = getpid();
    let hook = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // We may have ended before the call above: the signal would not be sent any more.
        if getppid() == Some(parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
    };
    // SAFETY: between fork and exec only async-signal-safe calls are allowed. The hook makes two
    // system calls, prctl and getppid, and neither allocates nor locks.
    unsafe {
        command.pre_exec(hook);
    }
}

/// Other systems have no such request; there a stop by us is the only one.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_with_parent(_command: &mut Command) {}
