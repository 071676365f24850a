//! Sizes of rows: PostgreSQL keeps each on one page of 8 KiB, and moves only long values elsewhere.

use notation::{plural, thousands};
use rusqlite::Row;

use super::pglz;
use super::structure::MOST_COLUMNS;
use crate::display::flag;
use crate::finding::{Example, Finding, RefusedValues};
use crate::source::{SourceFile, SourceTable};
use crate::value::{PostgresType, Profile, TargetField, encode};
use crate::{Error, Task};

/// The largest row, of a page of 8 KiB.
const LARGEST_ROW_BYTES: usize = 8160;
const HEADER_BYTES: usize = 23;
const ALIGNMENT: usize = 8;
/// The pointer to a value that is kept outside the row.
const POINTER_BYTES: usize = 18;
/// Longer values leave a row that is too large.
const LONGEST_KEPT_BYTES: usize = 24;
/// Value of a numeric in binary COPY, less its size in a row.
const NUMERIC_HEAD_BYTES: usize = 6;
/// The same of an inet.
const INET_HEAD_BYTES: usize = 2;
/// The smallest array in a row.
const ARRAY_BYTES: usize = 13;

/// Bytes of one column in a row, and their alignment.
#[derive(Clone, Copy)]
enum Width {
    Fixed(usize, usize),
    Variable,
}

impl Width {
    fn of(postgres_type: &PostgresType) -> Self {
        use PostgresType::{
            BigInt, Boolean, Date, DoublePrecision, Enum, Integer, Interval, MacAddr, Money, Real,
            SmallInt, Time, Timestamp, TimestampTz, Uuid,
        };
        match postgres_type {
            Boolean => Self::Fixed(1, 1),
            SmallInt => Self::Fixed(2, 2),
            Integer | Real | Date | Enum { .. } => Self::Fixed(4, 4),
            BigInt | DoublePrecision | Money(_) | Time(_) | Timestamp(_) | TimestampTz(_) => {
                Self::Fixed(8, 8)
            }
            Interval(_) => Self::Fixed(16, 8),
            MacAddr => Self::Fixed(6, 4),
            Uuid => Self::Fixed(16, 1),
            _ => Self::Variable,
        }
    }

    /// The most that a value takes, with its alignment.
    fn most(self) -> usize {
        match self {
            Self::Fixed(bytes, alignment) => bytes + alignment - 1,
            Self::Variable => LONGEST_KEPT_BYTES + 3,
        }
    }
}

/// The finding on rows that no page holds. `creates`: the columns have the order of the source.
pub fn finding(
    source: &SourceFile,
    table: &SourceTable,
    fields: &[TargetField],
    profiles: &[Profile],
    creates: bool,
    task: Task<'_>,
) -> Result<Option<Finding>, Error> {
    let widths: Vec<Width> = fields.iter().map(|field| Width::of(&field.postgres_type)).collect();
    let most = row_bytes(widths.len(), true, widths.iter().map(|width| width.most()).sum());
    if most <= LARGEST_ROW_BYTES || widths.len() > MOST_COLUMNS {
        return Ok(None);
    }
    let columns: Vec<usize> = (0..widths.len()).collect();
    let (mut refused, mut largest) = (RefusedValues::default(), 0);
    source.with(|connection| {
        source.each_row(connection, table, &columns, None, task.uncounted(), |row| {
            let bytes =
                bytes_of(row, fields, &widths, creates).map_err(|error| source.explain(error))?;
            if bytes > LARGEST_ROW_BYTES {
                largest = largest.max(bytes);
                let row = || table.row_name(row, &columns);
                refused.add(|| Example { row: row(), value: String::new() });
            }
            Ok(())
        })
    })?;
    if refused.count == 0 {
        return Ok(None);
    }
    let message = format!(
        "{} row{} of up to {} bytes, PostgreSQL's have at most {} beside long values",
        thousands(refused.count),
        plural(refused.count),
        thousands(largest),
        thousands(LARGEST_ROW_BYTES)
    );
    let rule = narrower(profiles).filter(|_| creates);
    let rule = rule.map(|narrow| format!("{}.*={narrow}", table.name));
    let fix = match &rule {
        Some(rule) => flag("--map", rule),
        None => format!("split the table, or leave it out: {}", flag("--exclude", &table.name)),
    };
    let finding = Finding::blocker("large_row", &table.name, message, fix);
    Ok(Some(finding.counted(refused.count, refused.examples).with_rule(rule)))
}

/// A type of whole numbers with which every row fits.
fn narrower(profiles: &[Profile]) -> Option<PostgresType> {
    let narrow = [(PostgresType::Integer, 4), (PostgresType::SmallInt, 2)];
    let fits = |(narrow, bytes): &(PostgresType, usize)| {
        row_bytes(profiles.len(), true, profiles.len() * bytes) <= LARGEST_ROW_BYTES
            && profiles.iter().all(|profile| profile.allows(narrow))
    };
    narrow.into_iter().find(fits).map(|(narrow, _)| narrow)
}

/// The bytes of a row with its header.
fn row_bytes(columns: usize, has_nulls: bool, values: usize) -> usize {
    let nulls = if has_nulls { columns.div_ceil(8) } else { 0 };
    ((HEADER_BYTES + nulls).next_multiple_of(ALIGNMENT) + values).next_multiple_of(ALIGNMENT)
}

/// The fewest bytes that a row takes; without gaps where the order of its columns is not known.
fn bytes_of(
    row: &Row<'_>,
    fields: &[TargetField],
    widths: &[Width],
    has_gaps: bool,
) -> rusqlite::Result<usize> {
    let (mut bytes, mut has_nulls) = (0_usize, false);
    let mut value = Vec::new();
    for (place, (field, width)) in fields.iter().zip(widths).enumerate() {
        value.clear();
        // A value that does not fit its type is a blocker of its own.
        if encode(field, row.get_ref(place + 1)?, &mut value).is_err() {
            continue;
        }
        let Some((length, value)) = value.split_first_chunk::<4>() else { continue };
        if i32::from_be_bytes(*length) < 0 {
            has_nulls = true;
            continue;
        }
        let (size, alignment) = match width {
            Width::Fixed(size, alignment) => (*size, *alignment),
            Width::Variable => variable(&field.postgres_type, value),
        };
        let start = if has_gaps { bytes.next_multiple_of(alignment) } else { bytes };
        bytes = start + size;
    }
    Ok(row_bytes(fields.len(), has_nulls, bytes))
}

/// The fewest bytes of a value whose length varies: itself with a short head, compressed, or a pointer.
fn variable(postgres_type: &PostgresType, value: &[u8]) -> (usize, usize) {
    let head = match postgres_type {
        // Their elements take more in a COPY than in a row.
        PostgresType::Array { .. } => return (ARRAY_BYTES, 1),
        PostgresType::Inet | PostgresType::Cidr => INET_HEAD_BYTES,
        PostgresType::Numeric(_) => NUMERIC_HEAD_BYTES,
        _ => 0,
    };
    let short = value.len().saturating_sub(head) + 1;
    if short <= LONGEST_KEPT_BYTES {
        return (short, 1);
    }
    match pglz::bytes_in_row(value) {
        Some(bytes) if bytes <= LONGEST_KEPT_BYTES => (bytes, 4),
        _ => (POINTER_BYTES, 1),
    }
}
