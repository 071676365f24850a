//! JSON as PostgreSQL takes it: a check before copying, and one canonical form for comparing,
//! since jsonb sorts keys, drops blanks and keeps only the last of equal keys.

use serde::de::IgnoredAny;
use serde_json::Value;

/// Whether `text` is JSON that `json` takes.
pub fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether `text` is JSON that `jsonb` takes: it refuses the escape of NUL and lone surrogates.
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

/// Appends a form that is equal for equal documents: keys sorted, numbers by value.
pub fn canonical(text: &str, out: &mut Vec<u8>) {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => write(&value, out),
        // Not readable here (for example nested too deeply): compared as text.
        Err(_) => out.extend_from_slice(text.as_bytes()),
    }
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(b'n'),
        Value::Bool(value) => out.push(if *value { b't' } else { b'f' }),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => out.extend_from_slice(format!("#{integer}").as_bytes()),
            (None, float) => {
                let float = float.unwrap_or_default();
                if float.fract() == 0.0 && float.abs() < 9e15 {
                    out.extend_from_slice(format!("#{}", float as i64).as_bytes());
                } else {
                    out.extend_from_slice(format!("#{float:?}").as_bytes());
                }
            }
        },
        Value::String(text) => string(text, out),
        Value::Array(values) => {
            out.push(b'[');
            values.iter().for_each(|value| write(value, out));
            out.push(b']');
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| key.as_str());
            out.push(b'{');
            for (key, value) in members {
                string(key, out);
                write(value, out);
            }
            out.push(b'}');
        }
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
    }

    #[test]
    fn jsonb_is_stricter() {
        assert!(is_json("\"\\u0000\"") && !is_jsonb("\"\\u0000\""));
        assert!(!is_jsonb("\"\\ud800\""));
        assert!(!is_json("{a:1}") && !is_json("") && is_json(" null "));
    }
}
