//! Units of numbers that are moments, and durations: which reading fits a column, and what to do where
//! none does.

use notation::{plural, thousands};

use super::evidence::ColumnEvidence;
use crate::display::{flag, list};
use crate::finding::{Finding, Severity};
use crate::source::quoted;
use crate::value::{PostgresType, Profile, ValueReading};

/// Ends of names of columns of moments.
const NAMES: [&str; 9] =
    ["_at", "_on", "time", "date", "stamp", "created", "updated", "modified", "_ts"];
/// Epochs from the coarsest on, each a thousandth of the one before.
const EPOCHS: [ValueReading; 3] =
    [ValueReading::EpochSeconds, ValueReading::EpochMilliseconds, ValueReading::EpochMicroseconds];

impl ColumnEvidence<'_> {
    /// The unit of the numbers in a column of dates, with how many of them tell it.
    pub fn epoch(&self) -> Option<(ValueReading, u64)> {
        self.profile.epoch().filter(|_| self.is_of_moments())
    }

    fn is_of_moments(&self) -> bool {
        let tried = self.candidate.field.as_ref();
        tried.is_some_and(|field| field.postgres_type.is_moment())
    }

    /// The units of a column of dates whose numbers are moments in several, in words, and the remedy.
    pub fn mixed_units(&self, postgres_type: &PostgresType) -> Option<(String, String)> {
        let units = self.profile.epochs();
        let is_mixed = units.len() > 1 && self.is_of_moments();
        is_mixed.then(|| (in_words(&units), self.one_unit(&units, postgres_type)))
    }

    /// The statements that make numbers of several units one of the finest, and the rule that reads it.
    /// A Julian day is a fraction, which no statement turns into an exact number.
    fn one_unit(&self, units: &[(ValueReading, u64)], postgres_type: &PostgresType) -> String {
        let has = |unit: &ValueReading| units.iter().any(|(each, _)| each == unit);
        let finest = EPOCHS.iter().rposition(has);
        let Some(finest) = finest.filter(|_| !has(&ValueReading::JulianDay)) else {
            return "make them one unit in a copy of the source".to_owned();
        };
        let coarsest = EPOCHS.iter().position(has).unwrap_or(finest);
        let (table, column) = (quoted(&self.table.name), quoted(&self.column().name));
        let bounds = EPOCHS[coarsest..finest].iter().filter_map(|unit| unit.likely_numbers());
        let statements = bounds.map(|(first, end)| {
            format!(
                "UPDATE {table} SET {column} = {column} * 1000 WHERE {column} >= {first} AND \
                 {column} < {end}"
            )
        });
        let statements: Vec<String> = statements.collect();
        let (name, unit) = (&self.column().name, EPOCHS[finest].name());
        let rule = format!("{}.{name}={postgres_type} using {unit}", self.table.name);
        format!(
            "make them one unit in a copy of the source: {}; then {}",
            statements.join("; "),
            flag("--map", &rule)
        )
    }

    /// A column of numbers, named like a moment, whose every value is one as seconds or
    /// milliseconds since 1970 or as a Julian day.
    pub fn looks_like_epoch(&self) -> Option<Finding> {
        let of_numbers = |postgres_type: &PostgresType| {
            let of_fractions = [PostgresType::DoublePrecision, PostgresType::Numeric(None)];
            postgres_type.is_integer() || of_fractions.contains(postgres_type)
        };
        let (tried, chosen) = (self.candidate.field.as_ref()?, &self.field.postgres_type);
        // A key that SQLite numbers would lose its numbers.
        let is_numbered = self.table.is_numbered(self.position);
        let is_typed = self.target.is_some() || is_numbered;
        if is_typed || !of_numbers(&tried.postgres_type) || !of_numbers(chosen) {
            return None;
        }
        let (table, name) = (&self.table.name, &self.column().name);
        let lower = name.to_ascii_lowercase();
        if !NAMES.iter().any(|ending| lower.ends_with(ending)) {
            return None;
        }
        let units = self.profile.epochs();
        let (severity, kind, message, fix) = match &units[..] {
            [] => return None,
            [(reading, _)] => {
                let unit = reading.unit();
                let message =
                    format!("every number is probably a moment in {unit}: kept as {chosen}");
                let rule = format!("{table}.{name}=timestamptz using {}", reading.name());
                let fix = format!("{} if so meant", flag("--map", &rule));
                (Severity::Note, "epoch_numbers", message, fix)
            }
            several => {
                let words = in_words(several);
                let message = format!(
                    "every number is probably a moment, in several units ({words}): kept as {chosen}"
                );
                let fix = self.one_unit(several, &PostgresType::TimestampTz(6));
                (Severity::Warning, "mixed_units", message, format!("if so meant, {fix}"))
            }
        };
        let finding = self.finding(severity, kind, message, fix);
        Some(finding.counted(self.profile.integers + self.profile.reals, Vec::new()))
    }

    /// Numbers of another unit than that in which a rule reads them.
    pub fn other_unit(&self) -> Option<Finding> {
        let reading = self.field.reading.filter(|_| self.field.postgres_type.is_moment())?;
        let mut others = self.profile.likely_units();
        others.retain(|(unit, _)| *unit != reading);
        let count: u64 = others.iter().map(|(_, count)| count).sum();
        if count == 0 {
            return None;
        }
        let message = format!(
            "{} number{} read as {}: probably {}",
            thousands(count),
            plural(count),
            reading.unit(),
            in_words(&others)
        );
        let fix = match self.profile.epochs()[..] {
            [(unit, _)] => {
                let name = &self.column().name;
                let (table, own) = (&self.table.name, &self.field.postgres_type);
                flag("--map", &format!("{table}.{name}={own} using {}", unit.name()))
            }
            ref several => self.one_unit(several, &self.field.postgres_type),
        };
        let finding = self.finding(Severity::Warning, "other_unit", message, fix);
        Some(finding.counted(count, Vec::new()))
    }

    /// The reading of durations that the column of an existing target may need: none fits by itself.
    pub fn duration_reading(&self) -> Option<&'static str> {
        let Profile { integers, reals, texts, blobs, looks, .. } = self.profile;
        if !matches!(self.field.postgres_type, PostgresType::Interval(_)) {
            return None;
        }
        match (integers, reals, texts, blobs) {
            (1.., 0, 0, 0) => Some(ValueReading::Microseconds.name()),
            (0, 0, 1.., 0) if looks.dates + looks.timestamps == *texts => {
                Some(ValueReading::Since1970.name())
            }
            _ => None,
        }
    }
}

/// For example `2 in epoch seconds, 1 in epoch milliseconds`.
fn in_words(units: &[(ValueReading, u64)]) -> String {
    let counted =
        |(unit, count): &(ValueReading, u64)| format!("{} in {}", thousands(*count), unit.unit());
    list(units.iter().map(counted))
}
