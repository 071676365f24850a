//! A pattern of GLOB as a regular expression of PostgreSQL.

/// The regular expression that matches the same texts. `None` for a pattern with a set that is
/// not closed or a range that is turned round, which match nothing in SQLite.
pub fn regular_expression(pattern: &str) -> Option<String> {
    let mut written = String::from("^");
    let mut signs = pattern.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '*' => written.push_str(".*"),
            '?' => written.push('.'),
            '[' => {
                let rest = signs.as_str();
                let (set, length) = set(rest)?;
                written.push_str(&set);
                signs = rest[length..].chars();
            }
            other => push_escaped(&mut written, other),
        }
    }
    written.push('$');
    Some(written)
}

/// A set of characters after its opening bracket, with the length of what was read.
fn set(rest: &str) -> Option<(String, usize)> {
    let mut written = String::from("[");
    let mut signs = rest.char_indices().peekable();
    if signs.next_if(|(_, sign)| *sign == '^').is_some() {
        written.push('^');
    }
    let mut before: Option<char> = None;
    let mut is_first = true;
    while let Some((place, sign)) = signs.next() {
        match sign {
            // The first one is a member.
            ']' if !is_first => {
                written.push(']');
                return Some((written, place + 1));
            }
            '-' if before.is_some() && signs.peek().is_some_and(|(_, next)| *next != ']') => {
                let (_, last) = signs.next()?;
                if before.is_some_and(|first| first > last) {
                    return None;
                }
                written.push('-');
                push_escaped(&mut written, last);
                before = None;
            }
            member => {
                push_escaped(&mut written, member);
                before = Some(member);
            }
        }
        is_first = false;
    }
    None
}

fn push_escaped(written: &mut String, sign: char) {
    if sign.is_ascii_punctuation() {
        written.push('\\');
    }
    written.push(sign);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_their_regular_expression() {
        for (pattern, expected) in [
            ("", Some("^$")),
            ("a.b*?", Some("^a\\.b.*.$")),
            ("[^a-c]", Some("^[^a-c]$")),
            ("[]x-]é", Some("^[\\]x\\-]é$")),
            ("[a-c-e]", Some("^[a-c\\-e]$")),
            ("[^]]", Some("^[^\\]]$")),
            ("[c-a]", None),
            ("[abc", None),
            ("[]", None),
        ] {
            assert_eq!(regular_expression(pattern).as_deref(), expected, "{pattern}");
        }
    }
}
