//! Indexes of the created schema: the primary key, and every index that is carried over.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use crate::ddl::PlannedTable;
use crate::source::{Index, SourceFile, SourceTable};
use crate::value::TargetField;
use crate::{Error, Task};

pub struct MadeIndex<'a> {
    pub table: &'a SourceTable,
    pub fields: &'a [TargetField],
    /// `None` for the primary key.
    pub index: Option<&'a Index>,
    pub columns: Vec<usize>,
    /// Its expressions as SQLite writes them, with the types of their values in PostgreSQL.
    pub expressions: Vec<(String, TargetField)>,
}

pub fn made_indexes(planned: PlannedTable<'_>) -> impl Iterator<Item = MadeIndex<'_>> {
    let PlannedTable { table, fields, .. } = planned;
    let columns = table.primary_key.clone();
    let primary = MadeIndex { table, fields, index: None, columns, expressions: Vec::new() };
    let others = table.indexes.iter().filter_map(move |index| {
        planned.index(index)?;
        let columns = index.parts.iter().filter_map(|part| part.column).collect();
        let expressions = index.parts.iter().filter_map(|part| {
            let postgres_type = planned.key_type(part)?;
            let field =
                TargetField { postgres_type, reading: None, not_null: false, may_convert: false };
            Some((part.expression.clone()?, field))
        });
        let expressions = expressions.collect();
        Some(MadeIndex { table, fields, index: Some(index), columns, expressions })
    });
    std::iter::once(primary).chain(others)
}

impl MadeIndex<'_> {
    /// The types of its parts: columns, then expressions.
    pub fn types(&self) -> impl Iterator<Item = &TargetField> {
        let of_columns = self.columns.iter().map(|column| &self.fields[*column]);
        of_columns.chain(self.expressions.iter().map(|(_, field)| field))
    }

    /// Reads every row with an entry and passes it to `each` with its address: field 0 is the
    /// rowid (or NULL), then the index's columns, then its expressions. The rows have been counted
    /// before.
    pub fn each_entry(
        &self,
        source: &SourceFile,
        task: Task<'_>,
        mut each: impl FnMut(&Row<'_>, i64) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let predicate = self.index.and_then(|index| index.predicate.as_deref()).unwrap_or("true");
        let written = self.expressions.iter().map(|(expression, _)| expression.as_str());
        let mut more: Vec<String> = written.map(|each| format!("({each}\n)")).collect();
        more.push(format!("({predicate}\n) IS TRUE"));
        let sql = self.table.select_also(&self.columns, &more);
        let last = self.columns.len() + more.len();
        let mut place = 0;
        source.with(|connection| {
            source.each_row_of(connection, &sql, task.uncounted(), |row| {
                place += 1;
                match row.get_ref(last) {
                    Ok(ValueRef::Integer(1)) => each(row, self.table.address(row, place)),
                    Ok(_) => Ok(()),
                    Err(error) => Err(source.explain(error)),
                }
            })
        })?;
        Ok(())
    }
}
