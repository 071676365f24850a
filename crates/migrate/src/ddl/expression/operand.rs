//! Operands of a condition: columns, functions of them and literals, with the rules by which they
//! compare in PostgreSQL as in SQLite.

use super::parse::{Expression, Literal, numeric};
use super::planned::PlannedTable;
use crate::source::{Affinity, quoted};
use crate::value::{EXACT_IN_DOUBLE, PostgresType, TargetField, ValueReading};

/// Digits of a decimal number that any 64-bit float keeps.
const EXACT_DIGITS: usize = 15;

/// Classes of comparable operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandKind {
    Integer,
    Numeric,
    Double,
    Boolean,
    Text { ignores_case: bool },
}

/// Texts that are compared byte by byte.
pub const EXACT: OperandKind = OperandKind::Text { ignores_case: false };

/// A value that is compared; a name, a call or in brackets.
pub struct Operand {
    pub sql: String,
    pub kind: OperandKind,
    /// SQLite reads a text as a number where it meets a column of numbers, not where it meets a
    /// function.
    pub reads_numbers: bool,
}

impl Operand {
    pub fn computed(sql: String, kind: OperandKind) -> Self {
        Self { sql, kind, reads_numbers: false }
    }

    /// Its text, if both write it alike.
    pub fn as_text(&self) -> Option<String> {
        match self.kind {
            EXACT => Some(self.sql.clone()),
            OperandKind::Integer => Some(format!("{}::text", self.sql)),
            _ => None,
        }
    }
}

impl PlannedTable<'_> {
    pub fn name(&self, column: usize) -> String {
        quoted(&self.table.columns[column].target_name)
    }

    /// A column or a function of columns, if it compares here as in SQLite.
    pub fn operand(&self, expression: &Expression) -> Option<Operand> {
        match expression {
            Expression::Column(column) => self.column(*column),
            _ => self.value(expression),
        }
    }

    /// A column or a function of columns, if it has the same value as in SQLite. Its collation is
    /// left aside: functions do not inherit it.
    pub fn value(&self, expression: &Expression) -> Option<Operand> {
        match expression {
            Expression::Column(column) => match self.text_column(*column) {
                Some(sql) => Some(Operand::computed(sql, EXACT)),
                None => self.column(*column),
            },
            Expression::Function(name, arguments) => self.function(name, arguments),
            Expression::Joined(parts) => self.joined(parts),
            _ => None,
        }
    }

    /// A value that is a text.
    pub fn text(&self, expression: &Expression) -> Option<String> {
        let value = self.value(expression)?;
        (value.kind == EXACT).then_some(value.sql)
    }

    /// A column, if it compares here as in SQLite.
    pub fn column(&self, position: usize) -> Option<Operand> {
        let (column, field) = (&self.table.columns[position], &self.fields[position]);
        if is_decoded(field) {
            return None;
        }
        let is_number =
            matches!(column.affinity, Affinity::Integer | Affinity::Numeric | Affinity::Real);
        let kind = match &field.postgres_type {
            postgres_type if postgres_type.is_integer() && is_number => OperandKind::Integer,
            PostgresType::Numeric(_) if is_number => OperandKind::Numeric,
            PostgresType::DoublePrecision if is_number => OperandKind::Double,
            PostgresType::Boolean if is_number => OperandKind::Boolean,
            postgres_type if postgres_type.is_text() && column.affinity == Affinity::Text => {
                match column.collation.as_deref() {
                    None => OperandKind::Text { ignores_case: false },
                    Some("NOCASE") => OperandKind::Text { ignores_case: true },
                    Some(_) => return None,
                }
            }
            _ => return None,
        };
        let name = self.name(position);
        let sql = match kind {
            OperandKind::Text { ignores_case: true } => format!("lower({name} COLLATE \"C\")"),
            _ => name,
        };
        Some(Operand { sql, kind, reads_numbers: is_number })
    }

    /// A column of texts, under any collation.
    fn text_column(&self, position: usize) -> Option<String> {
        let (column, field) = (&self.table.columns[position], &self.fields[position]);
        let is_text = field.postgres_type.is_text()
            && column.affinity == Affinity::Text
            && !is_decoded(field);
        is_text.then(|| self.name(position))
    }

    /// The type of the column admits JSON alone.
    pub fn is_json(&self, column: usize) -> bool {
        matches!(self.fields[column].postgres_type, PostgresType::Json | PostgresType::Jsonb)
    }

    /// A literal that is compared with this operand.
    pub fn literal(&self, operand: &Operand, literal: &Literal) -> Option<String> {
        match (operand.kind, literal) {
            (OperandKind::Text { ignores_case: false }, Literal::Text(text)) => literal_text(text),
            (OperandKind::Text { ignores_case: true }, Literal::Text(text)) => {
                literal_text(&text.to_ascii_lowercase())
            }
            (_, Literal::Text(text)) if operand.reads_numbers => {
                self.literal(operand, &numeric(text)?)
            }
            (OperandKind::Boolean, Literal::Integer(number @ (0 | 1))) => {
                Some((*number == 1).to_string())
            }
            (OperandKind::Boolean, Literal::Boolean(value)) => Some(value.to_string()),
            (
                OperandKind::Integer | OperandKind::Numeric | OperandKind::Double,
                Literal::Boolean(value),
            ) => Some(u8::from(*value).to_string()),
            (OperandKind::Integer | OperandKind::Numeric, Literal::Integer(number)) => {
                Some(number.to_string())
            }
            (OperandKind::Double, Literal::Integer(number))
                if number.unsigned_abs() <= EXACT_IN_DOUBLE =>
            {
                Some(number.to_string())
            }
            (
                OperandKind::Integer | OperandKind::Numeric | OperandKind::Double,
                Literal::Decimal(written),
            ) => {
                let digits = written.bytes().filter(u8::is_ascii_digit).count();
                (digits <= EXACT_DIGITS).then(|| written.clone())
            }
            _ => None,
        }
    }
}

/// Blobs become texts, but SQLite orders them after all texts and measures them in bytes.
fn is_decoded(field: &TargetField) -> bool {
    field.reading == Some(ValueReading::Utf8)
}

/// Two columns of these kinds compare here as in SQLite.
pub fn comparable(left: OperandKind, right: OperandKind) -> bool {
    left == right
        || matches!(
            (left, right),
            (OperandKind::Integer, OperandKind::Numeric)
                | (OperandKind::Numeric, OperandKind::Integer)
        )
}

/// A text as a literal of PostgreSQL, under any `standard_conforming_strings`.
pub fn literal_text(text: &str) -> Option<String> {
    if text.contains('\0') {
        return None;
    }
    let doubled = text.replace('\'', "''");
    Some(match doubled.contains('\\') {
        true => format!("E'{}'", doubled.replace('\\', "\\\\")),
        false => format!("'{doubled}'"),
    })
}
