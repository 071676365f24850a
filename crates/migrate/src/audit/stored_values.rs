//! Stored values of generated columns: PostgreSQL computes them again, so they have to be those of
//! their expression.

use notation::{plural, thousands};
use rusqlite::types::ValueRef;

use crate::ddl::PlannedTable;
use crate::display::ShownValue;
use crate::finding::{Example, Finding, RefusedValues};
use crate::source::{SourceFile, quoted};
use crate::{Error, Task};

/// Blockers on rows that were stored when the column had another expression.
pub fn findings(
    source: &SourceFile,
    planned: PlannedTable<'_>,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let table = planned.table;
    let mut findings = Vec::new();
    for (position, column) in table.columns.iter().enumerate().filter(|(_, each)| each.stored) {
        let (Some(_), Some(expression)) = (planned.generated(position), &column.expression) else {
            continue;
        };
        let (name, own) = (quoted(&column.name), quoted(&table.name));
        let differs = format!("{name} IS NOT ({expression}\n) COLLATE BINARY");
        let sql = table.select_also(&[position], &[differs]);
        let mut refused = RefusedValues::default();
        source.with(|connection| {
            source.each_row_of(connection, &sql, task.uncounted(), |row| {
                let value = |place| row.get_ref(place).map_err(|error| source.explain(error));
                if value(2)? == ValueRef::Integer(1) {
                    let shown = ShownValue(value(1)?).to_string();
                    let row = || table.row_name(row, &[position]);
                    refused.add(|| Example { row: row(), value: shown });
                }
                Ok(())
            })
        })?;
        if refused.count == 0 {
            continue;
        }
        let message = format!(
            "{} stored value{} of this generated column {} not what its expression gives, which \
             PostgreSQL computes",
            thousands(refused.count),
            plural(refused.count),
            if refused.count == 1 { "is" } else { "are" }
        );
        let ordinary = table.columns.iter().find(|each| !each.generated);
        let ordinary = ordinary.map_or_else(|| name.clone(), |each| quoted(&each.name));
        let fix =
            format!("compute them again in the source: UPDATE {own} SET {ordinary} = {ordinary}");
        let finding = Finding::blocker("stored_values", &table.name, message, fix);
        findings.push(finding.on_column(&column.name).counted(refused.count, refused.examples));
    }
    Ok(findings)
}
