//! Selection of tables and indexes (`--table`, `--exclude`, `--skip-index`), and estimates of row
//! counts.

use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _};
use serde::{Deserialize, Serialize};

use super::excluded_column::exclude_columns;
use super::file::SourceFile;
use super::framework::FrameworkChoice;
use super::naming::Naming;
use super::other::OtherKind;
use super::parts::rowid_span;
use super::read_schema::schema;
use super::schema::{Index, IndexOmission, MOST_INDEX_COLUMNS, SourceSchema, SourceTable};
use crate::{Error, Task};

/// Patterns of table names, `*` matching anything, the framework whose preset applies, and the names in
/// the target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// Only these; all if empty.
    pub tables: Vec<String>,
    /// Tables, views and virtual tables; otherwise columns, as `TABLE.COLUMN`.
    pub excluded: Vec<String>,
    #[serde(default)]
    pub skipped_indexes: Vec<String>,
    #[serde(default)]
    pub framework: FrameworkChoice,
    #[serde(default)]
    pub naming: Naming,
}

impl Selection {
    /// Leaves only the selected tables in `schema`, and of the views, triggers and virtual tables
    /// those that are selected themselves or with their table. Gives the tables their names in the
    /// target.
    ///
    /// # Errors
    /// [`Error::NoSuchTable`] and [`Error::NoSuchIndex`] for a pattern that fits nothing,
    /// [`Error::Rename`].
    pub fn apply(&self, mut schema: SourceSchema) -> Result<SourceSchema, Error> {
        let others = schema
            .others
            .iter()
            .filter(|other| matches!(other.kind, OtherKind::View | OtherKind::VirtualTable));
        let tables = schema.tables.iter().map(|table| table.name.as_str());
        let names: Vec<&str> = tables.chain(others.map(|other| other.name.as_str())).collect();
        let is_table = |pattern: &str| names.iter().any(|name| fits_pattern(pattern, name));
        let unknown = |pattern: &str| {
            let of_table = |(name, column)| Some((schema.table(name)?, column));
            if let Some((table, column)) = pattern.split_once('.').and_then(of_table) {
                let (table, known) = (table.name.clone(), table.names(0..table.columns.len()));
                return Error::NoSuchColumn { table, column: column.to_owned(), known };
            }
            let known = if names.is_empty() { "no tables".into() } else { names.join(", ") };
            Error::NoSuchTable { name: pattern.to_owned(), known }
        };
        let mut of_columns = Vec::new();
        for pattern in self.excluded.iter().filter(|pattern| !is_table(pattern)) {
            of_columns.push((pattern, unknown(pattern)));
        }
        if let Some(pattern) = self.tables.iter().find(|pattern| !is_table(pattern)) {
            return Err(unknown(pattern));
        }
        self.refuse_unknown_indexes(&schema)?;
        for (pattern, unknown) in of_columns {
            if exclude_columns(&mut schema, pattern)? == 0 {
                return Err(unknown);
            }
        }
        self.framework.apply(&mut schema);
        schema.tables.retain(|table| self.takes(&table.name));
        for table in &mut schema.tables {
            self.leave_out_indexes(table);
        }
        // Shadow tables stay listed, also those of tables that are left out.
        schema
            .others
            .retain(|other| other.kind == OtherKind::ShadowTable || self.takes(&other.table));
        self.naming.apply(&mut schema)?;
        Ok(schema)
    }

    /// The same for a file that holds some of the tables, with their rows' columns alone: names that
    /// are not there are left out.
    #[must_use]
    pub fn for_part(&self, schema: &SourceSchema) -> Self {
        let naming = self.naming.for_part(schema);
        Self { framework: self.framework, naming, ..Self::default() }
    }

    fn refuse_unknown_indexes(&self, schema: &SourceSchema) -> Result<(), Error> {
        let indexes = schema.tables.iter().flat_map(|table| &table.indexes);
        let names: Vec<&str> = indexes.map(|index| index.name.as_str()).collect();
        for pattern in &self.skipped_indexes {
            if !names.iter().any(|name| fits_pattern(pattern, name)) {
                let known = if names.is_empty() { "none".into() } else { names.join(", ") };
                return Err(Error::NoSuchIndex { name: pattern.clone(), known });
            }
        }
        Ok(())
    }

    /// An index left out here no longer exists for the rest of the migration, foreign keys
    /// included.
    fn leave_out_indexes(&self, table: &mut SourceTable) {
        let reason = |index: &Index| {
            let asked =
                self.skipped_indexes.iter().any(|pattern| fits_pattern(pattern, &index.name));
            let is_wide = index.parts.len() > MOST_INDEX_COLUMNS;
            let wide = is_wide.then_some(IndexOmission::TooManyColumns);
            if asked { Some(IndexOmission::Asked) } else { wide }
        };
        let indexes = std::mem::take(&mut table.indexes);
        for index in indexes {
            match reason(&index) {
                Some(reason) => table.left_out.push((index, reason)),
                None => table.indexes.push(index),
            }
        }
    }

    fn takes(&self, table: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| fits_pattern(pattern, table));
        (self.tables.is_empty() || any(&self.tables)) && !any(&self.excluded)
    }
}

/// Estimated row counts from sources that cost nothing: ANALYZE's statistics, or the span of
/// rowids. Zero without either.
pub fn estimated_rows(connection: &Connection, schema: &SourceSchema) -> Vec<u64> {
    schema.tables.iter().map(|table| estimate(connection, table).unwrap_or(0)).collect()
}

fn estimate(connection: &Connection, table: &SourceTable) -> Option<u64> {
    let analysed = connection
        .query_row(
            "SELECT max(CAST(stat AS INTEGER)) FROM main.sqlite_stat1 WHERE tbl = ?1",
            [&table.name],
            |row| row.get::<_, Option<i64>>(0),
        )
        .optional()
        .ok()
        .flatten()
        .flatten();
    let span = || {
        let (least, most) = rowid_span(connection, table).ok()??;
        most.checked_sub(least).map(|span| span.saturating_add(1))
    };
    analysed.or_else(span).and_then(|rows| u64::try_from(rows).ok())
}

/// Opens a source with this number of connections and reads its selected schema. Progress expects each row
/// `passes` times.
pub fn open_selected(
    path: &Path,
    connections: usize,
    selection: &Selection,
    passes: u64,
    task: Task<'_>,
) -> Result<(Arc<SourceFile>, SourceSchema), Error> {
    let source = SourceFile::open(path, connections)?;
    let (schema, rows) = source.with(|connection| {
        let schema = schema(connection).map_err(|error| source.explain(error))?;
        let schema = selection.apply(schema)?;
        let rows = estimated_rows(connection, &schema);
        Ok((schema, rows))
    })?;
    task.progress.set_length(passes * rows.iter().sum::<u64>());
    Ok((Arc::new(source), schema))
}

/// `true` if `name` matches `pattern`, in which `*` is any text; ASCII case is ignored, as SQLite
/// does for names.
pub fn fits_pattern(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("articles.slug", "Articles.Slug", true),
            ("articles.slug", "articles.slugs", false),
            ("*.uuid", "articles.uuid", true),
            ("*_log.*_at", "http_log.created_at", true),
            ("*_log.*_at", "http_log.at", false),
            ("a*a", "a", false),
            ("*", "", true),
        ] {
            assert_eq!(fits_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }
}
