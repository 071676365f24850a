//! A length of time that lies ahead, as a range.

use std::fmt;
use std::time::Duration;

/// The share by which the end may differ from what is expected of it, both ways.
const SPREAD: f64 = 0.22;
/// A narrower range than this share promises more than a machine with other work on it keeps.
const SPREAD_MIN: f64 = 0.1;

/// The range that holds a length of time in eight cases of ten.
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

/// `3 to 5 minutes`, `at most 2 hours`.
impl fmt::Display for Forecast {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, u64, &str); 3] =
            [(3 * 3600, 3600, "hour"), (120, 60, "minute"), (0, 1, "second")];
        let longest = self.longest.as_secs();
        let unit = UNITS.iter().find(|(from, ..)| longest >= *from);
        let (_, seconds, name) = unit.copied().unwrap_or((0, 1, "second"));
        let low = self.shortest.as_secs() / seconds;
        let high = self.longest.as_secs_f64().ceil() as u64;
        let high = high.div_ceil(seconds).max(1);
        match low {
            _ if self.is_bound || low == 0 => {
                write!(formatter, "at most {}", plan::counted(high as usize, name))
            }
            _ if low == high => write!(formatter, "about {}", plan::counted(high as usize, name)),
            _ => write!(formatter, "{low} to {high} {name}s"),
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
        assert_eq!(said(300), "3 to 7 minutes");
        assert_eq!(said(36_000), "7 to 13 hours");
        let more = Forecast::of(seconds(300)).with_more(seconds(300));
        assert_eq!(more.to_string(), "at most 13 minutes");
        assert_eq!(Forecast::of(Duration::ZERO).to_string(), "at most 1 second");
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
