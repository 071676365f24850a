//! Headers of a request: a table of names, each with one value or with a list of values, since a name
//! may be sent several times.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names and values of a request's headers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Headers(BTreeMap<String, HeaderValues>);

/// The values of one name, in the order in which they are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct HeaderValues(Vec<String>);

impl Headers {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a header, behind those of its name.
    pub fn add(&mut self, name: String, value: String) {
        self.0.entry(name).or_default().0.push(value);
    }

    /// Whether there is one of this name, whatever the case of its letters.
    pub fn contains(&self, name: &str) -> bool {
        self.0.keys().any(|known| known.eq_ignore_ascii_case(name))
    }

    /// Every header with its name, as sent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.0.iter();
        names.flat_map(|(name, values)| {
            values.0.iter().map(move |value| (name.as_str(), value.as_str()))
        })
    }

    /// Every value with its key in the table.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (String, &str)> {
        let names = self.0.iter();
        names.flat_map(|(name, values)| {
            values.0.iter().enumerate().map(move |(place, value)| {
                let key = match values.0.len() {
                    1 => name.clone(),
                    _ => format!("{name}.{place}"),
                };
                (key, value.as_str())
            })
        })
    }
}

impl FromIterator<(String, String)> for Headers {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(pairs: I) -> Self {
        let mut headers = Self::default();
        pairs.into_iter().for_each(|(name, value)| headers.add(name, value));
        headers
    }
}

impl Serialize for HeaderValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [value] => serializer.serialize_str(value),
            values => values.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for HeaderValues {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrSeveral;

        impl<'de> Visitor<'de> for OneOrSeveral {
            type Value = HeaderValues;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text in quotes or a list of such texts")
            }

            fn visit_str<E>(self, value: &str) -> Result<HeaderValues, E> {
                Ok(HeaderValues(vec![value.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<HeaderValues, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(HeaderValues(values))
            }
        }

        deserializer.deserialize_any(OneOrSeveral)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_value_or_a_list_and_comes_back_from_toml() {
        let text = "Accept = [\"text/html\", \"text/plain\"]\nHost = \"shop\"\n";
        let headers: Headers = toml::from_str(text).unwrap();
        let all: Vec<_> = headers.iter().collect();
        let expected = [("Accept", "text/html"), ("Accept", "text/plain"), ("Host", "shop")];
        assert_eq!(all, expected);
        assert_eq!(toml::to_string(&headers).unwrap(), text);
        let pairs = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(Headers::from_iter(pairs), headers);
        assert!(headers.contains("accept") && !headers.contains("Accep"));
    }
}
