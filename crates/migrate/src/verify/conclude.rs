//! Verdict on one table: equal by its digests, or the rows that differ.

use super::digest::TableDigest;
use super::rows::UNFIT_SHOWN;
use super::table::{ComparedTable, PartDigests};
use super::{ColumnDigest, RowDifference, TableVerification};
use crate::Error;
use crate::error::BadRow;

impl ComparedTable<'_> {
    /// Compares both sides, and searches for differing rows.
    pub async fn conclude(&self, sides: PartDigests) -> Result<TableVerification, Error> {
        let PartDigests { of_source, of_target, mut unfit, conversions } = sides;
        unfit.truncate(UNFIT_SHOWN);
        let equal = of_source.rows == of_target.rows
            && of_source.table() == of_target.table()
            && of_source.columns == of_target.columns
            && unfit.is_empty();
        let differences = match equal {
            true => Vec::new(),
            false => self.differences(&of_source, &of_target).await?,
        };
        let result = self.result(&of_source, &of_target, equal, differences, &unfit);
        Ok(TableVerification { conversions, ..result })
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
            conversions: Vec::new(),
        }
    }
}
