//! The distribution of a trial's response times, kept beside the raw observations so that a report
//! need not read millions of them: `trials/0001.histogram`, one line of base64 around
//! HdrHistogram's own V2 encoding, in nanoseconds with three significant digits.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use stats::percentile_supported;

use crate::RecordError;
use crate::{FailureKind, Observation};

/// The percentiles that trials and reports name.
pub const PERCENTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p999", 0.999)];

/// Three digits: every value is known within a thousandth of itself.
const SIGNIFICANT_DIGITS: u8 = 3;

/// The response times of right answers, and of requests that timed out: those took at least the time
/// waited, and to leave them out would make a slow engine look fast.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseTimes {
    nanoseconds: Histogram<u64>,
}

impl ResponseTimes {
    pub fn of(observations: impl IntoIterator<Item = Observation>) -> Result<Self, RecordError> {
        let mut nanoseconds = empty()?;
        let counts =
            |one: &Observation| matches!(one.outcome.failure(), None | Some(FailureKind::TimedOut));
        for one in observations.into_iter().filter(counts) {
            nanoseconds.record(one.response_time_ns).map_err(|error| damaged("", &error))?;
        }
        Ok(Self { nanoseconds })
    }

    pub fn count(&self) -> u64 {
        self.nanoseconds.len()
    }

    /// Adds those of another trial.
    pub fn add(&mut self, other: &Self) -> Result<(), RecordError> {
        self.nanoseconds.add(&other.nanoseconds).map_err(|error| damaged("", &error))
    }

    /// The time, ms, that the share `p` of all does not exceed; none where fewer than ten
    /// observations lie beyond it.
    pub fn percentile_ms(&self, p: f64) -> Option<f64> {
        let count = usize::try_from(self.count()).unwrap_or(usize::MAX);
        let supported = percentile_supported(p, count);
        supported.then(|| self.nanoseconds.value_at_quantile(p) as f64 / 1e6)
    }

    /// Those of [`PERCENTILES`] that are supported, ms.
    pub fn percentiles_ms(&self) -> BTreeMap<String, f64> {
        let named = |(name, p): (&str, f64)| Some((name.to_owned(), self.percentile_ms(p)?));
        PERCENTILES.into_iter().filter_map(named).collect()
    }

    /// Share and time, ms, for drawing: at most `points` from the smallest time to the largest
    /// percentile that is supported, evenly spread by the logarithm of the share beyond, and the
    /// [`PERCENTILES`] among them, so that a chart can mark those.
    pub fn curve(&self, points: usize) -> Vec<(f64, f64)> {
        let furthest = (self.count() as f64 / 10.0).log10();
        if furthest <= 0.0 {
            return Vec::new();
        }
        let last = points.saturating_sub(1).max(1) as f64;
        let share = |point: usize| 1.0 - 10f64.powf(-furthest * point as f64 / last);
        let named = PERCENTILES.into_iter().map(|(_, p)| p);
        let mut shares: Vec<f64> = (0..points).map(share).chain(named).collect();
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        shares.into_iter().filter_map(|p| Some((p, self.percentile_ms(p)?))).collect()
    }
}

/// Writes the distribution of one trial.
pub fn write_histogram(path: &Path, times: &ResponseTimes) -> Result<(), RecordError> {
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(&times.nanoseconds, &mut bytes)
        .map_err(|error| damaged(path, &error))?;
    let line = BASE64_STANDARD.encode(bytes) + "\n";
    super::file::write(path, line.as_bytes())
}

pub fn read_histogram(path: &Path) -> Result<ResponseTimes, RecordError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| RecordError::Io { path: path.to_owned(), source })?;
    let bytes = BASE64_STANDARD.decode(text.trim()).map_err(|error| damaged(path, &error))?;
    let mut nanoseconds: Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| damaged(path, &error))?;
    // A histogram that was read does not grow by itself, and another may be added to it.
    nanoseconds.auto(true);
    Ok(ResponseTimes { nanoseconds })
}

fn empty() -> Result<Histogram<u64>, RecordError> {
    Histogram::new(SIGNIFICANT_DIGITS).map_err(|error| damaged("", &error))
}

fn damaged(path: impl AsRef<Path>, error: &impl ToString) -> RecordError {
    RecordError::Damaged { path: path.as_ref().to_owned(), message: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Outcome;

    fn observations(count: u64) -> Vec<Observation> {
        let one = |number: u64| Observation {
            client: 0,
            request: 0,
            start_ns: 0,
            response_time_ns: (number + 1) * 1_000,
            outcome: Outcome::Ok,
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn percentiles_survive_the_file_and_only_supported_are_named() {
        let mut all = observations(1_000);
        let failed = |outcome| Observation { response_time_ns: u64::MAX / 2, outcome, ..all[0] };
        let (refused, timed_out) = (failed(Outcome::Refused), failed(Outcome::TimedOut));
        all.push(refused);
        let times = ResponseTimes::of(all.iter().copied()).unwrap();
        assert_eq!(times.count(), 1_000, "a refusal is no response time");
        let with = ResponseTimes::of([timed_out]).unwrap();
        assert_eq!(with.count(), 1, "a time-out took at least the time waited");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0001.histogram");
        write_histogram(&path, &times).unwrap();
        let mut back = read_histogram(&path).unwrap();
        back.add(&ResponseTimes::of(observations(100_000)).unwrap()).unwrap();
        assert_eq!(back.count(), 101_000, "what was read grows for longer times");
        let back = read_histogram(&path).unwrap();
        let percentiles = back.percentiles_ms();
        assert_eq!(percentiles.keys().collect::<Vec<_>>(), ["p50", "p90", "p95", "p99"]);
        for (name, expected) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
            assert!((percentiles[name] / expected - 1.0).abs() < 2e-3, "{name} {percentiles:?}");
        }
        std::fs::write(&path, "not base64!").unwrap();
        assert!(matches!(read_histogram(&path), Err(RecordError::Damaged { .. })));
    }

    #[test]
    fn a_merged_curve_rises_to_the_last_supported_percentile() {
        let mut times = ResponseTimes::of(observations(1_000)).unwrap();
        times.add(&ResponseTimes::of(observations(3_000)).unwrap()).unwrap();
        let curve = times.curve(40);
        assert_eq!(curve.len(), 44, "p50 to p99 besides the 40");
        assert!(curve.iter().any(|(p, _)| *p == 0.99), "{curve:?}");
        assert!(curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1), "{curve:?}");
        assert!((curve[43].0 - 0.9975).abs() < 1e-9, "{:?}", curve[43]);
        assert_eq!(ResponseTimes::of(observations(9)).unwrap().curve(40), []);
    }
}
