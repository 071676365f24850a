//! Locks of a file as the kernel knows them, and the bytes that SQLite locks.

use std::fs::File;
use std::io;

use rustix::fs::{major, minor};
use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

use crate::file::FileIdentity;

/// Bytes of the index of the log.
pub const WRITE: u64 = 120;
pub const CHECKPOINT: u64 = 121;
pub const FIRST_READER: u64 = 123;
pub const LAST_READER: u64 = 127;
/// Locked by every program that has the database open.
pub const OPEN: u64 = 128;

/// Bytes of the database file, in rollback mode.
pub const PENDING: u64 = 0x4000_0000;
pub const RESERVED: u64 = PENDING + 1;
pub const SHARED: u64 = PENDING + 2;
pub const SHARED_BYTES: u64 = 510;

/// The holder of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    Process(i32),
    /// The kernel gives no number: a process of another container (PID namespace), or a lock of an open
    /// file description.
    Unknown,
}

/// The holder of an exclusive lock on one of these bytes. The kernel names one where there are several.
pub fn exclusive_holder(file: &File, start: u64, length: u64) -> io::Result<Option<Holder>> {
    // A lock for reading conflicts with exclusive locks alone.
    let found = in_the_way(file, start, length, FlockType::ReadLock)?;
    Ok(found.map(|lock| process_of(&lock).map_or(Holder::Unknown, Holder::Process)))
}

/// Adds readers that a list of locks lacks. `/proc/locks` is read in pieces: a lock is left out where the
/// system's list changes between two of them.
pub fn add_missed_readers(file: &File, held: &mut Vec<HeldLock>) {
    for byte in FIRST_READER..=LAST_READER {
        let found = in_the_way(file, byte, 1, FlockType::WriteLock).ok().flatten();
        let Some(lock) = found.filter(|lock| lock.typ == FlockType::ReadLock) else { continue };
        let Some(pid) = process_of(&lock) else { continue };
        if !held.iter().any(|known| known.pid == pid && known.covers(byte)) {
            held.push(HeldLock { pid, exclusive: false, first: byte, last: byte });
        }
    }
}

fn in_the_way(file: &File, start: u64, length: u64, typ: FlockType) -> io::Result<Option<Flock>> {
    let asked = Flock { start, length, pid: None, typ, offset_type: FlockOffsetType::Set };
    Ok(fcntl_getlk(file, &asked)?)
}

fn process_of(lock: &Flock) -> Option<i32> {
    lock.pid.map(|pid| pid.as_raw_nonzero().get()).filter(|pid| *pid > 0)
}

/// A lock of `/proc/locks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldLock {
    pub pid: i32,
    pub exclusive: bool,
    pub first: u64,
    pub last: u64,
}

impl HeldLock {
    pub fn covers(&self, byte: u64) -> bool {
        (self.first..=self.last).contains(&byte)
    }
}

/// All locks of the processes that this one sees, by the file they are on.
pub fn read_held_locks() -> io::Result<String> {
    std::fs::read_to_string("/proc/locks")
}

/// Those of one file. The kernel names the device of the file system, which is another one than the
/// file's on Btrfs and overlays; there the inode decides.
pub fn held_on(locks: &str, file: FileIdentity) -> Vec<HeldLock> {
    let device = format!("{:02x}:{:02x}", major(file.device), minor(file.device));
    let on_inode: Vec<(&str, HeldLock)> =
        locks.lines().filter_map(|line| parse(line, file.inode)).collect();
    let is_here = |(named, _): &&(&str, HeldLock)| *named == device;
    let with_device: Vec<HeldLock> =
        on_inode.iter().filter(is_here).map(|(_, lock)| *lock).collect();
    match with_device.is_empty() {
        true => on_inode.into_iter().map(|(_, lock)| lock).collect(),
        false => with_device,
    }
}

/// `1: POSIX  ADVISORY  READ 12345 08:01:131074 124 124`; waiting locks have `->` after the number.
fn parse(line: &str, inode: u64) -> Option<(&str, HeldLock)> {
    let mut words = line.split_ascii_whitespace().skip(1);
    if words.next()? != "POSIX" {
        return None;
    }
    let exclusive = words.nth(1)? == "WRITE";
    let pid = words.next()?.parse().ok()?;
    let (device, of_inode) = words.next()?.rsplit_once(':')?;
    if of_inode.parse() != Ok(inode) {
        return None;
    }
    let first = words.next()?.parse().ok()?;
    let last = words.next()?;
    let last = if last == "EOF" { u64::MAX } else { last.parse().ok()? };
    Some((device, HeldLock { pid, exclusive, first, last }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCKS: &str = "\
1: POSIX  ADVISORY  READ 11 08:01:77 124 124
2: POSIX  ADVISORY  WRITE 12 08:01:77 120 120
2: -> POSIX  ADVISORY  WRITE 13 08:01:77 120 120
3: FLOCK  ADVISORY  WRITE 14 08:01:77 0 EOF
4: POSIX  ADVISORY  READ 15 08:02:77 128 EOF
";

    #[test]
    fn locks_of_one_file_are_read() {
        let file = FileIdentity { device: rustix::fs::makedev(8, 1), inode: 77 };
        let held = held_on(LOCKS, file);
        assert_eq!(held.iter().map(|lock| lock.pid).collect::<Vec<_>>(), [11, 12]);
        assert!(held[1].exclusive && held[1].covers(WRITE) && !held[0].exclusive);
        // A device that the kernel names otherwise.
        let file = FileIdentity { device: rustix::fs::makedev(0, 40), inode: 77 };
        assert_eq!(held_on(LOCKS, file).len(), 3);
        assert!(held_on(LOCKS, FileIdentity { inode: 78, ..file }).is_empty());
    }
}
