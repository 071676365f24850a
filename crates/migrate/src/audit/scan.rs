//! One pass over a table: every value is counted and tried against the type its column would get.

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use super::profile::{Example, Profile};
use crate::copy::{Field, encode};
use crate::inspect::{Shown, Source, Table};
use crate::mapping::{Candidate, PostgresType};
use crate::{Error, Watch};

/// Reads `table` once; the evidence on each of its columns, in order.
pub fn scan(
    source: &Source,
    connection: &Connection,
    table: &Table,
    candidates: &[Candidate],
    watch: Watch<'_>,
) -> Result<Vec<Profile>, Error> {
    let columns: Vec<usize> = (0..table.columns.len()).collect();
    let mut profiles = vec![Profile::default(); columns.len()];
    let text = Field { postgres_type: PostgresType::Text, reading: None, not_null: false };
    let mut scratch = Vec::new();
    source.each_row(connection, table, &columns, None, watch, |row| {
        for ((position, profile), candidate) in profiles.iter_mut().enumerate().zip(candidates) {
            let value = row.get_ref(position + 1).map_err(|error| source.explain(error))?;
            profile.add(value);
            let example =
                || Example { row: table.row_name(row, &columns), value: Shown(value).to_string() };
            if let Some(field) = &candidate.field
                && let Err(misfit) = encode(field, value, &mut scratch)
            {
                profile.misfits.entry(misfit.kind()).or_default().add(example);
            }
            if candidate.may_fall_back
                && let ValueRef::Text(_) | ValueRef::Real(_) = value
            {
                // Only what text itself refuses: NUL, broken UTF-8, infinity.
                scratch.clear();
                if let Err(misfit) = encode(&text, value, &mut scratch) {
                    profile.text_misfits.entry(misfit.kind()).or_default().add(example);
                }
            }
            scratch.clear();
        }
        Ok(())
    })?;
    Ok(profiles)
}
