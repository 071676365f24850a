//! The values of a dimension, searched as people search: any part of key or label, upper and lower
//! case alike. The search is done here and not by the engines, which differ in what they take for
//! the same letter.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Catalog, texts};
use crate::database::Error;

/// What a filter can name values of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    Blog,
    Author,
    Team,
    Product,
    Language,
    HumanLanguage,
    Country,
    Article,
}

/// One value of a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// What a filter takes.
    pub key: String,
    /// What people read.
    pub label: String,
}

/// Values of a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Values {
    /// In the order of their labels, then keys.
    pub rows: Vec<Value>,
    /// How many there are before limit and offset.
    pub row_count: usize,
}

/// Which values are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// A part of key, label or (of articles) URL.
    pub search: String,
    /// Exactly these keys, if any is given.
    pub keys: Vec<String>,
    /// At most so many.
    pub limit: usize,
    /// So many are left out first.
    pub offset: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { search: String::new(), keys: Vec::new(), limit: usize::MAX, offset: 0 }
    }
}

impl Dimension {
    /// Every dimension with its name in the API.
    pub const ALL: [(&'static str, Self); 8] = [
        ("blog", Self::Blog),
        ("author", Self::Author),
        ("team", Self::Team),
        ("product", Self::Product),
        ("language", Self::Language),
        ("human_language", Self::HumanLanguage),
        ("country", Self::Country),
        ("article", Self::Article),
    ];

    /// Key, label and what else is searched.
    fn statement(self) -> &'static str {
        match self {
            Self::Blog => "SELECT name, name, name FROM blogs",
            Self::Author => "SELECT name, name, name FROM authors",
            Self::Team => "SELECT name, name, name FROM teams",
            Self::Product => "SELECT name, name, name FROM products",
            Self::Language => "SELECT name, name, name FROM languages",
            Self::HumanLanguage => "SELECT name, name, name FROM human_languages",
            Self::Country => "SELECT code, name, name FROM countries",
            Self::Article => "SELECT uuid, title, url FROM articles",
        }
    }
}

impl Catalog {
    /// The values of a dimension that are wanted.
    pub async fn values(&self, dimension: Dimension, wanted: &Wanted) -> Result<Values, Error> {
        let all = self.metadata.rows(dimension.statement(), Vec::new()).await?;
        let search = wanted.search.to_lowercase();
        let keys: HashSet<&String> = wanted.keys.iter().collect();
        let is_found = |text: &String| text.to_lowercase().contains(&search);
        let mut rows: Vec<Value> = all
            .into_iter()
            .filter_map(texts::<3>)
            .filter(|found| keys.is_empty() || keys.contains(&found[0]))
            .filter(|found| search.is_empty() || found.iter().any(is_found))
            .map(|[key, label, _]| Value { key, label })
            .collect();
        rows.sort_by(|one, other| (&one.label, &one.key).cmp(&(&other.label, &other.key)));
        let row_count = rows.len();
        let rows = rows.into_iter().skip(wanted.offset).take(wanted.limit).collect();
        Ok(Values { rows, row_count })
    }
}
