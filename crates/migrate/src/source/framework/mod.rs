//! Framework of the application that made a file, recognised by the tables that it leaves there. It
//! makes its tables in PostgreSQL with types of its own.

mod application;
mod choice;
mod preset;

use std::sync::LazyLock;

use serde::{Serialize, Serializer};

pub use application::{SourceApplication, selection_flags};
pub use choice::FrameworkChoice;

use self::preset::{FILES, Preset, PresetMark};
use super::schema::{SourceColumn, SourceSchema, SourceTable};

/// Presets by the names that `--framework` takes.
static PRESETS: LazyLock<Vec<(&str, Preset)>> = LazyLock::new(|| {
    let read = |(key, text): &(&'static str, &str)| Some((*key, toml::from_str(text).ok()?));
    FILES.iter().filter_map(read).collect()
});

/// A framework, by its preset.
#[derive(Clone, Copy)]
pub struct Framework {
    key: &'static str,
    preset: &'static Preset,
}

/// A framework that made a file.
#[derive(Clone, Debug)]
pub struct RecognisedFramework {
    pub framework: Framework,
    /// The tables that tell; empty if the user named it.
    pub tables: Vec<String>,
}

impl RecognisedFramework {
    /// All whose marks a file has.
    pub fn all_of(schema: &SourceSchema) -> Vec<Self> {
        let found = |framework: Framework| {
            Some(Self { framework, tables: framework.marked_tables(schema)? })
        };
        Framework::all().filter_map(found).collect()
    }
}

impl std::fmt::Debug for Framework {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.key)
    }
}

impl Eq for Framework {}

impl PartialEq for Framework {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Serialize for Framework {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key)
    }
}

impl Framework {
    pub fn all() -> impl Iterator<Item = Self> {
        PRESETS.iter().map(|(key, preset)| Self { key, preset })
    }

    /// The tables by which it is recognised in a file that has all of them.
    fn marked_tables(self, schema: &SourceSchema) -> Option<Vec<String>> {
        let table = |mark: &PresetMark| Some(mark.find(schema)?.name.clone());
        self.preset.marks.iter().map(table).collect()
    }

    /// The framework whose versions a table holds, with the columns that name one.
    pub fn of_versions(schema: &SourceSchema, table: &SourceTable) -> Option<(Self, Vec<usize>)> {
        schema.presets().find_map(|each| {
            let versions = each.preset.versions.as_ref()?;
            let is_it = each.keeps_versions(table)
                && (!versions.only_with_marks
                    || schema.frameworks.iter().any(|found| found.framework == each));
            let columns = versions.columns.iter().filter(|_| is_it);
            let columns: Vec<usize> =
                columns.map(|column| table.column(column)).collect::<Option<_>>()?;
            (!columns.is_empty()).then_some((each, columns))
        })
    }

    fn keeps_versions(self, table: &SourceTable) -> bool {
        let versions = self.preset.versions.as_ref();
        versions.is_some_and(|versions| versions.table.eq_ignore_ascii_case(&table.name))
    }

    /// The framework that writes rows about each database into a table, with the columns that show
    /// one.
    pub fn of_own_rows(
        schema: &SourceSchema,
        table: &SourceTable,
    ) -> Option<(Self, &'static [String])> {
        schema.presets().find_map(|each| {
            let own = each.preset.own_rows.as_ref()?;
            let is_it = own.table.eq_ignore_ascii_case(&table.name)
                && own.columns.iter().all(|column| table.column(column).is_some());
            is_it.then_some((each, own.columns.as_slice()))
        })
    }

    /// As `--framework` takes it.
    pub fn key(self) -> &'static str {
        self.key
    }

    /// As people write it.
    pub fn name(self) -> &'static str {
        &self.preset.name
    }

    /// The command that makes its tables, or the event.
    pub fn tables_by(self) -> &'static str {
        &self.preset.tables_by
    }

    /// PostgreSQL's type for what it declares like this, in the words of `--map`.
    pub fn type_of(self, column: &SourceColumn) -> Option<&'static str> {
        self.preset.types.get(&column.declared_type.to_ascii_lowercase()).map(String::as_str)
    }

    /// The reading of values that it stores for a type of PostgreSQL, by its name without numbers.
    pub fn reading(self, postgres_type: &str) -> Option<&'static str> {
        let name = postgres_type.split('(').next().unwrap_or_default();
        self.preset.readings.get(name).map(String::as_str)
    }

    /// The types and the readings of its preset, in the words of `--map`.
    #[cfg(test)]
    fn rules(self) -> Vec<String> {
        let Preset { types, readings, .. } = self.preset;
        let readings = readings.iter().map(|(name, reading)| format!("{name} using {reading}"));
        types.values().cloned().chain(readings).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::MapRule;

    #[test]
    fn every_preset_is_read() {
        for (key, text) in FILES {
            assert!(toml::from_str::<Preset>(text).is_ok(), "{key}: {text}");
        }
        assert_eq!(Framework::all().count(), FILES.len());
    }

    #[test]
    fn every_rule_of_a_preset_is_one() {
        for framework in Framework::all() {
            for rule in framework.rules() {
                let read = format!("t.c={rule}").parse::<MapRule>();
                assert!(read.is_ok(), "{framework:?}: {read:?}");
            }
        }
    }

    #[test]
    fn a_choice_is_read_as_it_is_written() {
        for (written, expected) in [("auto", "auto"), ("None", "none"), ("Django", "django")] {
            assert_eq!(
                written.parse::<FrameworkChoice>().map(String::from),
                Ok(expected.to_owned())
            );
        }
        let error = "symfony".parse::<FrameworkChoice>().unwrap_err();
        assert!(error.contains("use auto, none, django, sqlalchemy"), "{error}");
    }
}
