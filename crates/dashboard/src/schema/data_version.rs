//! The data version: a number that changes with every change of facts, days, articles and names by
//! any program. Whatever is derived from the data (totals, kept answers) belongs to one version and is
//! worth nothing for another.

use std::fmt;

use super::{DIMENSIONS, SqlDialect, Table, VERSION};
use crate::database::{self, Snapshot, SqlRow, SqlValue};

/// The tables whose changes count.
fn watched() -> impl Iterator<Item = &'static str> {
    let dimensions = DIMENSIONS.iter().map(|dimension| dimension.place().table);
    dimensions.chain([Table::Traffic, Table::ImportedDays]).map(Table::name)
}

/// Changes of such a table give the data another version.
pub(crate) fn raises_data_version(table: Table) -> bool {
    watched().any(|name| name == table.name())
}

/// The row of `schema_version` in a new database: schema, data, and totals, which agree with no
/// facts where there are none. Numbers only, for both engines.
pub(crate) const fn first_row(has_totals: bool) -> [Option<i32>; 3] {
    [Some(VERSION), Some(0), if has_totals { Some(0) } else { None }]
}

/// The statements that make a database raise its data version from now on.
pub(crate) fn watch_changes(dialect: SqlDialect) -> Vec<String> {
    let raise = "UPDATE schema_version SET data_version = data_version + 1";
    match dialect {
        SqlDialect::Sqlite => watched()
            .flat_map(|table| ["insert", "update", "delete"].map(|change| (table, change)))
            .map(|(table, change)| {
                format!(
                    "CREATE TRIGGER {table}_{change} AFTER {change} ON {table} BEGIN {raise}; END"
                )
            })
            .collect(),
        SqlDialect::Postgres => {
            let function = format!(
                "CREATE OR REPLACE FUNCTION raise_data_version() RETURNS trigger LANGUAGE plpgsql \
                 AS $$ BEGIN {raise}; RETURN NULL; END $$"
            );
            let trigger = |table: &str| {
                format!(
                    "CREATE TRIGGER {table}_changed \
                     AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON {table} \
                     FOR EACH STATEMENT EXECUTE PROCEDURE raise_data_version()"
                )
            };
            std::iter::once(function).chain(watched().map(trigger)).collect()
        }
    }
}

/// The version of the data, and the version that the totals belong to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DataVersion {
    /// Identifies the table itself: after a restore, for example, the numbers start again.
    pub table: i64,
    pub data: i64,
    /// Of the totals, if there are any.
    pub totals: Option<i64>,
}

/// The statement that reads it.
pub(crate) const fn version_row(dialect: SqlDialect) -> &'static str {
    match dialect {
        SqlDialect::Sqlite => {
            "SELECT data_version, totals_version, \
             (SELECT schema_version FROM pragma_schema_version) FROM schema_version"
        }
        SqlDialect::Postgres => {
            "SELECT data_version, totals_version, tableoid::bigint FROM schema_version"
        }
    }
}

impl DataVersion {
    /// Whether the totals are those of the data.
    pub fn agrees(self) -> bool {
        self.totals == Some(self.data)
    }

    /// From the row that [`version_row`] gives.
    pub fn from_row(row: SqlRow<'_>) -> Result<Self, database::Error> {
        Ok(Self::from_values(&row.values()?))
    }

    /// From the values of that row.
    pub fn from_values(row: &[SqlValue<'_>]) -> Self {
        let integer = |place: usize| row.get(place).and_then(SqlValue::integer);
        let [data, table] = [0, 2].map(|place| integer(place).unwrap_or_default());
        Self { table, data, totals: integer(1) }
    }

    pub async fn read<S: Snapshot>(snapshot: &S) -> Result<Self, database::Error> {
        let mut version = Self::default();
        let each = |row: SqlRow<'_>| {
            version = Self::from_row(row)?;
            Ok::<_, database::Error>(())
        };
        snapshot.rows(version_row(S::DIALECT), &[], each).await?;
        Ok(version)
    }
}

impl fmt::Display for DataVersion {
    /// Another text for every other version.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = self.totals.map(|totals| totals.to_string()).unwrap_or_default();
        write!(formatter, "{}-{totals}-{}", self.data, self.table)
    }
}
