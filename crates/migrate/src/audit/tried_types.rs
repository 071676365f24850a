//! Types against which the columns of a file are tried: those of an existing target, or candidates.

use super::AuditOptions;
use crate::Error;
use crate::mapping::{Candidate, candidates};
use crate::source::{SourceSchema, SourceTable};
use crate::target::{Mismatch, TableMatching, UnwrittenColumn, match_with_unwritten};

pub struct TriedTypes {
    /// By table and column: the target's type, or the candidate of its declaration.
    pub candidates: Vec<Vec<Candidate>>,
    /// Columns of the target of which no value can be tried.
    pub unwritten: Vec<UnwrittenColumn>,
    pub mismatches: Vec<Mismatch>,
}

impl TriedTypes {
    pub fn of(schema: &SourceSchema, options: &AuditOptions) -> Result<Self, Error> {
        let Some(catalog) = &options.target else {
            let of_table =
                |table| candidates(table, &options.rules, options.types, schema.framework());
            let candidates = schema.tables.iter().map(of_table).collect();
            return Ok(Self { candidates, unwritten: Vec::new(), mismatches: Vec::new() });
        };
        let matching = match_with_unwritten(schema, catalog, &options.rules)?;
        let of_table = |(place, table): (usize, &SourceTable)| {
            let matched = matching.tables.iter().find(|matched| matched.source == place);
            let of_column = |position: usize| {
                let columns = matched.map_or(&[][..], |matched| &matched.columns);
                let column = columns.iter().find(|column| column.source == position);
                let field = column.map(|column| column.field.clone());
                let not_null = field.as_ref().is_some_and(|field| field.not_null);
                Candidate { field, not_null, may_fall_back: false, is_rule: false }
            };
            (0..table.columns.len()).map(of_column).collect()
        };
        let candidates = schema.tables.iter().enumerate().map(of_table).collect();
        let TableMatching { unwritten, mismatches, .. } = matching;
        Ok(Self { candidates, unwritten, mismatches })
    }

    /// `true` if the target has nothing against which the values could be tried.
    pub fn is_untried(&self, table: usize, column: usize) -> bool {
        self.unwritten(table, column).is_some() || self.candidates[table][column].field.is_none()
    }

    pub fn unwritten(&self, table: usize, column: usize) -> Option<&UnwrittenColumn> {
        self.unwritten.iter().find(|each| each.table == table && each.source == column)
    }
}
