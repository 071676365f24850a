//! Processes of servers in /proc: recognised by an argument of their command line, since process
//! numbers are used again.

/// Whether the process `pid` was started with `argument`.
#[cfg(target_os = "linux")]
pub(crate) fn has_argument(pid: u32, argument: &[u8]) -> bool {
    contain(&arguments(pid), argument)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn has_argument(pid: u32, _argument: &[u8]) -> bool {
    // A server that ended removes the file that names it, so a live process is almost surely it.
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}

/// Whether the process `pid` that was started with `argument` is gone. The command line alone
/// cannot say so: at its end a process gives up its memory, in which that lies, before its files
/// and locks.
#[cfg(target_os = "linux")]
pub(crate) fn has_ended(pid: u32, argument: &[u8]) -> bool {
    let is_gone = || state_and_parent(pid).is_none_or(|(state, _)| matches!(state, 'Z' | 'X'));
    // Read once: between two readings the process may give up its memory.
    let arguments = arguments(pid);
    is_gone() || (!arguments.is_empty() && !contain(&arguments, argument))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn has_ended(pid: u32, argument: &[u8]) -> bool {
    !has_argument(pid, argument)
}

/// The parent of a process that has ended and that its parent has not waited for.
#[cfg(target_os = "linux")]
pub(crate) fn parent_of_zombie(pid: u32) -> Option<u32> {
    state_and_parent(pid).and_then(|(state, parent)| (state == 'Z').then_some(parent))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn parent_of_zombie(_pid: u32) -> Option<u32> {
    None
}

#[cfg(target_os = "linux")]
fn contain(arguments: &[u8], argument: &[u8]) -> bool {
    arguments.split(|byte| *byte == 0).any(|part| part == argument)
}

#[cfg(target_os = "linux")]
fn arguments(pid: u32) -> Vec<u8> {
    std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

#[cfg(target_os = "linux")]
fn state_and_parent(pid: u32) -> Option<(char, u32)> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // After the program's name, which may hold anything: `Z PARENT ...`.
    let mut fields = status.rsplit_once(')')?.1.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// Its last file is a large deleted one, which the kernel takes long to free: until then the
    /// process has no command line and is not a zombie.
    #[test]
    fn a_process_that_still_holds_its_files_has_not_ended() {
        let large = tempfile::tempfile().unwrap();
        rustix::fs::fallocate(&large, rustix::fs::FallocateFlags::empty(), 0, 1 << 28).unwrap();
        let held = Stdio::from(large);
        let mut child = Command::new("sleep").arg("4711").stdin(held).spawn().unwrap();
        while !has_argument(child.id(), b"4711") {
            std::thread::yield_now();
        }
        assert!(!has_ended(child.id(), b"4711"));
        assert!(has_ended(child.id(), b"4712"), "another program's process");
        child.kill().unwrap();
        while !has_ended(child.id(), b"4711") {}
        assert_eq!(parent_of_zombie(child.id()), Some(std::process::id()));
        child.wait().unwrap();
        assert!(has_ended(child.id(), b"4711"));
    }
}
