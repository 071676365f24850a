//! Readings of values of another kind than a type's own, as `--map` names them.

use serde::{Deserialize, Serialize};

use super::moment::{EPOCH_DAYS, MICROS_PER_DAY, in_calendar};
use super::postgres_type::PostgresType;

/// The Julian day number of 1970-01-01 00:00.
const JULIAN_EPOCH: f64 = 2_440_587.5;

/// Reading of values of another kind than the type's own (`--map '...=TYPE using ...'`): numbers as
/// moments, blobs as texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ValueReading {
    /// Seconds since 1970-01-01 UTC
    EpochSeconds,
    /// Milliseconds since 1970-01-01 UTC
    EpochMilliseconds,
    /// Microseconds since 1970-01-01 UTC
    EpochMicroseconds,
    EpochDays,
    /// Julian day numbers, as SQLite's julianday() gives them (rounded to the millisecond)
    JulianDay,
    /// Times of a day, as Rails stores them: texts of 2000-01-01
    RailsTime,
    /// Intervals as Django stores them: numbers of microseconds
    Microseconds,
    /// Intervals as SQLAlchemy stores them: moments that are as far from the beginning of 1970
    Since1970,
    /// Blobs are texts in UTF-8
    Utf8,
}

impl ValueReading {
    /// All readings with their names on the command line.
    pub const NAMES: [(&'static str, Self); 9] = [
        ("epoch_seconds", Self::EpochSeconds),
        ("epoch_milliseconds", Self::EpochMilliseconds),
        ("epoch_microseconds", Self::EpochMicroseconds),
        ("epoch_days", Self::EpochDays),
        ("julian_day", Self::JulianDay),
        ("rails_time", Self::RailsTime),
        ("microseconds", Self::Microseconds),
        ("since_1970", Self::Since1970),
        ("utf8", Self::Utf8),
    ];
    /// Units of numbers with the first number that is a moment since March 1973, and the first that is
    /// one after October 2096, as programs count them.
    const LIKELY: [(Self, f64, f64); 4] = [
        (Self::EpochSeconds, 1e8, 4e9),
        (Self::EpochMilliseconds, 1e11, 4e12),
        (Self::EpochMicroseconds, 1e14, 4e15),
        (Self::JulianDay, 2_441_745.0, 2_486_884.0),
    ];

    /// On the command line.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, each)| *each == self).map_or("", |(name, _)| name)
    }

    /// The reading of a number that is probably a moment.
    #[inline]
    pub fn likely(number: f64) -> Option<Self> {
        let mut units = Self::LIKELY.iter();
        units.find(|(_, first, end)| (*first..*end).contains(&number)).map(|(unit, ..)| *unit)
    }

    /// The numbers that are probably moments in this unit: the first, and the first beyond them.
    pub fn likely_numbers(self) -> Option<(f64, f64)> {
        let mut units = Self::LIKELY.iter();
        units.find(|(unit, ..)| *unit == self).map(|(_, first, end)| (*first, *end))
    }

    /// In words.
    pub fn unit(self) -> &'static str {
        match self {
            Self::EpochSeconds => "epoch seconds",
            Self::EpochMilliseconds => "epoch milliseconds",
            Self::EpochMicroseconds => "epoch microseconds",
            Self::EpochDays => "days since 1970",
            Self::JulianDay => "Julian days",
            Self::RailsTime => "times of 2000-01-01",
            Self::Microseconds => "microseconds",
            Self::Since1970 => "moments since 1970",
            Self::Utf8 => "UTF-8",
        }
    }

    /// The reading of this name; otherwise the problem.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = Self::NAMES.iter().find(|(known, _)| *known == name);
        found.map(|(_, reading)| *reading).ok_or_else(|| {
            let names = Self::NAMES.map(|(known, _)| known).join(", ");
            format!("unknown reading `{name}`; use {names}")
        })
    }

    /// The type of a column of which only the reading is known.
    pub fn implied_type(self) -> PostgresType {
        match self {
            Self::EpochDays => PostgresType::Date,
            Self::RailsTime => PostgresType::Time(6),
            Self::Microseconds | Self::Since1970 => PostgresType::Interval(6),
            Self::Utf8 => PostgresType::Text,
            Self::EpochSeconds
            | Self::EpochMilliseconds
            | Self::EpochMicroseconds
            | Self::JulianDay => PostgresType::TimestampTz(6),
        }
    }

    /// Refuses a type whose values cannot be read so, with those that can.
    pub fn check(self, postgres_type: &PostgresType) -> Result<(), String> {
        if self.suits(postgres_type) {
            return Ok(());
        }
        let types = match self {
            Self::Utf8 => "text, varchar, char, citext, json and jsonb",
            Self::RailsTime => "time",
            Self::Microseconds | Self::Since1970 => "interval",
            _ => "date, timestamp and timestamptz",
        };
        Err(format!("`using {}` is for {types}, not for {postgres_type}", self.name()))
    }

    /// `true` if values of this type can be read so.
    pub fn suits(self, postgres_type: &PostgresType) -> bool {
        match self {
            Self::Utf8 => postgres_type.takes_texts(),
            Self::RailsTime => matches!(postgres_type, PostgresType::Time(_)),
            Self::Microseconds | Self::Since1970 => {
                matches!(postgres_type, PostgresType::Interval(_))
            }
            _ => postgres_type.is_moment(),
        }
    }

    /// Microseconds since 2000-01-01 of a stored integer, if the calendar has them.
    pub fn integer(self, value: i64) -> Option<i64> {
        let unit = match self {
            Self::EpochSeconds => 1_000_000,
            Self::EpochMilliseconds => 1_000,
            Self::EpochMicroseconds => 1,
            Self::EpochDays => MICROS_PER_DAY,
            Self::JulianDay => return self.real(value as f64),
            Self::RailsTime | Self::Microseconds | Self::Since1970 | Self::Utf8 => return None,
        };
        in_calendar(value.checked_mul(unit)?.checked_sub(EPOCH_DAYS * MICROS_PER_DAY)?)
    }

    /// Microseconds since 2000-01-01 of a stored float, if it is a whole microsecond. A Julian day
    /// is rounded to the millisecond, the precision of its digits.
    pub fn real(self, value: f64) -> Option<i64> {
        let since_epoch = match self {
            Self::EpochSeconds => (value * 1e6).round(),
            Self::EpochMilliseconds => (value * 1e3).round(),
            Self::EpochMicroseconds => value,
            Self::EpochDays => value * MICROS_PER_DAY as f64,
            Self::RailsTime | Self::Microseconds | Self::Since1970 | Self::Utf8 => return None,
            Self::JulianDay => ((value - JULIAN_EPOCH) * 86_400_000.0).round() * 1e3,
        };
        if since_epoch.fract() != 0.0 || since_epoch.abs() > 1e18 {
            return None;
        }
        in_calendar(since_epoch as i64 - EPOCH_DAYS * MICROS_PER_DAY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::moment::parse;

    #[test]
    fn numbers_are_read_by_their_reading() {
        let expected = parse(b"2021-03-04 05:06:07").unwrap().micros;
        assert_eq!(ValueReading::EpochSeconds.integer(1_614_834_367), Some(expected));
        assert_eq!(ValueReading::EpochMilliseconds.integer(1_614_834_367_000), Some(expected));
        assert_eq!(ValueReading::JulianDay.real(2_459_277.712_581_018_5), Some(expected));
        assert_eq!(ValueReading::EpochDays.integer(10_957), Some(0));
        assert_eq!(ValueReading::EpochSeconds.integer(i64::MAX), None);
    }
}
