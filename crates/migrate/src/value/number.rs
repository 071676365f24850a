//! Numbers of every kind: integers, floats, decimals, money, booleans.

use rusqlite::types::ValueRef;

use super::conversion::{ConversionKind, Conversions};
use super::decimal::Decimal;
use super::encode::{FieldSink, sized, unreadable, utf8};
use super::unfit::{StorageClass, Unfit};

/// Integers up to here are exact in a 64-bit float.
pub const EXACT_IN_DOUBLE: u64 = 1 << 53;
/// Significant digits that SQLite shows of a REAL: `printf('%!.15g', x)`.
const SHOWN_DIGITS: usize = 15;

/// Integers, floats that are whole, and texts that are exactly a written integer.
#[inline]
pub fn integer(value: ValueRef<'_>) -> Result<i64, Unfit> {
    match value {
        ValueRef::Integer(number) => Ok(number),
        ValueRef::Real(number) if !number.is_finite() => Err(Unfit::NotFinite),
        ValueRef::Real(number) if number.fract() != 0.0 => Err(Unfit::Fraction),
        ValueRef::Real(number) => {
            // 2^63 is the first float beyond i64; its negative is the last within.
            let limit = 9_223_372_036_854_775_808.0;
            if (-limit..limit).contains(&number) {
                Ok(number as i64)
            } else {
                Err(Unfit::OutOfRange)
            }
        }
        ValueRef::Text(text) => {
            let written = std::str::from_utf8(text).ok().and_then(|text| {
                text.parse::<i64>().ok().filter(|number| number.to_string() == text)
            });
            written.ok_or(Unfit::StorageClass(StorageClass::Text))
        }
        other => Err(Unfit::StorageClass(StorageClass::of(other))),
    }
}

/// Floats, and integers that a float holds exactly.
pub fn double(value: ValueRef<'_>) -> Result<f64, Unfit> {
    match value {
        ValueRef::Real(number) => Ok(number),
        ValueRef::Integer(number) if number.unsigned_abs() <= EXACT_IN_DOUBLE => Ok(number as f64),
        ValueRef::Integer(_) => Err(Unfit::Rounded),
        other => Err(Unfit::StorageClass(StorageClass::of(other))),
    }
}

/// A float whose shortest decimal form survives in 32 bits: 0.1 does, 0.1234567891 does not.
pub fn single(number: f64) -> Result<f32, Unfit> {
    let narrowed = number as f32;
    if narrowed.is_infinite() && number.is_finite() {
        return Err(Unfit::OutOfRange);
    }
    let same = f64::from(narrowed) == number || narrowed.to_string() == number.to_string();
    if same { Ok(narrowed) } else { Err(Unfit::Rounded) }
}

pub fn boolean(value: ValueRef<'_>) -> Result<bool, Unfit> {
    match value {
        ValueRef::Integer(0) | ValueRef::Text(b"f" | b"0") => Ok(false),
        ValueRef::Integer(1) | ValueRef::Text(b"t" | b"1") => Ok(true),
        ValueRef::Real(0.0) => Ok(false),
        ValueRef::Real(1.0) => Ok(true),
        ValueRef::Text(text) if text.eq_ignore_ascii_case(b"true") => Ok(true),
        ValueRef::Text(text) if text.eq_ignore_ascii_case(b"false") => Ok(false),
        other => Err(unreadable(other)),
    }
}

pub fn numeric(
    value: ValueRef<'_>,
    limits: Option<(u16, u16)>,
    may_convert: bool,
    out: &mut impl FieldSink,
) -> Result<Conversions, Unfit> {
    let (mut decimal, mut conversions) = decimal(value, may_convert)?;
    if let Some((precision, scale)) = limits {
        conversions = conversions.and(to_scale(&mut decimal, scale, may_convert)?);
        if decimal.digits_before_point() > i32::from(precision) - i32::from(scale) {
            return Err(Unfit::OutOfRange);
        }
    }
    let mut digits = Vec::new();
    decimal.write(&mut digits);
    sized(out, &digits);
    Ok(conversions)
}

/// Units of the smallest coin.
pub fn money(
    value: ValueRef<'_>,
    digits: u8,
    may_convert: bool,
) -> Result<(i64, Conversions), Unfit> {
    let (mut decimal, conversions) = decimal(value, may_convert)?;
    let rounded = to_scale(&mut decimal, u16::from(digits), may_convert)?;
    let units = decimal.units().ok_or(Unfit::OutOfRange)?;
    Ok((units, conversions.and(rounded)))
}

/// The number of a value: a REAL as SQLite shows it where conversions are stated, otherwise with all its
/// digits.
fn decimal(value: ValueRef<'_>, may_convert: bool) -> Result<(Decimal, Conversions), Unfit> {
    let written = match value {
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) if !number.is_finite() => return Err(Unfit::NotFinite),
        ValueRef::Real(number) => format!("{number:e}"),
        ValueRef::Text(text) => utf8(text)?.to_owned(),
        other => return Err(Unfit::StorageClass(StorageClass::of(other))),
    };
    let unfit = Unfit::StorageClass(StorageClass::of(value));
    let decimal = Decimal::parse(&written).ok_or(unfit)?;
    match value {
        // Up to 15 digits both forms are the same number.
        ValueRef::Real(number) if may_convert && decimal.significant_digits() > SHOWN_DIGITS => {
            let shown = format!("{number:.*e}", SHOWN_DIGITS - 1);
            let mut shown = Decimal::parse(&shown).ok_or(unfit)?;
            shown.rescale(shown.decimals());
            Ok((shown, Conversions::of(ConversionKind::RealAsShown)))
        }
        _ => Ok((decimal, Conversions::NONE)),
    }
}

/// Rounds a number half away from zero, as PostgreSQL does, or refuses it.
fn to_scale(decimal: &mut Decimal, scale: u16, may_convert: bool) -> Result<Conversions, Unfit> {
    let is_rounded = decimal.decimals() > i32::from(scale);
    if is_rounded && !may_convert {
        return Err(Unfit::Rounded);
    }
    decimal.rescale(i32::from(scale));
    Ok(Conversions::when(is_rounded, ConversionKind::NumberRounded))
}

/// `true` for a number as people write it: `-12.50`, but not `007`, which is a code.
pub fn is_decimal(written: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = written.strip_prefix('-').unwrap_or(written);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    let is_code = whole.len() > 1 && whole.starts_with('0');
    digits(whole) && digits(fraction) && !is_code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::decimal;

    fn read(value: ValueRef<'_>, limits: Option<(u16, u16)>) -> Result<(String, usize), Unfit> {
        let mut out = Vec::new();
        let conversions = numeric(value, limits, true, &mut out)?;
        Ok((decimal::show(&out[4..]).unwrap(), conversions.kinds().count()))
    }

    #[test]
    fn reals_are_read_as_sqlite_shows_them() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let mut seed = 45_u64;
        for _ in 0..5_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let price = (seed >> 44) as f64 / 100.0;
            let quantity = (seed >> 20 & 0x3f) as f64 / 10.0;
            let product = price * quantity;
            let sql = "SELECT printf('%!.15g', ?)";
            let shown: String = connection.query_row(sql, [product], |row| row.get(0)).unwrap();
            let expected = read(ValueRef::Text(shown.as_bytes()), Some((30, 12))).unwrap().0;
            assert_eq!(read(ValueRef::Real(product), Some((30, 12))).unwrap().0, expected);
        }
        let sum = 0.1 * 3.0;
        assert_eq!(read(ValueRef::Real(sum), None), Ok(("0.3".to_owned(), 1)));
        assert_eq!(read(ValueRef::Real(sum), Some((4, 2))), Ok(("0.30".to_owned(), 1)));
        assert_eq!(read(ValueRef::Real(0.3), Some((4, 2))), Ok(("0.30".to_owned(), 0)));
    }

    #[test]
    fn numbers_are_rounded_half_away_from_zero() {
        for (text, limits, expected) in [
            ("2.675", (4, 2), "2.68"),
            ("-2.675", (4, 2), "-2.68"),
            ("2.6749", (4, 2), "2.67"),
            ("9.999", (4, 2), "10.00"),
            ("0.004", (4, 2), "0.00"),
            ("0.00499", (4, 2), "0.00"),
            ("0.005", (2, 2), "0.01"),
            ("0.5", (1, 0), "1"),
            ("12345.5", (10, 0), "12346"),
        ] {
            let (shown, count) = read(ValueRef::Text(text.as_bytes()), Some(limits)).unwrap();
            assert_eq!((shown.as_str(), count), (expected, 1), "{text}");
        }
        for text in ["99.995", "100", "1e2", "-1e99"] {
            let refused = read(ValueRef::Text(text.as_bytes()), Some((4, 2)));
            assert_eq!(refused, Err(Unfit::OutOfRange), "{text}");
        }
        for text in ["99.99", "99.9900", "0", "1e1", "-0.01"] {
            let (_, count) = read(ValueRef::Text(text.as_bytes()), Some((4, 2))).unwrap();
            assert_eq!(count, 0, "{text}");
        }
        let exact = numeric(ValueRef::Text(b"0.125"), Some((4, 2)), false, &mut Vec::new());
        assert_eq!(exact, Err(Unfit::Rounded));
    }

    #[test]
    fn money_is_counted_in_its_smallest_coin() {
        let units = |value, digits| money(value, digits, true).map(|(units, _)| units);
        assert_eq!(units(ValueRef::Real(19.99), 2), Ok(1999));
        assert_eq!(units(ValueRef::Integer(-5), 2), Ok(-500));
        assert_eq!(units(ValueRef::Text(b"0.125"), 2), Ok(13));
        assert_eq!(units(ValueRef::Integer(7), 0), Ok(7));
        assert_eq!(units(ValueRef::Integer(i64::MAX), 2), Err(Unfit::OutOfRange));
        assert_eq!(money(ValueRef::Real(0.125), 2, false), Err(Unfit::Rounded));
    }
}
