//! Release numbers: what a user asks for (`18`, `16.10`, newest) and what a server is (`18.1`).
//! Kept apart so that an exact release can never be a wish.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// A wish: the newest release, a major release, or an exact one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VersionRequest {
    components: Vec<u16>,
}

/// An exact release: `18.1`, or three numbers before release 10 (`9.6.24`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExactVersion {
    components: Vec<u16>,
}

impl VersionRequest {
    /// The newest release there is.
    #[must_use]
    pub fn newest() -> Self {
        Self::default()
    }

    /// Whether any release will do.
    #[must_use]
    pub fn is_newest(&self) -> bool {
        self.components.is_empty()
    }

    /// Whether `exact` is one of the releases asked for: the request is its beginning.
    #[must_use]
    pub fn matches(&self, exact: &ExactVersion) -> bool {
        exact.components.starts_with(&self.components)
    }

    /// The numbers asked for; none for the newest.
    #[must_use]
    pub fn components(&self) -> &[u16] {
        &self.components
    }

    /// Whether `text` is written like a release: digits and dots.
    pub(crate) fn looks_like_one(text: &str) -> bool {
        text.starts_with(|first: char| first.is_ascii_digit())
            && text.chars().all(|character| character.is_ascii_digit() || character == '.')
    }
}

impl ExactVersion {
    /// The numbers, most significant first.
    #[must_use]
    pub fn components(&self) -> &[u16] {
        &self.components
    }

    /// The major release: one number from 10 on, two before (`9.6`).
    #[must_use]
    pub fn major(&self) -> VersionRequest {
        let length = if self.components.first().is_some_and(|first| *first >= 10) { 1 } else { 2 };
        VersionRequest { components: self.components.iter().copied().take(length).collect() }
    }
}

impl From<&ExactVersion> for VersionRequest {
    /// Asks for exactly this release.
    fn from(exact: &ExactVersion) -> Self {
        Self { components: exact.components.clone() }
    }
}

fn parse_components(text: &str) -> Result<Vec<u16>, Error> {
    let bad = || Error::BadVersion { text: text.to_owned() };
    let components: Vec<u16> = text
        .split('.')
        .map(|number| number.parse::<u16>().map_err(|_| bad()))
        .collect::<Result<_, _>>()?;
    // `parse` also takes `+18`; no release is written so, and it would not round-trip.
    let canonical = components.iter().map(u16::to_string).collect::<Vec<_>>().join(".");
    if canonical == text && components.len() <= 3 { Ok(components) } else { Err(bad()) }
}

impl FromStr for VersionRequest {
    type Err = Error;

    /// Reads `18`, `16.10`, `9.6`, `9.6.24`; `newest` and an empty text ask for the newest.
    fn from_str(text: &str) -> Result<Self, Error> {
        if text.is_empty() || text == "newest" {
            return Ok(Self::newest());
        }
        Ok(Self { components: parse_components(text)? })
    }
}

impl FromStr for ExactVersion {
    type Err = Error;

    /// Reads `18.1` and `9.6.24`; a third number from release 10 on must be 0 (`18.1.0`).
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut components = parse_components(text)?;
        let modern = components.first().is_some_and(|first| *first >= 10);
        if modern && components.len() == 3 && components.last() == Some(&0) {
            components.pop();
        }
        if components.len() != if modern { 2 } else { 3 } {
            return Err(Error::BadVersion { text: text.to_owned() });
        }
        Ok(Self { components })
    }
}

fn write_components(formatter: &mut fmt::Formatter<'_>, components: &[u16]) -> fmt::Result {
    for (index, component) in components.iter().enumerate() {
        let separator = if index == 0 { "" } else { "." };
        write!(formatter, "{separator}{component}")?;
    }
    Ok(())
}

impl fmt::Display for VersionRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_newest() {
            return formatter.write_str("newest");
        }
        write_components(formatter, &self.components)
    }
}

impl fmt::Display for ExactVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_components(formatter, &self.components)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(text: &str) -> ExactVersion {
        text.parse().unwrap()
    }

    #[test]
    fn a_request_matches_the_releases_that_begin_with_it() {
        let request: VersionRequest = "18".parse().unwrap();
        assert!(request.matches(&exact("18.1")));
        assert!(!request.matches(&exact("17.18")));
        let request: VersionRequest = "9.6".parse().unwrap();
        assert!(request.matches(&exact("9.6.24")));
        let request: VersionRequest = "16.1".parse().unwrap();
        assert!(!request.matches(&exact("16.10")));
        assert!(VersionRequest::newest().matches(&exact("9.6.24")));
    }

    #[test]
    fn exact_releases_order_by_number_and_know_their_major() {
        assert!(exact("16.10") > exact("16.9"));
        assert!(exact("10.1") > exact("9.6.24"));
        assert_eq!(exact("18.1.0").to_string(), "18.1");
        assert_eq!(exact("9.6.24").major().to_string(), "9.6");
        assert_eq!(exact("18.1").major().to_string(), "18");
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["18.", ".6", "+18", "018", "18beta1", "1.2.3.4", "99999"] {
            assert!(text.parse::<VersionRequest>().is_err(), "{text}");
        }
        for text in ["18", "9.6", "18.1.2"] {
            assert!(text.parse::<ExactVersion>().is_err(), "{text}");
        }
    }
}
