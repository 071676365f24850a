//! Choice for COLLATE NOCASE: indexes over lower() that compare as it does, or citext.

use serde::{Deserialize, Serialize};

use super::expression::PlannedTable;
use crate::source::{Index, SourceTable, quoted};

/// The form that COLLATE NOCASE gets in the target (`--nocase`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NocaseRule {
    /// Named, not carried over.
    #[default]
    None,
    /// Indexes over `lower(... COLLATE "C")`.
    Index,
    /// Columns of the type citext.
    Citext,
}

impl NocaseRule {
    /// Its name as a flag's value, where it asks for something.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Index => Some("index"),
            Self::Citext => Some("citext"),
        }
    }
}

/// A key with the collation of each column, in upper case.
pub type CollatedKey = Vec<(usize, String)>;

/// The parts of an index that compares as SQLite does; `None` for a collation that the application
/// brought.
pub fn collated_parts(table: &SourceTable, key: &[(usize, String)]) -> Option<Vec<String>> {
    let part = |(column, collation): &(usize, String)| {
        let name = quoted(&table.columns[*column].target_name);
        match collation.as_str() {
            "BINARY" => Some(name),
            "NOCASE" => Some(format!("lower({name} COLLATE \"C\")")),
            "RTRIM" => Some(format!("rtrim({name}, ' ')")),
            _ => None,
        }
    };
    key.iter().map(part).collect()
}

/// `true` for a key that compares by NOCASE and by no other collation.
pub fn is_only_nocase(key: &[(usize, String)]) -> bool {
    let is = |name: &str| key.iter().any(|(_, collation)| collation == name);
    is("NOCASE") && key.iter().all(|(_, collation)| collation == "NOCASE" || collation == "BINARY")
}

/// A unique index beside a key that PostgreSQL compares exactly.
pub struct NocaseKey {
    pub columns: Vec<usize>,
    pub parts: Vec<String>,
    pub predicate: Option<String>,
}

impl PlannedTable<'_> {
    /// An index over columns with its collations; only texts have one.
    pub fn collated(&self, index: &Index) -> Option<CollatedKey> {
        let part = |(column, collation): (usize, &str)| match self.fields[column].postgres_type {
            ref text if text.is_text() => (column, collation.to_ascii_uppercase()),
            _ => (column, "BINARY".to_owned()),
        };
        let collations = index.parts.iter().map(|part| part.collation.as_str());
        Some(index.columns()?.into_iter().zip(collations).map(part).collect())
    }

    /// The parts of an index that compares without case, where this was asked for.
    pub fn without_case(&self, key: &[(usize, String)]) -> Option<Vec<String>> {
        let is_asked = self.made_for.nocase == NocaseRule::Index && is_only_nocase(key);
        collated_parts(self.table, key).filter(|_| is_asked)
    }

    /// The unique indexes beside keys that NOCASE makes narrower. The keys stay: foreign keys need
    /// them.
    pub fn nocase_keys(&self) -> Vec<NocaseKey> {
        let of_column = |column: &usize| {
            let text = self.fields[*column].postgres_type.is_text();
            let collation = self.table.columns[*column].collation.as_deref().filter(|_| text);
            (*column, collation.unwrap_or("BINARY").to_owned())
        };
        let primary: CollatedKey = self.table.primary_key.iter().map(of_column).collect();
        let unique = self.table.indexes.iter().filter(|index| index.unique);
        let others = unique.filter_map(|index| {
            let (_, predicate) = self.index(index)?;
            Some((self.collated(index)?, predicate))
        });
        let all = std::iter::once((primary, None)).chain(others);
        all.filter_map(|(key, predicate)| {
            let parts = self.without_case(&key)?;
            let columns = key.into_iter().map(|(column, _)| column).collect();
            Some(NocaseKey { columns, parts, predicate })
        })
        .collect()
    }
}
