//! Draft of an expression that translation does not understand: the same SQL with names as
//! migration writes them.

use crate::source::quoted;
use sql::{TokenKind, tokens};

/// Functions that only have another name in PostgreSQL.
const OTHER_NAMES: [(&str, &str); 2] = [("ifnull", "coalesce"), ("instr", "strpos")];

/// `sql` with `names` quoted as migration writes them (which keeps their case) and other quotes of
/// names as PostgreSQL has them; everything else is unchanged.
pub fn renamed(sql: &str, names: &[(&str, &str)]) -> String {
    let tokens = tokens(sql);
    let mut text = String::with_capacity(sql.len());
    let mut done = 0;
    for (place, token) in tokens.iter().enumerate() {
        // `name (` is a call, unless columns of a table follow.
        let is_table = place > 0 && tokens[place - 1].is_word("INTO");
        let calls = !is_table && tokens.get(place + 1).is_some_and(|next| next.is("("));
        let known = token.name().and_then(|name| {
            let same = names.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
            match (same, token.kind) {
                (Some((_, same)), _) => Some(quoted(same)),
                (None, TokenKind::Quoted) => Some(quoted(&name)),
                _ => None,
            }
        });
        let other = OTHER_NAMES.iter().find(|(name, _)| calls && token.is_word(name));
        let written = match (known, other) {
            _ if token.is("==") => "=".to_owned(),
            (Some(name), _) if !(calls && token.kind == TokenKind::Word) => name,
            (_, Some((_, other))) => (*other).to_owned(),
            _ => token.text.to_owned(),
        };
        text.push_str(&sql[done..token.start]);
        text.push_str(&written);
        done = token.end();
    }
    text.push_str(&sql[done..]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_and_nothing_else_changes() {
        assert_eq!(
            renamed(
                "SELECT Name, `b c`, ifnull([d],'Name') FROM T -- all of t\nWHERE name == 'x'",
                &[("name", "name"), ("T", "T")]
            ),
            "SELECT \"name\", \"b c\", coalesce(\"d\",'Name') FROM \"T\" -- all of t\n\
             WHERE \"name\" = 'x'"
        );
    }
}
