//! Foreign keys with the parents that PostgreSQL would accept for them.

use super::schema::{ForeignKey, SourceSchema, SourceTable};

/// A foreign key with its parent, if there is one that PostgreSQL would accept.
pub struct ResolvedForeignKey<'a> {
    pub key: &'a ForeignKey,
    /// The parent's place in the schema and the referred columns there.
    pub parent: Option<(usize, Vec<usize>)>,
}

/// Finds the parent of each foreign key of `table`. The parent's columns must be its primary key
/// or carry a plain unique index, as PostgreSQL demands.
pub fn resolve<'a>(schema: &SourceSchema, table: &'a SourceTable) -> Vec<ResolvedForeignKey<'a>> {
    let parent_of = |key: &ForeignKey| {
        let place =
            schema.tables.iter().position(|each| each.name.eq_ignore_ascii_case(&key.parent))?;
        let parent = &schema.tables[place];
        let columns: Option<Vec<usize>> = if key.parent_columns.is_empty() {
            Some(parent.primary_key.clone())
        } else {
            key.parent_columns.iter().map(|name| parent.column(name)).collect()
        };
        let columns = columns.filter(|columns| columns.len() == key.columns.len())?;
        is_unique(parent, &columns).then_some((place, columns))
    };
    table
        .foreign_keys
        .iter()
        .map(|key| ResolvedForeignKey { key, parent: parent_of(key) })
        .collect()
}

fn is_unique(table: &SourceTable, columns: &[usize]) -> bool {
    let same = |mut other: Vec<usize>| {
        let mut wanted = columns.to_vec();
        wanted.sort_unstable();
        other.sort_unstable();
        wanted == other
    };
    same(table.primary_key.clone())
        || table
            .indexes
            .iter()
            .any(|index| index.unique && !index.partial && index.columns().is_some_and(same))
}
