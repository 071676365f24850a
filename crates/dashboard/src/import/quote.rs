//! Quotations from files in errors: short whatever the file holds, and without characters that a
//! terminal would obey. All of one error stay below 200 characters together.

use crate::query::clipped;

/// The most characters of a list of names, or of another program's message.
const LIST_CHARACTERS: usize = 110;

/// A name from a file, as written, cut where it is very long.
pub(super) fn name(text: &str) -> String {
    let start = clipped(text);
    let shown = visible(&start);
    if start.len() < text.len() { shown + "..." } else { shown }
}

/// Names from a file with commas between them, as far as they fit; the number of the others.
pub(super) fn list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let (mut shown, mut left) = (String::new(), 0);
    for text in names {
        let one = name(text);
        let fits =
            shown.is_empty() || shown.chars().count() + one.chars().count() < LIST_CHARACTERS;
        if left > 0 || !fits {
            left += 1;
            continue;
        }
        if !shown.is_empty() {
            shown += ", ";
        }
        shown += &one;
    }
    if left > 0 { format!("{shown} and {left} more") } else { shown }
}

/// The beginning of a message that may quote the file at any length.
pub(super) fn message(text: &str) -> String {
    let start: String = text.chars().take(LIST_CHARACTERS).collect();
    let shown = visible(&start);
    if start.len() < text.len() { shown + "..." } else { shown }
}

/// With characters that control a terminal as escapes.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for one in text.chars() {
        if one.is_control() { shown.extend(one.escape_default()) } else { shown.push(one) }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_short_and_control_nothing() {
        assert_eq!(list(["Date", "Seg\u{1b}[2J"]), "Date, Seg\\u{1b}[2J");
        let long = "é".repeat(100_000);
        let all = list([long.as_str(), "second", long.as_str(), &long]);
        assert!(all.ends_with("second and 2 more"), "{all}");
        for shown in [all, message(&long), name(&long)] {
            assert!(shown.chars().count() < 200, "{shown}");
        }
    }
}
