//! User's mapping rules: `--map 'TABLE.COLUMN[=TYPE] [using READING]'`, `*` matching anything, and
//! `--map 'type:DECLARED=TYPE'` for all columns of a declared type.

use std::collections::BTreeSet;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::display::{flag, list};
use crate::source::{SourceColumn, SourceSchema, SourceTable, fits_pattern};
use crate::value::{PostgresType, ValueReading};

/// Beginning of a rule for a declared type.
const OF_TYPE: &str = "type:";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MapRule {
    written: String,
    pattern: String,
    /// The type; `None` for that of the target, or the one that the reading implies.
    pub postgres_type: Option<PostgresType>,
    /// The reading of values of another kind than the type's own.
    pub reading: Option<ValueReading>,
}

impl TryFrom<String> for MapRule {
    type Error = Error;

    fn try_from(written: String) -> Result<Self, Error> {
        written.parse()
    }
}

impl From<MapRule> for String {
    fn from(mapping: MapRule) -> Self {
        mapping.written
    }
}

impl FromStr for MapRule {
    type Err = Error;

    fn from_str(written: &str) -> Result<Self, Error> {
        let wrong = |problem: String| Error::Mapping { rule: written.to_owned(), problem };
        let (left, reading) = match written.rsplit_once(" using ") {
            None => (written, None),
            Some((left, name)) => (left, Some(ValueReading::named(name.trim()).map_err(wrong)?)),
        };
        let (pattern, type_name) = match left.rsplit_once('=') {
            Some((pattern, type_name)) => (pattern, Some(type_name)),
            None if reading.is_some() => (left, None),
            None => {
                let problem = "write TABLE.COLUMN=TYPE, for example articles.slug=varchar(512)";
                return Err(wrong(problem.to_owned()));
            }
        };
        if !pattern.contains('.') && declared_pattern(pattern).is_none() {
            return Err(wrong(format!("write TABLE.COLUMN first, for example *.{pattern}")));
        }
        let postgres_type: Option<PostgresType> =
            type_name.map(str::parse).transpose().map_err(wrong)?;
        if let (Some(reading), Some(postgres_type)) = (reading, &postgres_type) {
            reading.check(postgres_type).map_err(wrong)?;
        }
        let (written, pattern) = (written.to_owned(), pattern.trim().to_owned());
        Ok(Self { written, pattern, postgres_type, reading })
    }
}

impl MapRule {
    /// The type where migration chooses it.
    pub fn chosen_type(&self) -> Option<PostgresType> {
        let implied = || self.reading.map(ValueReading::implied_type);
        self.postgres_type.clone().or_else(implied)
    }

    fn fits(&self, table: &SourceTable, column: &SourceColumn) -> bool {
        match declared_pattern(&self.pattern) {
            Some(pattern) => {
                let (pattern, declared) = (squeezed(pattern), squeezed(&column.declared_type));
                [&declared, &without_length(&declared)]
                    .iter()
                    .any(|each| fits_pattern(&pattern, each))
            }
            None => fits_pattern(&self.pattern, &format!("{}.{}", table.name, column.name)),
        }
    }

    /// It names one column.
    fn is_exact(&self) -> bool {
        !self.pattern.contains('*') && declared_pattern(&self.pattern).is_none()
    }

    /// Both name the same column.
    fn is_for_column_of(&self, other: &Self) -> bool {
        self.is_exact() && self.pattern.eq_ignore_ascii_case(&other.pattern)
    }
}

/// The pattern of a rule for a declared type.
fn declared_pattern(pattern: &str) -> Option<&str> {
    let (start, rest) = pattern.trim_start().split_at_checked(OF_TYPE.len())?;
    start.eq_ignore_ascii_case(OF_TYPE).then_some(rest)
}

/// A declared type with one blank between words, and none beside brackets and commas.
fn squeezed(declared: &str) -> String {
    let spaced = declared.replace('(', " ( ").replace(')', " ) ").replace(',', " , ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    words.join(" ").replace(" (", "(").replace("( ", "(").replace(" )", ")").replace(" ,", ",")
}

/// A declared type as rules name it: without its length.
pub fn declared_name(declared: &str) -> String {
    without_length(&squeezed(declared))
}

fn without_length(declared: &str) -> String {
    match (declared.split_once('('), declared.rsplit_once(')')) {
        (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
        _ => declared.to_owned(),
    }
}

/// The user's rules. One that names a column exactly wins over patterns, among patterns the last
/// one that matches.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MapRules(pub Vec<MapRule>);

impl MapRules {
    /// The rule for a column, if there is one.
    pub fn find(&self, table: &SourceTable, column: &SourceColumn) -> Option<&MapRule> {
        let mut fitting = self.0.iter().rev().filter(|rule| rule.fits(table, column));
        let exact = fitting.clone().find(|rule| rule.is_exact());
        exact.or_else(|| fitting.next())
    }

    /// The same, without rules that fit no column of `schema`.
    #[must_use]
    pub fn for_part(&self, schema: &SourceSchema) -> Self {
        let fits = |rule: &&MapRule| {
            let of = |table: &SourceTable| table.columns.iter().any(|each| rule.fits(table, each));
            schema.tables.iter().any(of)
        };
        Self(self.0.iter().filter(fits).cloned().collect())
    }

    /// Adds rules that have the last word on the columns that they name.
    pub fn overrule(&mut self, others: impl IntoIterator<Item = MapRule>) {
        let others: Vec<MapRule> = others.into_iter().collect();
        self.0.retain(|own| !others.iter().any(|other| own.is_for_column_of(other)));
        self.0.extend(others);
    }

    fn refuse_contradictions(&self) -> Result<(), Error> {
        for (place, rule) in self.0.iter().enumerate() {
            let differs = |other: &&MapRule| {
                rule.is_for_column_of(other)
                    && (&rule.postgres_type, rule.reading) != (&other.postgres_type, other.reading)
            };
            if let Some(other) = self.0[..place].iter().find(differs) {
                let own = String::from(other.clone());
                let problem = format!("contradicts {}: keep one of them", flag("--map", &own));
                return Err(Error::Mapping { rule: rule.written.clone(), problem });
            }
        }
        Ok(())
    }

    /// Refuses a rule that matches no column, most often a typing mistake, and rules that give one
    /// column two types.
    pub fn check(&self, schema: &SourceSchema) -> Result<(), Error> {
        self.refuse_contradictions()?;
        for rule in &self.0 {
            let fits =
                |table: &SourceTable| table.columns.iter().any(|each| rule.fits(table, each));
            if schema.tables.iter().any(fits) {
                continue;
            }
            if declared_pattern(&rule.pattern).is_some() {
                let columns = schema.tables.iter().flat_map(|table| &table.columns);
                let declared = columns.map(|column| declared_name(&column.declared_type));
                let known: BTreeSet<String> = declared.map(|each| each.to_lowercase()).collect();
                let known = list(known.iter().filter(|each| !each.is_empty()));
                let problem = format!("fits no column; the declared types are {known}");
                return Err(Error::Mapping { rule: rule.written.clone(), problem });
            }
            let table = rule.pattern.split('.').next().unwrap_or_default();
            let known = match schema.table(table) {
                Some(table) => {
                    format!("{} has {}", table.name, table.names(0..table.columns.len()))
                }
                None => {
                    format!("the tables are {}", list(schema.tables.iter().map(|t| &t.name)))
                }
            };
            let problem = format!("fits no column; {known}");
            return Err(Error::Mapping { rule: rule.written.clone(), problem });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_refused() {
        let rule: MapRule = "log.at=timestamptz using epoch_seconds".parse().unwrap();
        assert_eq!(rule.reading, Some(ValueReading::EpochSeconds));
        let rule: MapRule = "log.took using microseconds".parse().unwrap();
        assert_eq!((&*rule.pattern, &rule.postgres_type), ("log.took", &None));
        assert_eq!(rule.chosen_type(), Some(PostgresType::Interval(6)));
        for (text, expected) in [
            ("slug", "write TABLE.COLUMN=TYPE"),
            ("slug=text", "for example *.slug"),
            ("a.b=varchr(3)", "unknown type `varchr(3)`"),
            ("a.b=date using moon", "use epoch_seconds,"),
            ("a.b using moon", "use epoch_seconds,"),
            ("b using utf8", "for example *.b"),
            ("a.b=text using epoch_seconds", "is for date"),
            ("a.b=date using utf8", "`using utf8` is for text"),
            ("a.b=timestamp using rails_time", "`using rails_time` is for time"),
        ] {
            let message = text.parse::<MapRule>().unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
