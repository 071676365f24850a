//! Lengths of index entries: PostgreSQL's B-tree takes none longer than a third of its page.

use indicatif::ProgressBar;

use super::pglz::bytes_in_index;
use crate::ddl::index_predicate;
use crate::display::{rows, shorten, thousands};
use crate::finding::{Example, Finding, RefusedValues, Severity};
use crate::source::{SourceFile, SourceTable};
use crate::value::{Profile, TargetField, encode};
use crate::{Error, TaskControl};

/// The longest entry, its own header included.
const LONGEST_ENTRY_BYTES: usize = 2704;
const HEADER_BYTES: usize = 8;
/// Largest alignment of a part of an entry.
const ALIGNMENT: usize = 8;

/// An index of the created schema.
struct Entries<'a> {
    name: String,
    /// The remedy for long entries.
    fix: String,
    columns: Vec<usize>,
    /// Its condition, as SQLite writes it.
    predicate: Option<&'a str>,
}

/// Blockers on the keys and indexes of a table that migration would create.
pub fn findings(
    source: &SourceFile,
    table: &SourceTable,
    fields: &[TargetField],
    profiles: &[Profile],
    control: TaskControl<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for index in indexes(table, fields) {
        let longest = index.columns.iter().map(|column| profiles[*column].longest_value_bytes);
        let bytes = longest.sum::<usize>() + HEADER_BYTES + index.columns.len() * ALIGNMENT;
        if bytes <= LONGEST_ENTRY_BYTES {
            continue;
        }
        let (refused, longest) = too_long(source, table, fields, &index, control)?;
        if refused.count > 0 {
            let message = format!(
                "{} {} in {} of up to {} bytes, PostgreSQL's B-tree takes {}",
                rows(refused.count),
                if refused.count == 1 { "has an entry" } else { "have entries" },
                index.name,
                thousands(longest as u64),
                thousands(LONGEST_ENTRY_BYTES as u64)
            );
            let (severity, kind) = (Severity::Blocker, "long_index_entry");
            let finding = Finding::on_table(severity, kind, &table.name, message, index.fix);
            findings.push(finding.counted(refused.count, refused.examples));
        }
    }
    Ok(findings)
}

fn indexes<'a>(table: &'a SourceTable, fields: &'a [TargetField]) -> Vec<Entries<'a>> {
    let primary = Entries {
        name: "the primary key".to_owned(),
        fix: format!("shorten them, or leave the table out: --exclude '{}'", table.name),
        columns: table.primary_key.clone(),
        predicate: None,
    };
    let made = table.indexes.iter().filter_map(|index| {
        let is_made = !index.partial || index_predicate(index, table, fields).is_some();
        Some(Entries {
            name: format!("the index {}", shorten(&index.name)),
            fix: format!("shorten them, or leave the index out: --skip-index '{}'", index.name),
            columns: index.columns().filter(|_| is_made)?,
            predicate: index.predicate.as_deref(),
        })
    });
    std::iter::once(primary).chain(made).collect()
}

/// The rows whose entry is too long, and the longest entry.
fn too_long(
    source: &SourceFile,
    table: &SourceTable,
    fields: &[TargetField],
    index: &Entries<'_>,
    control: TaskControl<'_>,
) -> Result<(RefusedValues, usize), Error> {
    // These rows have been counted.
    let hidden = ProgressBar::hidden();
    let control = TaskControl { progress: &hidden, interrupted: control.interrupted };
    let condition = format!("({}\n) IS TRUE", index.predicate.unwrap_or("true"));
    let sql = table.select_also(&index.columns, &[condition]);
    let (mut refused, mut longest) = (RefusedValues::default(), 0);
    let mut value = Vec::new();
    source.with(|connection| {
        source.each_row_of(connection, &sql, control, |row| {
            let read = |place| row.get_ref(place).map_err(|error| source.explain(error));
            if read(index.columns.len() + 1)?.as_i64().unwrap_or(0) != 1 {
                return Ok(());
            }
            let mut bytes = HEADER_BYTES;
            for (place, column) in index.columns.iter().enumerate() {
                value.clear();
                // A value that does not fit its type is a blocker of its own.
                if encode(&fields[*column], read(place + 1)?, &mut value).is_ok() {
                    bytes = bytes.next_multiple_of(ALIGNMENT / 2)
                        + bytes_in_index(value.get(4..).unwrap_or_default());
                }
            }
            let bytes = bytes.next_multiple_of(ALIGNMENT);
            if bytes > LONGEST_ENTRY_BYTES {
                longest = longest.max(bytes);
                let row = || table.row_name(row, &index.columns);
                refused.add(|| Example { row: row(), value: String::new() });
            }
            Ok(())
        })
    })?;
    Ok((refused, longest))
}
