//! Rows of a day with one target and country: added up, or refused where they repeat each other.

use std::collections::BTreeSet;

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
    fn of(one: TrafficRecord, other: TrafficRecord, is_repeated: bool) -> Self {
        let (earlier, later) = in_reading_order(one, other);
        Self { earlier, later, is_repeated }
    }

    pub fn explain(&self, files: &[TrafficFile]) -> Error {
        let path = |record: &TrafficRecord| {
            files.get(record.file as usize).map(|file| file.path.clone()).unwrap_or_default()
        };
        let place = |record| format!("{} {}", unit(files, record), record.line);
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

/// Rows that were added up though they differ in the spelling of a URL alone.
#[derive(Debug, Default)]
pub(super) struct AddedSpellings {
    articles: BTreeSet<i32>,
    /// Places of URLs that match no article.
    unmatched: BTreeSet<i32>,
    example: Option<(TrafficRecord, TrafficRecord)>,
}

impl AddedSpellings {
    fn add(&mut self, one: TrafficRecord, other: TrafficRecord) {
        let targets = if one.unmatched { &mut self.unmatched } else { &mut self.articles };
        targets.insert(one.target);
        self.example.get_or_insert_with(|| in_reading_order(one, other));
    }

    pub fn note(&self, files: &[TrafficFile]) -> Option<String> {
        let (earlier, later) = self.example?;
        let counted = |count: usize, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {many}")),
        };
        let of = [
            counted(self.articles.len(), "article", "articles"),
            counted(self.unmatched.len(), "URL of no article", "URLs of no article"),
        ];
        let place = |record: &TrafficRecord| {
            let file = files.get(record.file as usize).map(|file| file.path.display().to_string());
            let (unit, line) = (unit(files, record), record.line);
            format!("{}, {unit} {line}", file.unwrap_or_default())
        };
        let later = match earlier.file == later.file {
            true => format!("{} {}", unit(files, &later), later.line),
            false => place(&later),
        };
        Some(format!(
            "several spellings of one URL on a day and in a country were added up, of {}, for \
             example {} and {later}; if such rows repeat page views, remove one of them",
            of.into_iter().flatten().collect::<Vec<_>>().join(" and "),
            place(&earlier)
        ))
    }
}

fn in_reading_order(one: TrafficRecord, other: TrafficRecord) -> (TrafficRecord, TrafficRecord) {
    let place = |record: &TrafficRecord| (record.file, record.line);
    if place(&one) <= place(&other) { (one, other) } else { (other, one) }
}

fn unit(files: &[TrafficFile], record: &TrafficRecord) -> &'static str {
    let has_lines = files.get(record.file as usize).is_none_or(|file| file.has_lines);
    if has_lines { "line" } else { "row" }
}

/// The rows of a day in the order of their targets and countries, those of the same added up. Rows that
/// differ in the spelling of a URL alone are counts of their own within one file; of several files they
/// are the same count, unless `files_add_up`.
pub(super) fn merged(
    mut records: Vec<TrafficRecord>,
    files_add_up: bool,
    spellings: &mut AddedSpellings,
) -> Result<Vec<TrafficRecord>, Clash> {
    let key = |it: &TrafficRecord| (it.unmatched, it.target, it.country);
    records.sort_unstable_by_key(|it| (key(it), it.hash, it.spelling, it.file, it.line));
    let mut merged: Vec<TrafficRecord> = Vec::with_capacity(records.len());
    let mut before: Option<TrafficRecord> = None;
    for record in records {
        match (merged.last_mut(), before) {
            (Some(last), Some(earlier)) if key(last) == key(&record) => {
                if earlier.hash == record.hash {
                    let is_other_count = earlier.spelling != record.spelling
                        && (earlier.file == record.file || files_add_up);
                    if !is_other_count {
                        return Err(Clash::of(earlier, record, true));
                    }
                    spellings.add(earlier, record);
                }
                for (sum, count) in last.counts.iter_mut().zip(record.counts) {
                    // Both are below 2^31.
                    *sum += count;
                    if *sum > i32::MAX as u32 {
                        return Err(Clash::of(earlier, record, false));
                    }
                }
            }
            _ => merged.push(record),
        }
        before = Some(record);
    }
    Ok(merged)
}
