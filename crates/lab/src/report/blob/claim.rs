//! The claims of the article "35% Faster Than The Filesystem" and of those it cites, each with its
//! figure and ours. A ratio here is one interval at 95%; they are not corrected for their number.

use stats::{Estimate, INTERVAL_MIN_REPLICATES};

use super::board::{
    Board, View, is_all_off, is_by_blob_api, is_by_sql, is_folder, is_mapped, is_wal_normal, sqlite,
};
use super::part::{ClaimPart, ClaimVerdict};
use super::times::{open_close_fraction, space};
use crate::plan::BlobOperation::{Read, Update};
use crate::schedule::Levels;
use crate::workload::blob::{Line, LineForm};

/// What a claim says of a ratio.
#[derive(Clone, Copy)]
enum Says {
    /// It is at least so much, and above 1 in any case: the first is its size, the second its
    /// direction.
    AtLeast(f64),
    /// It lies between these.
    Between(f64, f64),
    /// It is below 1.
    Below,
}

/// What two things were measured.
struct Found<'v> {
    above: (&'v str, &'v Levels),
    below: (&'v str, &'v Levels),
}

/// A claim and what it needs.
struct Claim {
    claim: &'static str,
    figure: &'static str,
    says: Says,
    find: for<'v> fn(&'v Views) -> Option<Found<'v>>,
}

/// The cells that claims are about.
struct Views {
    reads: Option<View>,
    updates: Option<View>,
    cold: Option<View>,
}

const CLAIMS: [Claim; 13] = [
    Claim {
        claim: "Reading blobs of 10 kB from SQLite takes less time than from files",
        figure: "files 1.35 times (35%)",
        says: Says::AtLeast(1.35),
        find: |views| {
            let view = views.reads.as_ref()?;
            view.pair(view.folder()?, view.first(is_by_blob_api).or(view.first(is_by_sql))?)
        },
    },
    Claim {
        claim: "SQL is slower than the blob API",
        figure: "a little",
        says: Says::AtLeast(1.0),
        find: |views| {
            let view = views.reads.as_ref()?;
            view.pair(view.first(is_by_sql)?, view.first(is_by_blob_api)?)
        },
    },
    Claim {
        claim: "With the file mapped into memory SQLite reads twice as fast as files are read",
        figure: "files 2 times",
        says: Says::AtLeast(2.0),
        find: |views| {
            let view = views.reads.as_ref()?;
            view.pair(view.folder()?, view.first(is_mapped)?)
        },
    },
    Claim {
        claim: "A tree of folders is as fast as one folder",
        figure: "very little difference",
        says: Says::Between(0.9, 1.1),
        find: |views| {
            let view = views.reads.as_ref()?;
            view.pair(view.tree()?, view.folder()?)
        },
    },
    Claim {
        claim: "Looking a file's name up in the database first is slower than keeping the blob there",
        figure: "much",
        says: Says::AtLeast(1.0),
        find: |views| {
            let view = views.reads.as_ref()?;
            let lookup = view.first(|line| matches!(line.form, LineForm::Lookup(..)))?;
            view.pair(lookup, view.first(is_by_sql)?)
        },
    },
    Claim {
        claim: "From cold caches files are faster than SQLite",
        figure: "SQLite not as fast",
        says: Says::Below,
        find: |views| {
            let view = views.cold.as_ref()?;
            view.pair(view.folder()?, view.first(is_by_sql).or(view.first(is_by_blob_api))?)
        },
    },
    Claim {
        claim: "Updates of SQLite in WAL mode, synchronous NORMAL, are faster than overwriting files",
        figure: "generally",
        says: Says::AtLeast(1.0),
        find: |views| {
            let view = views.updates.as_ref()?;
            view.pair(view.folder()?, view.first(is_wal_normal)?)
        },
    },
    Claim {
        claim: "Updates of SQLite without journal and sync are faster than overwriting files",
        figure: "generally",
        says: Says::AtLeast(1.0),
        find: |views| {
            let view = views.updates.as_ref()?;
            view.pair(view.folder()?, view.first(is_all_off)?)
        },
    },
    Claim {
        claim: "Writing is 5 to 15 times slower than reading, in SQLite",
        figure: "5 to 15 times",
        says: Says::Between(5.0, 15.0),
        find: |views| {
            let (reads, updates) = (views.reads.as_ref()?, views.updates.as_ref()?);
            let line = updates.first(is_wal_normal).or(updates.first(|l| sqlite(l).is_some()))?;
            Some(Found { above: (line, &updates.levels), below: (line, &reads.levels) })
        },
    },
    Claim {
        claim: "Writing is 5 to 15 times slower than reading, in files",
        figure: "5 to 15 times",
        says: Says::Between(5.0, 15.0),
        find: |views| {
            let (reads, updates) = (views.reads.as_ref()?, views.updates.as_ref()?);
            let line = updates.folder()?;
            Some(Found { above: (line, &updates.levels), below: (line, &reads.levels) })
        },
    },
    Claim {
        claim: "With fsync for each file, writing files is slower than writing to SQLite",
        figure: "about 10 times",
        says: Says::AtLeast(10.0),
        find: |views| {
            let view = views.updates.as_ref()?;
            let line = view.first(is_wal_normal).or(view.first(|l| sqlite(l).is_some()))?;
            view.pair(view.first(is_synced_folder)?, line)
        },
    },
    Claim {
        claim: "With a transaction for each blob, writing to SQLite is slower than overwriting files",
        figure: "not competitive",
        says: Says::AtLeast(1.0),
        find: |views| {
            let view = views.updates.as_ref()?;
            view.pair(view.first(is_in_single_transactions)?, view.folder()?)
        },
    },
    Claim {
        claim: "With a transaction for each blob, reading from SQLite is slower than from files",
        figure: "not competitive",
        says: Says::AtLeast(1.0),
        find: |views| {
            let view = views.reads.as_ref()?;
            view.pair(view.first(is_in_single_transactions)?, view.folder()?)
        },
    },
];

fn is_synced_folder(line: &Line) -> bool {
    match &line.form {
        LineForm::Files { tree: false, settings } => settings.fsync,
        _ => false,
    }
}

fn is_in_single_transactions(line: &Line) -> bool {
    line.transaction_per_blob && matches!(line.form, LineForm::Sqlite(_))
}

impl View {
    fn pair<'v>(&'v self, above: &'v str, below: &'v str) -> Option<Found<'v>> {
        (above != below)
            .then_some(Found { above: (above, &self.levels), below: (below, &self.levels) })
    }
}

/// Every claim, measured or not.
pub(super) fn claims(board: &Board<'_>) -> Vec<ClaimPart> {
    let views = Views {
        reads: board.view(Read, false),
        updates: board.view(Update, false),
        cold: board.view(Read, true),
    };
    let mut claims: Vec<ClaimPart> =
        CLAIMS.iter().map(|claim| judged(board, claim, &views)).collect();
    claims.push(on_disk(board, &views));
    claims.push(explanation(board, &views));
    claims
}

fn judged(board: &Board<'_>, claim: &Claim, views: &Views) -> ClaimPart {
    let found = (claim.find)(views);
    let measured = found.as_ref().and_then(|found| board.ratio(found.above, found.below));
    let of = found.filter(|_| measured.is_some()).map_or_else(String::new, |found| {
        let (above, below) = (found.above.0, found.below.0);
        match above == below {
            true => format!("{above}: updates by reads"),
            false => format!("{above} by {below}"),
        }
    });
    ClaimPart {
        claim: claim.claim,
        figure: claim.figure,
        of,
        verdict: measured.map_or(ClaimVerdict::NotMeasured, |ratio| verdict(&ratio, claim.says)),
        measured,
    }
}

fn verdict(ratio: &Estimate, says: Says) -> ClaimVerdict {
    let (Some(low), Some(high)) = (ratio.low, ratio.high) else { return ClaimVerdict::Undecided };
    if ratio.replicates < INTERVAL_MIN_REPLICATES {
        return ClaimVerdict::Undecided;
    }
    match says {
        Says::AtLeast(figure) if low > 1.0 && low >= figure => ClaimVerdict::Holds,
        Says::AtLeast(figure) if low > 1.0 && high < figure => ClaimVerdict::InPart,
        Says::AtLeast(_) if low > 1.0 => ClaimVerdict::SizeUndecided,
        Says::AtLeast(_) if high < 1.0 => ClaimVerdict::DoesNot,
        Says::AtLeast(_) => ClaimVerdict::Undecided,
        Says::Between(least, most) if low >= least && high <= most => ClaimVerdict::Holds,
        Says::Between(least, most) if high < least || low > most => {
            // Slower at least, though not by as much, or by more.
            if least > 1.0 && low > 1.0 { ClaimVerdict::InPart } else { ClaimVerdict::DoesNot }
        }
        Says::Between(least, _) if least > 1.0 && low > 1.0 => ClaimVerdict::SizeUndecided,
        Says::Between(..) => ClaimVerdict::Undecided,
        Says::Below if high < 1.0 => ClaimVerdict::Holds,
        Says::Below if low > 1.0 => ClaimVerdict::DoesNot,
        Says::Below => ClaimVerdict::Undecided,
    }
}

/// Bytes are counted, so there is no interval.
fn on_disk(board: &Board<'_>, views: &Views) -> ClaimPart {
    let view = views.reads.as_ref().or(views.updates.as_ref());
    let folder = view.and_then(|view| view.first(is_folder));
    let rows = space(board);
    let row = rows.iter().find(|row| Some(row.engine.as_str()) == folder);
    let times = row.and_then(|row| row.times_sqlite);
    ClaimPart {
        claim: "Files of 10 kB take more room on storage than a SQLite database of the same blobs",
        figure: "about 1.2 times (20%)",
        of: row
            .filter(|_| times.is_some())
            .map_or_else(String::new, |row| format!("{} by SQLite, bytes on storage", row.engine)),
        measured: times.map(exactly),
        verdict: match times {
            Some(1.15..) => ClaimVerdict::Holds,
            Some(times) if times > 1.0 => ClaimVerdict::InPart,
            Some(_) => ClaimVerdict::DoesNot,
            None => ClaimVerdict::NotMeasured,
        },
    }
}

/// The article explains the difference by open() and close(): then these take at least as long as
/// files take longer.
fn explanation(board: &Board<'_>, views: &Views) -> ClaimPart {
    let measure = || {
        let view = views.reads.as_ref()?;
        let folder = view.folder()?;
        let share = open_close_fraction(board.treatment(folder, &view.levels)?)?;
        let base = view.first(is_by_blob_api).or(view.first(is_by_sql))?;
        let times = board.ratio((folder, &view.levels), (base, &view.levels))?;
        Some((share, times, explained(folder, base, longer(&times))))
    };
    let found = measure();
    ClaimPart {
        claim: "Opening and closing each file costs more than the database does",
        figure: "open() and close() explain it",
        measured: found.as_ref().map(|(share, ..)| exactly(*share)),
        verdict: found
            .as_ref()
            .map_or(ClaimVerdict::NotMeasured, |(share, times, _)| explains(*share, times)),
        of: found.map_or_else(String::new, |(.., of)| of),
    }
}

/// Of the file's time, the part by which it is longer; below 0 where it is shorter.
fn longer(times: &Estimate) -> f64 {
    1.0 - 1.0 / times.value
}

/// Where files are not shown to take longer there is nothing to explain.
fn explains(share: f64, times: &Estimate) -> ClaimVerdict {
    match verdict(times, Says::AtLeast(1.0)) {
        ClaimVerdict::Holds if share >= longer(times) => ClaimVerdict::Holds,
        ClaimVerdict::Holds if share >= longer(times) / 2.0 => ClaimVerdict::InPart,
        ClaimVerdict::Holds => ClaimVerdict::DoesNot,
        other => other,
    }
}

/// What the share of opening and closing is to be held against.
fn explained(folder: &str, base: &str, longer: f64) -> String {
    let beside = match longer > 0.0 {
        true => format!("{:.0}% of that time is the difference to {base}", longer * 100.0),
        false => format!("it takes no longer than {base}"),
    };
    format!("share of opening and closing in the time of {folder}; {beside}")
}

/// A number that was counted, or a mean without an interval of its own.
fn exactly(value: f64) -> Estimate {
    let method = stats::Method::RangeOnly;
    Estimate { value, low: None, high: None, confidence_level: 0.0, method, replicates: 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(low: f64, high: f64, replicates: usize) -> Estimate {
        let value = (low * high).sqrt();
        let (low, high) = (Some(low), Some(high));
        let method = stats::Method::StudentTLogRatio;
        Estimate { value, low, high, confidence_level: 0.95, method, replicates }
    }

    #[test]
    fn a_claim_is_judged_by_the_interval_and_not_by_the_point() {
        for (low, high, says, expected) in [
            (1.35, 1.50, Says::AtLeast(1.35), ClaimVerdict::Holds),
            (1.36, 1.40, Says::AtLeast(1.35), ClaimVerdict::Holds),
            (1.30, 1.40, Says::AtLeast(1.35), ClaimVerdict::SizeUndecided),
            (1.01, 1.35, Says::AtLeast(1.35), ClaimVerdict::SizeUndecided),
            (1.01, 1.02, Says::AtLeast(1.00), ClaimVerdict::Holds),
            (1.00, 1.02, Says::AtLeast(1.00), ClaimVerdict::Undecided),
            (1.10, 1.20, Says::AtLeast(1.35), ClaimVerdict::InPart),
            (0.95, 1.40, Says::AtLeast(1.35), ClaimVerdict::Undecided),
            (0.80, 0.90, Says::AtLeast(1.35), ClaimVerdict::DoesNot),
            (5.50, 14.0, Says::Between(5.0, 15.0), ClaimVerdict::Holds),
            (2.00, 3.00, Says::Between(5.0, 15.0), ClaimVerdict::InPart),
            (4.00, 6.00, Says::Between(5.0, 15.0), ClaimVerdict::SizeUndecided),
            (14.0, 16.0, Says::Between(5.0, 15.0), ClaimVerdict::SizeUndecided),
            (0.90, 6.00, Says::Between(5.0, 15.0), ClaimVerdict::Undecided),
            (0.95, 1.20, Says::Between(0.9, 1.1), ClaimVerdict::Undecided),
            (1.20, 1.30, Says::Between(0.9, 1.1), ClaimVerdict::DoesNot),
            (0.50, 0.60, Says::Below, ClaimVerdict::Holds),
        ] {
            assert_eq!(verdict(&ratio(low, high, 7), says), expected, "{low} {high}");
            assert_eq!(verdict(&ratio(low, high, 3), says), ClaimVerdict::Undecided);
        }
    }

    #[test]
    fn opening_and_closing_explain_a_difference_only_where_one_is_shown() {
        for (share, low, high, expected) in [
            (0.30, 1.30, 1.40, ClaimVerdict::Holds),
            (0.20, 1.30, 1.40, ClaimVerdict::InPart),
            (0.10, 1.30, 1.40, ClaimVerdict::DoesNot),
            (0.40, 0.90, 1.15, ClaimVerdict::Undecided),
            (0.40, 0.80, 0.90, ClaimVerdict::DoesNot),
        ] {
            assert_eq!(explains(share, &ratio(low, high, 7)), expected, "{share} {low} {high}");
        }
        assert_eq!(explains(0.4, &ratio(1.3, 1.4, 3)), ClaimVerdict::Undecided);
    }

    #[test]
    fn the_difference_is_told_as_a_part_of_the_files_time() {
        // Of 1.35 times the time, 0.35 are the difference: 26%.
        let told = explained("dir", "sqlite", 1.0 - 1.0 / 1.35);
        assert!(
            told.ends_with("time of dir; 26% of that time is the difference to sqlite"),
            "{told}"
        );
        let told = explained("dir", "sqlite", 1.0 - 1.0 / 0.8);
        assert!(told.ends_with("time of dir; it takes no longer than sqlite"), "{told}");
    }
}
