//! Dates and times: read from SQLite's texts and numbers, counted as PostgreSQL counts them (days
//! and microseconds since 2000-01-01).

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::postgres_type::PostgresType;

const EPOCH_DAYS: i64 = 10_957;
const MICROS_PER_DAY: i64 = 86_400_000_000;
/// The Julian day number of 1970-01-01 00:00.
const JULIAN_EPOCH: f64 = 2_440_587.5;
/// Years 1 to 9999 in microseconds since 2000-01-01: the range of ISO texts and of jiff.
const FIRST_MICROS: i64 = -730_119 * MICROS_PER_DAY;
const LAST_MICROS: i64 = 2_921_940 * MICROS_PER_DAY - 1;

/// A point in time, read from a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Microseconds since 2000-01-01 00:00; in UTC if `zoned`, otherwise in the text's own time.
    pub micros: i64,
    /// The text ended with Z or an offset.
    pub zoned: bool,
    /// The text had a time of day.
    pub timed: bool,
    /// Digits of a second that are not trailing zeros.
    pub digits: u8,
}

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
            Self::Microseconds | Self::Since1970 => PostgresType::Interval,
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
            Self::Microseconds | Self::Since1970 => *postgres_type == PostgresType::Interval,
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

fn in_calendar(micros: i64) -> Option<i64> {
    (FIRST_MICROS..=LAST_MICROS).contains(&micros).then_some(micros)
}

/// Whole days of `micros`, if it is midnight.
pub fn days(micros: i64) -> Option<i32> {
    if micros.rem_euclid(MICROS_PER_DAY) != 0 {
        return None;
    }
    i32::try_from(micros.div_euclid(MICROS_PER_DAY)).ok()
}

/// Reads `2021-03-04`, `2021-03-04 05:06[:07[.8]][Z|+02:00]`, also with `T`. `None` for any other
/// text and for dates that the calendar does not have.
pub fn parse(text: &[u8]) -> Option<Moment> {
    let (date, rest) = text.split_at_checked(10)?;
    let day = parse_date(date)?;
    if rest.is_empty() {
        let micros = day * MICROS_PER_DAY;
        return Some(Moment { micros, zoned: false, timed: false, digits: 0 });
    }
    let rest = rest.strip_prefix(b" ").or_else(|| rest.strip_prefix(b"T"))?;
    let zone_at = rest.iter().position(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-' | b' '));
    let (time, zone) = rest.split_at(zone_at.unwrap_or(rest.len()));
    let (of_day, digits) = parse_time(time)?;
    let offset = parse_zone(zone)?;
    Some(Moment {
        micros: in_calendar(day * MICROS_PER_DAY + of_day - offset.unwrap_or(0))?,
        zoned: offset.is_some(),
        timed: true,
        digits,
    })
}

/// The time of a text that Rails stores for a time of day, which may also be one without a day.
pub fn rails_time(text: &[u8]) -> &[u8] {
    let time = text.strip_prefix(b"2000-01-01");
    time.and_then(|time| time.strip_prefix(b" ").or_else(|| time.strip_prefix(b"T")))
        .unwrap_or(text)
}

fn number(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(digits.iter().fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')))
}

/// Days since 2000-01-01 of `2021-03-04`.
fn parse_date(text: &[u8]) -> Option<i64> {
    if text[4] != b'-' || text[7] != b'-' {
        return None;
    }
    let year = i16::try_from(number(&text[..4])?).ok().filter(|year| *year >= 1)?;
    let month = i8::try_from(number(&text[5..7])?).ok()?;
    let day = i8::try_from(number(&text[8..10])?).ok()?;
    let date = Date::new(year, month, day).ok()?;
    let epoch = Date::constant(2000, 1, 1);
    Some(i64::from(epoch.until(date).ok()?.get_days()))
}

/// The same of a time of day, of which PostgreSQL also has `24:00:00`, the end of a day.
pub fn time_of_day(text: &[u8]) -> Option<(i64, u8)> {
    let end_of_day: [&[u8]; 2] = [b"24:00", b"24:00:00"];
    if end_of_day.contains(&text) { Some((MICROS_PER_DAY, 0)) } else { parse_time(text) }
}

/// Microseconds since midnight of `05:06[:07[.891]]`, and how many digits of a second it uses.
/// `None` beyond microseconds too.
fn parse_time(text: &[u8]) -> Option<(i64, u8)> {
    let (clock, fraction) = match text.iter().position(|byte| *byte == b'.') {
        Some(point) => (&text[..point], Some(&text[point + 1..])),
        None => (text, None),
    };
    let part = |from: usize, largest: i64| {
        number(clock.get(from..from + 2)?).filter(|value| *value <= largest)
    };
    let colon = |at: usize| clock[at] == b':';
    let seconds = match clock.len() {
        5 if fraction.is_none() && colon(2) => 0,
        8 if colon(2) && colon(5) => part(6, 59)?,
        _ => return None,
    };
    let mut micros = ((part(0, 23)? * 60 + part(3, 59)?) * 60 + seconds) * 1_000_000;
    let mut used = 0;
    if let Some(fraction) = fraction {
        number(fraction.get(..fraction.len().min(18))?)?;
        for (place, digit) in fraction.iter().enumerate() {
            let digit = i64::from(digit.checked_sub(b'0').filter(|digit| *digit <= 9)?);
            if digit != 0 {
                let scale = 10_i64.pow(5_u32.checked_sub(u32::try_from(place).ok()?)?);
                micros += digit * scale;
                used = place as u8 + 1;
            }
        }
    }
    Some((micros, used))
}

/// The offset from UTC in microseconds: `Some(None)` without one.
fn parse_zone(text: &[u8]) -> Option<Option<i64>> {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let sign = match text {
        [] => return Some(None),
        b"Z" | b"z" | b"UTC" => return Some(Some(0)),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    let minutes = match text.len() {
        3 => 0,
        5 => number(&text[3..])?,
        6 if text[3] == b':' => number(&text[4..])?,
        _ => return None,
    };
    let hours = number(&text[1..3])?;
    (hours <= 15 && minutes < 60).then_some(Some(sign * (hours * 60 + minutes) * 60_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_iso_texts() {
        let micros = |text: &str| parse(text.as_bytes()).map(|moment| moment.micros);
        assert_eq!(micros("2000-01-01"), Some(0));
        assert_eq!(micros("1999-12-31 23:59"), Some(-60_000_000));
        assert_eq!(micros("2000-01-01T00:00:01.5Z"), Some(1_500_000));
        assert_eq!(micros("2000-01-01 02:00:00+02:00"), Some(0));
        assert_eq!(micros("2000-01-01 00:00:00.123456000"), Some(123_456));
        assert_eq!(parse(b"2000-01-01 00:00:00.120").map(|moment| moment.digits), Some(2));
    }

    #[test]
    fn refuses_impossible_moments() {
        for text in [
            "2021-02-29",
            "2021-13-01",
            "0000-01-01",
            "2021-1-1",
            "20210101",
            "2021-01-01x",
            "2021-01-01 24:00",
            "2021-01-01 10:60",
            "2021-01-01 10:00:60",
            "2021-01-01 1:00",
            "2021-01-01 10:00:00.1234567",
            "2021-01-01 10:00+24",
            "2021-01-01 10:00:00.",
            "2021-01-01 ",
            "",
            "now",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

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
