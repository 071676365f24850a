//! Days that were imported, by blog: from facts alone a day that was never imported and one without
//! traffic look equal.

use std::collections::{BTreeMap, HashSet};

use serde::{Serialize, Serializer};
use strum::VariantArray as _;
use tokio_postgres::types::Type;
use utoipa::ToSchema;

use crate::database::{CommandTransaction, Error, Snapshot, SqlRow, SqlValue};
use crate::query::{Day, Period, Query};
use crate::schema::Dimension;

/// The state of a blog's day. A day without a state was never imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[derive(strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum DayState {
    /// The whole day.
    Complete,
    /// The whole day, as a source knew it that still corrects it.
    Provisional,
    /// A part of the day: it was not over when it was imported, or the export left rows out.
    Partial,
}

impl DayState {
    /// As stored.
    fn name(self) -> &'static str {
        self.into()
    }

    /// Partial where another program wrote it: that does not prove a whole day.
    fn stored(name: &str) -> Self {
        Self::VARIANTS.iter().copied().find(|it| it.name() == name).unwrap_or(Self::Partial)
    }

    /// Of a day that is imported on the day `today`.
    pub(crate) fn of(day: Day, today: Day) -> Self {
        if day < today { Self::Complete } else { Self::Partial }
    }
}

/// Gives a blog's day its state.
pub(crate) fn mark(
    transaction: &CommandTransaction<'_>,
    blog: i32,
    day: Day,
    state: DayState,
) -> Result<(), Error> {
    let sql = "INSERT INTO imported_days (blog_id, day, state) VALUES ($1, $2, $3) \
               ON CONFLICT (blog_id, day) DO UPDATE SET state = excluded.state";
    transaction.execute(sql, &values(blog, day, state))?;
    Ok(())
}

/// Gives days of blogs a state where they have none.
pub(crate) fn mark_unknown(
    transaction: &CommandTransaction<'_>,
    days: impl Iterator<Item = (i32, Day, DayState)>,
) -> Result<(), Error> {
    let mut known = HashSet::new();
    transaction.rows("SELECT blog_id, day FROM imported_days", &[], |row| {
        known.insert((row.small(0)?, row.small(1)?));
        Ok::<_, Error>(())
    })?;
    let unknown: Vec<_> =
        days.filter(|(blog, day, _)| known.insert((*blog, day.number()))).collect();
    // Without a row, PostgreSQL's trigger would still raise the data version.
    if unknown.is_empty() {
        return Ok(());
    }
    let columns = [("blog_id", Type::INT4), ("day", Type::INT4), ("state", Type::VARCHAR)];
    let rows = unknown.into_iter().map(|(blog, day, state)| values(blog, day, state));
    transaction.insert("imported_days", columns, rows)
}

fn values(blog: i32, day: Day, state: DayState) -> [SqlValue<'static>; 3] {
    [blog.into(), day.number().into(), state.name().into()]
}

/// Gives the days of a blog to another, which keeps its own states.
pub(crate) fn join(transaction: &CommandTransaction<'_>, from: i32, to: i32) -> Result<(), Error> {
    let copy = "INSERT INTO imported_days (blog_id, day, state) \
                SELECT CAST($1 AS integer), day, state FROM imported_days WHERE blog_id = $2 \
                ON CONFLICT (blog_id, day) DO NOTHING";
    transaction.execute(copy, &[to.into(), from.into()])?;
    transaction.execute("DELETE FROM imported_days WHERE blog_id = $1", &[from.into()])?;
    Ok(())
}

/// The statement that makes all days of a period complete, for every blog there is.
pub(crate) fn all_of(start: Day, end: Day) -> String {
    format!(
        "WITH RECURSIVE days (day) AS \
         (SELECT {} UNION ALL SELECT day + 1 FROM days WHERE day < {}) \
         INSERT INTO imported_days (blog_id, day, state) \
         SELECT blogs.id, days.day, '{}' FROM blogs CROSS JOIN days",
        start.number(),
        end.number(),
        DayState::Complete.name()
    )
}

/// Days of a blog side by side that have one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DaySpan {
    pub blog: String,
    #[serde(serialize_with = "as_date")]
    #[schema(value_type = String, format = Date)]
    start: i32,
    #[serde(serialize_with = "as_date")]
    #[schema(value_type = String, format = Date)]
    end: i32,
    /// complete; provisional, where a source still corrects it; partial, where it was not over or rows were left out.
    state: DayState,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn as_date<S: Serializer>(day: &i32, serializer: S) -> Result<S::Ok, S::Error> {
    match Day::from_number(*day) {
        Some(day) => day.serialize(serializer),
        None => Err(serde::ser::Error::custom("a day out of range")),
    }
}

/// Spans in the order of their blogs' names and days.
#[derive(Debug, Default)]
pub(crate) struct DaySpans(BTreeMap<String, Vec<DaySpan>>);

impl DaySpans {
    /// Blog, day and state of all days.
    pub const ALL: &str = "SELECT name, day, state FROM imported_days \
                           JOIN blogs ON blogs.id = blog_id ORDER BY blog_id, day";

    /// Takes a day; those of a blog come in their order.
    pub fn push(&mut self, blog: &str, day: i32, state: &str) {
        let state = DayState::stored(state);
        if !self.0.contains_key(blog) {
            self.0.insert(blog.to_owned(), Vec::new());
        }
        let Some(spans) = self.0.get_mut(blog) else { return };
        match spans.last_mut() {
            Some(span) if span.end + 1 == day && span.state == state => span.end = day,
            _ => spans.push(DaySpan { blog: blog.to_owned(), start: day, end: day, state }),
        }
    }

    pub fn finish(self) -> Vec<DaySpan> {
        self.0.into_values().flatten().collect()
    }
}

/// The spans of a query's blogs in its period and an earlier one.
pub(crate) async fn of_query<S: Snapshot>(
    snapshot: &S,
    query: &Query,
    earlier: Option<Period>,
) -> Result<Vec<DaySpan>, Error> {
    let periods = [query.period, earlier.unwrap_or(query.period)];
    let sql = "SELECT name, day, state FROM imported_days JOIN blogs ON blogs.id = blog_id \
               WHERE day BETWEEN $1 AND $2 OR day BETWEEN $3 AND $4 ORDER BY blog_id, day";
    let values = periods.map(|it| [it.start().number().into(), it.end().number().into()]).concat();
    let is_asked = |blog: &str| {
        let mut filters = query.filters.values.iter().filter(|it| it.dimension == Dimension::Blog);
        filters.all(|it| it.keys.iter().any(|key| key == blog) != it.exclude)
    };
    let mut spans = DaySpans::default();
    let each = |row: SqlRow<'_>| {
        let (blog, day) = (row.text(0)?, row.small(1)?);
        if is_asked(blog) && query.filters.not_days.iter().all(|not| not.number() != day) {
            spans.push(blog, day, row.text(2)?);
        }
        Ok::<_, Error>(())
    };
    snapshot.rows(sql, &values, each).await?;
    Ok(spans.finish())
}
