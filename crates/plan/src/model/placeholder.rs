//! `{name}` in commands, paths, headers and environment values.

use std::collections::BTreeMap;

use crate::PlanError;

/// The values of placeholders by name.
pub type Placeholders = BTreeMap<String, String>;

/// Replaces every `{name}` in `text`. Braces around anything but lower-case letters, digits and
/// underscores are left alone, so that JSON bodies need no escape.
pub fn expand(text: &str, key: &str, values: &Placeholders) -> Result<String, PlanError> {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, from_brace) = rest.split_at(open);
        result.push_str(before);
        match name_in_braces(from_brace) {
            Some(name) => {
                let value = values.get(name).ok_or_else(|| unknown(name, key, values))?;
                result.push_str(value);
                rest = from_brace.get(name.len() + 2..).unwrap_or_default();
            }
            None => {
                result.push('{');
                rest = from_brace.get(1..).unwrap_or_default();
            }
        }
    }
    result.push_str(rest);
    Ok(result)
}

/// The names of all placeholders in `text`, as [`expand`] sees them.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{').filter_map(|(position, _)| name_in_braces(text.get(position..)?))
}

fn name_in_braces(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.split_once('}')?.0;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    (!name.is_empty() && name.chars().all(plain)).then_some(name)
}

fn unknown(name: &str, key: &str, values: &Placeholders) -> PlanError {
    let known: Vec<_> = values.keys().map(|known| format!("{{{known}}}")).collect();
    let message = format!("unknown placeholder {{{name}}}; there are {}", known.join(", "));
    PlanError::impossible(key, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_names_and_leaves_json_alone() {
        let values = Placeholders::from([("start".to_owned(), "2021-01-01".to_owned())]);
        let text = r#"/a?start={start}&body={"k": {}} {"#;
        let expected = r#"/a?start=2021-01-01&body={"k": {}} {"#;
        assert_eq!(expand(text, "path", &values).unwrap(), expected);
    }

    #[test]
    fn names_the_placeholder_that_does_not_exist() {
        let values = Placeholders::from([("start".to_owned(), String::new())]);
        let error = expand("{end}", "request.path", &values).unwrap_err().to_string();
        assert_eq!(error, "request.path: unknown placeholder {end}; there are {start}");
    }
}
