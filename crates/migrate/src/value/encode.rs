//! Encoder of one stored value into PostgreSQL's binary COPY format, or the reason why it does not
//! fit. Audit, migration and verification all use it, so they cannot disagree.

use rusqlite::types::ValueRef;
use serde::{Deserialize, Serialize};

use super::decimal::Decimal;
use super::json;
use super::moment::{self, ValueReading};
use super::postgres_type::PostgresType;
use super::unfit::{StorageClass, Unfit};

/// Type of a target's column, with the reading of values for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetField {
    pub postgres_type: PostgresType,
    /// The reading of numbers where the type is a date or timestamp, of texts where it is a time of day,
    /// and of blobs where it takes texts.
    pub reading: Option<ValueReading>,
    pub not_null: bool,
}

/// Receiver of encoded bytes; large values are borrowed from where they are stored.
pub trait FieldSink {
    fn put(&mut self, bytes: &[u8]);
}

impl FieldSink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// For values that are only tested.
pub struct NoOutput;

impl FieldSink for NoOutput {
    fn put(&mut self, _: &[u8]) {}
}

/// PostgreSQL's limit for one value, less its header.
const LARGEST_VALUE_BYTES: usize = (1 << 30) - 64;
/// Integers up to here are exact in a 64-bit float.
pub const EXACT_IN_DOUBLE: u64 = 1 << 53;

/// Writes `value` as one field: its length (i32, -1 for NULL), then its bytes. On an error `out`
/// may have got part of the field.
#[inline]
pub fn encode(
    field: &TargetField,
    value: ValueRef<'_>,
    out: &mut impl FieldSink,
) -> Result<(), Unfit> {
    if let ValueRef::Null = value {
        if field.not_null {
            return Err(Unfit::Null);
        }
        out.put(&(-1_i32).to_be_bytes());
        return Ok(());
    }
    let value = match (value, field.reading) {
        (ValueRef::Blob(bytes), Some(ValueReading::Utf8)) => ValueRef::Text(bytes),
        _ => value,
    };
    match &field.postgres_type {
        PostgresType::Integer => {
            let number = i32::try_from(integer(value)?).map_err(|_| Unfit::OutOfRange)?;
            sized(out, &number.to_be_bytes());
        }
        PostgresType::BigInt => sized(out, &integer(value)?.to_be_bytes()),
        PostgresType::SmallInt => {
            let number = i16::try_from(integer(value)?).map_err(|_| Unfit::OutOfRange)?;
            sized(out, &number.to_be_bytes());
        }
        PostgresType::Text | PostgresType::Citext | PostgresType::Varchar(None) => {
            text(value, None, out)?;
        }
        PostgresType::Varchar(limit) => text(value, *limit, out)?,
        other => return encode_rarer(other, field.reading, value, out),
    }
    Ok(())
}

fn encode_rarer(
    postgres_type: &PostgresType,
    reading: Option<ValueReading>,
    value: ValueRef<'_>,
    out: &mut impl FieldSink,
) -> Result<(), Unfit> {
    match postgres_type {
        PostgresType::DoublePrecision => sized(out, &double(value)?.to_be_bytes()),
        PostgresType::Real => sized(out, &single(double(value)?)?.to_be_bytes()),
        PostgresType::Numeric(limits) => numeric(value, *limits, out)?,
        PostgresType::Boolean => sized(out, &[u8::from(boolean(value)?)]),
        PostgresType::Char(limit) => {
            if let ValueRef::Text([.., b' ']) = value {
                return Err(Unfit::Rounded);
            }
            text(value, Some(*limit), out)?;
        }
        PostgresType::Enum { labels, .. } => {
            let known = |text: &[u8]| labels.iter().any(|label| label.as_bytes() == text);
            match value {
                ValueRef::Text(text) if known(text) => sized(out, text),
                other => return Err(unreadable(other)),
            }
        }
        PostgresType::Uuid => sized(out, &uuid(value).ok_or(unreadable(value))?),
        PostgresType::Date => {
            let micros = moment(value, reading, false)?;
            sized(out, &moment::days(micros).ok_or(Unfit::Rounded)?.to_be_bytes());
        }
        PostgresType::Time(digits) => match value {
            ValueRef::Text(text) => {
                let time = match reading {
                    Some(ValueReading::RailsTime) => moment::rails_time(text),
                    _ => text,
                };
                let (micros, used) = moment::time_of_day(time).ok_or(unreadable(value))?;
                keep_digits(used, *digits)?;
                sized(out, &micros.to_be_bytes());
            }
            other => return Err(unreadable(other)),
        },
        PostgresType::Timestamp(digits) | PostgresType::TimestampTz(digits) => {
            let zoned = matches!(postgres_type, PostgresType::TimestampTz(_));
            let micros = moment(value, reading, zoned)?;
            keep_micros(micros, *digits)?;
            sized(out, &micros.to_be_bytes());
        }
        PostgresType::Bytea => match value {
            ValueRef::Blob(bytes) | ValueRef::Text(bytes) => large(out, bytes)?,
            other => return Err(Unfit::StorageClass(StorageClass::of(other))),
        },
        PostgresType::Json => document(value, json::is_json, None, out)?,
        PostgresType::Jsonb => document(value, json::is_jsonb, Some(1), out)?,
        PostgresType::Interval
        | PostgresType::Inet
        | PostgresType::Cidr
        | PostgresType::MacAddr
        | PostgresType::Money(_)
        | PostgresType::Array(_) => return Err(unreadable(value)),
        // Handled by `encode`.
        PostgresType::SmallInt
        | PostgresType::Integer
        | PostgresType::BigInt
        | PostgresType::Text
        | PostgresType::Citext
        | PostgresType::Varchar(_) => {}
    }
    Ok(())
}

#[inline]
fn sized(out: &mut impl FieldSink, bytes: &[u8]) {
    out.put(&(bytes.len() as i32).to_be_bytes());
    out.put(bytes);
}

fn large(out: &mut impl FieldSink, bytes: &[u8]) -> Result<(), Unfit> {
    if bytes.len() > LARGEST_VALUE_BYTES {
        return Err(Unfit::TooLarge);
    }
    sized(out, bytes);
    Ok(())
}

fn unreadable(value: ValueRef<'_>) -> Unfit {
    Unfit::Unreadable(StorageClass::of(value))
}

fn utf8(bytes: &[u8]) -> Result<&str, Unfit> {
    let text = std::str::from_utf8(bytes).map_err(|_| Unfit::InvalidUtf8)?;
    if text.as_bytes().contains(&0) { Err(Unfit::NulCharacter) } else { Ok(text) }
}

/// Integers, floats that are whole, and texts that are exactly a written integer.
#[inline]
fn integer(value: ValueRef<'_>) -> Result<i64, Unfit> {
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
fn double(value: ValueRef<'_>) -> Result<f64, Unfit> {
    match value {
        ValueRef::Real(number) => Ok(number),
        ValueRef::Integer(number) if number.unsigned_abs() <= EXACT_IN_DOUBLE => Ok(number as f64),
        ValueRef::Integer(_) => Err(Unfit::Rounded),
        other => Err(Unfit::StorageClass(StorageClass::of(other))),
    }
}

/// A float whose shortest decimal form survives in 32 bits: 0.1 does, 0.1234567891 does not.
fn single(number: f64) -> Result<f32, Unfit> {
    let narrowed = number as f32;
    if narrowed.is_infinite() && number.is_finite() {
        return Err(Unfit::OutOfRange);
    }
    let same = f64::from(narrowed) == number || narrowed.to_string() == number.to_string();
    if same { Ok(narrowed) } else { Err(Unfit::Rounded) }
}

fn numeric(
    value: ValueRef<'_>,
    limits: Option<(u16, u16)>,
    out: &mut impl FieldSink,
) -> Result<(), Unfit> {
    let written = match value {
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) if !number.is_finite() => return Err(Unfit::NotFinite),
        ValueRef::Real(number) => format!("{number:e}"),
        ValueRef::Text(text) => utf8(text)?.to_owned(),
        other => return Err(Unfit::StorageClass(StorageClass::of(other))),
    };
    let decimal = Decimal::parse(&written).ok_or(Unfit::StorageClass(StorageClass::of(value)))?;
    if let Some((precision, scale)) = limits {
        decimal
            .fits(precision, scale)
            .map_err(|too_large| if too_large { Unfit::OutOfRange } else { Unfit::Rounded })?;
    }
    let mut digits = Vec::new();
    decimal.write(&mut digits);
    sized(out, &digits);
    Ok(())
}

fn boolean(value: ValueRef<'_>) -> Result<bool, Unfit> {
    match value {
        ValueRef::Integer(0) => Ok(false),
        ValueRef::Integer(1) => Ok(true),
        ValueRef::Text(text) if text.eq_ignore_ascii_case(b"true") => Ok(true),
        ValueRef::Text(text) if text.eq_ignore_ascii_case(b"false") => Ok(false),
        ValueRef::Text(b"t") => Ok(true),
        ValueRef::Text(b"f") => Ok(false),
        other => Err(unreadable(other)),
    }
}

/// Text unchanged; numbers as SQLite would show them.
#[inline]
fn text(value: ValueRef<'_>, limit: Option<u32>, out: &mut impl FieldSink) -> Result<(), Unfit> {
    match value {
        ValueRef::Text(bytes) => {
            let text = utf8(bytes)?;
            // Bytes are at least as many as characters: only then is counting needed.
            if let Some(limit) = limit
                && bytes.len() > limit as usize
            {
                let characters = text.chars().count();
                if characters > limit as usize {
                    return Err(Unfit::TooLong { characters, limit });
                }
            }
            large(out, bytes)
        }
        ValueRef::Blob(_) | ValueRef::Null => Err(Unfit::StorageClass(StorageClass::of(value))),
        ValueRef::Real(number) if !number.is_finite() => Err(Unfit::NotFinite),
        ValueRef::Integer(number) => {
            text(ValueRef::Text(number.to_string().as_bytes()), limit, out)
        }
        ValueRef::Real(number) => {
            text(ValueRef::Text(format!("{number:?}").as_bytes()), limit, out)
        }
    }
}

/// A UUID as 36 characters, as 32 hexadecimal digits, or as 16 bytes.
pub fn uuid(value: ValueRef<'_>) -> Option<[u8; 16]> {
    let text = match value {
        ValueRef::Blob(bytes) => return bytes.try_into().ok(),
        ValueRef::Text(text) => text,
        _ => return None,
    };
    let hyphens = [8, 13, 18, 23];
    let digits: Vec<u8> = match text.len() {
        32 => text.to_vec(),
        36 if hyphens.iter().all(|&at| text[at] == b'-') => {
            (0..36).filter(|at| !hyphens.contains(at)).map(|at| text[at]).collect()
        }
        _ => return None,
    };
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = (digit(0)? * 16 + digit(1)?) as u8;
    }
    Some(bytes)
}

fn moment(value: ValueRef<'_>, reading: Option<ValueReading>, zoned: bool) -> Result<i64, Unfit> {
    let micros = match (value, reading) {
        (ValueRef::Text(text), _) => {
            // An offset would be lost without a time zone; a text without one is UTC, as SQLite's
            // own date functions have it.
            moment::parse(text).filter(|moment| zoned || !moment.zoned).map(|moment| moment.micros)
        }
        (ValueRef::Integer(number), Some(reading)) => reading.integer(number),
        (ValueRef::Real(number), Some(reading)) => reading.real(number),
        _ => None,
    };
    micros.ok_or(unreadable(value))
}

fn keep_digits(used: u8, kept: u8) -> Result<(), Unfit> {
    if used > kept { Err(Unfit::Rounded) } else { Ok(()) }
}

fn keep_micros(micros: i64, digits: u8) -> Result<(), Unfit> {
    let unit = 10_i64.pow(6 - u32::from(digits.min(6)));
    if micros % unit == 0 { Ok(()) } else { Err(Unfit::Rounded) }
}

fn document(
    value: ValueRef<'_>,
    accepts: fn(&str) -> bool,
    version: Option<u8>,
    out: &mut impl FieldSink,
) -> Result<(), Unfit> {
    let written;
    let text = match value {
        ValueRef::Text(bytes) => utf8(bytes)?,
        ValueRef::Integer(number) => {
            written = number.to_string();
            &written
        }
        ValueRef::Real(number) if number.is_finite() => {
            written = format!("{number:?}");
            &written
        }
        ValueRef::Real(_) => return Err(Unfit::NotFinite),
        other => return Err(Unfit::StorageClass(StorageClass::of(other))),
    };
    if !accepts(text) {
        return Err(unreadable(value));
    }
    if text.len() >= LARGEST_VALUE_BYTES {
        return Err(Unfit::TooLarge);
    }
    let bytes = text.len() + usize::from(version.is_some());
    out.put(&(bytes as i32).to_be_bytes());
    out.put(version.as_slice());
    out.put(text.as_bytes());
    Ok(())
}
