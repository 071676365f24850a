//! Filters: which rows of the facts count. Inside a dimension the values are alternatives,
//! between dimensions every condition has to hold.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::{Day, Refusal};

/// A dimension that a filter can name values of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    Blog,
    Author,
    Team,
    Product,
    Language,
    HumanLanguage,
    Country,
    Article,
}

/// A field with the parameters that include and exclude its values.
struct Names {
    field: Field,
    include: &'static str,
    exclude: &'static str,
}

const FIELDS: [Names; 8] = [
    names(Field::Blog, "blog", "not_blog"),
    names(Field::Author, "author", "not_author"),
    names(Field::Team, "team", "not_team"),
    names(Field::Product, "product", "not_product"),
    names(Field::Language, "language", "not_language"),
    names(Field::HumanLanguage, "human_language", "not_human_language"),
    names(Field::Country, "country", "not_country"),
    names(Field::Article, "article", "not_article"),
];

const fn names(field: Field, include: &'static str, exclude: &'static str) -> Names {
    Names { field, include, exclude }
}

/// More values than this are refused: it keeps every statement below the 32,766 parameters that
/// SQLite binds (<https://www.sqlite.org/limits.html>, item 9).
pub const FILTER_VALUES_MAX: usize = 10_000;

/// Values of one dimension, by their keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    pub field: Field,
    /// Whether the values are left out instead of let in.
    pub exclude: bool,
    /// The keys, in the order given.
    pub keys: Vec<String>,
}

impl Filter {
    /// The parameter that the filter came from.
    #[must_use]
    pub fn parameter(&self) -> &'static str {
        let names = FIELDS.iter().find(|names| names.field == self.field);
        names.map_or("", |names| if self.exclude { names.exclude } else { names.include })
    }
}

/// Days of publication, both ends inclusive; an open end has no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Publication {
    pub from: Option<Day>,
    pub to: Option<Day>,
}

impl Publication {
    /// Whether no end is given, so that nothing is asked.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.from.is_none() && self.to.is_none()
    }
}

/// Everything that narrows the facts of a period.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    /// By the values of dimensions; at most one including and one excluding filter for each.
    pub values: Vec<Filter>,
    pub published: Publication,
    pub not_published: Publication,
}

/// The parameters of filters that may be repeated: all values of dimensions but the one blog.
pub(super) fn is_repeatable(parameter: &str) -> bool {
    parameter != "blog" && named(parameter).is_some()
}

/// Every parameter of this file.
pub(super) fn parameters() -> impl Iterator<Item = &'static str> {
    let ranges = ["published_from", "published_to", "not_published_from", "not_published_to"];
    FIELDS.iter().flat_map(|names| [names.include, names.exclude]).chain(ranges)
}

fn named(parameter: &str) -> Option<(Field, bool)> {
    FIELDS.iter().find_map(|names| match parameter {
        _ if parameter == names.include => Some((names.field, false)),
        _ if parameter == names.exclude => Some((names.field, true)),
        _ => None,
    })
}

impl Filters {
    /// Reads the filters out of a request's pairs; other parameters are passed over.
    pub(super) fn read(pairs: &[(String, String)]) -> Result<Self, Refusal> {
        let mut filters = Self::default();
        for (name, value) in pairs {
            let Some((field, exclude)) = named(name) else { continue };
            let known =
                filters.values.iter().position(|f| f.field == field && f.exclude == exclude);
            let place = known.unwrap_or_else(|| {
                filters.values.push(Filter { field, exclude, keys: Vec::new() });
                filters.values.len() - 1
            });
            let Some(filter) = filters.values.get_mut(place) else { continue };
            // PostgreSQL refuses a NUL in any text, so no key can have one.
            if value.contains('\0') {
                let name = filter.parameter();
                return Err(Refusal::UnknownKey { name, key: value.clone() });
            }
            if !filter.keys.contains(value) {
                filter.keys.push(value.clone());
            }
        }
        filters.values.sort_by_key(|filter| (filter.exclude, filter.field));
        let count: usize = filters.values.iter().map(|filter| filter.keys.len()).sum();
        if count > FILTER_VALUES_MAX {
            return Err(Refusal::TooManyValues { count });
        }
        Ok(filters)
    }
}

/// Under the names of their parameters; the one blog as a text, all others as lists.
impl Serialize for Filters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for filter in &self.values {
            match (filter.field, filter.exclude, filter.keys.first()) {
                (Field::Blog, false, Some(blog)) => map.serialize_entry("blog", blog)?,
                _ => map.serialize_entry(filter.parameter(), &filter.keys)?,
            }
        }
        let days = [
            ("published_from", self.published.from),
            ("published_to", self.published.to),
            ("not_published_from", self.not_published.from),
            ("not_published_to", self.not_published.to),
        ];
        for (name, day) in days {
            if let Some(day) = day {
                map.serialize_entry(name, &day)?;
            }
        }
        map.end()
    }
}
