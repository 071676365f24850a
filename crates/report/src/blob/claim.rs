//! The claims of the article "35% Faster Than The Filesystem" and of those it cites, each with its
//! figure and ours, judged where the run has what the article measured: blobs of 10 kB, one client.
//! A ratio here is one interval at 95%; they are not corrected for their number.

use plan::storage::Writing;

use super::board::{
    Board, View, is_all_off, is_by_blob_api, is_by_sql, is_mapped, is_wal_normal, sqlite,
};
use super::claim_verdict::{Says, verdict};
use super::explanation::{explanation, on_disk};
use super::part::{ClaimPart, ClaimVerdict};
use plan::BlobOperation::{Read, Update};
use plan::Levels;
use plan::{BlobStorage, StorageForm};

/// Measurements of two things.
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
            let lookup = view.first(|line| matches!(line.form, StorageForm::Lookup(..)))?;
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
        figure: "about 10 times or more",
        says: Says::AtLeast(10.0),
        find: |views| {
            let view = views.updates.as_ref()?;
            view.pair(view.first(is_synced_folder)?, view.first(is_wal_normal)?)
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

fn is_synced_folder(line: &BlobStorage) -> bool {
    match &line.form {
        StorageForm::Files { tree: false, settings } => {
            settings.fsync && settings.writing == Writing::Overwrite
        }
        _ => false,
    }
}

fn is_in_single_transactions(line: &BlobStorage) -> bool {
    line.transaction_per_blob && matches!(line.form, StorageForm::Sqlite(_))
}

impl View {
    fn pair<'v>(&'v self, above: &'v str, below: &'v str) -> Option<Found<'v>> {
        (above != below)
            .then_some(Found { above: (above, &self.levels), below: (below, &self.levels) })
    }
}

/// Every claim, measured or not.
pub(super) fn claims(board: &Board<'_>) -> Vec<ClaimPart> {
    let view = |operation, cold| board.view(operation, cold).filter(View::is_the_articles);
    let views =
        Views { reads: view(Read, false), updates: view(Update, false), cold: view(Read, true) };
    let mut claims: Vec<ClaimPart> =
        CLAIMS.iter().map(|claim| judged(board, claim, &views)).collect();
    claims.push(on_disk(board, views.reads.as_ref().or(views.updates.as_ref())));
    claims.push(explanation(board, views.reads.as_ref()));
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

#[cfg(test)]
mod tests {
    use stats::Estimate;

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
}
