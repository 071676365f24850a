//! Values and numbers in messages: short, on one line, unmistakable.

use std::fmt::{Display, Formatter, Result, Write as _};

use rusqlite::types::ValueRef;

/// Longest text shown of a value, in characters.
const SHOWN_CHARACTERS: usize = 40;

/// A stored value as messages show it: text in double quotes and shortened, blobs in hex.
pub struct ShownValue<'a>(pub ValueRef<'a>);

impl Display for ShownValue<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self.0 {
            ValueRef::Null => formatter.write_str("NULL"),
            ValueRef::Integer(value) => write!(formatter, "{value}"),
            ValueRef::Real(value) => write!(formatter, "{value:?}"),
            ValueRef::Text(bytes) => formatter.write_str(&shorten(&String::from_utf8_lossy(bytes))),
            ValueRef::Blob(bytes) => {
                formatter.write_str("x'")?;
                let shown = &bytes[..bytes.len().min(SHOWN_CHARACTERS / 4)];
                formatter.write_str(&hexadecimal(shown))?;
                let more = if bytes.len() > SHOWN_CHARACTERS / 4 { "..." } else { "" };
                let count = bytes.len() as u64;
                write!(formatter, "{more}' ({} byte{})", thousands(count), plural(count))
            }
        }
    }
}

/// Text in double quotes, control characters escaped, cut after 40 characters.
pub fn shorten(text: &str) -> String {
    let mut shown = String::from('"');
    for (position, character) in text.chars().enumerate() {
        if position == SHOWN_CHARACTERS {
            shown.push_str("...");
            break;
        }
        match character {
            '"' => shown.push_str("\\\""),
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            other if other.is_control() => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(other));
            }
            other => shown.push(other),
        }
    }
    shown.push('"');
    shown
}

/// A count with thousands separators: `6,500,000`.
pub fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// `1 row`, `6,500,000 rows`.
pub fn rows(count: u64) -> String {
    let noun = if count == 1 { "row" } else { "rows" };
    format!("{} {noun}", thousands(count))
}

/// Items separated by commas.
pub fn list<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let mut text = String::new();
    for (place, item) in items.into_iter().enumerate() {
        if place > 0 {
            text.push_str(", ");
        }
        text.push_str(item.as_ref());
    }
    text
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `s` unless there is exactly one.
pub fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_short_and_on_one_line() {
        assert_eq!(ShownValue(ValueRef::Text(b"a\"b\nc\0")).to_string(), "\"a\\\"b\\nc\\u{0}\"");
        assert_eq!(shorten(&"x".repeat(50)), format!("\"{}...\"", "x".repeat(40)));
        assert_eq!(ShownValue(ValueRef::Blob(&[1, 255])).to_string(), "x'01ff' (2 bytes)");
        assert_eq!(ShownValue(ValueRef::Real(f64::INFINITY)).to_string(), "inf");
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!([0, 999, 1000, 6_500_000].map(thousands), ["0", "999", "1,000", "6,500,000"]);
        assert_eq!([0, 1, 1000].map(rows), ["0 rows", "1 row", "1,000 rows"]);
    }
}
