//! Filters of facts. Inside a dimension the values are alternatives, between dimensions every
//! condition has to hold.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::{Day, QueryRefusal};
use crate::schema::{DIMENSIONS, Dimension};

/// More values than this are refused: it keeps every statement below the 32,766 parameters that
/// SQLite binds (<https://www.sqlite.org/limits.html>, item 9).
pub const FILTER_VALUES_MAX: usize = 10_000;

/// Values of one dimension, by their keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DimensionFilter {
    pub dimension: Dimension,
    /// Whether the values are left out instead of let in.
    pub exclude: bool,
    /// The keys, in the order given.
    pub keys: Vec<String>,
}

impl DimensionFilter {
    /// The parameter that the filter came from.
    #[must_use]
    pub fn parameter(&self) -> &'static str {
        if self.exclude { self.dimension.exclude() } else { self.dimension.name() }
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
    pub values: Vec<DimensionFilter>,
    pub published: Publication,
    pub not_published: Publication,
    /// Days of traffic that are left out.
    pub not_days: Vec<Day>,
    /// Whether a value that is not there is no error: nothing has it.
    pub allows_unknown: bool,
}

const NOT_DAY: &str = "not_day";

/// The parameters of filters that may be repeated: days, and all values of dimensions but the one
/// blog.
pub(super) fn is_repeatable(parameter: &str) -> bool {
    parameter != "blog" && named(parameter).is_some() || parameter == NOT_DAY
}

/// Every parameter of this file.
pub(super) fn parameters() -> impl Iterator<Item = &'static str> {
    let ranges = ["published_from", "published_to", "not_published_from", "not_published_to"];
    DIMENSIONS.iter().flat_map(|it| [it.name(), it.exclude()]).chain(ranges).chain([NOT_DAY])
}

fn named(parameter: &str) -> Option<(Dimension, bool)> {
    DIMENSIONS.iter().find_map(|dimension| match parameter {
        _ if parameter == dimension.name() => Some((*dimension, false)),
        _ if parameter == dimension.exclude() => Some((*dimension, true)),
        _ => None,
    })
}

impl Filters {
    /// Reads the filters out of a request's pairs; other parameters are passed over.
    pub(super) fn read(
        pairs: &[(String, String)],
        allows_unknown: bool,
    ) -> Result<Self, QueryRefusal> {
        let mut filters = Self { allows_unknown, ..Self::default() };
        for (name, value) in pairs {
            if name == NOT_DAY {
                let not_a_date =
                    |()| QueryRefusal::NotADate { name: NOT_DAY, value: value.clone() };
                filters.not_days.push(value.parse().map_err(not_a_date)?);
            }
            let Some((dimension, exclude)) = named(name) else { continue };
            let known = filters
                .values
                .iter()
                .position(|it| it.dimension == dimension && it.exclude == exclude);
            let place = known.unwrap_or_else(|| {
                filters.values.push(DimensionFilter { dimension, exclude, keys: Vec::new() });
                filters.values.len() - 1
            });
            let Some(filter) = filters.values.get_mut(place) else { continue };
            // PostgreSQL refuses a NUL in any text, so no key can have one.
            if value.contains('\0') && allows_unknown {
                continue;
            }
            if value.contains('\0') {
                let name = filter.parameter();
                return Err(QueryRefusal::UnknownKey { name, key: value.clone() });
            }
            if !filter.keys.contains(value) {
                filter.keys.push(value.clone());
            }
        }
        filters.values.sort_by_key(|filter| (filter.exclude, filter.dimension));
        filters.not_days.sort_unstable();
        filters.not_days.dedup();
        let values: usize = filters.values.iter().map(|filter| filter.keys.len()).sum();
        let count = values + filters.not_days.len();
        if count > FILTER_VALUES_MAX {
            return Err(QueryRefusal::TooManyValues { count });
        }
        Ok(filters)
    }
}

/// Under the names of their parameters; the one blog as a text, all others as lists.
impl Serialize for Filters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for filter in &self.values {
            match (filter.dimension, filter.exclude, filter.keys.first()) {
                (Dimension::Blog, false, Some(blog)) => map.serialize_entry("blog", blog)?,
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
        if !self.not_days.is_empty() {
            map.serialize_entry(NOT_DAY, &self.not_days)?;
        }
        if self.allows_unknown {
            map.serialize_entry("unknown_values", "allowed")?;
        }
        map.end()
    }
}
