//! A length of time that lies ahead, as a range.

use std::fmt;
use std::time::Duration;

/// The share by which the end may differ from what is expected of it, both ways.
const SPREAD: f64 = 0.22;
/// A narrower range than this share promises more than a machine with other work on it keeps.
const SPREAD_MIN: f64 = 0.1;

/// A length of time by its likely ends (BENCHMARKS.md has how often they hold).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    pub shortest: Duration,
    pub longest: Duration,
    /// Whether the plan decides on the way how much it measures, so that only the longest is known.
    pub is_bound: bool,
}

impl Forecast {
    pub(crate) fn of(expected: Duration) -> Self {
        Self::spread(expected, SPREAD)
    }

    /// The same by the times of whole blocks, each seconds per trial, of which `blocks` are still to come.
    pub(crate) fn by_blocks(expected: Duration, times: &[f64], blocks: f64) -> Self {
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        let squares = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>();
        let deviation = (squares / (count - 1.0)).sqrt() / mean;
        let spread = 2.0 * deviation * (1.0 / count + 1.0 / blocks.max(1.0)).sqrt();
        match spread.is_finite() {
            true => Self::spread(expected, spread.clamp(SPREAD_MIN, SPREAD)),
            false => Self::of(expected),
        }
    }

    fn spread(expected: Duration, share: f64) -> Self {
        Self {
            shortest: expected.mul_f64(1.0 - share),
            longest: expected.mul_f64(1.0 + share),
            is_bound: false,
        }
    }

    /// The bound where up to `more` is added on the way.
    pub(crate) fn with_more(self, more: Duration) -> Self {
        Self { longest: self.longest + more.mul_f64(1.0 + SPREAD), is_bound: true, ..self }
    }

    /// The rest of it after this time; none when it is over.
    pub(crate) fn after(self, elapsed: Duration) -> Option<Self> {
        let longest = self.longest.checked_sub(elapsed)?;
        Some(Self { shortest: self.shortest.saturating_sub(elapsed), longest, ..self })
    }
}

/// `40 to 63 seconds`, `3.9 to 6.2 minutes`, `at most 2.5 hours`.
impl fmt::Display for Forecast {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [shortest, longest] = [self.shortest, self.longest].map(|end| end.as_secs_f64());
        let (unit, name) = match longest {
            7200.0.. => (3600.0, "hours"),
            120.0.. => (60.0, "minutes"),
            _ => (1.0, "seconds"),
        };
        // Rounded outwards, so that the words promise no more than the figures.
        let is_small = unit > 1.0 && longest / unit < 10.0;
        let (scale, decimals) = if is_small { (10.0, 1) } else { (1.0, 0) };
        let high = ((longest / unit * scale).ceil() / scale).max(2.0);
        let low = (shortest / unit * scale).floor() / scale;
        match self.is_bound || low < 1.0 {
            true => write!(formatter, "at most {high:.decimals$} {name}"),
            false => write!(formatter, "{low:.decimals$} to {high:.decimals$} {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(of: u64) -> Duration {
        Duration::from_secs(of)
    }

    #[test]
    fn a_range_is_said_in_the_unit_that_suits_its_end() {
        let said = |of| Forecast::of(seconds(of)).to_string();
        assert_eq!(said(10), "7 to 13 seconds");
        assert_eq!(said(300), "3.9 to 6.1 minutes");
        assert_eq!(said(36_000), "7 to 13 hours");
        let more = Forecast::of(seconds(300)).with_more(seconds(300));
        assert_eq!(more.to_string(), "at most 13 minutes");
        assert_eq!(Forecast::of(Duration::ZERO).to_string(), "at most 2 seconds");
    }

    #[test]
    fn both_ends_differ_by_less_than_a_factor_of_1_6() {
        let forecast = Forecast::of(seconds(1000));
        assert!(forecast.longest.as_secs_f64() / forecast.shortest.as_secs_f64() < 1.6);
        let even = Forecast::by_blocks(seconds(1000), &[1.0, 1.01, 0.99], 2.0);
        assert_eq!((even.shortest, even.longest), (seconds(900), seconds(1100)));
        let uneven = Forecast::by_blocks(seconds(1000), &[1.0, 9.0], 3.0);
        assert_eq!(uneven, forecast);
        assert_eq!(Forecast::by_blocks(seconds(1000), &[1.0], 3.0), forecast);
    }

    #[test]
    fn time_that_has_passed_is_taken_off_both_ends() {
        let left = Forecast::of(seconds(100)).after(seconds(90)).unwrap();
        assert_eq!((left.shortest, left.longest), (Duration::ZERO, seconds(32)));
        assert_eq!(left.to_string(), "at most 32 seconds");
        assert_eq!(Forecast::of(seconds(100)).after(seconds(200)), None);
    }
}
