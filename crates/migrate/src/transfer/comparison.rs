//! Comparison of both databases before the end of a migration, and the cause of what differs.

use std::time::Instant;

use super::begin::PreparedMigration;
use super::report::PhaseSeconds;
use super::workers::MigrationJob;
use crate::display::escaped;
use crate::target::{MatchedColumn, TargetSession};
use crate::verify::{VerificationReport, compare_all};
use crate::{Error, Task};

/// Compares all tables, if the options ask for it; a difference is an error.
pub async fn verify(
    prepared: &PreparedMigration,
    workers: &[TargetSession],
    seconds: &mut PhaseSeconds,
    task: Task<'_>,
) -> Result<Option<VerificationReport>, Error> {
    if !prepared.saved.options.verify || prepared.saved.options.schema_only {
        return Ok(None);
    }
    let clock = Instant::now();
    task.progress.set_message("comparing both databases");
    let MigrationJob { source, schema, matched, .. } = &prepared.job;
    let clients: Vec<_> = workers.iter().map(|session| &session.client).collect();
    let part_bytes = prepared.saved.options.part_bytes;
    let verification = compare_all(&clients, source, schema, matched, part_bytes, task).await?;
    seconds.verify = clock.elapsed().as_secs_f64();
    if verification.is_equal() {
        return Ok(Some(verification));
    }
    let tables = verification.tables.iter().filter(|table| !table.equal);
    let text: String = tables.map(|table| table.differences_text()).collect();
    let cause =
        cause_of_differences(&prepared.job, &verification, prepared.saved.options.data_only);
    Err(Error::Differs { cause, text: text.trim_end().to_owned() })
}

/// The cause of changed rows: columns that the target computes, with the remedy, or else a trigger of a
/// table that was there before.
fn cause_of_differences(
    job: &MigrationJob,
    verification: &VerificationReport,
    existed: bool,
) -> String {
    let mut causes = Vec::new();
    let mut is_explained = true;
    for table in verification.tables.iter().filter(|table| !table.equal) {
        let mut matched = job.matched.iter();
        let matched = matched.find(|each| job.schema.tables[each.source].name == table.table);
        let differing = |column: &&MatchedColumn| table.differing_columns.contains(&column.name);
        let columns: Vec<&MatchedColumn> = matched
            .into_iter()
            .flat_map(|matched| matched.columns.iter().filter(differing))
            .collect();
        let computed = columns.iter().filter(|column| column.generated.is_some());
        causes.extend(computed.filter_map(|column| {
            let statement = matched?.made_ordinary(column)?;
            Some(format!(
                "the target computes {}.{} by itself; to write it: {statement}",
                escaped(&table.table),
                escaped(&column.name)
            ))
        }));
        // A row that no column of the target holds counts as missing.
        let by_values = table.unfit.is_empty();
        is_explained &= !by_values || columns.iter().all(|column| column.generated.is_some());
        is_explained &= !by_values || table.source_rows == table.target_rows;
    }
    if existed && !is_explained {
        causes.push("a trigger of the target may have changed rows".to_owned());
    }
    if causes.is_empty() { String::new() } else { format!(" ({})", causes.join("; ")) }
}
