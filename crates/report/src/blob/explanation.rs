//! Two claims that are not ratios of two times: the room on storage, and that opening and closing files
//! explains the difference.

use stats::Estimate;

use super::board::{Board, View, is_by_blob_api, is_by_sql};
use super::claim_verdict::{Says, verdict};
use super::part::{ClaimPart, ClaimVerdict};
use super::times::space;

/// From here on it is "about 20%".
const ABOUT_A_FIFTH: f64 = 1.15;

/// Bytes are counted, so there is no interval.
pub(super) fn on_disk(board: &Board<'_>, view: Option<&View>) -> ClaimPart {
    let folder = view.and_then(|view| view.first(|line| line.form_name() == "dir"));
    let rows = space(board);
    let row = rows.iter().find(|row| Some(row.engine.as_str()) == folder);
    let times = row.and_then(|row| row.times_sqlite);
    ClaimPart {
        claim: "Files of 10 kB take more room on storage than a SQLite database of the same blobs",
        figure: "about 1.2 times (20%), of blobs of exactly 10,000 bytes",
        of: row
            .filter(|_| times.is_some())
            .map_or_else(String::new, |row| format!("{} by SQLite, bytes on storage", row.engine)),
        measured: times.map(exactly),
        verdict: match times {
            Some(ABOUT_A_FIFTH..) => ClaimVerdict::Holds,
            Some(times) if times > 1.0 => ClaimVerdict::InPart,
            Some(_) => ClaimVerdict::DoesNot,
            None => ClaimVerdict::NotMeasured,
        },
    }
}

/// A number that was counted.
fn exactly(value: f64) -> Estimate {
    let method = stats::Method::RangeOnly;
    Estimate { value, low: None, high: None, confidence_level: 0.0, method, replicates: 1 }
}

/// The article explains the difference by open() and close(): then these take at least as long as
/// files take longer.
pub(super) fn explanation(board: &Board<'_>, reads: Option<&View>) -> ClaimPart {
    let measure = || {
        let view = reads?;
        let folder = view.folder()?;
        let share = board.open_close(board.treatment(folder, &view.levels)?)?;
        let base = view.first(is_by_blob_api).or(view.first(is_by_sql))?;
        let times = board.ratio((folder, &view.levels), (base, &view.levels))?;
        Some((share, explains(&share, &times), explained(folder, base, longer(times.value))))
    };
    let found = measure();
    ClaimPart {
        claim: "Opening and closing each file costs more than the database does",
        figure: "open() and close() explain it",
        measured: found.as_ref().map(|(share, ..)| *share),
        verdict: found.as_ref().map_or(ClaimVerdict::NotMeasured, |(_, verdict, _)| *verdict),
        of: found.map_or_else(String::new, |(.., of)| of),
    }
}

/// Of the file's time, the part by which it is longer; below 0 where it is shorter.
fn longer(times: f64) -> f64 {
    1.0 - 1.0 / times
}

/// All of the difference, or half of it at least, whichever ends of the two intervals are taken.
/// Where files are not shown to take longer there is nothing to explain.
fn explains(share: &Estimate, times: &Estimate) -> ClaimVerdict {
    match verdict(times, Says::AtLeast(1.0)) {
        ClaimVerdict::Holds => {}
        other => return other,
    }
    let longer = times.low.map(longer).zip(times.high.map(longer));
    let (Some((least, most)), Some((low, high))) = (longer, share.low.zip(share.high)) else {
        return ClaimVerdict::Undecided;
    };
    if low >= most {
        ClaimVerdict::Holds
    } else if high < least / 2.0 {
        ClaimVerdict::DoesNot
    } else if high < least && low >= most / 2.0 {
        ClaimVerdict::InPart
    } else {
        ClaimVerdict::SizeUndecided
    }
}

/// The difference with which the share of opening and closing should be compared.
fn explained(folder: &str, base: &str, longer: f64) -> String {
    let beside = match longer > 0.0 {
        true => format!("{:.0}% of that time is the difference to {base}", longer * 100.0),
        false => format!("it takes no longer than {base}"),
    };
    format!("share of opening and closing in the time of {folder}; {beside}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, high: f64, replicates: usize) -> Estimate {
        let value = low.midpoint(high);
        let (low, high) = (Some(low), Some(high));
        let method = stats::Method::StudentT;
        Estimate { value, low, high, confidence_level: 0.95, method, replicates }
    }

    #[test]
    fn opening_and_closing_explain_only_a_shown_difference() {
        // 1.30 to 1.40 times as long: 23 to 29% of the file's time.
        for (share, times, expected) in [
            ((0.29, 0.31), (1.30, 1.40), ClaimVerdict::Holds),
            ((0.25, 0.31), (1.30, 1.40), ClaimVerdict::SizeUndecided),
            ((0.18, 0.20), (1.30, 1.40), ClaimVerdict::InPart),
            ((0.10, 0.16), (1.30, 1.40), ClaimVerdict::SizeUndecided),
            ((0.08, 0.10), (1.30, 1.40), ClaimVerdict::DoesNot),
            ((0.40, 0.42), (0.90, 1.15), ClaimVerdict::Undecided),
            ((0.40, 0.42), (0.80, 0.90), ClaimVerdict::DoesNot),
        ] {
            let judged = explains(&estimate(share.0, share.1, 7), &estimate(times.0, times.1, 7));
            assert_eq!(judged, expected, "{share:?} {times:?}");
        }
        let few = explains(&estimate(0.40, 0.42, 3), &estimate(1.30, 1.40, 3));
        assert_eq!(few, ClaimVerdict::Undecided);
    }

    #[test]
    fn the_difference_is_told_as_a_part_of_the_files_time() {
        // Of 1.35 times the time, 0.35 are the difference: 26%.
        let told = explained("dir", "sqlite", longer(1.35));
        assert!(
            told.ends_with("time of dir; 26% of that time is the difference to sqlite"),
            "{told}"
        );
        let told = explained("dir", "sqlite", longer(0.8));
        assert!(told.ends_with("time of dir; it takes no longer than sqlite"), "{told}");
    }
}
