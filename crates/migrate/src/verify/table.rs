//! Comparison of one table over one connection.

use std::sync::Arc;

use tokio_postgres::Client;

use super::digest::{Hasher, Shape, TableDigest};
use super::part::ComparisonPart;
use super::rows::{self, UNFIT_SHOWN};
use super::{ColumnDigest, RowDifference, TableVerification};
use crate::error::BadRow;
use crate::source::{SourceFile, SourceTable};
use crate::target::MatchedTable;
use crate::task::blocking;
use crate::value::Canonical;
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
                let (rows, unfit) =
                    rows::of_source(&source, &table, &matched, rows, task, &mut hasher)?;
                hasher.digest.rows = rows;
                Ok((hasher.digest, unfit))
            }
        });
        let reading_target = async {
            let (mut hasher, condition) = (Hasher::new(shape), part.of_target.as_deref());
            let add = |tuple: &[u8]| hasher.add(tuple);
            rows::of_target(client, matched, condition, part.is_large, *task, add).await?;
            Ok::<TableDigest, Error>(hasher.digest)
        };
        let ((of_source, unfit), of_target) = match part.is_large {
            // Two large rows at the same time would be twice their memory.
            true => (reading_source.await?, reading_target.await?),
            false => {
                let (of_source, of_target) = tokio::join!(reading_source, reading_target);
                (of_source?, of_target?)
            }
        };
        Ok(PartDigests { of_source, of_target, unfit })
    }

    /// Compares both sides, and searches for differing rows.
    pub async fn conclude(&self, sides: PartDigests) -> Result<TableVerification, Error> {
        let PartDigests { of_source, of_target, mut unfit } = sides;
        unfit.truncate(UNFIT_SHOWN);
        let equal = of_source.rows == of_target.rows
            && of_source.table() == of_target.table()
            && of_source.columns == of_target.columns
            && unfit.is_empty();
        let differences = match equal {
            true => Vec::new(),
            false => self.differences(&of_source, &of_target).await?,
        };
        Ok(self.result(&of_source, &of_target, equal, differences, &unfit))
    }

    fn result(
        &self,
        of_source: &TableDigest,
        of_target: &TableDigest,
        equal: bool,
        differences: Vec<RowDifference>,
        unfit: &[BadRow],
    ) -> TableVerification {
        let hex = |digest: u128| format!("{digest:032x}");
        let columns: Vec<ColumnDigest> = self
            .matched
            .columns
            .iter()
            .enumerate()
            .map(|(place, column)| ColumnDigest {
                column: column.name.clone(),
                source_digest: hex(of_source.columns[place]),
                target_digest: hex(of_target.columns[place]),
            })
            .collect();
        TableVerification {
            table: self.table.name.clone(),
            source_rows: of_source.rows,
            target_rows: of_target.rows,
            equal,
            source_digest: hex(of_source.table()),
            target_digest: hex(of_target.table()),
            differing_columns: columns
                .iter()
                .filter(|column| column.source_digest != column.target_digest)
                .map(|column| column.column.clone())
                .collect(),
            columns,
            differences,
            unfit: unfit.iter().map(ToString::to_string).collect(),
        }
    }
}
