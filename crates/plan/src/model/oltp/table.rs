//! Tables of a load: their schema, number and size.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::name::{UnknownName, by_name};

/// A family of tables; every [`super::Mix`] works on one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Schema {
    /// `sbtest1` to `sbtestN`: id, k with an index, c char(120), pad char(60).
    #[default]
    Sbtest,
    /// `sbcustomer`, `sborder`, `sbitem`: a customer has ten orders, an order four items;
    /// `table_size` are the orders.
    Orders,
    /// `sbvariable`: a varchar and a text of skewed lengths.
    Variable,
    /// `sbtext`: names and lines in Hungarian.
    Text,
}

/// How texts are stored, or travel. What is UTF-16 here is SQLite's alone, its native order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum CharacterSet {
    /// UTF-8; `utf8mb4` of MariaDB.
    #[default]
    Utf8,
    /// ISO 8859-2, a byte per character: PostgreSQL and MariaDB.
    Latin2,
    /// UTF-16: SQLite.
    Utf16,
}

/// How texts are compared and ordered in [`Schema::Text`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::VariantArray, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Collation {
    /// Byte by byte: `C`, `BINARY`, `_bin`.
    #[default]
    Bytes,
    /// By the rules of Hungarian: ICU of PostgreSQL, `_hungarian_ci` of MariaDB; not in SQLite.
    Language,
}

/// The tables that must be there before a load begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TableOptions {
    pub schema: Schema,
    /// How many of them, from 1; more than one in [`Schema::Sbtest`] only.
    pub tables: u32,
    /// Rows of each, from 1.
    pub table_size: u32,
    /// The same seed gives the same rows, on every engine.
    pub seed: u64,
    /// Of the stored texts. PostgreSQL's belongs to the database and SQLite's to the file: there
    /// it is checked (SQLite: set, in an empty file), in MariaDB it is the table's.
    pub character_set: CharacterSet,
    pub collation: Collation,
}

impl Default for TableOptions {
    /// One table of a million rows.
    fn default() -> Self {
        Self {
            schema: Schema::Sbtest,
            tables: 1,
            table_size: 1_000_000,
            seed: 1,
            character_set: CharacterSet::Utf8,
            collation: Collation::Bytes,
        }
    }
}

impl Schema {
    const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    /// Its name in marks and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl CharacterSet {
    /// Its name in plans and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Collation {
    /// Its name in plans and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl FromStr for CharacterSet {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        by_name("character set", text)
    }
}

impl FromStr for Collation {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        by_name("collation", text)
    }
}

/// One line, also the mark of the tables in the catalog.
impl fmt::Display for TableOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} rows={ROWS_VERSION} tables={} table_size={} seed={} character_set={} collation={}",
            self.schema.name(),
            self.tables,
            self.table_size,
            self.seed,
            self.character_set.name(),
            self.collation.name()
        )
    }
}

impl TableOptions {
    /// Reads what `Display` has written.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut words = text.split(' ');
        let schema = words.next()?;
        let schema = Schema::ALL.iter().copied().find(|one| one.name() == schema)?;
        let mut value = |name: &str| words.next()?.strip_prefix(name)?.strip_prefix('=');
        if value("rows")? != ROWS_VERSION {
            return None;
        }
        Some(Self {
            schema,
            tables: value("tables")?.parse().ok()?,
            table_size: value("table_size")?.parse().ok()?,
            seed: value("seed")?.parse().ok()?,
            character_set: value("character_set")?.parse().ok()?,
            collation: value("collation")?.parse().ok()?,
        })
    }

    /// Refuses tables that cannot be made, with the reason.
    pub fn check(&self) -> Result<(), String> {
        let wrong = |text: String| Err(text);
        if self.table_size == 0 || self.tables == 0 {
            return wrong("there must be at least one table of at least one row".to_owned());
        }
        if self.table_size > ROWS_MAX {
            let rows = self.table_size;
            return wrong(format!("{rows} rows are too many: keys are integers, {ROWS_MAX} fit"));
        }
        if self.tables > 1 && self.schema != Schema::Sbtest {
            let name = self.schema.name();
            return wrong(format!("{name} has its tables once: tables must be 1"));
        }
        let plain = self.character_set == CharacterSet::Utf8 && self.collation == Collation::Bytes;
        if self.schema != Schema::Text && !plain {
            let text = "character sets and collations are compared by the workload encoding alone";
            return wrong(text.to_owned());
        }
        Ok(())
    }
}

/// Which rows the seed stands for: another number when they are made or marked in another way, so that
/// tables filled by an earlier program are not taken for those of this one.
const ROWS_VERSION: &str = "2";

/// Four items of each of this many orders, and as many rows inserted again, have an integer key.
const ROWS_MAX: u32 = 250_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        let options = TableOptions {
            schema: Schema::Text,
            tables: 1,
            table_size: 5,
            seed: u64::MAX,
            character_set: CharacterSet::Latin2,
            collation: Collation::Language,
        };
        assert_eq!(TableOptions::read(&options.to_string()), Some(options.clone()));
        assert_eq!(TableOptions::read("sbtest"), None);
        let other = options.to_string().replace("rows=2", "rows=1");
        assert_eq!(TableOptions::read(&other), None);
    }
}
