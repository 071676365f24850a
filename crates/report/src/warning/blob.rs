//! Warnings of workload `blob` alone: reads that should be warm and came from storage.

use super::Warning;
use plan::{BlobOperation, Plan};
use record::Trial;
use record::counter::{BLOB_BYTES, FROM_STORAGE_SHARE_MAX};

/// Bytes that really came from storage, not from the page cache.
const FROM_STORAGE: &str = "server_read_bytes";

/// Where the plan limits memory, reading from storage is what was asked for.
pub(super) fn find(plan: &Plan, trials: &[Trial]) -> Option<Warning> {
    let shall_be_warm = |trial: &&Trial| {
        let cell = plan.blob_at(&trial.levels);
        let unlimited = matches!(plan.server_memory_at(&trial.levels), Ok(None));
        unlimited && cell.is_ok_and(|cell| cell.operation == BlobOperation::Read && !cell.cold)
    };
    let shares = trials.iter().filter(shall_be_warm).filter_map(|trial| {
        let share = trial.counters.get(FROM_STORAGE)? / trial.counters.get(BLOB_BYTES)?.max(1.0);
        Some((share, trial.engine.as_str()))
    });
    let beyond: Vec<(f64, &str)> =
        shares.filter(|(share, _)| *share > FROM_STORAGE_SHARE_MAX).collect();
    let (fraction, engine) = beyond.iter().copied().max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    Some(Warning::NotWarm { engine: engine.to_owned(), fraction, trials: beyond.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula;
    use plan::Levels;

    #[test]
    fn warm_reads_from_storage_warn_unless_memory_is_limited() {
        let http = formula::plan(1);
        let mut trials = formula::trials(&http, &[http.first_round()], |_, _, _| 1.0);
        trials.truncate(3);
        for (trial, from_storage) in trials.iter_mut().zip([0.0, 900.0, 78e6]) {
            trial.levels = Levels::new();
            let counted = [(FROM_STORAGE, from_storage), (BLOB_BYTES, 1e9)];
            trial.counters = counted.map(|(name, value)| (name.to_owned(), value)).into();
        }
        trials[2].engine = "dir".to_owned();
        let text = "title = \"t\"\nworkload = \"blob\"\nengines = [\"sqlite\", \"dir\"]\n";
        let plan = |more: &str| plan::read(&format!("{text}{more}"), "blob.toml").unwrap();
        let warning = find(&plan(""), &trials).unwrap();
        assert_eq!(
            warning,
            Warning::NotWarm { engine: "dir".to_owned(), fraction: 0.078, trials: 1 }
        );
        assert!(warning.message().contains("dir up to 7.8%"), "{}", warning.message());
        assert_eq!(find(&plan("server_memory = \"512MB\"\n"), &trials), None);
        assert_eq!(find(&plan("[blob]\noperation = \"update\"\n"), &trials), None);
        assert_eq!(find(&plan("[blob]\ncache = \"cold\"\n"), &trials), None);
    }
}
