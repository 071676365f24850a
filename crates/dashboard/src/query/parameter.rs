//! The names of the parameters, and reading their values: unknown, repeated and impossible ones
//! are refused by name.

use super::{Day, Refusal};

/// What this version answers.
const OFFERED: [&str; 8] = ["start", "end", "blog", "count", "sort", "limit", "offset", "format"];

/// What the contract names beyond that. Refused by name, so that nobody takes an unfiltered
/// answer for a filtered one.
const NOT_OFFERED: [&str; 22] = [
    "author",
    "team",
    "product",
    "language",
    "human_language",
    "country",
    "article",
    "not_blog",
    "not_author",
    "not_team",
    "not_product",
    "not_language",
    "not_human_language",
    "not_country",
    "not_article",
    "published_from",
    "published_to",
    "not_published_from",
    "not_published_to",
    "translations",
    "split",
    "compare",
];

/// The parameters of one request: all known, none twice.
pub(super) struct Parameters<'a>(&'a [(String, String)]);

impl<'a> Parameters<'a> {
    pub(super) fn check(pairs: &'a [(String, String)]) -> Result<Self, Refusal> {
        for (place, (name, _)) in pairs.iter().enumerate() {
            if NOT_OFFERED.contains(&name.as_str()) {
                return Err(Refusal::NotOffered { name: name.clone() });
            }
            if !OFFERED.contains(&name.as_str()) {
                let suggestion = engine::nearest(name, OFFERED);
                return Err(Refusal::Unknown { name: name.clone(), suggestion });
            }
            if pairs[..place].iter().any(|(earlier, _)| earlier == name) {
                return Err(Refusal::Twice { name: name.clone() });
            }
        }
        Ok(Self(pairs))
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A day that has to be given.
    pub(super) fn required(&self, name: &'static str) -> Result<Day, Refusal> {
        let text = self.get(name).ok_or(Refusal::Missing { name })?;
        text.parse().map_err(|()| Refusal::NotADate { name, value: text.to_owned() })
    }

    /// A value read by `reader`, which names what it would have taken instead.
    pub(super) fn read<T>(
        &self,
        name: &'static str,
        reader: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = self.get(name) else { return Ok(None) };
        reader(text).map(Some).map_err(|expected| Refusal::Value {
            name,
            value: text.to_owned(),
            expected,
        })
    }

    pub(super) fn one_of<T: Copy>(
        &self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, Refusal> {
        self.read(name, |text| {
            let names: Vec<&str> = choices.iter().map(|(known, _)| *known).collect();
            let found = choices.iter().find(|(known, _)| *known == text);
            found
                .map(|(_, choice)| *choice)
                .ok_or_else(|| names.join(" or ") + &engine::nearest(text, names))
        })
    }
}

/// Digits only: `u64` alone would take a leading `+`.
pub(super) fn whole_number(text: &str) -> Result<u64, String> {
    let expected = || "a whole number, 0 or more".to_owned();
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(expected());
    }
    text.parse().map_err(|_| expected())
}
