//! Constant values of column defaults: SQLite computes them itself, with the conversion by the
//! column's affinity.

use rusqlite::Connection;
use rusqlite::types::Value;

use super::schema::Affinity;
use sql::{Token, TokenKind, tokens};

/// Functions whose result depends on their arguments alone.
const PURE: [&str; 25] = [
    "abs",
    "cast",
    "char",
    "coalesce",
    "format",
    "hex",
    "ifnull",
    "iif",
    "instr",
    "json",
    "json_array",
    "json_object",
    "length",
    "lower",
    "ltrim",
    "max",
    "min",
    "nullif",
    "printf",
    "replace",
    "round",
    "rtrim",
    "substr",
    "trim",
    "upper",
];

/// A database in memory, to compute defaults in.
pub struct Calculator(Connection);

impl Calculator {
    pub fn new() -> rusqlite::Result<Self> {
        Connection::open_in_memory().map(Self)
    }

    /// The value that a new row gets; `None` if it is not the same for every row, or not known.
    pub fn value(&self, default: &str, affinity: Affinity) -> Option<Value> {
        let tokens = tokens(default);
        let varies = tokens.iter().enumerate().any(|(place, token)| {
            let calls = tokens.get(place + 1).is_some_and(|next| next.is("("));
            let is_pure = || PURE.iter().any(|name| token.is_word(name));
            let is_name = matches!(token.kind, TokenKind::Word | TokenKind::Quoted);
            let is_clock = ["CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME"];
            (is_name && calls && !is_keyword(token.text) && !is_pure())
                || is_clock.iter().any(|word| token.is_word(word))
        });
        if varies || tokens.is_empty() {
            return None;
        }
        let written = match tokens.as_slice() {
            [name] if name.kind == TokenKind::Word => default.to_owned(),
            _ => format!("({})", with_texts(&tokens)),
        };
        let declared = match affinity {
            Affinity::Text => "TEXT",
            Affinity::Numeric => "NUMERIC",
            Affinity::Integer => "INTEGER",
            Affinity::Real => "REAL",
            Affinity::Blob => "BLOB",
        };
        let made = self.0.execute_batch(&format!(
            "DROP TABLE IF EXISTS d; CREATE TABLE d(c {declared} DEFAULT {written}); \
             INSERT INTO d DEFAULT VALUES"
        ));
        made.ok()?;
        self.0.query_row("SELECT c FROM d", [], |row| row.get(0)).ok()
    }
}

/// A quoted name in a default is a text to SQLite: columns are not allowed there.
fn with_texts(tokens: &[Token<'_>]) -> String {
    let written = tokens.iter().map(|token| match (token.kind, token.name()) {
        (TokenKind::Quoted, Some(text)) => format!("'{}'", text.replace('\'', "''")),
        _ => token.text.to_owned(),
    });
    written.collect::<Vec<_>>().join(" ")
}

/// Words that brackets may follow without a call.
fn is_keyword(word: &str) -> bool {
    ["AND", "OR", "NOT", "IN", "CASE", "WHEN", "THEN", "ELSE", "IS", "BETWEEN", "LIKE", "GLOB"]
        .iter()
        .any(|keyword| word.eq_ignore_ascii_case(keyword))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_computed_as_for_a_new_row() {
        let calculator = Calculator::new().unwrap();
        let text = |text: &str| Some(Value::Text(text.to_owned()));
        for (default, affinity, expected) in [
            ("1.0", Affinity::Integer, Some(Value::Integer(1))),
            ("1.0", Affinity::Text, text("1.0")),
            ("\"\"", Affinity::Text, text("")),
            ("unknown", Affinity::Text, text("unknown")),
            ("[it's]", Affinity::Blob, text("it's")),
            ("TRUE", Affinity::Numeric, Some(Value::Integer(1))),
            ("- 5", Affinity::Integer, Some(Value::Integer(-5))),
            ("1 + 1", Affinity::Integer, Some(Value::Integer(2))),
            ("'a' || \"b\"", Affinity::Text, text("ab")),
            ("lower('X')", Affinity::Text, text("x")),
            ("x'00ff'", Affinity::Blob, Some(Value::Blob(vec![0, 255]))),
            ("0x10", Affinity::Integer, Some(Value::Integer(16))),
            ("NULL", Affinity::Text, Some(Value::Null)),
            ("json('{}')", Affinity::Numeric, text("{}")),
            ("CURRENT_TIMESTAMP", Affinity::Text, None),
            ("datetime('now')", Affinity::Text, None),
            ("random()", Affinity::Integer, None),
            ("1 + random()", Affinity::Integer, None),
            ("", Affinity::Text, None),
        ] {
            assert_eq!(calculator.value(default, affinity), expected, "{default}");
        }
    }
}
