//! Place of a key in a plan's text: mistakes that are found after reading have a place too.

use toml::de::{DeTable, DeValue};

/// File, line and column of a byte.
pub(crate) fn of_byte(text: &str, name: &str, byte: usize) -> String {
    let before = text.get(..byte).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!("{name}, line {line}, column {column}")
}

/// File, line and column of the value of `key`, such as `factors.days.levels.1`: of the innermost part
/// that the text has.
pub(crate) fn of_key(text: &str, name: &str, key: &str) -> String {
    let byte = DeTable::parse(text).ok().and_then(|table| {
        let mut value = None;
        let mut parts = key.split('.');
        if let Some((_, first)) = table.get_ref().get_key_value(parts.next()?) {
            value = Some(first);
        }
        for part in parts {
            let inside = match value?.get_ref() {
                DeValue::Table(table) => table.get(part),
                DeValue::Array(list) => part.parse().ok().and_then(|index: usize| list.get(index)),
                _ => None,
            };
            value = inside.or(value);
        }
        value.map(|value| value.span().start)
    });
    of_byte(text, name, byte.unwrap_or(0))
}

/// A key without its places in lists.
pub(crate) fn without_indices(key: &str) -> String {
    let parts = key.split('.').filter(|part| part.parse::<usize>().is_err());
    parts.collect::<Vec<_>>().join(".")
}
