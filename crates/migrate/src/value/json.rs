//! JSON as PostgreSQL takes it: a check before copying, and one canonical form for comparing, since
//! jsonb sorts keys, drops blanks and keeps only the last of equal keys.

use std::collections::{BTreeMap, HashSet};

use serde::de::IgnoredAny;
use serde_json::Value;

use super::decimal::Decimal;

pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// `jsonb` also refuses the escape of NUL and lone surrogates.
pub fn is_jsonb(text: &str) -> bool {
    if !text.contains("\\u") {
        return is_json(text);
    }
    serde_json::from_str::<Value>(text).is_ok_and(|value| !holds_nul(&value))
}

fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(holds_nul),
        Value::Object(members) => {
            members.iter().any(|(key, value)| key.contains('\0') || holds_nul(value))
        }
        _ => false,
    }
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
struct JsonDocument<'a> {
    rest: &'a str,
}

impl JsonDocument<'_> {
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
    fn closed(&self, bracket: &str) -> Option<Result<Self, Self>> {
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

    fn string(&self) -> Option<(String, Self)> {
        let mut escaped = false;
        let end = self.rest.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        })?;
        let (text, rest) = self.rest.split_at(end + 2);
        Some((serde_json::from_str(text).ok()?, Self { rest }))
    }

    fn after(&self, mark: &str) -> Option<Self> {
        self.rest.strip_prefix(mark).map(|rest| Self { rest })
    }

    fn skip_blanks(self) -> Self {
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
        assert!(!is_json("{a:1}") && !is_json("") && is_json(" null "));
    }
}
