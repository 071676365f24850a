//! Choice of a column's type: first a candidate, then, after every value has been seen, the
//! candidate or the type of the values.

use serde::{Deserialize, Serialize};

use super::declared::{DeclaredType, declared};
use super::preset::{preset_reading, preset_type};
use super::user_rule::MapRules;
use crate::source::{Framework, SourceTable};
use crate::value::{PostgresType, Profile, TargetField, ValueReading};

/// The choice of types where no `--map` gives one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeChoice {
    pub rule: TypeRule,
    pub integers: IntegerRule,
}

/// The say that values have in the type of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TypeRule {
    /// The declared type gives the type, whatever rows there are; values that do not fit are
    /// blockers.
    #[default]
    #[serde(rename = "declared")]
    Declared,
    /// Values that do not fit a declared moment, time, document or UUID give the column their own
    /// type: for copies that a laboratory makes without a person.
    #[serde(rename = "values")]
    ByValues,
}

/// The type of whole numbers (`--integers`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum IntegerRule {
    /// bigint, which holds every number of SQLite
    #[default]
    Int8,
    /// integer
    Int4,
    /// integer for INT, INTEGER, INT4 and MEDIUMINT, bigint for BIGINT and INT8
    Declared,
}

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

/// The candidates of a table's columns, in order: a `--map` rule, otherwise the preset's type,
/// otherwise the declared type.
pub fn candidates(
    table: &SourceTable,
    rules: &MapRules,
    choice: TypeChoice,
    framework: Option<Framework>,
) -> Vec<Candidate> {
    // Statements of a copy were written for SQLite.
    let framework = framework.filter(|_| choice.rule == TypeRule::Declared);
    let each = |(position, column): (usize, &crate::source::SourceColumn)| {
        let not_null = column.not_null || table.primary_key.contains(&position);
        let may_convert = false;
        let field = |postgres_type, reading: Option<ValueReading>| {
            let reading = reading.or_else(|| preset_reading(framework, &postgres_type));
            Some(TargetField { postgres_type, reading, not_null, may_convert })
        };
        let rule = rules.find(table, column);
        if let Some((chosen, reading)) =
            rule.and_then(|rule| Some((rule.chosen_type()?, rule.reading)))
        {
            let field = field(chosen, reading);
            return Candidate { field, not_null, may_fall_back: false, is_rule: true };
        }
        let preset = preset_type(framework, column).map(DeclaredType::Hard);
        let (field, may_fall_back) =
            match preset.unwrap_or_else(|| declared(column, choice.integers)) {
                DeclaredType::Hard(hard) => (field(hard, None), false),
                DeclaredType::Formed(formed) => {
                    (field(formed, None), choice.rule == TypeRule::ByValues)
                }
                DeclaredType::Unknown => (None, true),
            };
        Candidate { field, not_null, may_fall_back, is_rule: false }
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
            let moments = tried.postgres_type.is_moment() && profile.only_moments();
            field(match profile.looks.zoned_timestamps {
                0 if moments => PostgresType::Timestamp(6),
                zoned if moments && zoned == profile.texts => PostgresType::TimestampTz(6),
                _ => fallback(profile),
            })
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
