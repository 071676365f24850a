//! Parameters of the query API and the reading of their values: unknown, repeated and impossible
//! ones are refused by name.

use super::{Day, Publication, QueryRefusal, filter};
use strum::VariantArray;

/// The parameters beside those of filters.
const PLAIN: [&str; 12] = [
    "start",
    "end",
    "translations",
    "split",
    "compare",
    "count",
    "states",
    "unknown_values",
    "sort",
    "limit",
    "offset",
    "format",
];

/// The parameters of one request: all known, and none twice but those of filters.
pub(super) struct ParameterValues<'a>(&'a [(String, String)]);

impl<'a> ParameterValues<'a> {
    pub(super) fn check(pairs: &'a [(String, String)]) -> Result<Self, QueryRefusal> {
        for (place, (name, _)) in pairs.iter().enumerate() {
            let known = || PLAIN.into_iter().chain(filter::parameters());
            if !known().any(|known| known == name) {
                let suggestion = engine::nearest(name, known());
                return Err(QueryRefusal::Unknown { name: name.clone(), suggestion });
            }
            if filter::is_repeatable(name) {
                continue;
            }
            if pairs[..place].iter().any(|(earlier, _)| earlier == name) {
                return Err(QueryRefusal::Twice { name: name.clone() });
            }
        }
        Ok(Self(pairs))
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// A day that has to be given.
    pub(super) fn required(&self, name: &'static str) -> Result<Day, QueryRefusal> {
        self.day(name)?.ok_or(QueryRefusal::Missing { name })
    }

    fn day(&self, name: &'static str) -> Result<Option<Day>, QueryRefusal> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let day =
            text.parse().map_err(|()| QueryRefusal::NotADate { name, value: text.to_owned() });
        day.map(Some)
    }

    /// Days of publication between two parameters, either of which may be absent.
    pub(super) fn publication(
        &self,
        from: &'static str,
        to: &'static str,
    ) -> Result<Publication, QueryRefusal> {
        let publication = Publication { from: self.day(from)?, to: self.day(to)? };
        match (publication.from, publication.to) {
            (Some(first), Some(last)) if last < first => {
                Err(QueryRefusal::ToBeforeFrom { from, to, first, last })
            }
            _ => Ok(publication),
        }
    }

    /// A value read by `reader`, which names what it would have taken instead.
    pub(super) fn read<T>(
        &self,
        name: &'static str,
        reader: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, QueryRefusal> {
        let Some(text) = self.get(name) else { return Ok(None) };
        reader(text).map(Some).map_err(|expected| QueryRefusal::Value {
            name,
            value: text.to_owned(),
            expected,
        })
    }

    pub(super) fn one_of<T>(&self, name: &'static str) -> Result<Option<T>, QueryRefusal>
    where
        T: VariantArray + Copy + Into<&'static str>,
    {
        self.read(name, |text| {
            let found = T::VARIANTS.iter().copied().find(|choice| (*choice).into() == text);
            found.ok_or_else(|| {
                let names: Vec<&str> = T::VARIANTS.iter().map(|choice| (*choice).into()).collect();
                names.join(" or ") + &engine::nearest(text, names)
            })
        })
    }
}

/// A thing that is asked for by one word and by nothing else.
pub(super) fn only(word: &'static str) -> impl Fn(&str) -> Result<bool, String> {
    move |text| if text == word { Ok(true) } else { Err(format!("{word}, or left out")) }
}

/// Digits only: `u64` alone would take a leading `+`.
pub(super) fn whole_number(text: &str) -> Result<u64, String> {
    let expected = || "a whole number, 0 or more".to_owned();
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(expected());
    }
    text.parse().map_err(|_| expected())
}
