//! Counters in words: what a reader of the report must know of a treatment beside its time.

use std::collections::BTreeMap;

/// Where an engine's sorts and intermediate tables went to disk, and how many bytes.
const SPILLS: [(&str, &str); 2] = [
    ("postgres_temporary_bytes", "did not fit into work_mem"),
    ("sqlite_temporary_bytes", "did not fit into SQLite's cache"),
];

/// Checkpoints that ended, of trials that write.
const CHECKPOINTS: [&str; 2] = ["postgres_checkpoints_ended", "sqlite_checkpoints_ended"];

/// Less than this is a leftover, not a sort (bytes per trial).
const SPILL_BYTES_MIN: f64 = 1e6;

/// The counters of one treatment's trials in words, a map for each block.
///
/// PostgreSQL reports what it counted up to a second late, so a spill may be counted in the trial
/// after. The order of trials is random, so only what is found in every block is the treatment's.
#[must_use]
pub fn notes(trials: &[&BTreeMap<String, f64>]) -> Vec<String> {
    let mut notes = Vec::new();
    for (counter, why) in SPILLS {
        if let Some(bytes) = mean_if_in_every(trials, counter, SPILL_BYTES_MIN) {
            let bytes = notation::bytes(bytes as u64);
            notes.push(format!(
                "{bytes} of sorts or hashes went to temporary files in a trial: they {why}"
            ));
        }
    }
    notes.extend(CHECKPOINTS.iter().filter_map(|counter| checkpoints(trials, counter)));
    if let Some(refaults) = mean_if_in_every(trials, "cgroup_refaults", 1.0) {
        notes.push(format!(
            "{refaults:.0} pages were read again that server_memory had pushed out of the cache"
        ));
    }
    if let Some(kills) = mean_if_in_every(trials, "cgroup_out_of_memory_kills", 1.0) {
        notes.push(format!("the kernel ended {kills:.0} processes: server_memory is too little"));
    }
    notes
}

/// The mean over blocks, if every one of them has at least `least`.
fn mean_if_in_every(trials: &[&BTreeMap<String, f64>], counter: &str, least: f64) -> Option<f64> {
    let values: Option<Vec<f64>> =
        trials.iter().map(|counters| counters.get(counter).copied()).collect();
    let values = values.filter(|values| !values.is_empty())?;
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().all(|value| *value >= least).then_some(mean)
}

/// Which part of an engine's life trials that write have shown.
fn checkpoints(trials: &[&BTreeMap<String, f64>], counter: &str) -> Option<String> {
    let ended: Option<Vec<f64>> =
        trials.iter().map(|counters| counters.get(counter).copied()).collect();
    let ended = ended.filter(|ended| !ended.is_empty())?;
    let least = ended.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ended.iter().copied().fold(0.0, f64::max);
    let range = if least < most { format!("{least} to {most}") } else { least.to_string() };
    Some(if most < 0.5 {
        "between checkpoints: none ended in a trial".to_owned()
    } else if least > 1.5 {
        format!("sustained: {range} checkpoints ended in each trial")
    } else {
        format!(
            "neither between checkpoints nor sustained: {range} ended in a trial, so trials are not \
             alike"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(bytes: f64) -> BTreeMap<String, f64> {
        BTreeMap::from([("postgres_temporary_bytes".to_owned(), bytes)])
    }

    #[test]
    fn writing_trials_are_noted_with_their_checkpoints() {
        let ended = |count: f64| BTreeMap::from([("postgres_checkpoints_ended".to_owned(), count)]);
        let said = |counts: [f64; 2]| {
            let [a, b] = counts.map(ended);
            notes(&[&a, &b]).concat()
        };
        assert!(said([0.0, 0.0]).starts_with("between checkpoints"));
        assert!(said([2.0, 3.0]).starts_with("sustained: 2 to 3 checkpoints"));
        assert!(said([3.0, 3.0]).starts_with("sustained: 3 checkpoints"));
        assert!(said([0.0, 1.0]).starts_with("neither"));
        assert!(said([1.0, 2.0]).starts_with("neither"));
    }

    #[test]
    fn a_spill_of_every_block_is_noted_and_a_late_one_is_not() {
        let (a, b) = (trial(24e6), trial(26e6));
        assert_eq!(
            notes(&[&a, &b]),
            [
                "23.8 MiB of sorts or hashes went to temporary files in a trial: they did not fit into work_mem"
            ]
        );
        let late = trial(0.0);
        assert!(notes(&[&a, &late]).is_empty());
        assert!(notes(&[&a, &BTreeMap::new()]).is_empty());
        assert!(notes(&[]).is_empty());
    }
}
