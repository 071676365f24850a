//! SQL cut into tokens: enough to find where a statement ends and which words are names. What a
//! statement means is left to the engines.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A keyword, a function or a name without quotes.
    Word,
    /// A name in `"`, `` ` `` or brackets.
    QuotedName,
    Blank,
    /// `;`
    End,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
}

/// All tokens of `sql`; together they are `sql` again.
pub fn tokens(sql: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(rest) = sql.get(start..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = first(rest);
        found.push(Token { kind, text: &rest[..length], start });
        start += length;
    }
    found
}

fn first(rest: &str) -> (Kind, usize) {
    let mut characters = rest.chars();
    let Some(character) = characters.next() else { return (Kind::Blank, 0) };
    let next = characters.next();
    let line = || rest.find('\n').unwrap_or(rest.len());
    let while_true = |allowed: fn(char) -> bool| rest.find(|c| !allowed(c)).unwrap_or(rest.len());
    match (character, next) {
        ('-', Some('-')) => (Kind::Blank, line()),
        ('/', Some('*')) => (Kind::Blank, rest.find("*/").map_or(rest.len(), |end| end + 2)),
        ('\'', _) => (Kind::Other, quoted_length(rest, '\'')),
        ('"' | '`', _) => (Kind::QuotedName, quoted_length(rest, character)),
        ('[', _) => (Kind::QuotedName, rest.find(']').map_or(rest.len(), |end| end + 1)),
        (';', _) => (Kind::End, 1),
        (c, _) if c.is_whitespace() => (Kind::Blank, while_true(char::is_whitespace)),
        (c, _) if c.is_ascii_digit() => (Kind::Other, while_true(|c| c.is_alphanumeric())),
        (c, _) if is_word(c) => (Kind::Word, while_true(is_word)),
        (':' | '@' | '$', Some(c)) if is_word(c) => {
            let name = rest[1..].find(|c| !is_word(c)).map_or(rest.len(), |end| end + 1);
            (Kind::Other, name)
        }
        (c, _) => (Kind::Other, c.len_utf8()),
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

/// The length of a quoted piece, in which the quote is written twice.
fn quoted_length(rest: &str, quote: char) -> usize {
    let mut inside = rest.char_indices().skip(1).peekable();
    while let Some((place, character)) = inside.next() {
        if character == quote && inside.next_if(|(_, next)| *next == quote).is_none() {
            return place + 1;
        }
    }
    rest.len()
}

/// The name that a token stands for, if it can be one.
pub fn name(token: &Token<'_>) -> Option<String> {
    match token.kind {
        Kind::Word => Some(token.text.to_owned()),
        Kind::QuotedName if token.text.len() >= 2 => {
            let inside = &token.text[1..token.text.len() - 1];
            Some(match token.text.as_bytes()[0] {
                b'"' => inside.replace("\"\"", "\""),
                b'`' => inside.replace("``", "`"),
                _ => inside.to_owned(),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_the_text_again() {
        for sql in [
            "SELECT a, 'it''s; not' FROM \"t;\"\"x\" -- ; comment\n WHERE [b;c] = :id; /* ; */ x",
            "'open",
            "/* open",
            "",
            "é = 'ü';`q``;`",
        ] {
            let found = tokens(sql);
            assert_eq!(found.iter().map(|token| token.text).collect::<String>(), sql);
        }
    }

    #[test]
    fn only_a_semicolon_outside_of_quotes_and_comments_ends() {
        let sql = "SELECT ';' -- ;\n, \";\", [;], `;` /* ; */ ; SELECT 1";
        let ends = tokens(sql).into_iter().filter(|token| token.kind == Kind::End);
        assert_eq!(ends.map(|token| token.start).collect::<Vec<_>>(), [sql.rfind(';').unwrap()]);
    }

    #[test]
    fn names_lose_their_quotes() {
        let names: Vec<String> = tokens("a\"b\"\"c\"[d e]`f``g`").iter().filter_map(name).collect();
        assert_eq!(names, ["a", "b\"c", "d e", "f`g"]);
    }
}
