//! A table of the source with the types that its columns get: what is translated for it.

use super::operand::{Operand, OperandKind};
use super::parse::{Expression, parse};
use crate::ddl::NocaseRule;
use crate::source::{Affinity, ForeignKey, Index, IndexPart, SourceCheck, SourceTable};
use crate::value::{PostgresType, TargetField};

/// First release with generated columns (`server_version_num`).
const GENERATED_SINCE: i32 = 120_000;

/// A table whose columns get the types in `fields`.
#[derive(Clone, Copy)]
pub struct PlannedTable<'a> {
    pub table: &'a SourceTable,
    pub fields: &'a [TargetField],
    pub made_for: MadeFor,
}

/// The release and the wishes that tables are made for.
#[derive(Clone, Copy, Debug)]
pub struct MadeFor {
    /// `server_version_num`
    pub server_version: i32,
    pub nocase: NocaseRule,
}

impl Default for MadeFor {
    /// Statements that differ by release are shown for current ones.
    fn default() -> Self {
        Self { server_version: 180_000, nocase: NocaseRule::None }
    }
}

impl PlannedTable<'_> {
    fn parsed(&self, text: &str) -> Option<Expression> {
        parse(text, self.table)
    }

    /// The condition of a CHECK for PostgreSQL, if it surely means the same.
    pub fn check(&self, check: &SourceCheck) -> Option<String> {
        self.condition(&self.parsed(&check.expression)?)
    }

    /// The parts of an index for PostgreSQL, without their order, and its WHERE; `None` if any of
    /// them might mean something else.
    pub fn index(&self, index: &Index) -> Option<(Vec<String>, Option<String>)> {
        let predicate = match &index.predicate {
            Some(predicate) => Some(self.condition(&self.parsed(predicate)?)?),
            None => None,
        };
        if !index.unique
            && let Some(parts) = self.collated(index).and_then(|key| self.without_case(&key))
        {
            return Some((parts, predicate));
        }
        let columns = index.columns().is_some();
        let parts = index.parts.iter().map(|part| match part.column {
            Some(column) if columns || self.is_compared_exactly(column, part) => {
                Some(self.name(column))
            }
            Some(_) => None,
            None => Some(self.key_value(part)?.sql),
        });
        Some((parts.collect::<Option<_>>()?, predicate))
    }

    /// The expression of a generated column for PostgreSQL, if it gives the same values. No column
    /// of PostgreSQL is computed from another computed one.
    pub fn generated(&self, position: usize) -> Option<String> {
        let column = &self.table.columns[position];
        let field = &self.fields[position];
        let is_key = |key: &ForeignKey| key.columns.contains(&position);
        let is_free = self.made_for.server_version >= GENERATED_SINCE
            && column.generated
            && field.reading.is_none()
            && !self.table.foreign_keys.iter().any(is_key);
        let expression = self.parsed(column.expression.as_deref().filter(|_| is_free)?)?;
        if expression.columns().iter().any(|each| self.table.columns[*each].generated) {
            return None;
        }
        let (postgres_type, affinity) = (&field.postgres_type, column.affinity);
        if let Some(Operand { sql, kind, .. }) = self.value(&expression) {
            let fits = match kind {
                OperandKind::Integer => postgres_type.is_integer(),
                OperandKind::Numeric => matches!(postgres_type, PostgresType::Numeric(_)),
                OperandKind::Double => *postgres_type == PostgresType::DoublePrecision,
                OperandKind::Boolean => *postgres_type == PostgresType::Boolean,
                OperandKind::Text { .. } => {
                    postgres_type.is_text() && matches!(affinity, Affinity::Text | Affinity::Blob)
                }
            };
            return fits.then_some(sql);
        }
        // SQLite's truth is 1.
        let condition = self.condition(&expression)?;
        match postgres_type {
            PostgresType::Boolean => Some(condition),
            PostgresType::BigInt | PostgresType::Integer => Some(format!("({condition})::integer")),
            _ => None,
        }
    }

    /// An expression of an index that is compared as texts and numbers are.
    fn key_value(&self, part: &IndexPart) -> Option<Operand> {
        let value = self.value(&self.parsed(part.expression.as_deref()?)?)?;
        (part.collation.eq_ignore_ascii_case("BINARY")).then_some(value)
    }

    /// A column beside an expression: other collations are named for columns alone.
    fn is_compared_exactly(&self, column: usize, part: &IndexPart) -> bool {
        !self.fields[column].postgres_type.is_text() || part.collation == "BINARY"
    }

    /// The type of an expression of an index.
    pub fn key_type(&self, part: &IndexPart) -> Option<PostgresType> {
        Some(match self.key_value(part)?.kind {
            OperandKind::Integer => PostgresType::BigInt,
            OperandKind::Numeric => PostgresType::Numeric(None),
            OperandKind::Double => PostgresType::DoublePrecision,
            OperandKind::Boolean => PostgresType::Boolean,
            OperandKind::Text { .. } => PostgresType::Text,
        })
    }
}
