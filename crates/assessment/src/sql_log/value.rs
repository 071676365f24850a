//! Parameter values as Python and Ruby write them into a log, and as SQL literals.

/// A value, or a list of them.
#[derive(Clone, Debug, PartialEq)]
pub enum Logged {
    Null,
    /// As written.
    Number(String),
    Text(String),
    List(Vec<Logged>),
}

impl Logged {
    /// The value as a literal of SQL; none of a list.
    pub fn literal(&self) -> Option<String> {
        match self {
            Self::Null => Some("NULL".to_owned()),
            Self::Number(number) => Some(number.clone()),
            Self::Text(text) => Some(format!("'{}'", text.replace('\'', "''"))),
            Self::List(_) => None,
        }
    }
}

/// Reads `(1, 'x', None)` or `[["id", 1], ["name", nil]]`; none of what has another form, as bytes,
/// or has been shortened.
pub fn read(text: &str) -> Option<Logged> {
    let mut reader = ValueReader { rest: text.trim() };
    let value = reader.value()?;
    reader.rest.trim().is_empty().then_some(value)
}

struct ValueReader<'t> {
    rest: &'t str,
}

/// Words of both languages for values.
const WORDS: [(&str, Option<&str>); 6] = [
    ("None", None),
    ("nil", None),
    ("True", Some("1")),
    ("true", Some("1")),
    ("False", Some("0")),
    ("false", Some("0")),
];

impl ValueReader<'_> {
    fn value(&mut self) -> Option<Logged> {
        self.rest = self.rest.trim_start();
        let first = self.rest.chars().next()?;
        match first {
            '(' => self.list(')'),
            '[' => self.list(']'),
            '\'' | '"' => self.text(first).map(Logged::Text),
            '-' | '0'..='9' => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
                let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
                let (number, rest) = self.rest.split_at(end);
                number.parse::<f64>().ok()?;
                self.rest = rest;
                Some(Logged::Number(number.to_owned()))
            }
            _ => {
                let (word, value) = WORDS.iter().find(|(word, _)| self.rest.starts_with(word))?;
                self.rest = &self.rest[word.len()..];
                Some(value.map_or(Logged::Null, |number| Logged::Number(number.to_owned())))
            }
        }
    }

    fn list(&mut self, close: char) -> Option<Logged> {
        self.rest = &self.rest[1..];
        let mut values = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if let Some(rest) = self.rest.strip_prefix(close) {
                self.rest = rest;
                return Some(Logged::List(values));
            }
            values.push(self.value()?);
            self.rest = self.rest.trim_start();
            match self.rest.strip_prefix(',') {
                Some(rest) => self.rest = rest,
                None if self.rest.starts_with(close) => {}
                None => return None,
            }
        }
    }

    fn text(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((place, character)) = characters.next() {
            if character == quote {
                self.rest = &self.rest[place + 1..];
                return Some(text);
            }
            if character != '\\' {
                text.push(character);
                continue;
            }
            match characters.next()?.1 {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                same @ ('\\' | '\'' | '"' | '#') => text.push(same),
                length @ ('x' | 'u') => {
                    let digits = if length == 'x' { 2 } else { 4 };
                    let code: String =
                        characters.by_ref().take(digits).map(|(_, digit)| digit).collect();
                    text.push(char::from_u32(u32::from_str_radix(&code, 16).ok()?)?);
                }
                _ => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_python_and_ruby_become_literals() {
        for (text, expected) in [
            ("()", vec![]),
            ("(1,)", vec!["1"]),
            (r#"("it's; here", 1.5, None, True)"#, vec!["'it''s; here'", "1.5", "NULL", "1"]),
            (r"('a\\b\'c\n\xe9', -3)", vec!["'a\\b''c\n\u{e9}'", "-3"]),
            (r#"["x \"y\"", nil, false]"#, vec!["'x \"y\"'", "NULL", "0"]),
        ] {
            let Some(Logged::List(values)) = read(text) else { unreachable!("{text}") };
            let literals: Vec<String> = values.iter().filter_map(Logged::literal).collect();
            assert_eq!(literals, expected, "{text}");
        }
    }

    #[test]
    fn other_forms_are_not_guessed() {
        for text in ["(b'x',)", "(1", "(1 2)", "(datetime.date(2024, 1, 5),)", "('a ... b", "1, 2"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("(1, 2 ... 90 parameters truncated ... 3)"), None);
    }
}
