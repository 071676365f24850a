//! JSON as PostgreSQL takes it: a check before copying, and one canonical form for comparing, since
//! jsonb sorts keys, drops blanks and keeps only the last of equal keys.

use std::collections::{BTreeMap, HashSet};

use serde::de::IgnoredAny;

use super::decimal::Decimal;
use super::unfit::JsonFault;

pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// `jsonb` also refuses the escape of NUL and lone surrogates.
pub fn is_jsonb(text: &str) -> bool {
    is_json(text) && escape_fault(text).is_none()
}

/// The reason why `json` refuses a text.
pub fn json_fault(text: &str) -> Option<JsonFault> {
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let before: usize = lines.map(str::len).sum();
    let byte = before + error.column();
    // The number's sign may be the byte before.
    let near = text.as_bytes().get(byte.saturating_sub(2)..).unwrap_or_default();
    let is_here = |word: &&[u8]| {
        near.starts_with(word) || near.get(1..).is_some_and(|rest| rest.starts_with(word))
    };
    let words: [&[u8]; 3] = [b"NaN", b"Infinity", b"-Infinity"];
    Some(match words.iter().any(is_here) {
        true => JsonFault::NotANumber,
        false => JsonFault::Syntax { byte },
    })
}

/// The reason why `jsonb` refuses a text.
pub fn jsonb_fault(text: &str) -> Option<JsonFault> {
    json_fault(text).or_else(|| escape_fault(text))
}

/// The first escape in a document that `jsonb` refuses.
fn escape_fault(text: &str) -> Option<JsonFault> {
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let escape = &rest[at..];
        let Some(unit) = utf16_unit(escape) else {
            // Outside of \u the escaped character is one byte.
            rest = escape.get(2..).unwrap_or_default();
            continue;
        };
        rest = escape.get(6..).unwrap_or_default();
        match unit {
            0 => return Some(JsonFault::NulEscape),
            0xd800..=0xdbff => match utf16_unit(rest) {
                Some(0xdc00..=0xdfff) => rest = rest.get(6..).unwrap_or_default(),
                _ => return Some(JsonFault::LoneSurrogate),
            },
            0xdc00..=0xdfff => return Some(JsonFault::LoneSurrogate),
            _ => {}
        }
    }
    None
}

/// The number of an escape `\uXXXX` at the beginning of `text`.
fn utf16_unit(text: &str) -> Option<u16> {
    u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

/// `true` if an object in `text`, which is JSON, has one key more than once: jsonb keeps the last.
pub fn repeats_a_key(text: &[u8]) -> bool {
    let mut document = JsonDocument { rest: std::str::from_utf8(text).unwrap_or_default() };
    let mut open: Vec<HashSet<String>> = Vec::new();
    while let Some(first) = document.rest.bytes().next() {
        if first == b'"' {
            let Some((string, after)) = document.string() else { return false };
            document = after.skip_blanks();
            let is_key = document.rest.starts_with(':');
            if is_key && open.last_mut().is_some_and(|keys| !keys.insert(string)) {
                return true;
            }
            continue;
        }
        match first {
            b'{' | b'[' => open.push(HashSet::new()),
            b'}' | b']' => drop(open.pop()),
            _ => {}
        }
        // Outside its strings JSON is ASCII.
        document.rest = document.rest.get(1..).unwrap_or_default();
    }
    false
}

/// Appends a form that is equal for equal documents: keys sorted, numbers by their exact value.
pub fn canonical(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    let document = JsonDocument { rest: text };
    if !is_json(text) || document.value(out).is_none() {
        // Not readable here (for example nested too deeply): compared as text.
        out.truncate(start);
        out.extend_from_slice(text.as_bytes());
    }
}

/// The rest of a document that is known to be valid and not too deep. serde_json's own values would
/// round numbers to floats.
pub struct JsonDocument<'a> {
    pub rest: &'a str,
}

impl<'a> JsonDocument<'a> {
    /// The text of the next value, and the rest.
    pub fn written(self) -> Option<(&'a str, Self)> {
        let start = self.skip_blanks().rest;
        let (mut here, mut depth) = (start, 0_usize);
        loop {
            let first = here.bytes().next()?;
            let bytes = match first {
                b'"' => Self { rest: here }.string_bytes()?,
                b'{' | b'[' | b'}' | b']' | b',' | b':' => 1,
                _ => here
                    .find([' ', '\t', '\n', '\r', ',', ':', '{', '[', ']', '}', '"'])
                    .unwrap_or(here.len())
                    .max(1),
            };
            match first {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.checked_sub(1)?,
                _ => {}
            }
            here = here.get(bytes..)?;
            if depth == 0 {
                let (written, rest) = start.split_at(start.len() - here.len());
                return Some((written, Self { rest }));
            }
        }
    }

    /// Writes the canonical form of the next value. Returns the rest.
    fn value(mut self, out: &mut Vec<u8>) -> Option<Self> {
        self = self.skip_blanks();
        match self.rest.bytes().next()? {
            b'{' => self.object(out),
            b'[' => {
                out.push(b'[');
                let mut inside = self.after("[")?.skip_blanks();
                while let Err(next) = inside.closed("]")? {
                    inside = next.value(out)?;
                }
                let Ok(rest) = inside.closed("]")? else { return None };
                out.push(b']');
                Some(rest)
            }
            b'"' => {
                let (text, rest) = self.string()?;
                string(&text, out);
                Some(rest)
            }
            _ => {
                let ends = |byte: char| byte.is_ascii_whitespace() || ",]}".contains(byte);
                let (word, rest) =
                    self.rest.split_at(self.rest.find(ends).unwrap_or(self.rest.len()));
                match Decimal::parse(word) {
                    Some(number) => number.write_canonical(out),
                    None => out.extend_from_slice(word.as_bytes()),
                }
                Some(Self { rest })
            }
        }
    }

    /// Of equal keys the last counts, as jsonb has it.
    fn object(self, out: &mut Vec<u8>) -> Option<Self> {
        let mut members = BTreeMap::new();
        let mut inside = self.after("{")?.skip_blanks();
        while let Err(next) = inside.closed("}")? {
            let (key, rest) = next.skip_blanks().string()?;
            let mut value = Vec::new();
            inside = rest.skip_blanks().after(":")?.value(&mut value)?;
            members.insert(key, value);
        }
        let Ok(rest) = inside.closed("}")? else { return None };
        out.push(b'{');
        for (key, value) in members {
            string(&key, out);
            out.extend_from_slice(&value);
        }
        out.push(b'}');
        Some(rest)
    }

    /// The rest after the closing bracket (`Ok`), or the next element, past its comma (`Err`).
    pub fn closed(&self, bracket: &str) -> Option<Result<Self, Self>> {
        let here = Self { rest: self.rest }.skip_blanks();
        if let Some(rest) = here.rest.strip_prefix(bracket) {
            return Some(Ok(Self { rest }));
        }
        if here.rest.is_empty() {
            return None;
        }
        let rest = here.rest.strip_prefix(',').unwrap_or(here.rest);
        Some(Err(Self { rest }))
    }

    pub fn string(&self) -> Option<(String, Self)> {
        let (text, rest) = self.rest.split_at(self.string_bytes()?);
        Some((serde_json::from_str(text).ok()?, Self { rest }))
    }

    /// Bytes of the string that begins here, with its quotes.
    fn string_bytes(&self) -> Option<usize> {
        let mut escaped = false;
        let end = self.rest.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        Some(end + 2)
    }

    pub fn after(&self, mark: &str) -> Option<Self> {
        self.rest.strip_prefix(mark).map(|rest| Self { rest })
    }

    pub fn skip_blanks(self) -> Self {
        Self { rest: self.rest.trim_start() }
    }
}

fn string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(&(text.len() as u64).to_be_bytes());
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_documents_have_one_form() {
        let form = |text: &str| {
            let mut out = Vec::new();
            canonical(text, &mut out);
            out
        };
        assert_eq!(form(r#"{"b": 1.0, "a":[1,"é"]}"#), form("{\"a\":[1,\"\\u00e9\"],\"b\":1}"));
        assert_ne!(form(r#"["ab","c"]"#), form(r#"["a","bc"]"#));
        assert_ne!(form("1"), form("\"1\""));
        assert_eq!(form(" [ ] "), form("[]"));
        assert_eq!(form(r#"{"a":1,"a":{ }}"#), form(r#"{"a":{}}"#));
        assert_eq!(form("[1.50e2,-0]"), form("[150 , 0]"));
        // Beyond the range of a float.
        assert_ne!(form("10000000000000000001"), form("10000000000000000002"));
        assert_eq!(form(r#"["\"]","x"]"#), form(r#"[ "\u0022]" ,"x"]"#));
    }

    #[test]
    fn keys_are_counted_in_each_object() {
        for text in [r#"{"a":1,"b":{"a":2}}"#, r#"["a","a"]"#, r#"{"a":"a","b":"a : a"}"#, "1"] {
            assert!(!repeats_a_key(text.as_bytes()), "{text}");
        }
        for text in [r#"{"a":1,"a":1}"#, r#"[{"b":{}},{"b":[{}],"\u0062" :1}]"#] {
            assert!(repeats_a_key(text.as_bytes()), "{text}");
        }
        assert!(!repeats_a_key(b"{\"a\"") && !repeats_a_key(b"\xff{"));
    }

    #[test]
    fn jsonb_is_stricter() {
        assert!(is_json("\"\\u0000\"") && !is_jsonb("\"\\u0000\""));
        assert!(!is_jsonb("\"\\ud800\""));
        assert!(!is_jsonb("\"\\udc00\\ud800\"") && is_jsonb("\"\\ud83d\\ude00 \\\\u0000\""));
        assert!(!is_json("{a:1}") && !is_json("") && is_json(" null "));
    }

    #[test]
    fn the_fault_of_a_document_is_named() {
        for (text, expected) in [
            ("{\"a\": NaN}", JsonFault::NotANumber),
            ("[1, -Infinity]", JsonFault::NotANumber),
            ("Infinity", JsonFault::NotANumber),
            ("{a:1}", JsonFault::Syntax { byte: 2 }),
            ("[1,\n2,\nx]", JsonFault::Syntax { byte: 8 }),
            ("", JsonFault::Syntax { byte: 0 }),
        ] {
            assert_eq!(json_fault(text), Some(expected), "{text}");
        }
        assert_eq!(jsonb_fault("[\"a\\u0000\"]"), Some(JsonFault::NulEscape));
        assert_eq!(jsonb_fault("[\"\\ud800x\"]"), Some(JsonFault::LoneSurrogate));
        assert_eq!(jsonb_fault("[\"\\\\u0000\"]"), None);
    }
}
