//! Rows of a day with one target and country: added up, or refused where they repeat each other.

use super::gather::TrafficFile;
use super::spill::TrafficRecord;
use crate::import::Error;

/// Rows of a day that contradict each other.
#[derive(Debug)]
pub(super) struct Clash {
    earlier: TrafficRecord,
    later: TrafficRecord,
    is_repeated: bool,
}

impl Clash {
    pub fn explain(&self, files: &[TrafficFile]) -> Error {
        let path = |record: &TrafficRecord| {
            files.get(record.file as usize).map(|file| file.path.clone()).unwrap_or_default()
        };
        let place = |record: &TrafficRecord| {
            let has_lines = files.get(record.file as usize).is_none_or(|file| file.has_lines);
            format!("{} {}", if has_lines { "line" } else { "row" }, record.line)
        };
        let (here, there) = (path(&self.later), path(&self.earlier));
        let of = if here == there { String::new() } else { format!(" of {}", there.display()) };
        let earlier = place(&self.earlier);
        let problem = if !self.is_repeated {
            format!("with {earlier}{of} it adds up to more than {}", i32::MAX)
        } else if self.earlier.spelling == self.later.spelling {
            format!("it repeats {earlier}{of}: the same day, URL and country; remove one of them")
        } else {
            format!(
                "it repeats {earlier}{of}: the same day and country, and another spelling of \
                 the same URL; remove one of them, or, if every page view is in one row only, add \
                 --adds-up url"
            )
        };
        Error::Row { path: here, place: place(&self.later), problem }
    }
}

/// The rows of a day in the order of their targets and countries, those of the same added up.
pub(super) fn merged(mut records: Vec<TrafficRecord>) -> Result<Vec<TrafficRecord>, Clash> {
    records.sort_unstable_by_key(|record| {
        (record.unmatched, record.target, record.country, record.hash, record.file, record.line)
    });
    let mut merged: Vec<TrafficRecord> = Vec::with_capacity(records.len());
    let mut before: Option<TrafficRecord> = None;
    for record in records {
        let key = |it: &TrafficRecord| (it.unmatched, it.target, it.country);
        match (merged.last_mut(), before) {
            (Some(last), Some(earlier)) if key(last) == key(&record) => {
                if earlier.hash == record.hash {
                    return Err(Clash { earlier, later: record, is_repeated: true });
                }
                for (sum, count) in last.counts.iter_mut().zip(record.counts) {
                    // Both are below 2^31.
                    *sum += count;
                    if *sum > i32::MAX as u32 {
                        return Err(Clash { earlier, later: record, is_repeated: false });
                    }
                }
            }
            _ => merged.push(record),
        }
        before = Some(record);
    }
    Ok(merged)
}
