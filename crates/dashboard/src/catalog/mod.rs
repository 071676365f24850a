//! The catalog: the extent of the data, the values of each dimension, an article's metadata.

mod article;
mod dimension;

use engine::DatabaseUrl;
use serde::Serialize;
use tokio::sync::Mutex;
use tokio::time::Instant;
use utoipa::ToSchema;

pub use article::{Article, ListedArticle, RelatedArticle};
pub use dimension::{Value, Values, Wanted};

use crate::database::{Error, SqlValue};
use crate::imported_days::{DaySpan, DaySpans};
use crate::metadata::{self, MetadataDatabase, MetadataRow};
use crate::query::Day;
use crate::rollup::calendar::Grain;
use crate::rollup::definition::{TotalsKind, grain_number};
use crate::rollup::page;
use crate::schema::{self, Dimension};

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
    pub blogs: Vec<Value>,
    /// How many articles there are.
    pub articles: i64,
    /// How many rows of traffic: by day, article and country.
    pub traffic_rows: i64,
    /// With states=1: the days that were imported, by blog; no others were.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub states: Option<Vec<DaySpan>>,
    /// Another text whenever the data may have changed; it says nothing else.
    pub data_version: String,
}

/// A dashboard's database, open for looking at what is in it.
#[derive(Debug)]
pub struct DataCatalog {
    metadata: MetadataDatabase,
    /// Of the last version seen: reading it once is enough. Locked during the reading, so that of
    /// several requests at once one reads it.
    dataset: Mutex<Option<Dataset>>,
}

impl DataCatalog {
    /// Opens the database.
    pub async fn open(database: &DatabaseUrl) -> Result<Self, schema::Error> {
        Ok(Self { metadata: MetadataDatabase::open(database).await?, dataset: Mutex::default() })
    }

    /// The extent of the data.
    pub async fn dataset(&self) -> Result<Dataset, Error> {
        let mut kept = metadata::by(Instant::now() + metadata::LIMIT, self.dataset.lock()).await?;
        let data_version = self.metadata.data_version().await?.to_string();
        if let Some(kept) = kept.as_ref().filter(|kept| kept.data_version == data_version) {
            return Ok(kept.clone());
        }
        // Asked for both at once, SQLite would read all rows.
        let ends = "SELECT (SELECT min(day) FROM traffic), (SELECT max(day) FROM traffic)";
        let days = self.numbers(ends).await?;
        let day = |place: usize| match days.get(place) {
            Some(Some(number)) => day_text(*number).map(Some),
            _ => Ok(None),
        };
        let dataset = Dataset {
            first_day: day(0)?,
            last_day: day(1)?,
            blogs: self.values(Dimension::Blog, &Default::default()).await?.rows,
            articles: self.count("SELECT count(*) FROM articles").await?,
            traffic_rows: self.facts().await?,
            states: Some(self.states().await?),
            data_version,
        };
        *kept = Some(dataset.clone());
        Ok(dataset)
    }

    async fn states(&self) -> Result<Vec<DaySpan>, Error> {
        let mut spans = DaySpans::default();
        for row in self.metadata.rows(DaySpans::ALL, Vec::new()).await? {
            let Ok([blog, day, state]) = <[SqlValue<'_>; 3]>::try_from(row) else { continue };
            if let Some(day) = day.integer().and_then(|day| i32::try_from(day).ok()) {
                spans.push(&blog.into_text(), day, &state.into_text());
            }
        }
        Ok(spans.finish())
    }

    /// How many facts there are: as the totals of the years know, where they are those of the data;
    /// counted, which takes a while for millions, where there are no such totals.
    async fn facts(&self) -> Result<i64, Error> {
        let pages = "SELECT content FROM totals, schema_version \
            WHERE totals_version = data_version AND kind = $1 AND grain = $2";
        let (kind, grain) = (TotalsKind::BlogCountry.number(), grain_number(Grain::Year));
        let values = vec![i64::from(kind).into(), i64::from(grain).into()];
        let mut facts = 0;
        let mut add = |content: &[u8]| page::each(content, |_, sums| facts += sums.facts).is_ok();
        let is_known = match self.metadata.rows(pages, values).await {
            Ok(pages) => !pages.is_empty() && pages.iter().flatten().all(|it| add(it.bytes())),
            // Without the table, or without a database: then counting says so.
            Err(_) => false,
        };
        if is_known { Ok(facts) } else { self.count("SELECT count(*) FROM traffic").await }
    }

    async fn count(&self, sql: &'static str) -> Result<i64, Error> {
        Ok(self.numbers(sql).await?.into_iter().flatten().next().unwrap_or(0))
    }

    /// The numbers of the only row.
    async fn numbers(&self, sql: &'static str) -> Result<Vec<Option<i64>>, Error> {
        let rows = self.metadata.rows(sql, Vec::new()).await?;
        Ok(rows.into_iter().flatten().map(|value| value.integer()).collect())
    }
}

/// A stored day as an ISO date.
fn day_text(number: i64) -> Result<String, Error> {
    let stored = i32::try_from(number).unwrap_or(i32::MAX);
    Ok(Day::stored(stored)?.to_string())
}

/// The texts of a row, in order; nothing where there is none.
fn texts<const N: usize>(row: MetadataRow) -> Option<[String; N]> {
    let texts: Vec<String> = row.into_iter().map(SqlValue::into_text).collect();
    texts.try_into().ok()
}
