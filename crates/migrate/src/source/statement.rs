//! Facts of a CREATE TABLE statement that no pragma reports, such as CHECK. Tokens and brackets
//! suffice: SQLite has already accepted the statement.

use super::schema::SourceCheck;
use sql::{Token, closing, tokens};

/// Facts found in a CREATE TABLE statement.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// `AUTOINCREMENT` is written somewhere outside quotes.
    pub autoincrement: bool,
    pub checks: Vec<SourceCheck>,
    /// Collations named by COLLATE other than BINARY, in upper case.
    pub collations: Vec<String>,
    pub column_collations: Vec<(String, String)>,
    pub generated: Vec<(String, String)>,
    /// Whether each foreign key, as declared, is tested at the end of a transaction only.
    pub deferred: Vec<bool>,
}

pub fn facts(sql: &str) -> Facts {
    let tokens = tokens(sql);
    let mut facts = Facts::default();
    let (mut depth, mut item, mut place) = (0_usize, 0, 0);
    while let Some(token) = tokens.get(place) {
        let opens = tokens.get(place + 1).is_some_and(|next| next.is("("));
        if token.is("(") {
            depth += 1;
            if depth == 1 {
                item = place + 1;
            }
        } else if token.is(")") {
            depth = depth.saturating_sub(1);
        } else if token.is(",") && depth == 1 {
            item = place + 1;
        } else if token.is_word("AUTOINCREMENT") {
            facts.autoincrement = true;
        } else if token.is_word("REFERENCES") {
            facts.deferred.push(false);
        } else if is_deferral(tokens.get(place..).unwrap_or_default()) {
            // NOT DEFERRABLE INITIALLY DEFERRED is immediate to SQLite.
            let not = place >= 1 && tokens[place - 1].is_word("NOT");
            facts.deferred.last_mut().into_iter().for_each(|last| *last = !not);
        } else if token.is_word("COLLATE") {
            let column = (depth == 1).then(|| tokens.get(item)).flatten();
            facts.collate(tokens.get(place + 1), column);
        } else if token.is_word("CHECK") && opens {
            let (expression, close) = inside(sql, &tokens, place + 1);
            let named = place >= 2 && tokens[place - 2].is_word("CONSTRAINT");
            let name = if named { tokens[place - 1].name() } else { None };
            facts.checks.push(SourceCheck { name, expression });
            place = close;
        } else if token.is_word("AS") && opens && depth == 1 {
            let (expression, close) = inside(sql, &tokens, place + 1);
            let column = tokens.get(item).and_then(Token::name);
            facts.generated.extend(column.map(|column| (column, expression)));
            place = close;
        }
        place += 1;
    }
    facts
}

fn is_deferral(tokens: &[Token<'_>]) -> bool {
    let words = ["DEFERRABLE", "INITIALLY", "DEFERRED"];
    tokens.len() >= words.len() && tokens.iter().zip(words).all(|(token, word)| token.is_word(word))
}

/// The WHERE clause of a CREATE INDEX statement, without the keyword.
pub fn predicate(sql: &str) -> Option<String> {
    let tokens = tokens(sql);
    let mut place = 0;
    while let Some(token) = tokens.get(place) {
        if token.is_word("WHERE") {
            return Some(sql[token.end()..].trim().to_owned());
        }
        place = if token.is("(") { closing(&tokens, place) + 1 } else { place + 1 };
    }
    None
}

/// The parts of a CREATE INDEX statement as written, without their order.
pub fn index_parts(sql: &str) -> Vec<String> {
    let tokens = tokens(sql);
    let Some(open) = tokens.iter().position(|token| token.is("(")) else { return Vec::new() };
    let close = closing(&tokens, open).min(tokens.len());
    let (mut parts, mut start, mut place) = (Vec::new(), open + 1, open + 1);
    while place <= close {
        let at_end = place == close;
        if at_end || tokens[place].is(",") {
            let part = &tokens[start..place];
            let ordered =
                part.last().is_some_and(|last| last.is_word("ASC") || last.is_word("DESC"));
            let part = &part[..part.len() - usize::from(ordered)];
            if let (Some(first), Some(last)) = (part.first(), part.last()) {
                parts.push(sql[first.start..last.end()].to_owned());
            }
            start = place + 1;
        }
        place =
            if !at_end && tokens[place].is("(") { closing(&tokens, place) + 1 } else { place + 1 };
    }
    parts
}

/// The text between the bracket at `open` and its closing one, whose place follows.
fn inside(sql: &str, tokens: &[Token<'_>], open: usize) -> (String, usize) {
    let close = closing(tokens, open);
    let end = tokens.get(close).map_or(sql.len(), |token| token.start);
    (sql[tokens[open].end()..end].trim().to_owned(), close)
}

impl Facts {
    fn collate(&mut self, name: Option<&Token<'_>>, column: Option<&Token<'_>>) {
        let name = name.and_then(|name| name.name().or_else(|| name.text_value()));
        let Some(name) = name.map(|name| name.to_ascii_uppercase()) else { return };
        if name == "BINARY" {
            return;
        }
        if let Some(column) = column.and_then(Token::name) {
            self.column_collations.push((column, name.clone()));
        }
        if !self.collations.contains(&name) {
            self.collations.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_checks_and_autoincrement_outside_quotes() {
        let found = facts(
            "CREATE TABLE \"check (1)\" (id INTEGER PRIMARY KEY AUTOINCREMENT, -- CHECK (no)\n\
             a TEXT CHECK( (a <> ')') or a IN ('x') ), 'CHECK' INT, \
             CONSTRAINT \"is positive\" CHECK ((id) > 0) )",
        );
        assert!(found.autoincrement);
        let checks: Vec<(Option<&str>, &str)> = found
            .checks
            .iter()
            .map(|check| (check.name.as_deref(), check.expression.as_str()))
            .collect();
        let expected = [(None, "(a <> ')') or a IN ('x')"), (Some("is positive"), "(id) > 0")];
        assert_eq!(checks, expected);
        let found = facts("CREATE TABLE t(a TEXT COLLATE nocase, b COLLATE \"binary\")");
        assert_eq!(found.collations, ["NOCASE"]);
        assert_eq!(found.column_collations, [("a".to_owned(), "NOCASE".to_owned())]);
        assert_eq!(facts("CREATE TABLE t(\"autoincrement\", [check])"), Facts::default());
    }

    #[test]
    fn deferral_belongs_to_the_foreign_key_before_it() {
        let found = facts(
            "CREATE TABLE t(a INT REFERENCES p DEFERRABLE INITIALLY DEFERRED, b REFERENCES p(x), \
             c REFERENCES p NOT DEFERRABLE INITIALLY DEFERRED, d REFERENCES p DEFERRABLE, \
             FOREIGN KEY (a, b) REFERENCES q ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED)",
        );
        assert_eq!(found.deferred, [true, false, false, false, true]);
    }

    #[test]
    fn expressions_of_generated_columns_are_found() {
        let found = facts(
            "CREATE TABLE t(a INT, \"b c\" INT GENERATED ALWAYS AS (a * (2 + 1)) STORED, \
             d AS (upper(e)), e TEXT)",
        );
        let expected = [("b c", "a * (2 + 1)"), ("d", "upper(e)")];
        assert_eq!(found.generated, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn finds_the_condition_of_an_index() {
        let of = |sql: &str| predicate(sql);
        assert_eq!(of("CREATE INDEX i ON t(n) WHERE (n > 1)").as_deref(), Some("(n > 1)"));
        assert_eq!(of("CREATE INDEX \"where\" ON t(CASE WHEN n THEN 1 END)"), None);
    }

    #[test]
    fn parts_of_an_index_are_found() {
        let sql =
            "CREATE INDEX i ON \"t (x)\"(a, coalesce(b, ')') DESC, (c) || d ASC) WHERE (e) > 0";
        assert_eq!(index_parts(sql), ["a", "coalesce(b, ')')", "(c) || d"]);
    }

    #[test]
    fn an_unfinished_statement_does_no_harm() {
        assert!(index_parts("CREATE INDEX i ON t(a, (b").len() < 3);
        facts("CREATE TABLE t(a CHECK (a = 'x");
        facts("CREATE TABLE é🦀(a -- ");
        facts("CREATE TABLE t(a COLLATE");
    }
}
