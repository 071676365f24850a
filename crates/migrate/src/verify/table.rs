//! Digests of one table on both sides, over one connection.

use std::sync::Arc;

use tokio_postgres::Client;

use super::digest::{Hasher, TableDigest};
use super::part::ComparisonPart;
use super::rows::{self, SourceRows};
use super::shape::Shape;
use crate::error::BadRow;
use crate::source::{SourceFile, SourceTable};
use crate::target::MatchedTable;
use crate::task::blocking;
use crate::value::{Canonical, ColumnConversion};
use crate::{Error, Task};

pub struct ComparedTable<'a> {
    pub client: &'a Client,
    pub source: &'a Arc<SourceFile>,
    pub table: &'a SourceTable,
    pub matched: &'a MatchedTable,
    pub shape: Shape,
    pub task: Task<'a>,
}

pub struct PartDigests {
    pub of_source: TableDigest,
    pub of_target: TableDigest,
    /// Rows of the source that the target's types cannot hold.
    pub unfit: Vec<BadRow>,
    pub conversions: Vec<ColumnConversion>,
}

impl<'a> ComparedTable<'a> {
    pub fn new(
        client: &'a Client,
        source: &'a Arc<SourceFile>,
        table: &'a SourceTable,
        matched: &'a MatchedTable,
        task: Task<'a>,
    ) -> Self {
        let columns = &matched.columns;
        let forms = columns.iter().map(|column| Canonical::of(&column.field.postgres_type));
        let place = |wanted: &usize| columns.iter().position(|each| each.source == *wanted);
        let key: Option<Vec<usize>> = table.primary_key.iter().map(place).collect();
        let all = || (0..columns.len()).collect();
        let key = key.filter(|key| !key.is_empty()).unwrap_or_else(all);
        Self { client, source, table, matched, shape: Shape { forms: forms.collect(), key }, task }
    }

    /// Reads a part: both sides at the same time.
    pub async fn read(&self, part: &ComparisonPart) -> Result<PartDigests, Error> {
        let Self { client, matched, shape, task, .. } = self;
        let reading_source = blocking(*task, {
            let source = self.source.clone();
            let (table, matched) = (self.table.clone(), self.matched.clone());
            let (shape, rows) = (shape.clone(), part.of_source);
            move |task| {
                let mut hasher = Hasher::new(&shape);
                let read = rows::of_source(&source, &table, &matched, rows, task, &mut hasher)?;
                hasher.digest.rows = read.rows;
                Ok((hasher.digest, read))
            }
        });
        let reading_target = async {
            let (mut hasher, condition) = (Hasher::new(shape), part.of_target.as_deref());
            let add = |tuple: &[u8]| hasher.add(tuple);
            rows::of_target(client, matched, condition, part.is_large, *task, add).await?;
            Ok::<TableDigest, Error>(hasher.digest)
        };
        let ((of_source, read), of_target) = match part.is_large {
            // Two large rows at the same time would be twice their memory.
            true => (reading_source.await?, reading_target.await?),
            false => {
                let (of_source, of_target) = tokio::join!(reading_source, reading_target);
                (of_source?, of_target?)
            }
        };
        let SourceRows { unfit, conversions, .. } = read;
        Ok(PartDigests { of_source, of_target, unfit, conversions })
    }
}
