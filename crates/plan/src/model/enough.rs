//! Bound by which a user calls a step enough: `p95 < 100ms`.

use std::fmt;
use std::str::FromStr;

use strum::VariantArray as _;

use crate::model::quantity::written_as_text;

/// A statistic of each statement's response time, and the time it must stay below.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnoughBound {
    pub statistic: EnoughStatistic,
    pub below_ms: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum EnoughStatistic {
    Mean,
    P50,
    P95,
    P99,
}

impl EnoughStatistic {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Units of time, in ms.
const UNITS: [(&str, f64); 3] = [("us", 1e-3), ("ms", 1.0), ("s", 1e3)];

impl FromStr for EnoughBound {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is not a bound: write \"mean < 50ms\", or p50, p95 or p99 and us, ms or s"
            )
        };
        let (name, time) = text.split_once('<').ok_or_else(wrong)?;
        let mut statistics = EnoughStatistic::VARIANTS.iter().copied();
        let statistic = statistics.find(|one| one.name() == name.trim()).ok_or_else(wrong)?;
        let time = time.trim();
        let split = time.find(char::is_alphabetic).ok_or_else(wrong)?;
        let (number, unit) = time.split_at(split);
        let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        let number: f64 = number.trim().parse().map_err(|_| wrong())?;
        match number.is_finite() && number > 0.0 {
            true => Ok(Self { statistic, below_ms: number * factor }),
            false => Err(wrong()),
        }
    }
}

impl fmt::Display for EnoughBound {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} < {}ms", self.statistic.name(), self.below_ms)
    }
}

written_as_text!(EnoughBound);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read_in_three_units_and_refused_otherwise() {
        for (text, ms) in [("p95 < 100ms", 100.0), ("mean<1.5s", 1_500.0), ("p50 < 200us", 0.2)] {
            let bound: EnoughBound = text.parse().unwrap();
            assert!((bound.below_ms - ms).abs() < 1e-9, "{text}");
            assert_eq!(bound.to_string().parse::<EnoughBound>().unwrap(), bound);
        }
        for text in ["", "p95 100ms", "p42 < 1ms", "p95 < 100", "mean < -1ms", "mean > 1ms"] {
            assert!(text.parse::<EnoughBound>().is_err(), "{text}");
        }
    }
}
