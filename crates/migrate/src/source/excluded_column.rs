//! Columns that are left out by `--exclude TABLE.COLUMN`: the table goes on without them, and without the
//! keys and indexes that need them.

use super::schema::{Index, IndexOmission, Rowid, SourceSchema, SourceTable};
use super::selection::fits_pattern;
use crate::Error;

/// Takes the columns that `pattern` names, as `TABLE.COLUMN`, out of their tables. Returns their number.
///
/// # Errors
/// [`Error::KeyColumn`] for a column of a primary key: its rows would have no name.
pub fn exclude_columns(schema: &mut SourceSchema, pattern: &str) -> Result<usize, Error> {
    let mut count = 0;
    for table in &mut schema.tables {
        let is_named = |name: &str| fits_pattern(pattern, &format!("{}.{name}", table.name));
        let excluded: Vec<bool> =
            table.columns.iter().map(|column| is_named(&column.name)).collect();
        if !excluded.contains(&true) {
            continue;
        }
        if let Some(key) = table.primary_key.iter().find(|place| excluded[**place]) {
            let column = format!("{}.{}", table.name, table.columns[*key].name);
            return Err(Error::KeyColumn { column });
        }
        count += excluded.iter().filter(|is_excluded| **is_excluded).count();
        without(table, &excluded);
    }
    Ok(count)
}

/// Every position in `table` moves to where its column is afterwards.
fn without(table: &mut SourceTable, excluded: &[bool]) {
    let place = |old: usize| {
        let before = excluded[..old].iter().filter(|is_excluded| **is_excluded).count();
        (!excluded[old]).then_some(old - before)
    };
    let columns = std::mem::take(&mut table.columns);
    for (column, is_excluded) in columns.into_iter().zip(excluded) {
        if *is_excluded {
            table.excluded_columns.push(column.name);
        } else {
            table.columns.push(column);
        }
    }
    let moved = |columns: &[usize]| columns.iter().map(|each| place(*each)).collect::<Option<_>>();
    table.primary_key = table.primary_key.iter().filter_map(|each| place(*each)).collect();
    if let Rowid::Alias(column) = table.rowid
        && let Some(column) = place(column)
    {
        table.rowid = Rowid::Alias(column);
    }
    for mut key in std::mem::take(&mut table.foreign_keys) {
        match moved(&key.columns) {
            Some(columns) => {
                key.columns = columns;
                table.foreign_keys.push(key);
            }
            None => table.excluded_parents.push(key.parent),
        }
    }
    for index in std::mem::take(&mut table.indexes) {
        match moved_index(index.clone(), place) {
            Some(index) => table.indexes.push(index),
            None => table.left_out.push((index, IndexOmission::ExcludedColumn)),
        }
    }
}

fn moved_index(mut index: Index, place: impl Fn(usize) -> Option<usize>) -> Option<Index> {
    for part in &mut index.parts {
        if let Some(column) = part.column {
            part.column = Some(place(column)?);
        }
    }
    Some(index)
}
