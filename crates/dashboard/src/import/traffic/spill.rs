//! A temporary file of rows by day, so that a file of any size and order is checked in little
//! memory before the first day is written.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// The temporary file cannot be written or read.
#[derive(Debug)]
pub(super) struct Temporary(pub io::Error);

/// A row of a file, its day aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrafficRecord {
    /// Whether `target` is the place of a URL without an article, not the id of an article.
    pub unmatched: bool,
    pub target: i32,
    /// The place of the country in the list of those met.
    pub country: u32,
    /// Page views, sessions, seconds.
    pub counts: [u32; 3],
    /// Tells rows apart that have the same target: of the URL's tracking parameters, and all columns
    /// that divide page views. Of 64 bits: an advertised article has a URL for each click.
    pub hash: u64,
    /// A hash of the URL as written, with its host.
    pub spelling: u32,
    /// The place of the file.
    pub file: u32,
    pub line: u32,
}

const RECORD_BYTES: usize = 40;
const UNMATCHED: u32 = 1 << 31;

impl TrafficRecord {
    fn to_bytes(self) -> [u8; RECORD_BYTES] {
        let flag = if self.unmatched { UNMATCHED } else { 0 };
        let [pageviews, sessions, seconds] = self.counts;
        let target = self.target as u32;
        let words = [
            target,
            self.country | flag,
            pageviews,
            sessions,
            seconds,
            self.hash as u32,
            (self.hash >> 32) as u32,
            self.spelling,
            self.file,
            self.line,
        ];
        let mut bytes = [0; RECORD_BYTES];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Self {
        let mut words = [0; RECORD_BYTES / 4];
        for (word, place) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = place.try_into().map_or(0, u32::from_le_bytes);
        }
        let [target, country, pageviews, sessions, seconds, low, high, spelling, file, line] =
            words;
        Self {
            unmatched: country & UNMATCHED != 0,
            target: target as i32,
            country: country & !UNMATCHED,
            counts: [pageviews, sessions, seconds],
            hash: u64::from(high) << 32 | u64::from(low),
            spelling,
            file,
            line,
        }
    }
}

/// Rows of a day that are kept in memory before they are written.
const CHUNK: usize = 256;

/// The rows of one day: those in the file, by chunk, and those still in memory.
#[derive(Debug, Default)]
struct OneDay {
    chunks: Vec<u64>,
    open: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Spill {
    file: File,
    length: u64,
    days: BTreeMap<i32, OneDay>,
}

impl Spill {
    pub fn new() -> Result<Self, Temporary> {
        let file = tempfile::tempfile().map_err(Temporary)?;
        Ok(Self { file, length: 0, days: BTreeMap::new() })
    }

    pub fn add(&mut self, day: i32, record: TrafficRecord) -> Result<(), Temporary> {
        let one = self.days.entry(day).or_default();
        one.open.extend_from_slice(&record.to_bytes());
        if one.open.len() == CHUNK * RECORD_BYTES {
            self.file.write_all_at(&one.open, self.length).map_err(Temporary)?;
            one.chunks.push(self.length);
            self.length += one.open.len() as u64;
            one.open.clear();
        }
        Ok(())
    }

    /// All days in their order.
    pub fn days(&self) -> Vec<i32> {
        self.days.keys().copied().collect()
    }

    /// The rows of a day, in the order in which they came.
    pub fn day(&self, day: i32) -> Result<Vec<TrafficRecord>, Temporary> {
        let Some(one) = self.days.get(&day) else { return Ok(Vec::new()) };
        let mut records = Vec::with_capacity((one.chunks.len() + 1) * CHUNK);
        let mut chunk = vec![0; CHUNK * RECORD_BYTES];
        for offset in &one.chunks {
            self.file.read_exact_at(&mut chunk, *offset).map_err(Temporary)?;
            records.extend(chunk.chunks_exact(RECORD_BYTES).map(TrafficRecord::from_bytes));
        }
        records.extend(one.open.chunks_exact(RECORD_BYTES).map(TrafficRecord::from_bytes));
        Ok(records)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_come_back_as_they_came_in() {
        let mut spill = Spill::new().unwrap();
        let record = |line: u32| TrafficRecord {
            unmatched: line.is_multiple_of(3),
            target: -(line as i32),
            country: line % 200,
            counts: [line, 2, i32::MAX as u32],
            hash: u64::MAX - u64::from(line),
            spelling: !line,
            file: 1,
            line,
        };
        for line in 0..5_000 {
            spill.add(18_000 - (line as i32) % 7, record(line)).unwrap();
        }
        assert_eq!(spill.days(), (17_994..=18_000).collect::<Vec<_>>());
        for (place, day) in (0_u32..7).zip((17_994..=18_000).rev()) {
            let expected: Vec<TrafficRecord> =
                (0..5_000).filter(|line| line % 7 == place).map(record).collect();
            assert_eq!(spill.day(day).unwrap(), expected);
        }
        assert_eq!(spill.day(1).unwrap(), []);
    }
}
