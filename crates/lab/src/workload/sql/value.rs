//! Values as every engine has them, and the rule by which two engines' values count as equal:
//! integers exactly, numbers with a fraction to a number of digits, booleans as 0 and 1, dates and
//! times as ISO text without needless zeros, JSON without its blanks and order of keys, bytes as
//! bytes.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

use plan::{Given, Level};

/// A value of a parameter or of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum AnswerValue {
    Null,
    /// A whole number; a boolean is 0 or 1.
    Integer(i64),
    /// A number with a fraction, or one too large for an integer.
    Double(#[serde(with = "bits")] f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// JSON has no infinity and no NaN.
mod bits {
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(number.to_bits())
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<f64, D::Error> {
        u64::deserialize(deserializer).map(f64::from_bits)
    }
}

impl AnswerValue {
    /// A number of any exactness: a whole one as integer, whatever its engine calls it.
    pub(crate) fn number(number: f64) -> Self {
        // Above 2^53 a double is not an exact integer any more.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if number.fract() == 0.0 && number.abs() < EXACT {
            #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
            return Self::Integer(number as i64);
        }
        Self::Double(number)
    }

    /// A decimal number in text form, such as `12.50`.
    pub(crate) fn decimal(text: &str) -> Self {
        let whole = match text.split_once('.') {
            Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
            _ => text,
        };
        if let Ok(integer) = whole.parse() {
            return Self::Integer(integer);
        }
        text.parse().map_or_else(|_| Self::Text(text.to_owned()), Self::number)
    }

    /// A text; dates, times and JSON are brought to one form.
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(canonical_time(text).or_else(|| canonical_json(text)).unwrap_or(text.to_owned()))
    }

    /// Whether the two count as equal; see the head of this file.
    pub(crate) fn agrees(&self, other: &Self, digits: u8) -> bool {
        match (self.as_double(), other.as_double()) {
            (Some(a), Some(b)) if self != other => {
                let inexact = |value: &Self| matches!(value, Self::Double(_));
                (inexact(self) || inexact(other)) && nearly_equal(a, b, digits)
            }
            _ => self == other,
        }
    }

    /// The same to `digits` significant digits where it has a fraction.
    pub(crate) fn rounded(&self, digits: u8) -> Self {
        let Self::Double(double) = self else { return self.clone() };
        let after_point = usize::from(digits.max(1) - 1);
        format!("{double:.after_point$e}").parse().map_or(Self::Double(*double), Self::number)
    }

    fn as_double(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Double(double) => Some(*double),
            _ => None,
        }
    }

    /// An order for pairing rows: NULL, numbers, texts, bytes.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let rank = |value: &Self| match value {
            Self::Null => 0,
            Self::Integer(_) | Self::Double(_) => 1,
            Self::Text(_) => 2,
            Self::Bytes(_) => 3,
        };
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(b),
            (Self::Text(a), Self::Text(b)) => a.cmp(b),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            _ => match (self.as_double(), other.as_double()) {
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => rank(self).cmp(&rank(other)),
            },
        }
    }
}

fn nearly_equal(a: f64, b: f64, digits: u8) -> bool {
    if a.is_nan() || b.is_nan() {
        return a.is_nan() && b.is_nan();
    }
    a == b || (a - b).abs() <= a.abs().max(b.abs()) * 10f64.powi(1 - i32::from(digits))
}

impl From<&Given> for AnswerValue {
    fn from(given: &Given) -> Self {
        match given {
            Given::Boolean(boolean) => Self::Integer((*boolean).into()),
            Given::Integer(integer) => Self::Integer(*integer),
            Given::Double(double) => Self::Double(*double),
            Given::Text(text) => Self::Text(text.clone()),
        }
    }
}

impl From<&Level> for AnswerValue {
    fn from(level: &Level) -> Self {
        match level {
            Level::Number(number) => Self::number(*number),
            Level::Text(text) => Self::Text(text.clone()),
        }
    }
}

impl fmt::Display for AnswerValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Longer values are cut where they are shown.
        const SHOWN: usize = 60;
        match self {
            Self::Null => formatter.write_str("NULL"),
            Self::Integer(integer) => write!(formatter, "{integer}"),
            Self::Double(double) => write!(formatter, "{double}"),
            Self::Text(text) => {
                let shown: String = text.chars().take(SHOWN).collect();
                let more = if text.chars().nth(SHOWN).is_some() { "..." } else { "" };
                write!(formatter, "{shown:?}{more}")
            }
            Self::Bytes(bytes) => {
                let shown = bytes.get(..SHOWN / 2).unwrap_or(bytes);
                let more = if shown.len() < bytes.len() { "..." } else { "" };
                write!(formatter, "x'{}{more}'", hex::encode(shown))
            }
        }
    }
}

/// `2021-03-04T05:06:07.500Z` as `2021-03-04 05:06:07.5`; `None` for what is not a date with a time.
fn canonical_time(text: &str) -> Option<String> {
    let shape = text.get(..19)?;
    let fits = shape.bytes().enumerate().all(|(index, byte)| match index {
        4 | 7 => byte == b'-',
        10 => byte == b' ' || byte == b'T',
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    });
    let rest = text.get(19..).filter(|_| fits)?;
    let rest =
        ["Z", "+00:00", "+00"].iter().find_map(|zone| rest.strip_suffix(zone)).unwrap_or(rest);
    let fraction = match rest.strip_prefix('.') {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.trim_end_matches('0')
        }
        None if rest.is_empty() => "",
        _ => return None,
    };
    let point = if fraction.is_empty() { "" } else { "." };
    Some(format!("{} {}{point}{fraction}", shape.get(..10)?, shape.get(11..)?))
}

fn canonical_json(text: &str) -> Option<String> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str::<serde_json::Value>(text).ok().map(|json| json.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_agree_by_value_whatever_their_engine_calls_them() {
        assert_eq!(AnswerValue::decimal("12.00"), AnswerValue::Integer(12));
        assert_eq!(AnswerValue::number(12.0), AnswerValue::Integer(12));
        assert_eq!(
            AnswerValue::decimal("9007199254740993"),
            AnswerValue::Integer(9_007_199_254_740_993)
        );
        assert!(
            AnswerValue::decimal("3.3333333333333333").agrees(&AnswerValue::Double(10.0 / 3.0), 15)
        );
        assert!(AnswerValue::Integer(3).agrees(&AnswerValue::Double(3.000_000_000_000_000_4), 15));
        assert!(!AnswerValue::Double(1.0001).agrees(&AnswerValue::Double(1.0002), 15));
        assert!(AnswerValue::Double(1.0001).agrees(&AnswerValue::Double(1.0002), 4));
        // Keys of sixty-four bits are not rounded.
        let key = 9_007_199_254_740_993;
        assert!(!AnswerValue::Integer(key).agrees(&AnswerValue::Integer(key + 1), 15));
        assert!(!AnswerValue::Text("1".to_owned()).agrees(&AnswerValue::Integer(1), 15));
    }

    #[test]
    fn times_and_json_have_one_form() {
        let same = |a: &str, b: &str| assert_eq!(AnswerValue::text(a), AnswerValue::text(b));
        same("2021-03-04T05:06:07.500Z", "2021-03-04 05:06:07.5");
        same("2021-03-04 05:06:07+00", "2021-03-04 05:06:07.000000");
        same(r#"{"b": 1, "a": [1,2]}"#, r#"{"a":[1, 2],"b":1}"#);
        for text in ["2021-03-04", "2021-03-04 05:06:07 or so", "2021-03-04 05:06:07é", "{1,2}"] {
            assert_eq!(AnswerValue::text(text), AnswerValue::Text(text.to_owned()));
        }
    }
}
