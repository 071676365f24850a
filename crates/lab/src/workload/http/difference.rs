//! Difference of two answers to one request: the first path or line, both values, and the line of
//! the plan that would ignore it.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

const SHOWN_CHARACTERS: usize = 80;

/// The answer of the engine that was asked first, kept until the others were.
pub(super) struct KeptAnswer {
    pub engine: String,
    pub body: Vec<u8>,
}

impl KeptAnswer {
    /// The answer that another engine has left, if it can be read.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let bytes = std::fs::read(path).ok()?;
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let engine = String::from_utf8(bytes.get(..end)?.to_vec()).ok()?;
        Some(Self { engine, body: bytes.get(end + 1..)?.to_vec() })
    }

    /// Leaves it for the others. It only helps to explain, so a full disk does not matter here.
    pub(super) fn write(&self, path: &Path) {
        let mut bytes = self.engine.replace('\n', " ").into_bytes();
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.body);
        let _ = std::fs::write(path, bytes);
    }
}

/// `at /rows/0/n sqlite has 2, postgres:18 has 3`.
pub(super) fn first_difference(
    (one, ours): (&str, &[u8]),
    (other, theirs): (&str, &[u8]),
) -> String {
    let parse = |body| serde_json::from_slice::<Value>(body).ok();
    let (place, a, b) = match (parse(ours), parse(theirs)) {
        (Some(ours), Some(theirs)) => {
            let (pointer, a, b) = first_in_json(&ours, &theirs, String::new())
                .unwrap_or_else(|| ("the form alone".to_owned(), None, None));
            let shown =
                |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
            let place = if pointer.is_empty() { "the whole".to_owned() } else { pointer };
            (place, shown(a), shown(b))
        }
        _ => first_line(ours, theirs),
    };
    format!("at {place} {one} has {}, {other} has {}", cut(&a), cut(&b))
}

fn cut(text: &str) -> String {
    let mut cut: String = text.chars().take(SHOWN_CHARACTERS).collect();
    if cut.len() < text.len() {
        cut.push_str("...");
    }
    cut
}

/// A JSON pointer with what stands there on either side.
fn first_in_json<'v>(
    one: &'v Value,
    other: &'v Value,
    at: String,
) -> Option<(String, Option<&'v Value>, Option<&'v Value>)> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            keys.into_iter().find_map(|key| {
                let at = format!("{at}/{}", escaped(key));
                match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => first_in_json(a, b, at),
                    (a, b) => Some((at, a, b)),
                }
            })
        }
        (Value::Array(a), Value::Array(b)) => (0..a.len().max(b.len())).find_map(|index| {
            let at = format!("{at}/{index}");
            match (a.get(index), b.get(index)) {
                (Some(a), Some(b)) => first_in_json(a, b, at),
                (a, b) => Some((at, a, b)),
            }
        }),
        _ => (one != other).then_some((at, Some(one), Some(other))),
    }
}

fn first_line(ours: &[u8], theirs: &[u8]) -> (String, String, String) {
    let lines = |body: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(body).lines().map(str::to_owned).collect()
    };
    let (ours, theirs) = (lines(ours), lines(theirs));
    let differs = |number: &usize| ours.get(*number) != theirs.get(*number);
    let number = (0..ours.len().max(theirs.len())).find(differs).unwrap_or(0);
    let line =
        |of: &[String]| of.get(number).map_or("nothing".to_owned(), |line| format!("{line:?}"));
    (format!("line {}", number + 1), line(&ours), line(&theirs))
}

/// The line for the plan, given two answers to the same request.
pub(super) fn remedy(one: &[u8], other: &[u8]) -> String {
    let parse = |body| serde_json::from_slice::<Value>(body).ok();
    if let (Some(one), Some(other)) = (parse(one), parse(other)) {
        let mut pointers = BTreeSet::new();
        pointers_to_differences(&one, &other, "", &mut pointers);
        if !pointers.contains("") && !pointers.is_empty() {
            let quoted: Vec<String> = pointers.iter().map(|p| format!("{p:?}")).collect();
            let flags: Vec<String> =
                pointers.iter().map(|p| format!("--json-ignore '{p}'")).collect();
            return format!(
                "answer = {{ json_ignore = [{}] }} (bench http: {})",
                quoted.join(", "),
                flags.join(" ")
            );
        }
    }
    "answer = \"status\", or answer = { regex = \"...\" } for what stays".to_owned()
}

/// JSON pointers to what differs; `*` for the elements of lists of rows. A list without lists and
/// objects in it is a row by itself, of which only what differs is ignored.
fn pointers_to_differences(one: &Value, other: &Value, at: &str, pointers: &mut BTreeSet<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            for key in one.keys().chain(other.keys()) {
                let (a, b) = (one.get(key), other.get(key));
                let at = format!("{at}/{}", escaped(key));
                match (a, b) {
                    (Some(a), Some(b)) => pointers_to_differences(a, b, &at, pointers),
                    _ => {
                        pointers.insert(at);
                    }
                }
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let holds_rows = one.iter().any(|value| value.is_object() || value.is_array());
            for (place, (a, b)) in one.iter().zip(other).enumerate() {
                let place = if holds_rows { "*".to_owned() } else { place.to_string() };
                pointers_to_differences(a, b, &format!("{at}/{place}"), pointers);
            }
        }
        _ if one != other => {
            pointers.insert(at.to_owned());
        }
        _ => {}
    }
}

/// A key as a JSON pointer has it (RFC 6901).
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cure_names_what_changes() {
        let one = br#"{"time": 1, "rows": [{"id": 1, "at": "a"}, {"id": 2, "at": "b"}]}"#;
        let two = br#"{"time": 2, "rows": [{"id": 1, "at": "c"}, {"id": 2, "at": "b"}]}"#;
        let expected = "answer = { json_ignore = [\"/rows/*/at\", \"/time\"] } \
                        (bench http: --json-ignore '/rows/*/at' --json-ignore '/time')";
        assert_eq!(remedy(one, two), expected);
        let (one, two) = (b"[[1, 10], [2, 20]]", b"[[1, 11], [2, 21]]");
        assert!(remedy(one, two).starts_with("answer = { json_ignore = [\"/*/1\"] }"));
        assert!(remedy(b"<p>1</p>", b"<p>2</p>").starts_with("answer = \"status\""));
        assert!(remedy(b"1", b"2").starts_with("answer = \"status\""));
    }

    #[test]
    fn the_first_difference_is_named_with_both_values() {
        let differs = |a: &str, b: &str| first_difference(("x", a.as_bytes()), ("y", b.as_bytes()));
        let (one, two) = (r#"{"a/b": [1, {"n": 2}]}"#, r#"{"a/b": [1, {"n": "2"}]}"#);
        assert_eq!(differs(one, two), r#"at /a~1b/1/n x has 2, y has "2""#);
        assert_eq!(differs("[1]", "[1, 2]"), "at /1 x has nothing, y has 2");
        assert_eq!(differs("1", "2"), "at the whole x has 1, y has 2");
        assert_eq!(differs("a\nb", "a\nc"), r#"at line 2 x has "b", y has "c""#);
        let long = "z".repeat(200);
        let said = differs("short", &long);
        assert!(said.ends_with("...") && said.len() < 150, "{said}");
    }

    #[test]
    fn an_answer_comes_back_from_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("answer");
        let kept = KeptAnswer { engine: "sqlite".to_owned(), body: b"a\nb\xff".to_vec() };
        kept.write(&path);
        let read = KeptAnswer::read(&path).unwrap();
        assert_eq!((read.engine, read.body), (kept.engine, kept.body));
    }
}
