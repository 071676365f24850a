//! User's mapping rules: `--map 'TABLE.COLUMN[=TYPE] [using READING]'`, `*` matching anything.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::display::list;
use crate::source::{SourceSchema, fits_pattern};
use crate::value::{PostgresType, ValueReading};

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
        if !pattern.contains('.') {
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
}

/// The user's rules; the last one that matches a column wins.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MapRules(pub Vec<MapRule>);

impl MapRules {
    /// The rule for a column, if there is one.
    pub fn find(&self, table: &str, column: &str) -> Option<&MapRule> {
        let name = format!("{table}.{column}");
        self.0.iter().rev().find(|rule| fits_pattern(&rule.pattern, &name))
    }

    /// Refuses a rule that matches no column: most often a typing mistake.
    pub fn check(&self, schema: &SourceSchema) -> Result<(), Error> {
        for rule in &self.0 {
            let mut names = schema.tables.iter().flat_map(|table| {
                table.columns.iter().map(|column| format!("{}.{}", table.name, column.name))
            });
            if names.any(|name| fits_pattern(&rule.pattern, &name)) {
                continue;
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
        assert_eq!(rule.chosen_type(), Some(PostgresType::Interval));
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

    #[test]
    fn the_last_rule_wins() {
        let rules = MapRules(vec!["*.id=uuid".parse().unwrap(), "a.id=text".parse().unwrap()]);
        assert_eq!(rules.find("a", "id").and_then(MapRule::chosen_type), Some(PostgresType::Text));
        assert_eq!(rules.find("b", "id").and_then(MapRule::chosen_type), Some(PostgresType::Uuid));
        assert_eq!(rules.find("b", "x"), None);
    }
}
