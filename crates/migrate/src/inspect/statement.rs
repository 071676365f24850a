//! Reads the few facts of a CREATE TABLE statement that no pragma tells, such as CHECK.
//! A scanner of words and brackets is enough; SQLite itself has already accepted the statement.

/// Facts found in a CREATE TABLE statement.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// `AUTOINCREMENT` is written somewhere outside quotes.
    pub autoincrement: bool,
    /// The expressions of CHECK constraints, trimmed, without the outer parentheses.
    pub checks: Vec<String>,
    /// Collations named by COLLATE other than BINARY, in upper case.
    pub collations: Vec<String>,
    /// Some foreign key is `INITIALLY DEFERRED`.
    pub deferred: bool,
}

/// Scans one statement.
pub fn facts(sql: &str) -> Facts {
    let mut facts = Facts::default();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        if is_word(first) {
            let end = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
            let word = &rest[..end];
            rest = &rest[end..];
            if word.eq_ignore_ascii_case("AUTOINCREMENT") {
                facts.autoincrement = true;
            } else if word.eq_ignore_ascii_case("DEFERRED") {
                facts.deferred = true;
            } else if word.eq_ignore_ascii_case("COLLATE") {
                let name = rest.trim_start().trim_start_matches(['"', '[', '`', '\'']);
                let end = name.find(|character| !is_word(character)).unwrap_or(name.len());
                let name = name[..end].to_ascii_uppercase();
                if name != "BINARY" && !facts.collations.contains(&name) {
                    facts.collations.push(name);
                }
            } else if word.eq_ignore_ascii_case("CHECK") {
                let open = rest.trim_start();
                if open.starts_with('(') {
                    let length = bracketed(open);
                    let inside = open[..length].trim_start_matches('(');
                    let inside = inside.strip_suffix(')').unwrap_or(inside);
                    // Only the outer pair goes; inner ones that open the expression stay.
                    let lost = open[..length].len() - open[..length].trim_start_matches('(').len();
                    facts.checks.push(format!("{}{inside}", "(".repeat(lost - 1)).trim().into());
                    rest = &open[length..];
                }
            }
        } else {
            rest = &rest[skip(rest, first)..];
        }
    }
    facts
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '$'
}

/// Length in bytes of what starts with `first`: a quoted text, a comment, or one character.
fn skip(text: &str, first: char) -> usize {
    let until = |open: usize, close: &str| {
        text[open..].find(close).map_or(text.len(), |end| open + end + close.len())
    };
    match first {
        '\'' | '"' | '`' => until(1, &first.to_string()),
        '[' => until(1, "]"),
        '-' if text.starts_with("--") => until(2, "\n"),
        '/' if text.starts_with("/*") => until(2, "*/"),
        other => other.len_utf8(),
    }
}

/// Length in bytes of the bracketed text that starts at `text`, with its closing bracket.
fn bracketed(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut position = 0;
    while let Some(first) = text[position..].chars().next() {
        position += skip(&text[position..], first);
        match first {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    break;
                }
            }
            _ => {}
        }
    }
    position
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_checks_and_autoincrement_outside_quotes() {
        let found = facts(
            "CREATE TABLE \"check (1)\" (id INTEGER PRIMARY KEY AUTOINCREMENT, -- CHECK (no)\n\
             a TEXT CHECK( (a <> ')') or a IN ('x') ), 'CHECK' INT, CHECK ((id) > 0) )",
        );
        assert!(found.autoincrement);
        assert_eq!(found.checks, ["(a <> ')') or a IN ('x')", "(id) > 0"]);
        let found = facts("CREATE TABLE t(a TEXT COLLATE nocase, b COLLATE \"binary\" DEFERRED)");
        assert_eq!((found.collations, found.deferred), (vec!["NOCASE".to_owned()], true));
        assert_eq!(facts("CREATE TABLE t(\"autoincrement\", [check])"), Facts::default());
    }

    #[test]
    fn an_unfinished_statement_does_no_harm() {
        facts("CREATE TABLE t(a CHECK (a = 'x");
        facts("CREATE TABLE é🦀(a -- ");
    }
}
