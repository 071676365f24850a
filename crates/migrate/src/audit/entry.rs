//! Lengths of index entries: PostgreSQL's B-tree takes none longer than a third of its page.

use notation::thousands;

use super::made_index::{MadeIndex, made_indexes};
use super::pglz::bytes_in_index;
use crate::ddl::PlannedTable;
use crate::display::{flag, rows, shorten};
use crate::finding::{Example, Finding, RefusedValues};
use crate::source::SourceFile;
use crate::value::{Profile, encode};
use crate::{Error, Task};
use sql::tokens;

/// The longest entry, its own header included.
const LONGEST_ENTRY_BYTES: usize = 2704;
const HEADER_BYTES: usize = 8;
/// Largest alignment of a part of an entry.
const ALIGNMENT: usize = 8;
const LONGEST_NUMBER: usize = 20;

/// Blockers on the keys and indexes of a table that migration would create.
pub fn findings(
    source: &SourceFile,
    planned: PlannedTable<'_>,
    profiles: &[Profile],
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let table = planned.table;
    let longest_of_all = profiles.iter().map(|profile| profile.longest_value_bytes).max();
    let most_of = |written: &str| {
        // Each of its columns is one of its tokens; a number has up to 20 digits.
        let longest = longest_of_all.unwrap_or_default().max(LONGEST_NUMBER);
        written.len() + tokens(written).len() * longest
    };
    let mut findings = Vec::new();
    for made in made_indexes(planned) {
        let longest = made.columns.iter().map(|column| profiles[*column].longest_value_bytes);
        let computed = made.expressions.iter().map(|(written, _)| most_of(written));
        let bytes = longest.chain(computed).sum::<usize>()
            + HEADER_BYTES
            + made.types().count() * ALIGNMENT;
        if bytes <= LONGEST_ENTRY_BYTES {
            continue;
        }
        let (refused, longest) = too_long(source, &made, task)?;
        if refused.count > 0 {
            let (name, left_out) = match made.index {
                Some(index) => (
                    format!("the index {}", shorten(&index.name)),
                    format!("the index out: {}", flag("--skip-index", &index.name)),
                ),
                None => (
                    "the primary key".to_owned(),
                    format!("the table out: {}", flag("--exclude", &table.name)),
                ),
            };
            let message = format!(
                "{} {} in {} of up to {} bytes, PostgreSQL's B-tree takes {}",
                rows(refused.count),
                if refused.count == 1 { "has an entry" } else { "have entries" },
                name,
                thousands(longest),
                thousands(LONGEST_ENTRY_BYTES)
            );
            let fix = format!("shorten them, or leave {left_out}");
            let finding = Finding::blocker("long_index_entry", &table.name, message, fix);
            findings.push(finding.counted(refused.count, refused.examples));
        }
    }
    Ok(findings)
}

/// The rows whose entry is too long, and the longest entry.
fn too_long(
    source: &SourceFile,
    made: &MadeIndex<'_>,
    task: Task<'_>,
) -> Result<(RefusedValues, usize), Error> {
    let (mut refused, mut longest) = (RefusedValues::default(), 0);
    let mut value = Vec::new();
    made.each_entry(source, task, |row, _| {
        let mut bytes = HEADER_BYTES;
        for (place, field) in made.types().enumerate() {
            let stored = row.get_ref(place + 1).map_err(|error| source.explain(error))?;
            value.clear();
            // A value that does not fit its type is a blocker of its own.
            if encode(field, stored, &mut value).is_ok() {
                bytes = bytes.next_multiple_of(ALIGNMENT / 2)
                    + bytes_in_index(value.get(4..).unwrap_or_default());
            }
        }
        let bytes = bytes.next_multiple_of(ALIGNMENT);
        if bytes > LONGEST_ENTRY_BYTES {
            longest = longest.max(bytes);
            let row = || made.table.row_name(row, &made.columns);
            refused.add(|| Example { row: row(), value: String::new() });
        }
        Ok(())
    })?;
    Ok((refused, longest))
}
