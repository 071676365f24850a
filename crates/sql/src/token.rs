//! Tokens of a SQLite statement that SQLite has already accepted: names, literals, operators.
//! Comments and blanks are skipped.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A keyword or a name without quotes.
    Word,
    /// A name in `"`, `` ` `` or `[]`.
    Quoted,
    /// A string literal: `'text'`.
    Text,
    /// `x'00ff'`
    Blob,
    /// `12`, `1.5`, `1e3`, `0xff`
    Number,
    /// `:name`, `@name`, `$name`
    Parameter,
    /// An operator, a bracket, a comma.
    Symbol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: TokenKind,
    pub text: &'a str,
    /// Its first byte in the statement.
    pub start: usize,
}

impl Token<'_> {
    /// The byte after its last one.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.kind == TokenKind::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub fn is(&self, symbol: &str) -> bool {
        self.kind == TokenKind::Symbol && self.text == symbol
    }

    /// The name that it is, without quotes.
    pub fn name(&self) -> Option<String> {
        match self.kind {
            TokenKind::Word => Some(self.text.to_owned()),
            TokenKind::Quoted => Some(match self.text.chars().next() {
                Some('[') => self.inside().to_owned(),
                Some(quote) => {
                    self.inside().replace(&format!("{quote}{quote}"), &quote.to_string())
                }
                None => String::new(),
            }),
            _ => None,
        }
    }

    /// The text that it is, without quotes.
    pub fn text_value(&self) -> Option<String> {
        (self.kind == TokenKind::Text).then(|| self.inside().replace("''", "'"))
    }

    /// Without its first and last character, which are ASCII.
    fn inside(&self) -> &str {
        self.text.get(1..self.text.len().max(2) - 1).unwrap_or_default()
    }
}

/// Operators of more than one character, the longest first.
const LONG_SYMBOLS: [&str; 10] = ["->>", "->", "<=", ">=", "<>", "<<", ">>", "!=", "==", "||"];

pub fn tokens(sql: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = sql[start..].chars().next() {
        let rest = &sql[start..];
        let (kind, length) = match first {
            first if first.is_whitespace() => (None, first.len_utf8()),
            '-' if rest.starts_with("--") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => {
                (None, rest[2..].find("*/").map_or(rest.len(), |end| end + 4))
            }
            '\'' => (Some(TokenKind::Text), quoted_length(rest, '\'')),
            '"' | '`' => (Some(TokenKind::Quoted), quoted_length(rest, first)),
            '[' => (Some(TokenKind::Quoted), rest.find(']').map_or(rest.len(), |end| end + 1)),
            'x' | 'X' if rest[1..].starts_with('\'') => {
                (Some(TokenKind::Blob), 1 + quoted_length(&rest[1..], '\''))
            }
            ':' | '@' | '$' if rest[1..].starts_with(in_word) => {
                let name = rest[1..].find(|each| !in_word(each));
                (Some(TokenKind::Parameter), name.map_or(rest.len(), |end| end + 1))
            }
            first if first.is_ascii_digit() => (Some(TokenKind::Number), number_length(rest)),
            '.' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => {
                (Some(TokenKind::Number), number_length(rest))
            }
            first if in_word(first) => {
                let end = rest.find(|each| !in_word(each)).unwrap_or(rest.len());
                (Some(TokenKind::Word), end)
            }
            first => {
                let long = LONG_SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
                (Some(TokenKind::Symbol), long.map_or(first.len_utf8(), |symbol| symbol.len()))
            }
        };
        let end = start + length;
        tokens.extend(kind.map(|kind| Token { kind, text: &sql[start..end], start }));
        start = end;
    }
    tokens
}

/// `sql` with some tokens replaced. `replace` gets a token and the one after it.
pub fn rewritten(
    sql: &str,
    replace: impl Fn(&Token<'_>, Option<&Token<'_>>) -> Option<String>,
) -> String {
    let tokens = tokens(sql);
    let mut text = String::new();
    let mut copied = 0;
    for (place, token) in tokens.iter().enumerate() {
        if let Some(other) = replace(token, tokens.get(place + 1)) {
            text.push_str(&sql[copied..token.start]);
            text.push_str(&other);
            copied = token.end();
        }
    }
    text.push_str(&sql[copied..]);
    text
}

/// The place of the bracket that closes the one at `open`, or the number of tokens.
pub fn closing(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate().skip(open) {
        if token.is("(") {
            depth += 1;
        } else if token.is(")") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return place;
            }
        }
    }
    tokens.len()
}

/// Every character beyond ASCII may be part of a name.
fn in_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '$') || !character.is_ascii()
}

/// A doubled quote is one quote.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut from = 1;
    while let Some(end) = text[from..].find(quote) {
        from += end + 1;
        if !text[from..].starts_with(quote) {
            return from;
        }
        from += 1;
    }
    text.len()
}

fn number_length(text: &str) -> usize {
    let mut previous = ' ';
    for (place, character) in text.char_indices() {
        let signed = matches!(character, '+' | '-')
            && matches!(previous, 'e' | 'E')
            && !text.starts_with("0x")
            && !text.starts_with("0X");
        if !(character.is_ascii_alphanumeric() || matches!(character, '.' | '_') || signed) {
            return place;
        }
        previous = character;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_literals_and_operators_are_distinguished() {
        let found =
            tokens("a>=-1.5e-3 AND \"b\"\"c\" <>'it''s'||x'00'/* no */ [d e]->>🦀--end\n+.5");
        let texts: Vec<&str> = found.iter().map(|token| token.text).collect();
        assert_eq!(
            texts,
            [
                "a",
                ">=",
                "-",
                "1.5e-3",
                "AND",
                "\"b\"\"c\"",
                "<>",
                "'it''s'",
                "||",
                "x'00'",
                "[d e]",
                "->>",
                "🦀",
                "+",
                ".5"
            ]
        );
        assert_eq!(found[5].name().as_deref(), Some("b\"c"));
        assert_eq!(found[7].text_value().as_deref(), Some("it's"));
        assert_eq!(found[10].name().as_deref(), Some("d e"));
        assert!(found[4].is_word("and") && found[1].is(">="));
    }

    #[test]
    fn an_unfinished_statement_does_no_harm() {
        for text in ["'", "\"a", "[", "x'", "/*", "--", "1e", "'a''", "é🦀(", "`"] {
            let found = tokens(text);
            assert!(found.iter().all(|token| token.name().is_none_or(|name| name.len() < 9)));
        }
        assert_eq!(closing(&tokens("((a) b"), 0), 5);
        assert_eq!(closing(&tokens("(a (b)) c"), 0), 5);
    }

    #[test]
    fn all_but_the_replaced_tokens_stays() {
        let sql = "SELECT id, ':id' -- :id\n FROM \"t\" WHERE a=:id/* x */AND b = id";
        let number = |token: &Token<'_>, _: Option<&Token<'_>>| {
            (token.text == ":id").then(|| "7".to_owned())
        };
        assert_eq!(rewritten(sql, number), sql.replace("a=:id", "a=7"));
        assert_eq!(rewritten("'open", |_, _| None), "'open");
    }
}
