//! Dates and times: read from SQLite's texts and numbers, counted as PostgreSQL counts them (days
//! and microseconds since 2000-01-01).

use jiff::civil::Date;

use super::postgres_type::SECOND_DIGITS;

/// 1970-01-01 in days before 2000-01-01.
pub const EPOCH_DAYS: i64 = 10_957;
pub const MICROS_PER_DAY: i64 = 86_400_000_000;
/// More would not fit a number of 64 bits.
const MOST_FRACTION_DIGITS: usize = 18;
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
    /// Digits of a second that are not trailing zeros; those beyond the sixth are rounded.
    pub digits: u8,
}

pub fn in_calendar(micros: i64) -> Option<i64> {
    (FIRST_MICROS..=LAST_MICROS).contains(&micros).then_some(micros)
}

/// Whole days of `micros`, if it is midnight.
pub fn days(micros: i64) -> Option<i32> {
    if micros.rem_euclid(MICROS_PER_DAY) != 0 {
        return None;
    }
    i32::try_from(micros.div_euclid(MICROS_PER_DAY)).ok()
}

/// Reads `2021-03-04`, `2021-03-04 05:06[:07[.8]][Z|+02:00]`, also with `T`, and as Go writes it with
/// the name of the zone behind its offset. `None` for any other text and for dates that the calendar
/// does not have.
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
    let whole = ((part(0, 23)? * 60 + part(3, 59)?) * 60 + seconds) * 1_000_000;
    let (micros, used) = fraction.map_or(Some((0, 0)), fraction_of_second)?;
    Some((whole + micros, used))
}

/// Microseconds of the digits after the point of a second, and how many of them are not trailing zeros.
/// Further digits are rounded as PostgreSQL rounds when it reads a text: `rint(fraction * 1e6)` in
/// ParseFractionalSecond of src/backend/utils/adt/datetime.c.
pub fn fraction_of_second(digits: &[u8]) -> Option<(i64, u8)> {
    if digits.is_empty() || digits.len() > MOST_FRACTION_DIGITS {
        return None;
    }
    let value = number(digits)?;
    let used = digits.iter().rposition(|digit| *digit != b'0').map_or(0, |last| last as u8 + 1);
    let micros = match digits.len() as u32 {
        places @ ..=6 => value * 10_i64.pow(6 - places),
        places if used <= SECOND_DIGITS => value / 10_i64.pow(places - 6),
        _ => {
            let fraction: f64 = format!("0.{}", std::str::from_utf8(digits).ok()?).parse().ok()?;
            (fraction * 1e6).round_ties_even() as i64
        }
    };
    Some((micros, used))
}

/// The offset from UTC in microseconds: `Some(None)` without one.
fn parse_zone(text: &[u8]) -> Option<Option<i64>> {
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let (text, name) = match text.iter().position(|byte| *byte == b' ') {
        Some(blank) => (&text[..blank], Some(&text[blank + 1..])),
        None => (text, None),
    };
    if name.is_some_and(|name| !is_zone_name(name)) {
        return None;
    }
    let sign = match text {
        [] if name.is_none() => return Some(None),
        b"Z" | b"z" | b"UTC" if name.is_none() => return Some(Some(0)),
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

/// A name as Go writes it after an offset: `CEST`, or the offset again where a zone has none.
fn is_zone_name(name: &[u8]) -> bool {
    let letters = name.iter().all(u8::is_ascii_uppercase);
    let digits = matches!(name, [b'+' | b'-', digits @ ..] if number(digits).is_some());
    (1..=6).contains(&name.len()) && (letters || digits)
}

/// `true` for a zoned moment with another offset than UTC.
pub fn is_away_from_utc(moment: &[u8]) -> bool {
    let zone = moment.iter().skip(11).skip_while(|byte| !matches!(byte, b'+' | b'-'));
    zone.skip(1).any(|byte| (b'1'..=b'9').contains(byte))
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
        assert_eq!(micros("2000-01-01 00:00:00.1234567"), Some(123_457));
        assert_eq!(micros("2000-01-01T00:00:00.9999995Z"), Some(1_000_000));
        assert_eq!(micros("1999-12-31 23:59:59.999999999"), Some(0));
        assert_eq!(micros("2000-01-01 00:00:01.5 +0000 UTC"), Some(1_500_000));
        assert_eq!(micros("2000-01-01 02:00:00.123 +0200 CEST"), Some(123_000));
        assert_eq!(micros("2000-01-01 03:00:00 +0300 +03"), Some(0));
        assert_eq!(micros("2000-01-01 00:00:00.000 +00:00"), Some(0));
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
            "2021-01-01 10:00:00.1234567890123456789",
            "2021-01-01 10:00:00 UTC UTC",
            "2021-01-01 10:00:00 +0000 utc",
            "9999-12-31 23:59:59.9999999",
            "2021-01-01 10:00+24",
            "2021-01-01 10:00:00.",
            "2021-01-01 ",
            "",
            "now",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }
}
