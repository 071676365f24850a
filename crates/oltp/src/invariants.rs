//! Invariants of the tables after a load.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use crate::console::Console;
use crate::layout::{Layout, layouts};
use crate::row::{Fields, Rows};
use crate::{Error, OltpTarget, catalog};
use plan::oltp::{CharacterSet, Mix, TableOptions};

/// Reads the tables in the order of their keys and checks, after `mixes` and `rows_added` (the sum
/// over clients and loads since the filling), the number of rows, and every value that the mixes
/// leave alone, row by row against what was filled.
pub fn invariants(
    target: &OltpTarget,
    options: &TableOptions,
    mixes: &[Mix],
    rows_added: i64,
    interrupted: &AtomicBool,
) -> Result<(), Error> {
    let mut console = Console::open(target, interrupted)?;
    catalog::require(&mut console, options)?;
    let layouts = layouts(options);
    let (mut rows, mut filled) = (0u64, 0u64);
    for layout in &layouts {
        rows += check_table(&mut console, options, layout, mixes)?;
        filled += layout.rows;
    }
    let expected = filled.checked_add_signed(rows_added);
    if expected == Some(rows) {
        return Ok(());
    }
    Err(Error::Invariant {
        place: console.place,
        table: layouts.iter().map(|layout| layout.name.as_str()).collect::<Vec<_>>().join(", "),
        difference: format!("{rows} rows, not the {filled} filled and {rows_added} added"),
    })
}

/// The changes that a mix makes: columns; and whether rows go, or come under new keys.
fn changes(mix: Mix) -> (&'static [&'static str], bool, bool) {
    match mix {
        Mix::ReadWrite | Mix::WriteOnly => (&["k", "c"], false, false),
        Mix::UpdateIndex => (&["k"], false, false),
        Mix::UpdateNonIndex => (&["c"], false, false),
        Mix::Insert => (&[], false, true),
        Mix::Delete => (&[], true, false),
        Mix::Churn => (&[], true, true),
        Mix::VariableRows => (&["name", "body"], false, false),
        Mix::Encoding => (&["line"], false, false),
        _ => (&[], false, false),
    }
}

/// Compares a table; its number of rows.
fn check_table(
    console: &mut Console<'_>,
    options: &TableOptions,
    layout: &Layout,
    mixes: &[Mix],
) -> Result<u64, Error> {
    let changed: BTreeSet<&str> = mixes.iter().flat_map(|mix| changes(*mix).0).copied().collect();
    let rows_go = mixes.iter().any(|mix| changes(*mix).1);
    let rows_come = mixes.iter().any(|mix| changes(*mix).2);
    let kept: Vec<bool> = layout.columns().map(|column| !changed.contains(column)).collect();
    let rows = Rows::new(options, layout.number, CharacterSet::Utf8);
    let mut fields = Fields::default();
    let (mut count, mut next) = (0, 1);
    let mut difference = None;
    let sql = format!("SELECT {} FROM {} ORDER BY id", layout.column_list(), layout.name);
    console.rows(&sql, &mut |row| {
        if difference.is_some() {
            return;
        }
        count += 1;
        let id = row.first().copied().flatten().and_then(|id| std::str::from_utf8(id).ok());
        let Some(id) = id.and_then(|id| id.parse::<u64>().ok()) else {
            difference = Some("a row without a key".to_owned());
            return;
        };
        if id != next && next <= layout.rows && !rows_go {
            difference = Some(format!("row {next} is missing"));
        } else if id > layout.rows && !rows_come {
            difference = Some(format!("row {id} was never filled"));
        } else if id <= layout.rows {
            fields.clear();
            (layout.row)(&rows, id, &mut fields);
            let compared = fields.iter().zip(row).zip(&kept);
            let mut names = layout.columns();
            let wrong =
                compared.map(|pair| (names.next(), pair)).find(|(_, ((filled, found), kept))| {
                    **kept && found.map(<[u8]>::trim_ascii_end) != Some(filled.trim_ascii_end())
                });
            difference = wrong.map(|(name, _)| {
                format!("row {id}: {} is not what was filled", name.unwrap_or_default())
            });
        }
        next = id + 1;
    })?;
    if difference.is_none() && next <= layout.rows && !rows_go {
        difference = Some(format!("row {next} is missing"));
    }
    match difference {
        None => Ok(count),
        Some(difference) => {
            let (place, table) = (console.place.clone(), layout.name.clone());
            Err(Error::Invariant { place, table, difference })
        }
    }
}
