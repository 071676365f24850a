//! Values and numbers in messages: short, on one line, unmistakable.

use std::fmt::{Display, Formatter, Result, Write as _};

use engine::shell::is_invisible;
use notation::{counted, thousands};
use rusqlite::types::ValueRef;

pub use engine::shell::{flag, shell_word};

/// The form of a report as text.
#[derive(Clone, Copy, Debug, Default)]
pub struct TextOptions {
    /// The width of the terminal; `None` where the output goes elsewhere.
    pub width: Option<u16>,
    /// A table of every column.
    pub columns: bool,
    /// Name everything that is otherwise counted, and print the proposed statements.
    pub verbose: bool,
}

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
                formatter.write_str(&hex::encode(shown))?;
                let more = if bytes.len() > SHOWN_CHARACTERS / 4 { "..." } else { "" };
                write!(formatter, "{more}' ({})", counted(bytes.len(), "byte"))
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
            other => push_visible(&mut shown, other),
        }
    }
    shown.push('"');
    shown
}

fn push_visible(text: &mut String, character: char) {
    match character {
        '\n' => text.push_str("\\n"),
        '\t' => text.push_str("\\t"),
        '\r' => text.push_str("\\r"),
        other if is_invisible(other) => {
            // Writing to a String cannot fail.
            let _ = write!(text, "\\u{{{:x}}}", u32::from(other));
        }
        other => text.push(other),
    }
}

/// A name or message on one line, its control characters escaped.
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    text.chars().for_each(|character| push_visible(&mut shown, character));
    shown
}

/// The lines of a statement below a line of text, control characters escaped.
pub fn indented(statement: &str, indent: &str) -> String {
    let line = |line: &str| {
        let visible: Vec<String> = line.split('\t').map(escaped).collect();
        format!("{indent}{}\n", visible.join("\t"))
    };
    statement.lines().map(line).collect()
}

/// Text broken between words so that no line exceeds the width, the second line and those after it
/// indented. A longer word stays whole.
pub fn wrapped(text: &str, width: Option<u16>, indent: &str) -> String {
    let Some(width) = width.map(usize::from) else { return text.to_owned() };
    let (mut lines, mut used) = (String::new(), 0);
    for (place, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if place > 0 && used > indent.len() && used + 1 + length > width {
            lines.push('\n');
            lines.push_str(indent);
            used = indent.len();
        } else if place > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines
}

/// The first few of the names with the number of the others: `a, b, c and 25 more`.
pub fn first_of<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let shown = names.len().min(if names.len() == most + 1 { most + 1 } else { most });
    let first = list(names[..shown].iter().map(|name| escaped(name.as_ref())));
    match names.len() - shown {
        0 => first,
        others => format!("{first} and {} more", thousands(others)),
    }
}

/// A text as a literal of SQL.
pub fn sql_text(content: &str) -> String {
    format!("'{}'", content.replace('\'', "''"))
}

/// Seconds with three significant digits.
pub fn seconds(seconds: f64) -> String {
    let decimals = match seconds {
        _ if seconds >= 99.95 => 0,
        _ if seconds >= 9.995 => 1,
        _ if seconds >= 0.9995 => 2,
        _ => 3,
    };
    match seconds >= 999.5 {
        true => thousands(seconds.round() as u64),
        false => format!("{seconds:.decimals$}"),
    }
}

/// `1 row`, `6,500,000 rows`.
pub fn rows(count: u64) -> String {
    counted(count, "row")
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
    fn control_characters_never_come_out_raw() {
        assert_eq!(escaped("a\nb\u{1b}[31m\u{9b}\u{202e}"), "a\\nb\\u{1b}[31m\\u{9b}\\u{202e}");
        assert_eq!(indented("SELECT\t'\u{1b}'\nFROM t", "  "), "  SELECT\t'\\u{1b}'\n  FROM t\n");
    }

    #[test]
    fn text_is_broken_between_words() {
        assert_eq!(wrapped("one two three", Some(8), "  "), "one two\n  three");
        assert_eq!(wrapped("averylongword b", Some(5), "  "), "averylongword\n  b");
        assert_eq!(wrapped("  one two", None, "    "), "  one two");
    }

    #[test]
    fn the_first_names_stand_for_many() {
        assert_eq!(first_of(&["a", "b"], 1), "a, b");
        assert_eq!(first_of(&["a\n", "b", "c"], 1), "a\\n and 2 more");
    }

    #[test]
    fn seconds_have_three_significant_digits() {
        let shown = [0.0, 0.04567, 0.9999, 3.456, 9.999, 31.25, 99.99, 312.4, 1234.5].map(seconds);
        let expected = ["0.000", "0.046", "1.00", "3.46", "10.0", "31.2", "100", "312", "1,235"];
        assert_eq!(shown, expected);
    }
}
