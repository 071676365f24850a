//! Countries by their ISO 3166-1 codes, or by their English names as analytics services write
//! them.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::tsv::{Tsv, rows};

/// Code and names; names are separated by `|`.
static COUNTRIES: Tsv<(&str, &str)> = LazyLock::new(|| {
    rows(include_str!("countries.tsv")).into_iter().map(|[code, names]| (code, names)).collect()
});

/// The country of visits whose country a service does not know.
pub(super) const UNKNOWN: (&str, &str) = ("ZZ", "Unknown");

const NOT_KNOWN: [&str; 5] = ["", "(not set)", "(other)", "zz", "unknown"];

/// Finds countries by what files call them.
pub(super) struct Countries {
    by_name: HashMap<String, &'static str>,
}

impl Countries {
    pub fn new() -> Self {
        let all = COUNTRIES.iter().chain([&UNKNOWN]);
        let names = all.clone().flat_map(|(code, names)| {
            names.split('|').map(|name| (plain(name), *code)).collect::<Vec<_>>()
        });
        let codes = all.map(|(code, _)| (code.to_lowercase(), *code));
        Self { by_name: names.chain(codes).collect() }
    }

    /// The code of a country.
    pub fn code(&self, text: &str) -> Result<&'static str, String> {
        let name = plain(text);
        if NOT_KNOWN.contains(&name.as_str()) {
            return Ok(UNKNOWN.0);
        }
        self.by_name.get(&name).copied().ok_or_else(|| {
            let shown = crate::query::quoted(text.trim());
            format!(
                "{shown} is not a country; write its ISO 3166-1 code, such as DE, or ZZ for unknown"
            )
        })
    }
}

/// The name of the country with that code.
pub(super) fn name(code: &str) -> &'static str {
    let found = COUNTRIES.iter().find(|(known, _)| *known == code);
    found.map_or(UNKNOWN.1, |(_, names)| names.split('|').next().unwrap_or(names))
}

/// A name as compared: services differ in accents of punctuation, not in words.
fn plain(name: &str) -> String {
    let name = name.trim().to_lowercase().replace('’', "'").replace('&', "and").replace('.', "");
    name.strip_prefix("saint ").map_or(name.clone(), |rest| format!("st {rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn countries_are_known_by_code_and_by_name() {
        let countries = Countries::new();
        for (text, code) in [
            ("DE", "DE"),
            ("de", "DE"),
            (" Germany ", "DE"),
            ("Côte d’Ivoire", "CI"),
            ("Cote d'Ivoire", "CI"),
            ("Türkiye", "TR"),
            ("Turkey", "TR"),
            ("Trinidad & Tobago", "TT"),
            ("St. Lucia", "LC"),
            ("Saint Lucia", "LC"),
            ("(not set)", "ZZ"),
            ("Kosovo", "XK"),
        ] {
            assert_eq!(countries.code(text), Ok(code), "{text}");
        }
        assert_eq!((countries.code(""), countries.code("Canary Islands")), (Ok("ZZ"), Ok("IC")));
        for wrong in ["XX", "Atlantis", "USA!", "'; DROP TABLE countries; --"] {
            assert!(countries.code(wrong).unwrap_err().contains("not a country"), "{wrong}");
        }
    }

    #[test]
    fn every_code_has_one_country_and_a_name_that_fits() {
        let mut codes: Vec<&str> = COUNTRIES.iter().map(|(code, _)| *code).collect();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), COUNTRIES.len());
        assert_eq!(COUNTRIES.len(), 256);
        assert!(codes.iter().all(|code| code.len() == 2 && name(code).chars().count() <= 64));
        // No name is that of two countries.
        let names: usize = COUNTRIES.iter().map(|(_, names)| names.split('|').count()).sum();
        assert_eq!(Countries::new().by_name.len(), names + COUNTRIES.len() + 2);
    }
}
