//! Intervals: read from the texts of ISO 8601, .NET, Python and PostgreSQL, and from numbers and moments
//! by a reading. In PostgreSQL an interval is months, days and microseconds side by side.

use std::fmt::{Display, Formatter};

use rusqlite::types::ValueRef;

use super::conversion::Conversions;
use super::encode::{to_digits, unreadable, utf8};
use super::moment::{self, EPOCH_DAYS, MICROS_PER_DAY, fraction_of_second};
use super::number::integer;
use super::postgres_type::SECOND_DIGITS;
use super::reading::ValueReading;
use super::unfit::Unfit;

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    pub months: i32,
    pub days: i32,
    pub micros: i64,
}

/// The interval of a value, rounded to these digits of a second where that is a stated conversion.
pub fn interval(
    value: ValueRef<'_>,
    reading: Option<ValueReading>,
    digits: u8,
    may_convert: bool,
) -> Result<(Interval, Conversions), Unfit> {
    let (interval, is_cut) = match (value, reading) {
        (ValueRef::Text(text), Some(ValueReading::Since1970)) => {
            let moment = moment::parse(text).filter(|moment| !moment.zoned);
            let since = |moment: moment::Moment| {
                let micros = moment.micros + EPOCH_DAYS * MICROS_PER_DAY;
                Some((Interval::of_micros(micros)?, moment.digits > SECOND_DIGITS))
            };
            moment.and_then(since).ok_or(unreadable(value))?
        }
        (ValueRef::Integer(_) | ValueRef::Real(_), Some(ValueReading::Microseconds)) => {
            (Interval::of_micros(integer(value)?).ok_or(Unfit::OutOfRange)?, false)
        }
        (ValueRef::Text(text), _) => parse(utf8(text)?).ok_or(unreadable(value))?,
        _ => return Err(unreadable(value)),
    };
    let (micros, conversions) = to_digits(interval.micros, is_cut, digits, may_convert)?;
    Ok((Interval { micros, ..interval }, conversions))
}

impl Interval {
    /// Whole days, the rest from midnight on: as Python's timedelta, which Django and SQLAlchemy store,
    /// arrives in PostgreSQL.
    fn of_micros(micros: i64) -> Option<Self> {
        let days = i32::try_from(micros.div_euclid(MICROS_PER_DAY)).ok()?;
        Some(Self { months: 0, days, micros: micros.rem_euclid(MICROS_PER_DAY) })
    }

    /// PostgreSQL's binary form.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.micros.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.days.to_be_bytes());
        bytes[12..].copy_from_slice(&self.months.to_be_bytes());
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (micros, rest) = bytes.split_first_chunk::<8>()?;
        let (days, rest) = rest.split_first_chunk::<4>()?;
        let months = i32::from_be_bytes(rest.try_into().ok()?);
        let (micros, days) = (i64::from_be_bytes(*micros), i32::from_be_bytes(*days));
        Some(Self { months, days, micros })
    }

    /// Its length as PostgreSQL compares intervals: months of 30 days, days of 24 hours.
    pub fn length(self) -> i128 {
        let days = i128::from(self.months) * 30 + i128::from(self.days);
        days * i128::from(MICROS_PER_DAY) + i128::from(self.micros)
    }

    fn negated(self) -> Option<Self> {
        Some(Self {
            months: self.months.checked_neg()?,
            days: self.days.checked_neg()?,
            micros: self.micros.checked_neg()?,
        })
    }

    /// Adds `count` of a unit and a fraction of it, in microseconds, which only seconds have.
    fn add(&mut self, unit: &IntervalUnit, count: i64, fraction: i64) -> Option<()> {
        let whole = i32::try_from(count).ok();
        match *unit {
            _ if fraction != 0 && *unit != IntervalUnit::Micros(SECOND) => return None,
            IntervalUnit::Months(each) => {
                self.months = self.months.checked_add(whole?.checked_mul(each)?)?;
            }
            IntervalUnit::Days(each) => {
                self.days = self.days.checked_add(whole?.checked_mul(each)?)?;
            }
            IntervalUnit::Micros(each) => {
                let micros = count.checked_mul(each)?.checked_add(fraction)?;
                self.micros = self.micros.checked_add(micros)?;
            }
        }
        Some(())
    }
}

impl Display for Interval {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { months, days, micros } = *self;
        write!(formatter, "{months} mons {days} days {}", clock(micros))
    }
}

/// Microseconds as `hh:mm:ss.ffffff`.
pub fn clock(micros: i64) -> String {
    let (sign, micros) = (if micros < 0 { "-" } else { "" }, micros.unsigned_abs());
    let (seconds, fraction) = (micros / 1_000_000, micros % 1_000_000);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{sign}{hours:02}:{minutes:02}:{:02}.{fraction:06}", seconds % 60)
}

#[derive(PartialEq, Eq)]
enum IntervalUnit {
    Months(i32),
    Days(i32),
    Micros(i64),
}

impl IntervalUnit {
    /// By its word, as PostgreSQL and people write it.
    fn named(word: &str) -> Option<Self> {
        Some(match word.strip_suffix('s').unwrap_or(word) {
            "year" => Self::Months(12),
            "mon" | "month" => Self::Months(1),
            "week" => Self::Days(7),
            "day" => Self::Days(1),
            "hour" => Self::Micros(HOUR),
            "min" | "minute" => Self::Micros(MINUTE),
            "sec" | "second" => Self::Micros(SECOND),
            _ => return None,
        })
    }

    /// By its letter in ISO 8601, after or before the T.
    fn lettered(letter: u8, is_time: bool) -> Option<Self> {
        Some(match (letter, is_time) {
            (b'Y', false) => Self::Months(12),
            (b'M', false) => Self::Months(1),
            (b'W', false) => Self::Days(7),
            (b'D', false) => Self::Days(1),
            (b'H', true) => Self::Micros(HOUR),
            (b'M', true) => Self::Micros(MINUTE),
            (b'S', true) => Self::Micros(SECOND),
            _ => return None,
        })
    }
}

/// Reads `P1DT2H3.5S`, `1.02:03:04.5`, `1 day 02:03:04`, `1 day, 2:03:04`; with it, digits of a second
/// beyond the sixth were rounded. `None` for any other text.
fn parse(text: &str) -> Option<(Interval, bool)> {
    let (is_negative, unsigned) = sign(text);
    let (interval, is_rounded) = match unsigned.strip_prefix('P') {
        Some(rest) => iso(rest)?,
        None if text.contains(|letter: char| letter.is_ascii_alphabetic()) => {
            return in_words(text);
        }
        None => clock_with_days(unsigned)?,
    };
    let interval = if is_negative { interval.negated()? } else { interval };
    Some((interval, is_rounded))
}

fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// A number with its sign: whole, fraction in millionths, rounded or not.
fn number(text: &str) -> Option<(i64, i64, bool)> {
    let (is_negative, unsigned) = sign(text);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) => (whole, fraction_of_second(fraction.as_bytes())?),
        None => (unsigned, (0, 0)),
    };
    if whole.is_empty() || !whole.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let factor = if is_negative { -1 } else { 1 };
    let whole = whole.parse::<i64>().ok()?;
    Some((factor * whole, factor * fraction.0, fraction.1 > SECOND_DIGITS))
}

/// The rest of `P1Y2M3W4DT5H6M7.8S` behind its P.
fn iso(text: &str) -> Option<(Interval, bool)> {
    let (mut interval, mut is_rounded) = (Interval::default(), false);
    let (date, time) = match text.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, time),
        None => (text, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    for (part, is_time) in [(date, false), (time, true)] {
        let mut rest = part;
        while !rest.is_empty() {
            let end = rest.find(|letter: char| letter.is_ascii_uppercase())?;
            let unit = IntervalUnit::lettered(rest.as_bytes()[end], is_time)?;
            let (whole, fraction, rounded) = number(&rest[..end])?;
            interval.add(&unit, whole, fraction)?;
            is_rounded |= rounded;
            rest = &rest[end + 1..];
        }
    }
    Some((interval, is_rounded))
}

/// `1 year 2 mons -3 days +04:05:06.7`: each part has its own sign.
fn in_words(text: &str) -> Option<(Interval, bool)> {
    let (mut interval, mut is_rounded) = (Interval::default(), false);
    let mut words = text.split([' ', ',']).filter(|word| !word.is_empty());
    while let Some(word) = words.next() {
        if word.contains(':') {
            let (is_negative, clock) = sign(word);
            let (micros, rounded) = time_of(clock)?;
            let signed = if is_negative { -micros } else { micros };
            interval.micros = interval.micros.checked_add(signed)?;
            is_rounded |= rounded;
            // A clock comes last.
            return words.next().is_none().then_some((interval, is_rounded));
        }
        let (whole, fraction, rounded) = number(word)?;
        let unit = IntervalUnit::named(words.next()?)?;
        interval.add(&unit, whole, fraction)?;
        is_rounded |= rounded;
    }
    Some((interval, is_rounded))
}

/// `hh:mm:ss[.fffffff]`, with days before it as .NET writes them: `d.hh:mm:ss`.
fn clock_with_days(text: &str) -> Option<(Interval, bool)> {
    let (days, clock) = match text.split_once('.') {
        Some((days, clock)) if clock.contains(':') => (days, clock),
        _ => ("0", text),
    };
    let (days, ..) = number(days).filter(|_| days.as_bytes()[0].is_ascii_digit())?;
    let (micros, is_rounded) = time_of(clock)?;
    if days != 0 && micros > MICROS_PER_DAY {
        return None;
    }
    Some((Interval { months: 0, days: i32::try_from(days).ok()?, micros }, is_rounded))
}

/// Microseconds of `hh:mm:ss[.fffffff]`, of as many hours as there are.
fn time_of(clock: &str) -> Option<(i64, bool)> {
    let mut parts = clock.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let (whole_seconds, _) = seconds.split_once('.').unwrap_or((seconds, ""));
    let is_unsigned = clock.bytes().all(|byte| byte.is_ascii_digit() || b":.".contains(&byte));
    let is_clock = parts.next().is_none() && minutes.len() == 2 && whole_seconds.len() == 2;
    if !is_unsigned || !is_clock || hours.contains('.') || minutes.contains('.') {
        return None;
    }
    let ((hours, ..), (minutes, ..)) = (number(hours)?, number(minutes)?);
    let (seconds, fraction, is_rounded) = number(seconds)?;
    if minutes > 59 || seconds > 59 {
        return None;
    }
    let whole = hours.checked_mul(HOUR)?.checked_add(minutes * MINUTE + seconds * SECOND)?;
    Some((whole.checked_add(fraction)?, is_rounded))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(months: i32, days: i32, micros: i64) -> Interval {
        Interval { months, days, micros }
    }

    #[test]
    fn texts_of_every_writer_are_read() {
        let time = 2 * HOUR + 3 * MINUTE + 4 * SECOND;
        for (text, expected) in [
            ("P1DT2H3M4S", of(0, 1, time)),
            ("P1Y2M3W4D", of(14, 25, 0)),
            ("PT0.5S", of(0, 0, SECOND / 2)),
            ("-P1DT02H03M04.500000S", of(0, -1, -time - SECOND / 2)),
            ("P-1DT-2H3M", of(0, -1, -2 * HOUR + 3 * MINUTE)),
            ("1.02:03:04", of(0, 1, time)),
            ("-1.02:03:04.5000000", of(0, -1, -time - SECOND / 2)),
            ("02:03:04", of(0, 0, time)),
            ("-26:00:00", of(0, 0, -26 * HOUR)),
            ("1 day 02:03:04", of(0, 1, time)),
            ("-1 days +02:03:04.5", of(0, -1, time + SECOND / 2)),
            ("1 year 2 mons -3 days -00:00:01", of(14, -3, -SECOND)),
            ("-1 day, 23:59:59", of(0, -1, 24 * HOUR - SECOND)),
            ("2 hours 5 min 1.5 secs", of(0, 0, 2 * HOUR + 5 * MINUTE + 3 * SECOND / 2)),
            ("00:00:00", of(0, 0, 0)),
        ] {
            assert_eq!(parse(text), Some((expected, false)), "{text}");
        }
        assert_eq!(parse("00:00:00.1234567"), Some((of(0, 0, 123_457), true)));
        assert_eq!(parse("PT0.1234567S"), Some((of(0, 0, 123_457), true)));
    }

    #[test]
    fn ambiguous_and_impossible_texts_are_refused() {
        for text in [
            "",
            "P",
            "PT",
            "P1",
            "P1H",
            "PT1D",
            "P1.5D",
            "1",
            "1.5",
            "1:30",
            "01:60:00",
            "01:00:60",
            "1 2",
            "1 day 2",
            "day",
            "1 fortnight",
            "1 day ago",
            "1.-02:03:04",
            "--1:00:00",
            "1.5 days",
            "P1DT",
            "1.25:00:00x",
            "1.50:00:00",
            "02:03:04 1 day",
            "99999999999:00:00",
            "P9999999999D",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_and_moments_are_read_by_their_reading() {
        let read = |value, reading| interval(value, Some(reading), 6, false).map(|(each, _)| each);
        let micros = ValueReading::Microseconds;
        let day = MICROS_PER_DAY;
        assert_eq!(read(ValueRef::Integer(day + 5), micros), Ok(of(0, 1, 5)));
        assert_eq!(read(ValueRef::Integer(-1), micros), Ok(of(0, -1, day - 1)));
        assert_eq!(read(ValueRef::Real(0.5), micros), Err(Unfit::Fraction));
        assert_eq!(
            read(ValueRef::Integer(i64::MAX), micros),
            Ok(of(0, 106_751_991, 14_454_775_807))
        );
        let since = ValueReading::Since1970;
        assert_eq!(read(ValueRef::Text(b"1970-01-02 00:00:00.5"), since), Ok(of(0, 1, SECOND / 2)));
        assert_eq!(read(ValueRef::Text(b"1969-12-31 23:00:00"), since), Ok(of(0, -1, 23 * HOUR)));
        assert!(interval(ValueRef::Integer(1), None, 6, true).is_err());
        assert!(interval(ValueRef::Text(b"1970-01-02"), None, 6, true).is_err());
    }
}
