//! Values of a dimension, searched by any part of key or label, without regard to case and accents.
//! The search is done here and not by the engines, which differ in their notion of case.

use std::collections::HashSet;

use serde::Serialize;
use utoipa::ToSchema;

use super::{DataCatalog, texts};
use crate::database::Error;
use crate::schema::{Column, Dimension, DimensionPlace};
use crate::spelling::folded;

/// One value of a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Value {
    /// The value that a filter takes.
    pub key: String,
    /// The value as people read it.
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
    /// The most values.
    pub limit: usize,
    /// Values left out first.
    pub offset: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { search: String::new(), keys: Vec::new(), limit: usize::MAX, offset: 0 }
    }
}

impl DataCatalog {
    /// The values of a dimension that are wanted.
    pub async fn values(&self, dimension: Dimension, wanted: &Wanted) -> Result<Values, Error> {
        let DimensionPlace { table, key, label, search, .. } = dimension.place();
        let [key, label, also] = [key, label, search].map(Column::name);
        let sql = format!("SELECT {key}, {label}, {also} FROM {}", table.name());
        let all = self.metadata.rows(sql, Vec::new()).await?;
        let search = folded(&wanted.search);
        let keys: HashSet<&String> = wanted.keys.iter().collect();
        let is_found = |text: &String| folded(text).contains(&search);
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
