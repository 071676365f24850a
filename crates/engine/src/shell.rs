//! Words of a command line as a shell takes them, for remedies that are pasted.

use std::fmt::Write as _;

/// A character that changes what a terminal shows without being seen: a control character, or one
/// that turns the direction of the text around it.
pub fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2066}'..='\u{2069}')
}

/// A flag with its value in quotes: `--map 'articles.uuid=uuid'`.
pub fn flag(name: &str, value: &str) -> String {
    format!("{name} {}", quoted_word(value))
}

/// A word in quotes. A value with control characters is written as `$'...'`, which bash, zsh and
/// ksh read.
fn quoted_word(word: &str) -> String {
    if !word.chars().any(is_invisible) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let mut quoted = String::from("$'");
    for character in word.chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\'' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            // Digits that follow cannot be taken for a part of it.
            other if other.is_ascii() && is_invisible(other) => {
                let _ = write!(quoted, "\\{:03o}", u32::from(other));
            }
            other if is_invisible(other) => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(other));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('\'');
    quoted
}

/// A word with quotes only where the shell needs them.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@%+,".contains(c);
    match !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => quoted_word(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_through_a_shell_unchanged() {
        for word in ["t.it's=text", "a\nb\u{1b}1'\\", "\u{85}\u{202e}9", "plain", "", "a b", "-x"] {
            for quoted in [quoted_word(word), shell_word(word)] {
                assert!(!quoted.chars().any(is_invisible), "{quoted:?}");
                let mut shell = std::process::Command::new("bash");
                let command = format!("printf %s {quoted}");
                let output = shell.env("LC_ALL", "C.UTF-8").args(["-c", &command]).output();
                let printed = String::from_utf8(output.unwrap().stdout).unwrap();
                assert_eq!(printed, word, "{quoted}");
            }
        }
        assert_eq!(flag("--map", "t.it's=text"), r"--map 't.it'\''s=text'");
        assert_eq!([shell_word("shop.db"), shell_word("a b")], ["shop.db", "'a b'"]);
    }
}
