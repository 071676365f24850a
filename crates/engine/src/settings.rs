//! The bracketed `key=value` list after an engine name. Order is kept, keys are unique,
//! and what is printed reads back as the same list.

use std::fmt;

/// The settings of an engine, in the order written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Settings {
    pairs: Vec<(String, String)>,
}

impl Settings {
    /// The value of `key`, if it is set.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Sets `key`, replacing an earlier value. The key must be a name as `parse` takes it.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        check_key(key)?;
        match self.pairs.iter_mut().find(|(name, _)| name == key) {
            Some(pair) => value.clone_into(&mut pair.1),
            None => self.pairs.push((key.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// Reads what stands between the brackets.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut settings = Self::default();
        let mut rest = text;
        while !rest.is_empty() || !settings.is_empty() {
            let Some((key, after)) = rest.split_once('=') else {
                return Err(format!("`{rest}` has no `=`"));
            };
            let key = key.trim();
            check_key(key)?;
            let (value, after) = take_value(key, after.trim_start())?;
            if settings.get(key).is_some() {
                return Err(format!("`{key}` is given twice"));
            }
            settings.pairs.push((key.to_owned(), value));
            match after.strip_prefix(',') {
                Some(next) => rest = next,
                None if after.is_empty() => break,
                None => return Err(format!("`{after}` after the value of `{key}`")),
            }
        }
        Ok(settings)
    }
}

fn check_key(key: &str) -> Result<(), String> {
    let first_is_letter = key.starts_with(|first: char| first.is_ascii_alphabetic());
    let rest_is_name = key
        .chars()
        .all(|character| character.is_ascii_alphanumeric() || matches!(character, '_' | '.'));
    if first_is_letter && rest_is_name {
        Ok(())
    } else {
        Err(format!("`{key}` is not a name of a setting"))
    }
}

/// Whether a value has to be quoted to be read back: everything that ends or opens a value.
fn needs_quotes(value: &str) -> bool {
    value.is_empty()
        || value.contains(|character: char| {
            character.is_whitespace() || matches!(character, ',' | '[' | ']' | '\'')
        })
}

/// One value and the text after it. Inside quotes a quote is doubled, as in SQL.
fn take_value<'a>(key: &str, text: &'a str) -> Result<(String, &'a str), String> {
    let Some(mut quoted) = text.strip_prefix('\'') else {
        let end = text.find(',').unwrap_or(text.len());
        let value = text[..end].trim_end();
        if needs_quotes(value) {
            return Err(format!("the value of `{key}` needs single quotes"));
        }
        return Ok((value.to_owned(), &text[end..]));
    };
    let mut value = String::new();
    loop {
        let Some((part, after)) = quoted.split_once('\'') else {
            return Err(format!("the quoted value of `{key}` does not end"));
        };
        value.push_str(part);
        match after.strip_prefix('\'') {
            Some(more) => {
                value.push('\'');
                quoted = more;
            }
            None => return Ok((value, after.trim_start())),
        }
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (key, value)) in self.iter().enumerate() {
            let separator = if index == 0 { "" } else { "," };
            if needs_quotes(value) {
                write!(formatter, "{separator}{key}='{}'", value.replace('\'', "''"))?;
            } else {
                write!(formatter, "{separator}{key}={value}")?;
            }
        }
        Ok(())
    }
}

/// ` (did you mean ...?)` with the candidate most like `name`, or nothing if none is close.
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest_of(name, candidates)
        .map_or_else(String::new, |candidate| format!(" (did you mean `{candidate}`?)"))
}

/// The candidate most like `name`: by Jaro-Winkler above 0.8; in short words, where that finds none, one
/// letter more, less or exchanged (`tyr`).
#[must_use]
pub fn nearest_of<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    const LIKE: f64 = 0.8;
    let lower = name.to_lowercase();
    let likeness = |candidate: &str| {
        let other = candidate.to_lowercase();
        let is_slip = lower.len() > 2 && strsim::osa_distance(&lower, &other) == 1;
        strsim::jaro_winkler(&lower, &other).max(if is_slip { LIKE + 0.01 } else { 0.0 })
    };
    let candidates = candidates.into_iter().map(|candidate| (likeness(candidate), candidate));
    let like = candidates.filter(|(likeness, _)| *likeness > LIKE);
    like.max_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, candidate)| candidate)
}
