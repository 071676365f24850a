//! Error messages of serde, in the terms of a plan's author.

/// Characters of the text that are shown.
const FOUND_MAX: usize = 40;

/// A message of serde on `found`, a piece of the plan's text.
pub(crate) fn of_serde(message: &str, found: &str) -> String {
    if let Some(mismatch) =
        message.strip_prefix("invalid type: ").or(message.strip_prefix("invalid value: "))
        && let Some((theirs, expected)) = mismatch.split_once(", expected ")
    {
        return format!("{} stands where {} is needed", quoted(found, theirs), wanted(expected));
    }
    if let Some((kind, rest)) =
        message.strip_prefix("unknown ").and_then(|rest| rest.split_once(' '))
        && let Some((name, known)) = rest.split_once(", expected ")
    {
        let kind = if kind == "field" { "key" } else { "value" };
        let nearest = engine::nearest(name.trim_matches('`'), known.split('`').skip(1).step_by(2));
        return match nearest.is_empty() {
            true => {
                format!("unknown {kind} {name}, known are {}", known.trim_start_matches("one of "))
            }
            false => format!("unknown {kind} {name}{nearest}"),
        };
    }
    match message {
        "wanted string or table" => {
            format!("{} stands where a text in quotes is needed", quoted(found, "a value"))
        }
        other => other.replace("missing field", "missing key"),
    }
}

/// The text that stands there, itself where it is short.
fn quoted(found: &str, theirs: &str) -> String {
    let short = !found.is_empty() && found.len() <= FOUND_MAX && !found.contains('\n');
    if short {
        return format!("`{found}`");
    }
    match theirs.split(' ').next() {
        Some("string") => "a text".to_owned(),
        Some("integer" | "floating") => "a number".to_owned(),
        Some("sequence") => "a list".to_owned(),
        Some("map") => "a table".to_owned(),
        _ => theirs.to_owned(),
    }
}

fn wanted(expected: &str) -> String {
    let known = match expected.split(' ').next().unwrap_or_default() {
        "usize" | "u64" => "a whole number of 0 or more",
        "u32" => "a whole number from 0 to 4294967295",
        "u16" => "a whole number from 0 to 65535",
        "u8" => "a whole number from 0 to 255",
        "i64" => "a whole number",
        "f64" => "a number",
        "struct" => "a table",
        _ => match expected {
            "a string" => "a text in quotes",
            "a sequence" => "a list",
            "a map" => "a table",
            "a boolean" => "true or false",
            other => other,
        },
    };
    known.to_owned()
}
