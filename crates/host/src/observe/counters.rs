//! Counters of applications, processes and threads by the names that trials give them. All of them
//! only grow; a trial keeps what they grew by.

use std::collections::BTreeMap;

use load::resource::{ResourceUse, ThreadUse};
use record::counter::CLIENT_PROCESSOR_WAIT;

/// Prefixes of the names in an application's metrics that belong into a trial.
const FROM_METRICS: [&str; 1] = ["sqlite_"];

/// Of an application that tells them as Prometheus counters (`sqlite_cache_misses_total`): every
/// counter whose name begins with `sqlite_`, without `_total`, summed over its labels.
#[must_use]
pub fn from_metrics(text: &str) -> BTreeMap<String, f64> {
    let mut counters = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name_ends = line.find(['{', ' ']).unwrap_or(line.len());
        let (name, rest) = line.split_at(name_ends);
        let Some(name) = name.strip_suffix("_total") else { continue };
        // Labels may hold anything but end with the last brace of the line.
        let values = rest.rsplit_once('}').map_or(rest, |(_, values)| values);
        let value = values.split_whitespace().next().and_then(|value| value.parse::<f64>().ok());
        if let Some(value) = value.filter(|_| FROM_METRICS.iter().any(|p| name.starts_with(p))) {
            *counters.entry(name.to_owned()).or_default() += value;
        }
    }
    counters
}

/// The operating system's counters of the server side during a trial.
#[must_use]
pub fn of_server(used: &ResourceUse) -> BTreeMap<String, f64> {
    let counts = [
        ("server_voluntary_context_switches", Some(used.voluntary_context_switches)),
        ("server_involuntary_context_switches", Some(used.involuntary_context_switches)),
        ("server_read_bytes", used.read_bytes),
        ("server_written_bytes", used.written_bytes),
    ];
    let known = counts.into_iter().filter_map(|(name, count)| Some((name, count? as f64)));
    known.map(|(name, count)| (name.to_owned(), count)).collect()
}

/// Its counters of the measuring client's threads. `client_processor_wait_fraction` is the share of
/// the trial in which they were ready to run and had no processor.
#[must_use]
pub fn of_client(used: &ThreadUse, wall_seconds: f64) -> BTreeMap<String, f64> {
    let thread_seconds = wall_seconds * used.threads.max(1) as f64;
    let counts = [
        ("client_voluntary_context_switches", used.voluntary_context_switches as f64),
        ("client_involuntary_context_switches", used.involuntary_context_switches as f64),
        ("client_read_bytes", used.read_bytes as f64),
        ("client_written_bytes", used.written_bytes as f64),
        (CLIENT_PROCESSOR_WAIT, used.processor_wait_seconds / thread_seconds),
    ];
    counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn application_counters_are_summed_over_labels() {
        let text = "# TYPE sqlite_cache_misses counter\n\
            sqlite_cache_misses_total{file=\"a b}\"} 7\n\
            sqlite_cache_misses_total{file=\"b\"} 5 1700000000\n\
            sqlite_sorts_total 3\n\
            sqlite_memory_bytes 9\n\
            http_requests_total 1\n# EOF\n";
        let found = from_metrics(text);
        let expected = [("sqlite_cache_misses".to_owned(), 12.0), ("sqlite_sorts".to_owned(), 3.0)];
        assert_eq!(found, BTreeMap::from(expected));
    }
}
