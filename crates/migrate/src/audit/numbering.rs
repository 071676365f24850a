//! Keys that SQLite numbers (`INTEGER PRIMARY KEY`) in tables that migration would create: PostgreSQL
//! numbers columns of whole numbers alone.

use notation::thousands;

use crate::display::flag;
use crate::finding::{Finding, Lost};
use crate::mapping::Candidate;
use crate::source::{Rowid, SourceTable};
use crate::value::{PostgresType, Profile, TargetField};

/// The finding on the key of a table, if it would lose its numbers.
pub fn of_key(
    table: &SourceTable,
    candidates: &[Candidate],
    fields: &[TargetField],
    profiles: &[Profile],
) -> Option<Finding> {
    let Rowid::Alias(position) = table.rowid else { return None };
    let (name, field) = (&table.columns[position].name, &fields[position]);
    if !field.postgres_type.is_integer() {
        return Some(unnumbered(table, position, &candidates[position], field));
    }
    let most = match field.postgres_type {
        PostgresType::SmallInt => i16::MAX.into(),
        PostgresType::Integer => i32::MAX.into(),
        _ => i64::MAX,
    };
    let last = profiles[position].largest_integer.max(table.autoincrement)?;
    if last < most {
        return None;
    }
    let message = format!(
        "its numbers have reached {}, {} has none after that: every INSERT without one would fail",
        thousands(last.unsigned_abs()),
        field.postgres_type
    );
    if most == i64::MAX {
        let fix = "give the row with that number another one";
        let finding = Finding::warning("numbers_at_end", &table.name, message, fix);
        return Some(finding.on_column(name).losing(Lost::Numbering));
    }
    let rule = format!("{}.{name}=bigint", table.name);
    let finding = Finding::blocker("numbers_at_end", &table.name, message, flag("--map", &rule));
    Some(finding.on_column(name).with_rule(Some(rule)))
}

/// A key whose type PostgreSQL does not number: refused where a rule asks for it, unless its numbers are
/// read as moments or are those of another table.
fn unnumbered(
    table: &SourceTable,
    position: usize,
    candidate: &Candidate,
    field: &TargetField,
) -> Finding {
    let mut keys = table.foreign_keys.iter();
    let is_given = field.reading.is_some() || keys.any(|key| key.columns.contains(&position));
    let message = format!(
        "SQLite numbers its rows, PostgreSQL numbers no {}: every INSERT without it would fail",
        field.postgres_type
    );
    let finding = match candidate.is_rule && !is_given {
        true => {
            let fix = "leave the rule of --map out, or give it smallint, integer or bigint";
            Finding::blocker("key_without_numbers", &table.name, message, fix)
        }
        false => {
            let finding = Finding::warning("key_without_numbers", &table.name, message, "");
            finding.losing(Lost::Numbering)
        }
    };
    finding.on_column(&table.columns[position].name)
}
