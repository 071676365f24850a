//! What there is to ask about: the extent of the data, the values of each dimension, an article's
//! metadata. Everything a page needs before and beside its questions.

mod article;
mod dimension;

use std::sync::{Mutex, PoisonError};

use engine::DatabaseUrl;
use serde::Serialize;
use utoipa::ToSchema;

pub use article::{Article, RelatedArticle};
pub use dimension::{Dimension, Value, Values, Wanted};

use crate::query::Day;
use crate::side::{self, Record, SideDatabase};
use crate::store::Error;

/// The extent of the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// The first day with traffic; null where there is none.
    #[schema(format = Date)]
    pub first_day: Option<String>,
    /// The last day with traffic; null where there is none.
    #[schema(format = Date)]
    pub last_day: Option<String>,
    /// The blogs.
    pub blogs: Vec<Value>,
    /// How many articles there are.
    pub articles: i64,
    /// How many rows of traffic: by day, article and country.
    pub traffic_rows: i64,
    /// Another text whenever the data may have changed; it says nothing else.
    pub data_version: String,
}

/// A dashboard's database, open for looking at what is in it.
#[derive(Debug)]
pub struct Catalog {
    side: SideDatabase,
    /// Of the last version seen: counting millions of rows once is enough.
    dataset: Mutex<Option<Dataset>>,
}

impl Catalog {
    /// Opens the database.
    ///
    /// # Errors
    /// What the database says.
    pub async fn open(database: &DatabaseUrl) -> Result<Self, Error> {
        Ok(Self { side: SideDatabase::open(database).await?, dataset: Mutex::default() })
    }

    /// The extent of the data.
    ///
    /// # Errors
    /// What the database says.
    pub async fn dataset(&self) -> Result<Dataset, Error> {
        let data_version = self.side.data_version().await?;
        let kept = self.dataset.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(kept) = kept.filter(|kept| kept.data_version == data_version) {
            return Ok(kept);
        }
        let days = self.numbers("SELECT min(day), max(day) FROM traffic").await?;
        let day = |place: usize| match days.get(place) {
            Some(Some(number)) => day_text(*number).map(Some),
            _ => Ok(None),
        };
        let count = |numbers: Vec<Option<i64>>| numbers.into_iter().flatten().next().unwrap_or(0);
        let dataset = Dataset {
            first_day: day(0)?,
            last_day: day(1)?,
            blogs: self.values(Dimension::Blog, &Default::default()).await?.rows,
            articles: count(self.numbers("SELECT count(*) FROM articles").await?),
            traffic_rows: count(self.numbers("SELECT count(*) FROM traffic").await?),
            data_version,
        };
        *self.dataset.lock().unwrap_or_else(PoisonError::into_inner) = Some(dataset.clone());
        Ok(dataset)
    }

    /// The numbers of the only row.
    async fn numbers(&self, sql: &'static str) -> Result<Vec<Option<i64>>, Error> {
        let rows = self.side.rows(sql, Vec::new()).await?;
        Ok(rows.into_iter().flatten().map(|value| value.number()).collect())
    }
}

/// A stored day as an ISO date.
fn day_text(number: i64) -> Result<String, Error> {
    let stored = i32::try_from(number).unwrap_or(i32::MAX);
    let day = Day::from_number(stored).ok_or(Error::DayOutOfRange { day: stored })?;
    Ok(day.to_string())
}

/// The texts of a row, in order; nothing where there is none.
fn texts<const N: usize>(row: Record) -> Option<[String; N]> {
    let texts: Vec<String> = row.into_iter().map(side::Value::into_text).collect();
    texts.try_into().ok()
}
