//! The shape of a logged query: its text without values, and the values by place, so that queries which
//! differ in values alone are one statement with sets of values.

use std::collections::BTreeMap;

use plan::Given;
use sql::TokenKind::{Blob, Number, Text};
use sql::{Token, TokenKind, tokens};

use crate::names;

/// A query taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryShape {
    /// The text with `?` for each value, lists of values collapsed: what makes queries one.
    pub group: String,
    /// The text between the values.
    between: Vec<String>,
    /// The literals, as written.
    literals: Vec<String>,
}

fn is_value(token: &Token<'_>) -> bool {
    matches!(token.kind, Blob | Number | Text)
}

/// The place of a minus that belongs to the number behind these tokens, and does not subtract it.
fn sign_before(before: &[Token<'_>]) -> Option<usize> {
    let [.., earlier, minus] = before else { return None };
    let begins_value = match earlier.kind {
        TokenKind::Symbol => earlier.text != ")",
        TokenKind::Word => names::is_grammar(&earlier.text.to_lowercase()),
        _ => false,
    };
    (minus.is("-") && begins_value).then_some(minus.start)
}

impl QueryShape {
    pub fn of(sql: &str) -> Self {
        let tokens = tokens(sql);
        let (mut between, mut literals, mut copied) = (Vec::new(), Vec::new(), 0);
        for (place, token) in tokens.iter().enumerate().filter(|(_, token)| is_value(token)) {
            let start = sign_before(&tokens[..place]).unwrap_or(token.start);
            between.push(sql[copied..start].to_owned());
            literals.push(sql[start..token.end()].to_owned());
            copied = token.end();
        }
        between.push(sql[copied..].to_owned());
        Self { group: without_values(&tokens), between, literals }
    }

    /// Whether both have the same text between values, so that sets of values fit both.
    pub fn is_like(&self, other: &Self) -> bool {
        self.between == other.between
    }
}

/// The text of equally shaped queries with `:v1`, `:v2` where their values differ, and the sets of
/// these values; none where a value that differs has no form in a plan.
pub fn parametrized(shapes: &[&QueryShape]) -> Option<(String, Vec<BTreeMap<String, Given>>)> {
    let first = shapes.first()?;
    let places = 0..first.literals.len();
    let differs = |place: &usize| {
        shapes.iter().any(|one| one.literals.get(*place) != first.literals.get(*place))
    };
    let differing: Vec<usize> = places.filter(differs).collect();
    let name = |place: usize| format!("v{}", place + 1);
    let mut text = String::new();
    for (place, between) in first.between.iter().enumerate() {
        text.push_str(between);
        match first.literals.get(place) {
            Some(_) if differing.contains(&place) => text.push_str(&format!(":{}", name(place))),
            Some(literal) => text.push_str(literal),
            None => {}
        }
    }
    let set = |shape: &&QueryShape| {
        let values =
            differing.iter().map(|place| Some((name(*place), value(shape.literals.get(*place)?)?)));
        values.collect::<Option<BTreeMap<String, Given>>>()
    };
    let sets = shapes.iter().map(set).collect::<Option<Vec<_>>>()?;
    Some((text, if differing.is_empty() { Vec::new() } else { sets }))
}

/// A literal as a value of a plan; none of a blob.
fn value(literal: &str) -> Option<Given> {
    if let Some(text) = literal.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Some(Given::Text(text.replace("''", "'")));
    }
    if let Ok(integer) = literal.parse() {
        return Some(Given::Integer(integer));
    }
    literal.parse().ok().map(Given::Double)
}

/// Literals become `?`, lists of them one, blanks single.
fn without_values(tokens: &[Token<'_>]) -> String {
    let mut words: Vec<&str> = Vec::new();
    for token in tokens {
        let word = if is_value(token) { "?" } else { token.text };
        if word == "?" && words.ends_with(&["?", ","]) {
            words.pop();
            continue;
        }
        words.push(word);
    }
    let mut shown = String::new();
    for (place, word) in words.iter().enumerate() {
        let before = place.checked_sub(1).map_or("", |before| words[before]);
        let close = matches!(*word, "," | ")" | "." | ";") || matches!(before, "(" | "." | "");
        let is_name = before.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_call = *word == "(" && is_name && !names::is_grammar(&before.to_lowercase());
        if !(close || is_call) {
            shown.push(' ');
        }
        shown.push_str(word);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_that_differ_in_values_are_one() {
        let expected = "SELECT a.b, count(*) FROM \"t\" WHERE x IN (?) AND y = ?";
        for text in [
            "SELECT a.b, count(*)  FROM \"t\"\nWHERE x IN (1, 2, 3) AND y = 'z'",
            "SELECT a.b, count( * ) FROM \"t\" WHERE x IN ('q') AND y = 2.5",
        ] {
            assert_eq!(QueryShape::of(text).group, expected);
        }
        let join = QueryShape::of("SELECT 1 FROM a JOIN b ON (a.x = b.y)");
        assert_eq!(join.group, "SELECT ? FROM a JOIN b ON (a.x = b.y)");
    }

    #[test]
    fn values_that_differ_become_parameters_and_others_stay() {
        let shapes = ["SELECT 1 FROM t WHERE a = 5 AND b = 'it''s' LIMIT 21", {
            "SELECT 1 FROM t WHERE a = 7 AND b = 'x' LIMIT 21"
        }]
        .map(QueryShape::of);
        let (text, sets) = parametrized(&shapes.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(text, "SELECT 1 FROM t WHERE a = :v2 AND b = :v3 LIMIT 21");
        assert_eq!(sets[0]["v3"], Given::Text("it's".to_owned()));
        assert_eq!(sets[1]["v2"], Given::Integer(7));
        let alone = parametrized(&[&shapes[0]]).unwrap();
        assert!(alone.1.is_empty() && alone.0.ends_with("LIMIT 21"), "{alone:?}");
    }

    #[test]
    fn a_sign_belongs_to_its_number_and_a_difference_does_not() {
        let shapes = ["UPDATE t SET n = n - 3 WHERE a = -5", "UPDATE t SET n = n - 4 WHERE a = -6"]
            .map(QueryShape::of);
        let (text, sets) = parametrized(&shapes.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(text, "UPDATE t SET n = n - :v1 WHERE a = :v2");
        assert_eq!((&sets[1]["v1"], &sets[1]["v2"]), (&Given::Integer(4), &Given::Integer(-6)));
    }

    #[test]
    fn lists_of_other_lengths_and_blobs_have_no_common_sets() {
        let [two, three] =
            ["SELECT 1 WHERE a IN (1, 2)", "SELECT 1 WHERE a IN (1, 2, 3)"].map(QueryShape::of);
        assert_eq!(two.group, three.group);
        assert!(!two.is_like(&three));
        let blobs = ["SELECT 1 WHERE a = x'00'", "SELECT 1 WHERE a = x'01'"].map(QueryShape::of);
        assert_eq!(parametrized(&[&blobs[0], &blobs[1]]), None);
    }
}
