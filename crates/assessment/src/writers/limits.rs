//! Limits of a measurement of writers: transactions in each other's way, and rows that kept their values.

use std::collections::BTreeMap;

use record::Finished;
use record::counter::TRANSACTION_RETRIES;

/// SQLite's retries and failures, at the number of writers where their share is greatest.
pub fn retried(finished: &Finished) -> Option<String> {
    let first = finished.plan.engines.first()?.label();
    let mut by_writers: BTreeMap<u64, (f64, f64, u64)> = BTreeMap::new();
    for trial in finished.trials.iter().filter(|trial| trial.engine == first) {
        let writers = trial.levels.get("clients").and_then(plan::Level::number).unwrap_or(1.0);
        let of = by_writers.entry(writers as u64).or_default();
        of.0 += trial.counters.get(TRANSACTION_RETRIES).copied().unwrap_or_default();
        of.1 += trial.requests as f64;
        of.2 += trial.failures;
    }
    let share = |(retries, requests, failures): &(f64, f64, u64)| {
        (retries + *failures as f64) / requests.max(1.0)
    };
    let (writers, most) =
        by_writers.iter().max_by(|(_, a), (_, b)| share(a).total_cmp(&share(b)))?;
    let per_thousand = most.0 / most.1.max(1.0) * 1e3;
    (share(most) > 0.0).then(|| {
        format!(
            "At {} SQLite's transactions were tried again {} since another was in the way; {} failed (given up \
             after 5 s, or refused).",
            notation::counted(*writers, "writer"),
            match per_thousand < 1e3 {
                true => format!("{} times in 1,000", notation::digits(per_thousand)),
                false => format!("{} times each", notation::digits(per_thousand / 1e3)),
            },
            notation::thousands(most.2)
        )
    })
}

/// Copies in memory keep nothing, whatever the settings say.
pub fn in_memory(finished: &Finished) -> Option<String> {
    let file_system = finished.run.environment.file_system.as_deref()?;
    file_system.starts_with("tmpfs").then(|| {
        "The copies were in memory (tmpfs): a commit waited for no disk, and nothing would survive a power cut. \
         CROSSOVER_DATA_DIR names a folder on a disk."
            .to_owned()
    })
}

/// SQLite leaves a page alone whose rows keep their values: then nothing was written, nor synced.
pub fn unwritten(finished: &Finished) -> Option<String> {
    /// Bytes by transaction below which most of them wrote no page, of which the smallest has 512.
    const WRITTEN_FROM: f64 = 256.0;
    // The kernel counts no write to memory.
    let file_system = finished.run.environment.file_system.as_deref();
    if file_system.is_none_or(|name| name.starts_with("tmpfs")) {
        return None;
    }
    let first = finished.plan.engines.first()?.label();
    let own = finished.trials.iter().filter(|trial| trial.engine == first);
    let written = own.filter_map(|trial| {
        Some((*trial.counters.get("server_written_bytes")?, trial.requests as f64))
    });
    let (bytes, transactions) =
        written.fold((0.0, 0.0), |(bytes, all), (own, requests)| (bytes + own, all + requests));
    (transactions > 0.0 && bytes < transactions * WRITTEN_FROM).then(|| {
        format!(
            "This is not a measurement of writes: SQLite wrote {} in {} transactions, since their rows kept \
             the values that they had. Name transactions that change rows each time (--sql, with an \
             expression as n = n + 1).",
            notation::bytes(bytes as u64),
            notation::thousands(transactions as u64)
        )
    })
}
