//! Readers that see an old state of the log: it cannot be reset before they end.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::file::LogIndex;
use crate::lock::{FIRST_READER, HeldLock, LAST_READER};

/// A reader of an old state, from the first look at it to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldReader {
    pub pid: i32,
    pub first: Duration,
    pub last: Duration,
    /// Most frames of the log that it has not seen.
    pub frames_behind: u32,
}

impl OldReader {
    pub fn age(&self) -> Duration {
        self.last.saturating_sub(self.first)
    }
}

/// A reader that a look did not find is the same one if it is found again within this time: a new one
/// would take the newest state.
const MISSED: Duration = Duration::from_secs(1);

/// The readers at one look after another. A new reader takes the newest state, so a mark behind the log
/// that stays locked belongs to one that began before.
#[derive(Debug, Default)]
pub struct Readers {
    /// By process and byte, with the mark.
    now: BTreeMap<(i32, u64), (u32, OldReader)>,
    /// The oldest of each process.
    oldest: BTreeMap<i32, OldReader>,
}

impl Readers {
    pub fn look(&mut self, at: Duration, locks: &[HeldLock], index: &LogIndex) {
        let before = std::mem::take(&mut self.now);
        for lock in locks.iter().filter(|lock| !lock.exclusive) {
            for byte in (FIRST_READER..=LAST_READER).filter(|byte| lock.covers(*byte)) {
                let (mark, behind) = seen_by(byte, index);
                if behind == 0 {
                    continue;
                }
                let new = OldReader { pid: lock.pid, first: at, last: at, frames_behind: behind };
                let known = before.get(&(lock.pid, byte)).filter(|(known, _)| *known == mark);
                let reader = known.map_or(new, |(_, reader)| OldReader {
                    last: at,
                    frames_behind: reader.frames_behind.max(behind),
                    ..*reader
                });
                let oldest = self.oldest.entry(lock.pid).or_insert(reader);
                if reader.age() >= oldest.age() {
                    *oldest = reader;
                }
                self.now.insert((lock.pid, byte), (mark, reader));
            }
        }
        for (key, (mark, reader)) in before {
            let is_behind = seen_by(key.1, index).0 == mark && seen_by(key.1, index).1 > 0;
            if is_behind && at.saturating_sub(reader.last) <= MISSED {
                self.now.entry(key).or_insert((mark, reader));
            }
        }
    }

    /// Readers whose state was at least so old, the oldest first.
    pub fn older_than(&self, age: Duration) -> Vec<OldReader> {
        let mut old: Vec<OldReader> =
            self.oldest.values().filter(|reader| reader.age() >= age).copied().collect();
        old.sort_by_key(|reader| std::cmp::Reverse(reader.age()));
        old
    }
}

/// The mark of the readers at this byte, and the frames behind it. Those at the first byte read the
/// database file alone: until they end, frames cannot be moved there.
fn seen_by(byte: u64, index: &LogIndex) -> (u32, u32) {
    match (byte - FIRST_READER) as usize {
        0 => (index.checkpointed, index.frames.saturating_sub(index.checkpointed)),
        mark => (index.marks[mark], index.frames.saturating_sub(index.marks[mark])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_that_stays_behind_is_an_old_reader() {
        let lock = |pid, byte| HeldLock { pid, exclusive: false, first: byte, last: byte };
        let seconds = Duration::from_secs;
        let mut readers = Readers::default();
        for second in 0..10 {
            let frames = 100 + 10 * second as u32;
            let index = LogIndex { frames, marks: [0, 100, frames, 0, 0], ..LogIndex::default() };
            // 8 reads the newest state each time, 7 the one of the beginning; one look misses it.
            let found = [lock(8, 125), lock(7, 124)];
            let found = if second == 5 { &found[..1] } else { &found[..] };
            readers.look(seconds(second) / 2, found, &index);
        }
        let old = readers.older_than(seconds(2));
        assert_eq!(old.len(), 1);
        assert_eq!((old[0].pid, old[0].age(), old[0].frames_behind), (7, seconds(4), 90));
    }
}
