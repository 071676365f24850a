//! Presets: a file of data for each framework.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::source::schema::{SourceColumn, SourceSchema, SourceTable};
use crate::source::selection::fits_pattern;

/// The files by the names that `--framework` takes.
pub const FILES: [(&str, &str); 13] = [
    ("django", include_str!("presets/django.toml")),
    ("sqlalchemy", include_str!("presets/sqlalchemy.toml")),
    ("rails", include_str!("presets/rails.toml")),
    ("typeorm", include_str!("presets/typeorm.toml")),
    ("sequelize", include_str!("presets/sequelize.toml")),
    ("efcore", include_str!("presets/efcore.toml")),
    ("fluentmigrator", include_str!("presets/fluentmigrator.toml")),
    ("prisma", include_str!("presets/prisma.toml")),
    ("knex", include_str!("presets/knex.toml")),
    ("laravel", include_str!("presets/laravel.toml")),
    ("diesel", include_str!("presets/diesel.toml")),
    ("xorm", include_str!("presets/xorm.toml")),
    ("gorm", include_str!("presets/gorm.toml")),
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// As people write it.
    pub name: String,
    /// Applications of it were moved, and ran on PostgreSQL afterwards.
    pub proved: bool,
    /// The command that makes its tables, or the event.
    pub tables_by: String,
    /// The flags of the move into its tables.
    pub flags: String,
    /// Faults of the way that the framework does not name.
    pub caution: Option<String>,
    /// Tables that are filled while they are made; `*` matches anything.
    #[serde(default)]
    pub filled: Vec<String>,
    /// Tables of sessions, caches and finished jobs, whose rows an application can do without.
    #[serde(default)]
    pub expendable: Vec<String>,
    /// Tables that every file of it has.
    pub marks: Vec<PresetMark>,
    /// The table of its versions, with the columns that name one.
    pub versions: Option<Versions>,
    /// A table of rows about the database itself, with the columns that show one.
    pub own_rows: Option<OwnRows>,
    /// Readings by type of the target.
    #[serde(default)]
    pub readings: BTreeMap<String, String>,
    /// Types of PostgreSQL by declared type, in small letters.
    #[serde(default)]
    pub types: BTreeMap<String, String>,
    /// Types of its own tables that Crossover does not choose.
    #[serde(default)]
    pub other_types: Vec<OtherType>,
}

/// A table by which a framework is recognised.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetMark {
    /// `*` matches any.
    pub table: String,
    pub columns: Vec<String>,
    /// Declared types of columns, as written.
    #[serde(default)]
    pub types: BTreeMap<String, String>,
    /// An index of it; `*` stands for the table's name.
    pub index: Option<String>,
}

impl PresetMark {
    /// The table that has this mark.
    pub fn find<'a>(&self, schema: &'a SourceSchema) -> Option<&'a SourceTable> {
        schema.tables.iter().find(|table| self.is_on(table))
    }

    fn is_on(&self, table: &SourceTable) -> bool {
        let declared = |column: &str| {
            table.column(column).map(|position| table.columns[position].declared_type.as_str())
        };
        let has_index = |name: &str| {
            let name = name.replace('*', &table.name);
            table.indexes.iter().any(|index| index.name.eq_ignore_ascii_case(&name))
        };
        fits_pattern(&self.table, &table.name)
            && self.columns.iter().all(|column| table.column(column).is_some())
            && self.types.iter().all(|(column, written)| declared(column) == Some(written.as_str()))
            && self.index.as_deref().is_none_or(has_index)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Versions {
    pub table: String,
    pub columns: Vec<String>,
    /// Only in a file that has the framework's marks: other programs use the name too.
    #[serde(default)]
    pub only_with_marks: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnRows {
    pub table: String,
    pub columns: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherType {
    /// In small letters.
    pub declared: String,
    /// The function with which a CHECK of such a column begins.
    pub check: Option<String>,
    /// The type in the framework's own tables.
    pub becomes: String,
    /// Otherwise it declares other columns like this too.
    pub is_certain: bool,
}

impl OtherType {
    /// Columns of this kind. A foreign key has the type of the key to which it refers.
    pub fn columns(&self, table: &SourceTable) -> usize {
        let refers =
            |position: usize| table.foreign_keys.iter().any(|key| key.columns.contains(&position));
        let is_checked = |column: &SourceColumn, function: &str| {
            let start = format!("{function}(\"{}\")", column.name);
            let begins = |expression: &str| {
                let written = expression.trim_start_matches(['(', ' ']).get(..start.len());
                written.is_some_and(|written| written.eq_ignore_ascii_case(&start))
            };
            table.checks.iter().any(|check| begins(&check.expression))
        };
        let fits = |(position, column): &(usize, &SourceColumn)| {
            column.declared_type.eq_ignore_ascii_case(&self.declared)
                && !refers(*position)
                && self.check.as_deref().is_none_or(|function| is_checked(column, function))
        };
        table.columns.iter().enumerate().filter(fits).count()
    }
}
