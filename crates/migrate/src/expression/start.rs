//! What people may start from where translation ends: the same SQL with names as migration writes
//! them, and the usual functions of defaults.

use crate::inspect::quoted;
use crate::inspect::token::{TokenKind, tokens};

/// Functions that only have another name in PostgreSQL.
const OTHER_NAMES: [(&str, &str); 2] = [("ifnull", "coalesce"), ("instr", "strpos")];

/// Defaults of SQLite, without blanks, beside what PostgreSQL has for them.
const DEFAULTS: [(&str, &str); 13] = [
    ("strftime('%s','now')", "floor(extract(epoch FROM now()))::bigint"),
    ("cast(strftime('%s','now')asinteger)", "floor(extract(epoch FROM now()))::bigint"),
    ("cast(strftime('%s','now')asint)", "floor(extract(epoch FROM now()))::bigint"),
    ("unixepoch()", "floor(extract(epoch FROM now()))::bigint"),
    ("unixepoch('now')", "floor(extract(epoch FROM now()))::bigint"),
    (
        "strftime('%Y-%m-%dT%H:%M:%fZ','now')",
        "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')",
    ),
    (
        "strftime('%Y-%m-%dT%H:%M:%SZ','now')",
        "to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"')",
    ),
    ("datetime('now','localtime')", "localtimestamp(0)"),
    ("julianday('now')", "extract(epoch FROM now()) / 86400.0 + 2440587.5"),
    ("random()", "('x' || substr(md5(random()::text), 1, 16))::bit(64)::bigint"),
    ("lower(hex(randomblob(16)))", "replace(gen_random_uuid()::text, '-', '')"),
    ("hex(randomblob(16))", "upper(replace(gen_random_uuid()::text, '-', ''))"),
    ("uuid()", "gen_random_uuid()"),
];

/// PostgreSQL's expression for a default that is not a literal, if it is one of the usual ones.
pub fn default_start(default: &str) -> Option<&'static str> {
    let tokens = tokens(default);
    let parts = tokens.iter().map(|token| match token.kind {
        TokenKind::Word => token.text.to_ascii_lowercase(),
        _ => token.text.to_owned(),
    });
    let written = parts.collect::<String>();
    let inner = written.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let known = |text: &str| DEFAULTS.iter().find(|(known, _)| *known == text);
    known(&written).or_else(|| known(inner?)).map(|(_, expression)| *expression)
}

/// `sql` with `names` quoted as migration writes them (which keeps their case) and other quotes of
/// names as PostgreSQL has them; everything else is as it was.
pub fn renamed(sql: &str, names: &[&str]) -> String {
    let tokens = tokens(sql);
    let mut text = String::with_capacity(sql.len());
    let mut done = 0;
    for (place, token) in tokens.iter().enumerate() {
        // `name (` is a call, unless columns of a table follow.
        let is_table = place > 0 && tokens[place - 1].is_word("INTO");
        let calls = !is_table && tokens.get(place + 1).is_some_and(|next| next.is("("));
        let known = token.name().and_then(|name| {
            let same = names.iter().find(|known| known.eq_ignore_ascii_case(&name));
            match (same, token.kind) {
                (Some(same), _) => Some(quoted(same)),
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
                &["name", "T"]
            ),
            "SELECT \"name\", \"b c\", coalesce(\"d\",'Name') FROM \"T\" -- all of t\n\
             WHERE \"name\" = 'x'"
        );
    }

    #[test]
    fn usual_defaults_are_known() {
        let epoch = "floor(extract(epoch FROM now()))::bigint";
        assert_eq!(default_start("strftime( '%s', 'now' )"), Some(epoch));
        assert_eq!(default_start("(UNIXEPOCH())"), Some(epoch));
        assert_eq!(default_start("abs(-1)"), None);
    }
}
