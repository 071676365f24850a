//! Names of a log's queries: what is selected from which table, and the part that tells a query from the
//! others.

use std::collections::BTreeSet;

use sql::{Token, TokenKind, tokens};

use crate::names::is_grammar;

/// The most columns that a name lists.
const COLUMNS_MAX: usize = 3;

/// A name for each text, all different.
pub fn names(texts: &[&str]) -> Vec<String> {
    let parts: Vec<Vec<String>> = texts.iter().map(|text| parts(text)).collect();
    let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
    let short = |parts: &[String], length: usize| -> String {
        parts
            .iter()
            .take(length)
            .filter(|part| !part.is_empty())
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for (index, own) in parts.iter().enumerate() {
        let is_unique = |length: &usize| {
            let name = short(own, *length);
            let others = parts.iter().enumerate().filter(|(other, _)| *other != index);
            others.clone().all(|(_, other)| short(other, *length) != name)
        };
        let length = (1..=longest).find(is_unique).unwrap_or(longest);
        let name = short(own, length);
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
        let name = free.unwrap_or(name);
        taken.insert(name.clone());
        names.push(name);
    }
    names
}

/// The parts of a name, the most telling first: `count orders`, `by customer_id`, `with customers`,
/// `ordered by day`, `limit`.
fn parts(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let word = |token: &Token<'_>| token.text.to_ascii_lowercase();
    let after = |keyword: &str| -> Vec<String> {
        let pairs = tokens.windows(2).filter(|pair| word(&pair[0]) == keyword);
        pairs.filter_map(|pair| pair[1].name()).collect()
    };
    let table = after("from").into_iter().next().unwrap_or_default();
    let verb = match tokens.get(1).map(word).as_deref() {
        Some("count") => "count",
        Some("distinct") => "distinct",
        _ => "select",
    };
    let columns = |from: &str, until: &[&str]| -> Vec<String> {
        let start = tokens.iter().position(|token| word(token) == from);
        let Some(start) = start else { return Vec::new() };
        let rest = tokens[start + 1..].iter().take_while(|token| !until.contains(&&*word(token)));
        let rest: Vec<&Token<'_>> = rest.collect();
        let mut found: Vec<String> = Vec::new();
        for (place, token) in rest.iter().enumerate() {
            let before_dot = rest.get(place + 1).is_some_and(|next| next.is("."));
            let is_call = rest.get(place + 1).is_some_and(|next| next.is("("));
            let Some(name) = token.name().filter(|_| !before_dot && !is_call) else { continue };
            let is_word = token.kind == TokenKind::Word && is_grammar(&name.to_lowercase());
            if !is_word && !found.contains(&name) {
                found.push(name);
            }
        }
        found.truncate(COLUMNS_MAX);
        found
    };
    let listed = |word: &str, names: Vec<String>| match names.is_empty() {
        true => String::new(),
        false => format!("{word} {}", names.join(", ")),
    };
    vec![
        format!("{verb} {table}").trim_end().to_owned(),
        listed("by", columns("where", &["group", "order", "limit", "having"])),
        listed("with", after("join")),
        listed("grouped by", columns("group", &["order", "limit", "having"])),
        listed("ordered by", columns("order", &["limit"])),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_queries_apart_by_as_little_as_needed() {
        let found = names(&[
            "SELECT \"a\".\"id\" FROM \"orders\" AS a WHERE \"a\".\"customer_id\" = ? LIMIT ?",
            "SELECT \"a\".\"id\" FROM \"orders\" AS a WHERE \"a\".\"day\" > ? ORDER BY \"a\".\"day\"",
            "SELECT count(*) FROM orders",
            "SELECT * FROM people",
            "SELECT a FROM t",
            "SELECT b FROM t",
        ]);
        assert_eq!(found[0], "select orders by customer_id");
        assert_eq!(found[1], "select orders by day");
        assert_eq!(found[2], "count orders");
        assert_eq!(found[3], "select people");
        assert_eq!(found[4..], ["select t", "select t (2)"]);
    }
}
