//! Which tables there are, how many, and how large.

use serde::{Deserialize, Serialize};

/// A family of tables; every [`crate::Mix`] works on one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
pub enum Collation {
    /// Byte by byte: `C`, `BINARY`, `_bin`.
    #[default]
    Bytes,
    /// By the rules of Hungarian: ICU of PostgreSQL, `_hungarian_ci` of MariaDB; not in SQLite.
    Language,
}

/// What is to be there before a load begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TableOptions {
    /// Which tables.
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
    /// Of the texts.
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
