//! Differing rows, found by a second reading of the few buckets of keys whose sums differ: memory
//! stays bounded for any number of rows.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;

use super::digest::{BUCKETS, CanonicalRow, TableDigest, bucket, fields};
use super::part::OfSource;
use super::rows;
use super::shape::Shape;
use super::table::ComparedTable;
use crate::Error;
use crate::display::list;
use crate::target::MatchedTable;
use crate::task::blocking;
use crate::value::show;

/// Limits of buckets searched and of differences shown per table.
const BUCKETS_SHOWN: usize = 16;
const DIFFERENCES_SHOWN: usize = 20;

/// A row that is not the same on both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RowDifference {
    pub kind: DifferenceKind,
    /// Its key, for example `id 4711`.
    pub key: String,
    /// The columns that differ, if it is on both sides.
    pub columns: Vec<ColumnDifference>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DifferenceKind {
    Missing,
    Extra,
    /// On both sides with different values.
    Changed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnDifference {
    pub column: String,
    /// In the source, as the target would hold it.
    pub source: String,
    pub target: String,
}

/// Rows of the searched buckets by key.
type RowsByKey = HashMap<u64, Vec<DifferingRow>>;

/// A row kept for comparison.
struct DifferingRow {
    /// Its fields in canonical form, which are compared.
    canonical: Vec<Vec<u8>>,
    /// Its fields as received, which are shown.
    raw: Vec<Vec<u8>>,
}

impl ComparedTable<'_> {
    /// Finds rows that differ, at most 20.
    pub async fn differences(
        &self,
        of_source: &TableDigest,
        of_target: &TableDigest,
    ) -> Result<Vec<RowDifference>, Error> {
        let Self { client, matched, shape, task, .. } = self;
        let looked_at: BTreeSet<usize> = (0..BUCKETS)
            .filter(|bucket| of_source.buckets[*bucket] != of_target.buckets[*bucket])
            .take(BUCKETS_SHOWN)
            .collect();
        let mut target_rows = RowsByKey::new();
        let mut collector = Collector::new(shape, &looked_at);
        let add = |tuple: &[u8]| collector.add(tuple, &mut target_rows);
        rows::of_target(client, matched, None, false, *task, add).await?;
        let source_rows = blocking(*task, {
            let (source, table) = (self.source.clone(), self.table.clone());
            let (matched, shape) = (self.matched.clone(), shape.clone());
            let looked_at = looked_at.clone();
            move |task| {
                let mut rows = RowsByKey::new();
                let mut collector = Collector::new(&shape, &looked_at);
                let mut take = |tuple: &[u8]| collector.add(tuple, &mut rows);
                rows::of_source(&source, &table, &matched, OfSource::All, task, &mut take)?;
                Ok(rows)
            }
        })
        .await?;
        let mut found = compare(matched, shape, source_rows, target_rows);
        found.sort_by(|a, b| (a.kind, &a.key).cmp(&(b.kind, &b.key)));
        found.truncate(DIFFERENCES_SHOWN);
        Ok(found)
    }
}

/// Collects the rows of certain buckets.
struct Collector<'a> {
    shape: &'a Shape,
    looked_at: &'a BTreeSet<usize>,
    row: CanonicalRow,
}

impl<'a> Collector<'a> {
    fn new(shape: &'a Shape, looked_at: &'a BTreeSet<usize>) -> Self {
        Self { shape, looked_at, row: CanonicalRow::default() }
    }

    fn add(&mut self, tuple: &[u8], rows: &mut RowsByKey) -> Result<(), Error> {
        self.row.read(self.shape, tuple)?;
        let key = self.row.key(self.shape);
        if self.looked_at.contains(&bucket(key)) {
            let canonical = (0..self.shape.forms.len()).map(|place| keep(self.row.field(place)));
            let (canonical, raw) = (canonical.collect(), fields(tuple).map(keep).collect());
            rows.entry(key).or_default().push(DifferingRow { canonical, raw });
        }
        Ok(())
    }
}

/// Bytes kept of one field; a longer one keeps its beginning and its hash.
const KEPT_BYTES: usize = 256;

fn keep(field: &[u8]) -> Vec<u8> {
    if field.len() <= KEPT_BYTES {
        return field.to_vec();
    }
    let mut kept = field[..KEPT_BYTES].to_vec();
    kept.extend_from_slice(&xxhash_rust::xxh3::xxh3_128(field).to_be_bytes());
    kept
}

fn compare(
    matched: &MatchedTable,
    shape: &Shape,
    source: RowsByKey,
    mut target: RowsByKey,
) -> Vec<RowDifference> {
    let mut found = Vec::new();
    for (key, mut rows) in source {
        let mut others = target.remove(&key).unwrap_or_default();
        rows.retain(|row| match others.iter().position(|other| other.canonical == row.canonical) {
            Some(place) => {
                others.swap_remove(place);
                false
            }
            None => true,
        });
        while let (Some(row), Some(other)) = (rows.last(), others.last()) {
            found.push(changed(matched, shape, row, other));
            rows.pop();
            others.pop();
        }
        found
            .extend(rows.iter().map(|row| one_sided(DifferenceKind::Missing, matched, shape, row)));
        found
            .extend(others.iter().map(|row| one_sided(DifferenceKind::Extra, matched, shape, row)));
    }
    for row in target.into_values().flatten() {
        found.push(one_sided(DifferenceKind::Extra, matched, shape, &row));
    }
    found
}

fn key_of(matched: &MatchedTable, shape: &Shape, row: &DifferingRow) -> String {
    let parts = shape.key.iter().take(8).map(|&place| {
        let column = &matched.columns[place];
        format!("{} {}", column.name, show(&column.field.postgres_type, &row.raw[place]))
    });
    list(parts)
}

fn one_sided(
    kind: DifferenceKind,
    matched: &MatchedTable,
    shape: &Shape,
    row: &DifferingRow,
) -> RowDifference {
    RowDifference { kind, key: key_of(matched, shape, row), columns: Vec::new() }
}

fn changed(
    matched: &MatchedTable,
    shape: &Shape,
    row: &DifferingRow,
    other: &DifferingRow,
) -> RowDifference {
    let columns = matched
        .columns
        .iter()
        .enumerate()
        .filter(|(place, _)| row.canonical[*place] != other.canonical[*place]);
    let columns = columns.map(|(place, column)| ColumnDifference {
        column: column.name.clone(),
        source: show(&column.field.postgres_type, &row.raw[place]),
        target: show(&column.field.postgres_type, &other.raw[place]),
    });
    RowDifference {
        kind: DifferenceKind::Changed,
        key: key_of(matched, shape, row),
        columns: columns.collect(),
    }
}
