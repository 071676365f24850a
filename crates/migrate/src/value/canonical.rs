//! Canonical form of a field for comparison, and its display. Most types come back from PostgreSQL
//! byte for byte as sent; only the others need one.

use jiff::ToSpan as _;
use jiff::civil::{Date, DateTime};

use super::encode::{TargetField, encode};
use super::interval::{Interval, clock};
use super::postgres_type::PostgresType;
use super::unfit::Unfit;
use super::{decimal, json, network};
use crate::display::{ShownValue, shorten};
use rusqlite::types::ValueRef;

/// Conversion of a type's bytes to their canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canonical {
    Same,
    /// `numeric`: without the display scale.
    Numeric,
    /// `jsonb`: keys sorted, numbers by value.
    Jsonb,
    /// `char(n)`: without the blanks that fill it.
    Blanks,
    /// An array: each element in its form.
    Elements(&'static Canonical),
}

impl Canonical {
    pub fn of(postgres_type: &PostgresType) -> Self {
        match postgres_type {
            PostgresType::Numeric(_) => Self::Numeric,
            PostgresType::Jsonb => Self::Jsonb,
            PostgresType::Char(_) => Self::Blanks,
            PostgresType::Array { element, .. } => match Self::of(element) {
                Self::Numeric => Self::Elements(&Self::Numeric),
                Self::Jsonb => Self::Elements(&Self::Jsonb),
                Self::Blanks => Self::Elements(&Self::Blanks),
                Self::Same | Self::Elements(_) => Self::Same,
            },
            PostgresType::SmallInt
            | PostgresType::Integer
            | PostgresType::BigInt
            | PostgresType::Real
            | PostgresType::DoublePrecision
            | PostgresType::Boolean
            | PostgresType::Text
            | PostgresType::Citext
            | PostgresType::Varchar(_)
            | PostgresType::Enum { .. }
            | PostgresType::Uuid
            | PostgresType::Date
            | PostgresType::Time(_)
            | PostgresType::Timestamp(_)
            | PostgresType::TimestampTz(_)
            | PostgresType::Bytea
            | PostgresType::Json
            | PostgresType::Interval(_)
            | PostgresType::Inet
            | PostgresType::Cidr
            | PostgresType::MacAddr
            | PostgresType::Money(_) => Self::Same,
        }
    }
}

/// Appends a field in canonical form: `length` as it came, then the bytes.
#[inline]
pub fn canonical(form: Canonical, length: &[u8], field: Option<&[u8]>, out: &mut Vec<u8>) {
    let Some(bytes) = field else {
        out.extend_from_slice(length);
        return;
    };
    let start = out.len();
    out.extend_from_slice(length);
    match (form, bytes) {
        // Count, weight, sign; then the scale, which is left out; then the digits.
        (Canonical::Numeric, head) if head.len() >= 8 => {
            out.extend_from_slice(&head[..6]);
            out.extend_from_slice(&head[8..]);
        }
        (Canonical::Jsonb, [_, text @ ..]) => {
            json::canonical(&String::from_utf8_lossy(text), out);
        }
        (Canonical::Elements(form), _) => elements(*form, bytes, out),
        (Canonical::Blanks, _) => {
            let end = bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
            out.extend_from_slice(&bytes[..end]);
        }
        _ => {
            out.extend_from_slice(bytes);
            return;
        }
    }
    let bytes = (out.len() - start - 4) as i32;
    out[start..start + 4].copy_from_slice(&bytes.to_be_bytes());
}

/// Appends an array: number of dimensions, flags, type; eight bytes for each dimension; then the elements.
fn elements(form: Canonical, array: &[u8], out: &mut Vec<u8>) {
    let dimensions = array.get(..4).map_or(0, integer);
    let head = usize::try_from(12 + 8 * dimensions).map_or(array.len(), |it| it.min(array.len()));
    let (head, mut rest) = array.split_at(head);
    out.extend_from_slice(head);
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let bytes = usize::try_from(i32::from_be_bytes(*length)).ok();
        let (element, next) = after.split_at(bytes.unwrap_or(0).min(after.len()));
        canonical(form, length, bytes.map(|_| element), out);
        rest = next;
    }
}

/// Appends a stored value that is not NULL in a form with the same bytes for all values that
/// PostgreSQL takes for equal.
pub fn comparable(
    field: &TargetField,
    value: ValueRef<'_>,
    out: &mut Vec<u8>,
) -> Result<(), Unfit> {
    let mut encoded = Vec::new();
    encode(field, value, &mut encoded)?;
    let (length, bytes) = encoded.split_at(4);
    let start = out.len() + length.len();
    canonical(Canonical::of(&field.postgres_type), length, Some(bytes), out);
    match &field.postgres_type {
        PostgresType::Citext => out[start..].make_ascii_lowercase(),
        // A day is as long as 24 hours.
        PostgresType::Interval(_) => {
            if let Some(interval) = Interval::from_bytes(bytes) {
                out.truncate(start);
                out.extend_from_slice(&interval.length().to_be_bytes());
            }
        }
        _ => {}
    }
    Ok(())
}

/// A field in messages, given with its length in front.
pub fn show(postgres_type: &PostgresType, field: &[u8]) -> String {
    let Some((length, bytes)) = field.split_first_chunk::<4>() else { return String::new() };
    if i32::from_be_bytes(*length) < 0 {
        return "NULL".to_owned();
    }
    let known = match (postgres_type, bytes.len()) {
        (PostgresType::SmallInt, 2) | (PostgresType::Integer, 4) | (PostgresType::BigInt, 8) => {
            Some(integer(bytes).to_string())
        }
        (PostgresType::Real, 4) => {
            bytes.try_into().ok().map(|bytes| f32::from_be_bytes(bytes).to_string())
        }
        (PostgresType::DoublePrecision, 8) => {
            bytes.try_into().ok().map(|bytes| format!("{:?}", f64::from_be_bytes(bytes)))
        }
        (PostgresType::Boolean, 1) => Some((bytes[0] == 1).to_string()),
        (PostgresType::Uuid, 16) => Some(uuid(bytes)),
        (PostgresType::Date, 4) => {
            let date = Date::constant(2000, 1, 1).checked_add(integer(bytes).days());
            date.ok().map(|date| date.to_string())
        }
        (PostgresType::Timestamp(_) | PostgresType::TimestampTz(_), 8) => {
            let start = DateTime::constant(2000, 1, 1, 0, 0, 0, 0);
            let moment = start.checked_add(integer(bytes).microseconds());
            moment.ok().map(|moment| moment.to_string())
        }
        (PostgresType::Numeric(_), _) => decimal::show(bytes),
        (PostgresType::Money(digits), 8) => Some(coins(integer(bytes), *digits)),
        (PostgresType::Interval(_), 16) => Interval::from_bytes(bytes).map(|each| each.to_string()),
        (PostgresType::Inet | PostgresType::Cidr, _) => network::show(bytes),
        (PostgresType::MacAddr, 6) => Some(pairs(bytes).join(":")),
        (PostgresType::Time(_), 8) => Some(clock(integer(bytes))),
        (PostgresType::Jsonb, 1..) => Some(shorten(&String::from_utf8_lossy(&bytes[1..]))),
        (PostgresType::Bytea | PostgresType::Array { .. }, _) => {
            Some(ShownValue(ValueRef::Blob(bytes)).to_string())
        }
        _ => None,
    };
    known.unwrap_or_else(|| shorten(&String::from_utf8_lossy(bytes)))
}

fn integer(bytes: &[u8]) -> i64 {
    let negative = bytes.first().is_some_and(|first| *first >= 0x80);
    bytes.iter().fold(if negative { -1 } else { 0 }, |sum, byte| sum << 8 | i64::from(*byte))
}

fn uuid(bytes: &[u8]) -> String {
    let pairs = pairs(bytes);
    [&pairs[..4], &pairs[4..6], &pairs[6..8], &pairs[8..10], &pairs[10..]]
        .map(<[_]>::concat)
        .join("-")
}

fn pairs(bytes: &[u8]) -> Vec<String> {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn coins(units: i64, digits: u8) -> String {
    let (sign, digits) = (if units < 0 { "-" } else { "" }, usize::from(digits));
    let written = format!("{:0width$}", units.unsigned_abs(), width = digits + 1);
    let (whole, fraction) = written.split_at(written.len() - digits);
    let point = if digits == 0 { "" } else { "." };
    format!("{sign}{whole}{point}{fraction}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(postgres_type: &str, bytes: &[u8]) -> String {
        let mut field = (bytes.len() as i32).to_be_bytes().to_vec();
        field.extend_from_slice(bytes);
        show(&postgres_type.parse().unwrap(), &field)
    }

    #[test]
    fn fields_are_shown_as_people_write_them() {
        assert_eq!(shown("integer", &(-2_i32).to_be_bytes()), "-2");
        assert_eq!(shown("bigint", &i64::MIN.to_be_bytes()), i64::MIN.to_string());
        assert_eq!(shown("date", &(-1_i32).to_be_bytes()), "1999-12-31");
        assert_eq!(shown("timestamp", &1_500_000_i64.to_be_bytes()), "2000-01-01T00:00:01.5");
        assert_eq!(shown("boolean", &[1]), "true");
        assert_eq!(shown("time", &3_723_500_000_i64.to_be_bytes()), "01:02:03.500000");
        assert_eq!(shown("money", &(-1999_i64).to_be_bytes()), "-19.99");
        assert_eq!(shown("money", &5_i64.to_be_bytes()), "0.05");
        assert_eq!(shown("macaddr", &[8, 0, 0x2b, 1, 2, 3]), "08:00:2b:01:02:03");
        let interval = [3_723_500_000_i64.to_be_bytes(), [0, 0, 0, 2, 0, 0, 0, 1]].concat();
        assert_eq!(shown("interval", &interval), "1 mons 2 days 01:02:03.500000");
        assert_eq!(shown("text", b"a b"), "\"a b\"");
        assert_eq!(shown("uuid", &[0xab; 16]), "abababab-abab-abab-abab-abababababab");
        assert_eq!(show(&PostgresType::Text, &(-1_i32).to_be_bytes()), "NULL");
    }

    #[test]
    fn equal_values_have_one_form() {
        let form = |form, bytes: &[u8]| {
            let mut out = Vec::new();
            canonical(form, &(bytes.len() as i32).to_be_bytes(), Some(bytes), &mut out);
            out
        };
        // 1.5 with one and with three digits of display scale.
        let one = [0, 2, 0, 0, 0, 0, 0, 1, 0, 1, 0x13, 0x88];
        let three = [0, 2, 0, 0, 0, 0, 0, 3, 0, 1, 0x13, 0x88];
        assert_eq!(form(Canonical::Numeric, &one), form(Canonical::Numeric, &three));
        assert_eq!(form(Canonical::Blanks, b"ab  "), form(Canonical::Blanks, b"ab"));
        assert_eq!(form(Canonical::Jsonb, b"\x01[1, 2]"), form(Canonical::Jsonb, b"\x01[1,2]"));
        assert_ne!(form(Canonical::Same, b"ab "), form(Canonical::Same, b"ab"));
    }
}
