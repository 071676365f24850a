//! The WHERE of a partial index as PostgreSQL writes it, where both surely mean the same: columns
//! tested for NULL or compared with literals, joined by AND.

use super::encode::Field;
use crate::inspect::{Table, quoted};
use crate::mapping::PostgresType;

/// Translates `predicate`; `None` if its meaning is not surely the same.
pub fn translate(predicate: &str, table: &Table, fields: &[Field]) -> Option<String> {
    let tokens = tokens(predicate)?;
    let terms = tokens.split(|token| token.eq_ignore_ascii_case("AND"));
    let terms: Option<Vec<String>> =
        terms.map(|term| translate_term(term, table, fields)).collect();
    terms.map(|terms| terms.join(" AND "))
}

fn translate_term(term: &[String], table: &Table, fields: &[Field]) -> Option<String> {
    let (name, rest) = term.split_first()?;
    let column = table.column(name.trim_matches(['"', '`', '[', ']']))?;
    let name = quoted(&table.columns[column].name);
    let words: Vec<String> = rest.iter().map(|word| word.to_ascii_uppercase()).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["IS", "NULL"] | ["ISNULL"] => return Some(format!("{name} IS NULL")),
        ["IS", "NOT", "NULL"] | ["NOT", "NULL"] | ["NOTNULL"] => {
            return Some(format!("{name} IS NOT NULL"));
        }
        _ => {}
    }
    let [operator, literal] = rest else { return None };
    let same = matches!(operator.as_str(), "=" | "==");
    let operator = match operator.as_str() {
        "==" => "=",
        "!=" => "<>",
        operator @ ("=" | "<>" | "<" | "<=" | ">" | ">=") => operator,
        _ => return None,
    };
    let is_integer = literal.parse::<i64>().is_ok();
    match &fields[column].postgres_type {
        postgres_type if postgres_type.is_integer() && is_integer => {
            Some(format!("{name} {operator} {literal}"))
        }
        PostgresType::Boolean if same && matches!(literal.as_str(), "0" | "1") => {
            Some(format!("{name} = {}", literal == "1"))
        }
        // Order depends on the collation, equality of exact texts does not.
        postgres_type
            if postgres_type.is_text()
                && table.collations.is_empty()
                && matches!(operator, "=" | "<>")
                && literal.starts_with('\'') =>
        {
            Some(format!("{name} {operator} {literal}"))
        }
        _ => None,
    }
}

/// Names, literals and operators; `None` for anything else.
fn tokens(text: &str) -> Option<Vec<String>> {
    let mut tokens = Vec::new();
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let word = |character: char| character.is_alphanumeric() || character == '_';
        let end = match first {
            // A quote inside quotes is rare enough to be left to people.
            '"' | '`' | '\'' => rest[1..].find(first)? + 2,
            '[' => rest.find(']')? + 1,
            '<' | '>' | '=' | '!' => {
                rest.find(|each| !matches!(each, '<' | '>' | '=' | '!')).unwrap_or(rest.len())
            }
            '-' if rest[1..].starts_with(|each: char| each.is_ascii_digit()) => {
                1 + rest[1..].find(|each| !word(each)).unwrap_or(rest.len() - 1)
            }
            first if word(first) => rest.find(|each| !word(each)).unwrap_or(rest.len()),
            _ => return None,
        };
        let (token, after) = rest.split_at(end);
        if after.starts_with(['\'', '"', '`']) && matches!(first, '\'' | '"' | '`') {
            return None;
        }
        tokens.push(token.to_owned());
        rest = after.trim_start();
    }
    Some(tokens)
}

/// What follows WHERE in a CREATE INDEX statement.
pub fn of_index(sql: &str) -> Option<&str> {
    let closing = sql.rfind(')')?;
    // A bracket after WHERE is nothing that could be translated.
    let rest = sql[closing + 1..].trim_start();
    let head = rest.get(..5)?;
    head.eq_ignore_ascii_case("WHERE").then(|| &rest[5..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::schema;

    #[test]
    fn only_what_surely_means_the_same_is_translated() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE t(n INT, name TEXT, \"a b\" BOOLEAN, r REAL)")
            .unwrap();
        let schema = schema(&connection).unwrap();
        let types = ["bigint", "text", "boolean", "double precision"];
        let field = |name: &str| Field {
            postgres_type: name.parse().unwrap(),
            reading: None,
            not_null: false,
        };
        let fields = types.map(field);
        for (predicate, expected) in [
            ("n IS NOT NULL", Some("\"n\" IS NOT NULL")),
            ("N > -3 and name = 'x'", Some("\"n\" > -3 AND \"name\" = 'x'")),
            ("\"a b\" = 1", Some("\"a b\" = true")),
            ("name notnull", Some("\"name\" IS NOT NULL")),
            ("name > 'x'", None),
            ("name = 'it''s'", None),
            ("n > 0 OR name IS NULL", None),
            ("r = 1", None),
            ("n = '1'", None),
            ("lower(name) = 'x'", None),
            ("other = 1", None),
            ("", None),
        ] {
            let found = translate(predicate, &schema.tables[0], &fields);
            assert_eq!(found.as_deref(), expected, "{predicate}");
        }
        assert_eq!(of_index("CREATE INDEX i ON t(n) WHERE n > 1"), Some(" n > 1"));
        assert_eq!(of_index("CREATE INDEX i ON t(n) WHERE (n > 1)"), None);
    }
}
