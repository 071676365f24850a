//! Choice of a column's type: first a candidate, then, after every value has been seen, the
//! candidate or the type of the values.

use super::declared::{self, DeclaredType};
use super::user_rule::MapRules;
use crate::Error;
use crate::source::SourceTable;
use crate::value::{PostgresType, Profile, TargetField};

/// The type against which a column's values are tried while they are read.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The type and its reading; `None` if only the values can decide.
    pub field: Option<TargetField>,
    pub not_null: bool,
    /// Another type may be chosen if a value does not fit this one.
    pub may_fall_back: bool,
    /// It comes from a `--map` rule.
    pub is_rule: bool,
}

impl Candidate {
    pub fn is_for_bytes(&self) -> bool {
        self.field.as_ref().is_some_and(|field| field.postgres_type == PostgresType::Bytea)
    }
}

/// The candidates of a table's columns, in order: a `--map` rule, otherwise the declared type.
pub fn candidate(table: &SourceTable, rules: &MapRules) -> Result<Vec<Candidate>, Error> {
    let each = |(position, column): (usize, &crate::source::SourceColumn)| {
        let not_null = column.not_null || table.primary_key.contains(&position);
        let may_convert = false;
        let field = |postgres_type, reading| {
            Some(TargetField { postgres_type, reading, not_null, may_convert })
        };
        let rule = rules.find(&table.name, &column.name);
        if let Some((chosen, reading)) =
            rule.and_then(|rule| Some((rule.chosen_type()?, rule.reading)))
        {
            let field = field(chosen, reading);
            return Ok(Candidate { field, not_null, may_fall_back: false, is_rule: true });
        }
        let (field, may_fall_back) = match declared::declared(column) {
            DeclaredType::Hard(hard) => (field(hard, None), false),
            DeclaredType::IfAllowed(soft) => (field(soft, None), true),
            DeclaredType::Unknown => (None, true),
        };
        Ok(Candidate { field, not_null, may_fall_back, is_rule: false })
    };
    table.columns.iter().enumerate().map(each).collect()
}

/// The type for a column after all its values have been tried against `candidate`.
pub fn choose(candidate: &Candidate, profile: &Profile) -> TargetField {
    let not_null = candidate.not_null;
    let field =
        |postgres_type| TargetField { postgres_type, reading: None, not_null, may_convert: false };
    match &candidate.field {
        None => field(fallback(profile)),
        Some(tried) if !candidate.may_fall_back || !profile.has_unreadable() => tried.clone(),
        Some(tried) => {
            let moments = tried.postgres_type.is_moment();
            let looks = &profile.looks;
            let all = |count: u64| moments && count == profile.texts && profile.only_texts();
            if all(looks.dates + looks.timestamps) {
                field(PostgresType::Timestamp(6))
            } else if all(looks.zoned_timestamps) {
                field(PostgresType::TimestampTz(6))
            } else {
                field(fallback(profile))
            }
        }
    }
}

/// The type of the values, for any declared type.
pub fn fallback(profile: &Profile) -> PostgresType {
    let Profile { integers, reals, texts, blobs, .. } = *profile;
    match (integers, reals, texts, blobs) {
        (1.., 0, 0, 0) => PostgresType::BigInt,
        (_, 1.., 0, 0) if profile.integers_exact_in_double() => PostgresType::DoublePrecision,
        (_, 1.., 0, 0) => PostgresType::Numeric(None),
        (0, 0, 0, 1..) => PostgresType::Bytea,
        _ => PostgresType::Text,
    }
}
