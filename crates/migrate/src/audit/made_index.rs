//! Indexes of the created schema: the primary key, and every index that is carried over.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::ddl::index_predicate;
use crate::source::{Index, SourceFile, SourceTable};
use crate::value::TargetField;
use crate::{Error, Task};

pub struct MadeIndex<'a> {
    pub table: &'a SourceTable,
    pub fields: &'a [TargetField],
    /// `None` for the primary key.
    pub index: Option<&'a Index>,
    pub columns: Vec<usize>,
}

pub fn made_indexes<'a>(
    table: &'a SourceTable,
    fields: &'a [TargetField],
) -> impl Iterator<Item = MadeIndex<'a>> {
    let primary = MadeIndex { table, fields, index: None, columns: table.primary_key.clone() };
    let others = table.indexes.iter().filter_map(move |index| {
        let is_made = !index.partial || index_predicate(index, table, fields).is_some();
        let columns = index.columns().filter(|_| is_made)?;
        Some(MadeIndex { table, fields, index: Some(index), columns })
    });
    std::iter::once(primary).chain(others)
}

impl MadeIndex<'_> {
    /// Reads every row with an entry and passes it to `each` with its address: field 0 is the
    /// rowid (or NULL), then the index's columns. The rows have been counted before.
    pub fn each_entry(
        &self,
        source: &SourceFile,
        task: Task<'_>,
        mut each: impl FnMut(&Row<'_>, i64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let predicate = self.index.and_then(|index| index.predicate.as_deref()).unwrap_or("true");
        let sql = self.table.select_also(&self.columns, &[format!("({predicate}\n) IS TRUE")]);
        let mut place = 0;
        source.with(|connection| {
            source.each_row_of(connection, &sql, task.uncounted(), |row| {
                place += 1;
                match row.get_ref(self.columns.len() + 1) {
                    Ok(ValueRef::Integer(1)) => each(row, self.table.address(row, place)),
                    Ok(_) => Ok(()),
                    Err(error) => Err(source.explain(error)),
                }
            })
        })?;
        Ok(())
    }
}
