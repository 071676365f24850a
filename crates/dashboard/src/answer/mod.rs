//! Answers to queries: read from facts or totals, written as JSON or CSV.

mod csv;
mod daily;
mod design;
mod earlier;
mod error;
mod json;
mod rollup;
mod row;
#[cfg(test)]
mod tests;
mod writer;

use crate::database::{Deadline, Snapshot};
use crate::imported_days;
use crate::query::Query;
use crate::schema::DataVersion;

pub use design::AnswerDesign;
pub(crate) use design::Designs;
pub use earlier::Earlier;
pub use error::Error;
pub use row::{AnswerRow, RowSums};
pub use writer::{AnswerWriter, QueryAnswer};

/// The answer from totals if the design allows them and they are those of the data, from facts
/// otherwise.
pub(crate) async fn answer<S: Snapshot>(
    snapshot: &S,
    query: Query,
    designs: &Designs,
    deadline: &Deadline,
) -> Result<QueryAnswer, Error> {
    if !query.states {
        return sums(snapshot, query, designs, deadline).await;
    }
    let earlier = query.comparison.map(|it| it.earlier(query.period)).transpose()?;
    let states = imported_days::of_query(snapshot, &query, earlier).await?;
    let mut answer = sums(snapshot, query, designs, deadline).await?;
    json::add_states(&mut answer.body, &states)?;
    Ok(answer)
}

async fn sums<S: Snapshot>(
    snapshot: &S,
    query: Query,
    designs: &Designs,
    deadline: &Deadline,
) -> Result<QueryAnswer, Error> {
    if designs.tries_totals() {
        let answer = rollup::answer(snapshot, &query, designs.dictionary(), deadline).await?;
        if let Some(answer) = answer {
            designs.with_totals();
            return Ok(answer);
        }
        designs.without_totals(DataVersion::read(snapshot).await?)?;
    }
    daily::answer(snapshot, query).await
}
