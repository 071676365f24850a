//! `--on-error reject`: which rows cannot be moved, found before the first one is: values that do
//! not fit, and rows that refer to rows that are not there or are themselves refused. PostgreSQL
//! never sees them; they are kept whole in the reject file.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::encode::{Field, encode};
use super::matching::Matched;
use super::references::Reference;
use super::reject_file::RejectFile;
use crate::audit::missing_parents;
use crate::inspect::{Schema, Source};
use crate::{Error, Watch};

/// More refused rows than this are a matter for repair, not for a list kept in memory.
const MOST_REJECTS: u64 = 1_000_000;

/// Finds all rows that cannot be moved, writes them to a new reject file, and marks them in
/// `matched`, so that copy and verification pass over them.
///
/// # Errors
/// [`Error::RejectFile`] if the file exists or cannot be written, or there are too many rejects.
pub fn reject(
    source: &Source,
    schema: &Schema,
    matched: &mut [Matched],
    references: &[Reference],
    path: &Path,
    watch: Watch<'_>,
) -> Result<RejectFile, Error> {
    let mut search = Search {
        source,
        schema,
        references,
        rejected: vec![HashSet::new(); schema.tables.len()],
        missing: Vec::new(),
        file: RejectFile::create(path)?,
    };
    for reference in references {
        search.missing.push(search.without_parent(reference)?);
    }
    // Every table once; then again those that refer to rows refused meanwhile.
    let mut to_scan: Vec<bool> = schema.tables.iter().map(|_| true).collect();
    while to_scan.iter().any(|scan| *scan) {
        for table in matched.iter() {
            if std::mem::take(&mut to_scan[table.source]) {
                for child in search.scan(table, watch)? {
                    to_scan[child] = true;
                }
            }
        }
        // Tables that take no part have nothing to scan.
        for (place, scan) in to_scan.iter_mut().enumerate() {
            *scan &= matched.iter().any(|table| table.source == place);
        }
    }
    for table in matched {
        table.rejected = Arc::new(std::mem::take(&mut search.rejected[table.source]));
    }
    Ok(search.file)
}

/// A key in the form in which the target holds it.
type Key = Vec<u8>;

struct Search<'a> {
    source: &'a Source,
    schema: &'a Schema,
    references: &'a [Reference],
    /// By table: addresses of refused rows.
    rejected: Vec<HashSet<i64>>,
    /// By reference: keys to which nothing may refer.
    missing: Vec<HashSet<Key>>,
    file: RejectFile,
}

impl Search<'_> {
    /// Keys that rows of the source refer to although no row has them.
    fn without_parent(&self, reference: &Reference) -> Result<HashSet<Key>, Error> {
        let table = |place: usize| &self.schema.tables[place];
        let sql = missing_parents(
            table(reference.child),
            &reference.columns,
            table(reference.parent),
            &reference.parent_columns,
        );
        self.source.with(|connection| {
            let explain = |error| self.source.explain(error);
            let mut statement = connection.prepare(&sql).map_err(explain)?;
            let mut rows = statement.query([]).map_err(explain)?;
            let mut keys = HashSet::new();
            while let Some(row) = rows.next().map_err(explain)? {
                let places = 0..reference.columns.len();
                keys.extend(key(row, places, &reference.parent_fields));
            }
            Ok(keys)
        })
    }

    /// Reads a table and refuses what has not been refused before; the tables that refer to rows
    /// newly refused.
    fn scan(&mut self, matched: &Matched, watch: Watch<'_>) -> Result<Vec<usize>, Error> {
        let table = &self.schema.tables[matched.source];
        let columns: Vec<usize> = (0..table.columns.len()).collect();
        let (source, references) = (self.source, self.references);
        let mut place = 0_i64;
        let mut children = Vec::new();
        source.with(|connection| {
            source.each_row(connection, table, &columns, None, watch, |row| {
                place += 1;
                let address = table.address(row, place);
                if self.rejected[matched.source].contains(&address) {
                    return Ok(());
                }
                let Some((column, reason)) = self.refusal(matched, row)? else { return Ok(()) };
                self.rejected[matched.source].insert(address);
                self.file.add(table, &columns, row, column, &reason)?;
                if self.file.count() > MOST_REJECTS {
                    return Err(self.file.too_many(MOST_REJECTS));
                }
                for (number, reference) in references.iter().enumerate() {
                    if reference.parent == matched.source {
                        let places = reference.parent_columns.iter().map(|column| column + 1);
                        let lost = key(row, places, &reference.parent_fields);
                        if lost.is_some_and(|lost| self.missing[number].insert(lost)) {
                            children.push(reference.child);
                        }
                    }
                }
                Ok(())
            })
        })?;
        Ok(children)
    }

    /// Why a row cannot be moved: the column and the reason.
    fn refusal(&self, matched: &Matched, row: &Row<'_>) -> Result<Option<(usize, String)>, Error> {
        let mut scratch = Vec::new();
        for column in matched.written() {
            let value =
                row.get_ref(column.source + 1).map_err(|error| self.source.explain(error))?;
            scratch.clear();
            if let Err(misfit) = encode(&column.field, value, &mut scratch) {
                let type_name = column.field.postgres_type.to_string();
                return Ok(Some((column.source, misfit.explain(&type_name))));
            }
        }
        for (reference, missing) in self.references.iter().zip(&self.missing) {
            if reference.child != matched.source || missing.is_empty() {
                continue;
            }
            let places = reference.columns.iter().map(|column| column + 1);
            let refers = key(row, places, &reference.parent_fields);
            if refers.is_some_and(|refers| missing.contains(&refers)) {
                let parent = &self.schema.tables[reference.parent].name;
                let reason = format!("it refers to a row of {parent} that is missing or refused");
                return Ok(Some((reference.columns[0], reason)));
            }
        }
        Ok(None)
    }
}

/// The key at these places of a row; `None` if a part is NULL or would not fit the parent.
fn key(row: &Row<'_>, places: impl IntoIterator<Item = usize>, fields: &[Field]) -> Option<Key> {
    let mut key = Vec::new();
    for (place, field) in places.into_iter().zip(fields) {
        match row.get_ref(place).ok()? {
            ValueRef::Null => return None,
            value => encode(field, value, &mut key).ok()?,
        }
    }
    Some(key)
}
