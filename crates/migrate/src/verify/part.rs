//! Parts of a comparison. Digests are sums, so the parts of a table can be read side by side and
//! added up. Both sides may be cut differently: the source by ranges of rowids, the target by ranges
//! of its pages, or of the key before release 14.

use tokio_postgres::{Client, Row};

use super::pieces::LARGE_ROW_BYTES;
use crate::Error;
use crate::source::{
    MOST_PARTS, Rowid, SourceColumn, SourceFile, SourceSchema, SourceTable, quoted, ranges,
    rowid_span,
};
use crate::target::MatchedTable;

/// PostgreSQL's default page size; with another one only the size of parts differs.
const PAGE_BYTES: u64 = 8192;
/// TOAST compresses at most 255 times: a table with less TOAST has no large row.
const SMALLEST_TOAST_BYTES: u64 = (LARGE_ROW_BYTES / 256) as u64;
/// First release that reads a range of pages without all others (`server_version_num`).
const PAGE_RANGES_SINCE: i32 = 140_000;

/// Some rows of a table on each side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparisonPart {
    /// The table, by its place among those that are matched.
    pub table: usize,
    pub of_source: OfSource,
    /// A condition on the target's rows; `None` for all.
    pub of_target: Option<String>,
    /// The table has rows of many megabytes.
    pub is_large: bool,
}

/// The rows of the source in a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfSource {
    All,
    /// Those from one rowid to another, both included.
    Between(i64, i64),
    /// None: another part reads them.
    None,
}

/// All parts, those of the largest table first.
pub async fn plan(
    client: &Client,
    source: &SourceFile,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    part_bytes: u64,
) -> Result<Vec<ComparisonPart>, Error> {
    let (pages, toasted): (Vec<u64>, Vec<u64>) = sizes(client, matched).await?.into_iter().unzip();
    let failed = Error::postgres("cannot read the server's release");
    let version = "SELECT current_setting('server_version_num')::int";
    let version: i32 = client.query_one(version, &[]).await.map_err(failed)?.get(0);
    let mut order: Vec<usize> = (0..matched.len()).collect();
    order.sort_by_key(|place| std::cmp::Reverse(pages[*place]));
    let mut parts = Vec::new();
    for place in order {
        let (table, of_table) = (&schema.tables[matched[place].source], &matched[place]);
        let count = (pages[place] * PAGE_BYTES).div_ceil(part_bytes.max(1)).clamp(1, MOST_PARTS);
        let span = match count {
            1 => None,
            _ => source.with(|connection| {
                rowid_span(connection, table).map_err(|error| source.explain(error))
            })?,
        };
        let of_source: Vec<OfSource> = match span {
            Some(span) => {
                ranges(span, count).into_iter().map(|(a, b)| OfSource::Between(a, b)).collect()
            }
            None => vec![OfSource::All],
        };
        let of_target = match version {
            PAGE_RANGES_SINCE.. => page_ranges(pages[place], count),
            _ => match indexed_key(client, table, of_table).await? {
                Some(name) => key_ranges(&name, &of_source),
                None => vec![None],
            },
        };
        let may_be_large = of_table.partitioned || toasted[place] >= SMALLEST_TOAST_BYTES;
        let is_large = may_be_large && is_large(source, table)?;
        parts.extend(match is_large {
            true => apart(place, of_source, of_target),
            false => join(place, of_source, of_target),
        });
    }
    Ok(parts)
}

/// `true` if some row is large. SQLite reads lengths without reading long values.
pub fn is_large(source: &SourceFile, table: &SourceTable) -> Result<bool, Error> {
    let bytes =
        |column: &SourceColumn| format!("coalesce(octet_length({}), 0)", quoted(&column.name));
    let bytes: Vec<String> = table.columns.iter().map(bytes).collect();
    let sql = format!(
        "SELECT EXISTS (SELECT 1 FROM main.{} NOT INDEXED WHERE {} >= {LARGE_ROW_BYTES})",
        quoted(&table.name),
        bytes.join(" + ")
    );
    source.with(|connection| {
        connection.query_row(&sql, [], |row| row.get(0)).map_err(|error| source.explain(error))
    })
}

/// The pages of each table, and the bytes of its TOAST.
async fn sizes(client: &Client, matched: &[MatchedTable]) -> Result<Vec<(u64, u64)>, Error> {
    let tables: Vec<u32> = matched.iter().map(|table| table.oid).collect();
    let sql = format!(
        "SELECT coalesce(pg_relation_size(t.oid), 0) / {PAGE_BYTES}, \
         coalesce(pg_relation_size(nullif(c.reltoastrelid, 0)), 0) \
         FROM unnest($1::oid[]) WITH ORDINALITY AS t(oid, place) \
         LEFT JOIN pg_class AS c ON c.oid = t.oid ORDER BY t.place"
    );
    let failed = Error::postgres("cannot read the sizes of the target's tables");
    let rows = client.query(&sql, &[&tables]).await.map_err(failed)?;
    let number = |row: &Row, place: usize| row.get::<_, i64>(place).unsigned_abs();
    Ok(rows.iter().map(|row| (number(row, 0), number(row, 1))).collect())
}

/// Conditions of which exactly one holds for each row.
fn page_ranges(pages: u64, count: u64) -> Vec<Option<String>> {
    if count == 1 {
        return vec![None];
    }
    let start = |place: u64| pages * place / count;
    (0..count)
        .map(|place| {
            let from = format!("ctid >= '({},0)'::tid", start(place));
            Some(match place + 1 == count {
                true => from,
                false => format!("{from} AND ctid < '({},0)'::tid", start(place + 1)),
            })
        })
        .collect()
}

/// The same ranges as in the source, of the column that is its rowid.
fn key_ranges(name: &str, of_source: &[OfSource]) -> Vec<Option<String>> {
    let name = quoted(name);
    let range = |rows: &OfSource| match rows {
        OfSource::Between(first, last) => {
            Some(format!("{name} BETWEEN ({first})::bigint AND ({last})::bigint"))
        }
        OfSource::All | OfSource::None => None,
    };
    of_source.iter().map(range).collect()
}

/// The target's column that is the source's rowid, if an index finds ranges of it and none of it is
/// NULL.
async fn indexed_key(
    client: &Client,
    table: &SourceTable,
    matched: &MatchedTable,
) -> Result<Option<String>, Error> {
    let Rowid::Alias(column) = table.rowid else { return Ok(None) };
    let of_column = matched.columns.iter().find(|each| each.source == column);
    let Some(name) = of_column.map(|each| each.name.clone()) else { return Ok(None) };
    let sql = "SELECT EXISTS (SELECT 1 FROM pg_index AS i JOIN pg_attribute AS a \
               ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0] \
               WHERE i.indrelid = $1 AND a.attname = $2 AND a.attnotnull AND i.indpred IS NULL \
               AND a.atttypid IN ('int2'::regtype, 'int4'::regtype, 'int8'::regtype))";
    let failed = Error::postgres(format!("cannot read the indexes of {}", matched.relation));
    let row = client.query_one(sql, &[&matched.oid, &name]).await.map_err(failed)?;
    Ok(row.get::<_, bool>(0).then_some(name))
}

/// Pairs the parts of both sides; the shorter list is filled with empty parts.
fn join(
    table: usize,
    of_source: Vec<OfSource>,
    of_target: Vec<Option<String>>,
) -> Vec<ComparisonPart> {
    let count = of_source.len().max(of_target.len());
    let (mut of_source, mut of_target) = (of_source.into_iter(), of_target.into_iter());
    let parts = (0..count).map(|_| ComparisonPart {
        table,
        of_source: of_source.next().unwrap_or(OfSource::None),
        of_target: of_target.next().unwrap_or_else(|| Some("false".to_owned())),
        is_large: false,
    });
    parts.collect()
}

/// Parts with large rows, each of one side alone.
fn apart(
    table: usize,
    of_source: Vec<OfSource>,
    of_target: Vec<Option<String>>,
) -> Vec<ComparisonPart> {
    let nothing = || Some("false".to_owned());
    let of_source = of_source.into_iter().map(|of_source| (of_source, nothing()));
    let of_target = of_target.into_iter().map(|of_target| (OfSource::None, of_target));
    let sides = of_source.chain(of_target);
    sides
        .map(|(of_source, of_target)| ComparisonPart {
            table,
            of_source,
            of_target,
            is_large: true,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_ranges_touch_each_other() {
        assert_eq!(page_ranges(10, 1), [None]);
        assert_eq!(
            page_ranges(10, 3),
            [
                Some("ctid >= '(0,0)'::tid AND ctid < '(3,0)'::tid".to_owned()),
                Some("ctid >= '(3,0)'::tid AND ctid < '(6,0)'::tid".to_owned()),
                Some("ctid >= '(6,0)'::tid".to_owned()),
            ]
        );
    }

    #[test]
    fn a_side_that_cannot_be_cut_is_read_once() {
        let parts = join(7, vec![OfSource::All], vec![Some("a".into()), Some("b".into())]);
        assert_eq!((parts[0].of_source, parts[1].of_source), (OfSource::All, OfSource::None));
        let parts = join(7, vec![OfSource::Between(1, 2), OfSource::Between(3, 4)], vec![None]);
        assert_eq!(parts[0].of_target, None);
        assert_eq!(parts[1].of_target.as_deref(), Some("false"));
    }
}
