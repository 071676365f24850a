//! Headroom: the write transactions that SQLite takes beside those that the application needs.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use notation::digits;
use record::Finished;
use serde::Serialize;

/// Write transactions per second that an application needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExpectedRate {
    pub per_second: f64,
    /// `app.log has in its busiest minute`, or nothing of the user's own number.
    pub from: Option<String>,
}

impl FromStr for ExpectedRate {
    type Err = String;

    /// Reads `50/s`, `50/min`, `50/h`, or `50` a second.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a rate: write 50/s, 3000/min or 1000/h");
        let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        let seconds = match unit.trim() {
            "s" => 1.0,
            "min" | "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        let per_second = number / seconds;
        (per_second > 0.0 && per_second.is_finite())
            .then_some(Self { per_second, from: None })
            .ok_or_else(wrong)
    }
}

/// The transactions per second of SQLite beside those that are needed.
#[derive(Clone, Debug, Serialize)]
pub struct Headroom {
    pub expected: ExpectedRate,
    /// The number of writers at which SQLite takes most.
    pub writers: u64,
    /// The mean of its blocks, and the lower end of its interval of 95%.
    pub transactions_per_second: f64,
    pub transactions_per_second_low: Option<f64>,
    /// The share of the measured transactions that write; the rate above counts these alone.
    pub write_share: f64,
    /// Milliseconds; none with too few transactions.
    pub response_time_ms_p99: Option<f64>,
}

impl Headroom {
    /// The sentence without the name of a log.
    #[must_use]
    pub fn without_names(&self) -> String {
        let mut unnamed = self.clone();
        unnamed.expected.from =
            self.expected.from.as_ref().map(|_| "The log has in its busiest minute".to_owned());
        unnamed.to_string()
    }

    /// Of a finished run whose first engine is SQLite, and whose transactions write by this `share`; none
    /// where that was not measured.
    pub fn of(finished: &Finished, expected: ExpectedRate, share: f64) -> Option<Self> {
        let document = report::document(finished);
        let first = document.engines.first()?;
        let own =
            document.treatments.iter().filter(|one| one.engine == first.name && one.failures == 0);
        let rates = own.filter_map(|one| Some((one, one.estimate?)));
        let (peak, rate) = rates.max_by(|(_, a), (_, b)| a.value.total_cmp(&b.value))?;
        let writers = peak.levels.get("clients").and_then(plan::Level::number)?;
        let p99 = peak.percentiles.iter().find(|one| one.p == 0.99);
        Some(Self {
            expected,
            writers: writers as u64,
            transactions_per_second: rate.value * share,
            transactions_per_second_low: rate.low.map(|low| low * share),
            write_share: share,
            response_time_ms_p99: p99.map(|one| one.value_ms),
        })
    }
}

/// For example: `Expected are 14.0 write transactions a second; SQLite takes 1900 (at 4 writers without a
/// pause, p99 40.0 ms): 135 times as many, at least 128.`
impl Display for Headroom {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let (needed, taken) = (self.expected.per_second, self.transactions_per_second);
        match &self.expected.from {
            Some(from) => formatter.write_str(from)?,
            None => formatter.write_str("Expected are")?,
        }
        write!(
            formatter,
            " {} write transactions a second; SQLite takes {}",
            digits(needed),
            digits(taken)
        )?;
        let writers = notation::counted(self.writers, "writer");
        write!(formatter, " (at {writers} without a pause")?;
        if let Some(p99) = self.response_time_ms_p99 {
            write!(formatter, ", p99 {} ms", digits(p99))?;
        }
        if self.write_share < 1.0 {
            let reads = digits(taken / self.write_share - taken);
            write!(formatter, ", with {reads} read-only transactions a second beside them")?;
        }
        let word = if taken >= needed { "times as many" } else { "of that" };
        write!(formatter, "): {} {word}", digits(taken / needed))?;
        if let Some(low) = self.transactions_per_second_low {
            write!(formatter, ", at least {}", digits(low / needed))?;
        }
        write!(formatter, ".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_beside_the_writes_are_named() {
        let headroom = Headroom {
            expected: ExpectedRate { per_second: 50.0, from: None },
            writers: 4,
            transactions_per_second: 500.0,
            transactions_per_second_low: Some(450.0),
            write_share: 0.25,
            response_time_ms_p99: None,
        };
        let text = "Expected are 50.0 write transactions a second; SQLite takes 500 (at 4 writers without \
                    a pause, with 1500 read-only transactions a second beside them): 10.0 times as many, \
                    at least 9.00.";
        assert_eq!(headroom.to_string(), text);
    }

    #[test]
    fn rates_are_read_by_their_unit() {
        let rate = |text: &str| text.parse::<ExpectedRate>().map(|rate| rate.per_second);
        assert_eq!(rate("50/s"), Ok(50.0));
        assert_eq!(rate("3000/min"), Ok(50.0));
        assert_eq!(rate("1800/h"), Ok(0.5));
        assert_eq!(rate("7"), Ok(7.0));
        for wrong in ["0/s", "-1/s", "x", "5/day", "1e999/s"] {
            assert!(rate(wrong).unwrap_err().contains("50/s"), "{wrong}");
        }
    }
}
