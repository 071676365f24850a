//! Encoder of one stored value into PostgreSQL's binary COPY format, or the reason why it does not
//! fit. Audit, migration and verification all use it, so they cannot disagree.

use rusqlite::types::ValueRef;
use serde::{Deserialize, Serialize};

use super::conversion::{ConversionKind, Conversions};
use super::number::{boolean, double, integer, money, numeric, single};
use super::postgres_type::{PostgresType, SECOND_DIGITS};
use super::reading::ValueReading;
use super::unfit::{JsonFault, StorageClass, Unfit};
use super::{array, interval, json, moment, network};

/// Type of a target's column, with the reading of values for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetField {
    pub postgres_type: PostgresType,
    /// The reading of numbers where the type is a date, timestamp or interval, of texts where it is an
    /// interval, and of blobs where it takes texts.
    pub reading: Option<ValueReading>,
    pub not_null: bool,
    /// The type was there before Crossover: what fits it only by a stated conversion is converted.
    pub may_convert: bool,
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

/// Writes `value` as one field: its length (i32, -1 for NULL), then its bytes. Returns the stated
/// conversions that it went through. On an error `out` may have got part of the field.
#[inline]
pub fn encode(
    field: &TargetField,
    value: ValueRef<'_>,
    out: &mut impl FieldSink,
) -> Result<Conversions, Unfit> {
    if let ValueRef::Null = value {
        if field.not_null {
            return Err(Unfit::Null);
        }
        out.put(&(-1_i32).to_be_bytes());
        return Ok(Conversions::NONE);
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
        _ => return encode_rarer(field, value, out),
    }
    Ok(Conversions::NONE)
}

fn encode_rarer(
    field: &TargetField,
    value: ValueRef<'_>,
    out: &mut impl FieldSink,
) -> Result<Conversions, Unfit> {
    let (reading, may_convert) = (field.reading, field.may_convert);
    match &field.postgres_type {
        PostgresType::DoublePrecision => sized(out, &double(value)?.to_be_bytes()),
        PostgresType::Real => sized(out, &single(double(value)?)?.to_be_bytes()),
        PostgresType::Numeric(limits) => return numeric(value, *limits, may_convert, out),
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
            let (micros, _) = moment(value, field, None)?;
            sized(out, &moment::days(micros).ok_or(Unfit::Rounded)?.to_be_bytes());
        }
        PostgresType::Time(digits) => {
            let (micros, conversions) = time(value, *digits, may_convert)?;
            sized(out, &micros.to_be_bytes());
            return Ok(conversions);
        }
        PostgresType::Timestamp(digits) | PostgresType::TimestampTz(digits) => {
            let (micros, conversions) = moment(value, field, Some(*digits))?;
            sized(out, &micros.to_be_bytes());
            return Ok(conversions);
        }
        PostgresType::Interval(digits) => {
            let (interval, conversions) = interval::interval(value, reading, *digits, may_convert)?;
            sized(out, &interval.to_bytes());
            return Ok(conversions);
        }
        PostgresType::Money(digits) => {
            let (units, conversions) = money(value, *digits, may_convert)?;
            sized(out, &units.to_be_bytes());
            return Ok(conversions);
        }
        PostgresType::Array { element, element_oid } => {
            return array::encode(element, *element_oid, may_convert, value, out);
        }
        PostgresType::Inet => network::inet(value, false)?.write(out),
        PostgresType::Cidr => network::inet(value, true)?.write(out),
        PostgresType::MacAddr => sized(out, &network::mac_address(value).ok_or(unreadable(value))?),
        PostgresType::Bytea => match value {
            ValueRef::Blob(bytes) | ValueRef::Text(bytes) => large(out, bytes)?,
            other => return Err(Unfit::StorageClass(StorageClass::of(other))),
        },
        PostgresType::Json => document(value, json::json_fault, None, out)?,
        PostgresType::Jsonb => {
            document(value, json::jsonb_fault, Some(1), out)?;
            let repeats = matches!(value, ValueRef::Text(text) if json::repeats_a_key(text));
            return Ok(Conversions::when(repeats, ConversionKind::RepeatedKeys));
        }
        // Handled by `encode`.
        PostgresType::SmallInt
        | PostgresType::Integer
        | PostgresType::BigInt
        | PostgresType::Text
        | PostgresType::Citext
        | PostgresType::Varchar(_) => {}
    }
    Ok(Conversions::NONE)
}

#[inline]
pub fn sized(out: &mut impl FieldSink, bytes: &[u8]) {
    out.put(&(bytes.len() as i32).to_be_bytes());
    out.put(bytes);
}

pub fn large(out: &mut impl FieldSink, bytes: &[u8]) -> Result<(), Unfit> {
    if bytes.len() > LARGEST_VALUE_BYTES {
        return Err(Unfit::TooLarge);
    }
    sized(out, bytes);
    Ok(())
}

pub fn unreadable(value: ValueRef<'_>) -> Unfit {
    Unfit::Unreadable(StorageClass::of(value))
}

pub fn utf8(bytes: &[u8]) -> Result<&str, Unfit> {
    let text = std::str::from_utf8(bytes).map_err(|_| Unfit::InvalidUtf8)?;
    if text.as_bytes().contains(&0) { Err(Unfit::NulCharacter) } else { Ok(text) }
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

/// A UUID as 36 characters or 32 hexadecimal digits, also in braces, or as 16 bytes.
pub fn uuid(value: ValueRef<'_>) -> Option<[u8; 16]> {
    let text = match value {
        ValueRef::Blob(bytes) => return bytes.try_into().ok(),
        ValueRef::Text(text) => text,
        _ => return None,
    };
    let text = match text {
        [b'{', inside @ .., b'}'] => inside,
        _ => text,
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

/// Microseconds since 2000-01-01 of a value for a date, or for a timestamp with these digits of a second.
fn moment(
    value: ValueRef<'_>,
    field: &TargetField,
    digits: Option<u8>,
) -> Result<(i64, Conversions), Unfit> {
    let may_convert = field.may_convert && digits.is_some();
    let is_zoned = matches!(field.postgres_type, PostgresType::TimestampTz(_));
    let (micros, offset, is_cut) = match (value, field.reading) {
        (ValueRef::Text(text), _) => {
            // A text without a zone is UTC, as SQLite's own date functions have it.
            let moment = moment::parse(text).ok_or(unreadable(value))?;
            let loses_zone = moment.zoned && !is_zoned;
            if loses_zone && !may_convert {
                return Err(unreadable(value));
            }
            let offset = Conversions::when(loses_zone, ConversionKind::OffsetConverted);
            (Some(moment.micros), offset, moment.digits > SECOND_DIGITS)
        }
        (ValueRef::Integer(number), Some(reading)) => {
            (reading.integer(number), Conversions::NONE, false)
        }
        (ValueRef::Real(number), Some(reading)) => (reading.real(number), Conversions::NONE, false),
        _ => (None, Conversions::NONE, false),
    };
    let micros = micros.ok_or(unreadable(value))?;
    let digits = digits.unwrap_or(SECOND_DIGITS);
    let (micros, rounded) = to_digits(micros, is_cut, digits, may_convert)?;
    Ok((micros, offset.and(rounded)))
}

/// Microseconds since midnight.
fn time(value: ValueRef<'_>, digits: u8, may_convert: bool) -> Result<(i64, Conversions), Unfit> {
    let ValueRef::Text(text) = value else { return Err(unreadable(value)) };
    let time = moment::rails_time(text);
    let (micros, used) = moment::time_of_day(time).ok_or(unreadable(value))?;
    to_digits(micros, used > SECOND_DIGITS, digits, may_convert)
}

/// Rounds microseconds to these digits of a second, half away from zero as PostgreSQL does, or refuses
/// what would be rounded. `is_cut`: finer digits are gone already.
pub fn to_digits(
    micros: i64,
    is_cut: bool,
    digits: u8,
    may_convert: bool,
) -> Result<(i64, Conversions), Unfit> {
    let unit = 10_i64.pow(6 - u32::from(digits.min(6)));
    let is_rounded = is_cut || micros % unit != 0;
    if is_rounded && !may_convert {
        return Err(Unfit::Rounded);
    }
    let rounded = (micros.abs() + unit / 2) / unit * unit * micros.signum();
    Ok((rounded, Conversions::when(is_rounded, ConversionKind::SecondRounded)))
}

fn document(
    value: ValueRef<'_>,
    fault: fn(&str) -> Option<JsonFault>,
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
    if let Some(fault) = fault(text) {
        return Err(Unfit::Json(fault));
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
