//! Audit of the file before it is measured: what PostgreSQL refuses of it.

use std::path::Path;

use migrate::{AuditOptions, AuditReport, Severity};
use notation::counted;

use crate::error::{Error, Result};
use crate::options::{AssessmentOptions, Caller};
use crate::remedies::types;

/// The audit of the file, said in one line; refuses a file that holds nothing to measure.
pub fn audit_source(options: &AssessmentOptions, caller: &Caller<'_>) -> Result<AuditReport> {
    let AssessmentOptions { source, sql, sql_logs, .. } = options;
    let progress = (caller.progress)("audit");
    let of_audit = AuditOptions { types: types(), ..AuditOptions::default() };
    let report = migrate::audit(source, &of_audit, &progress, caller.interrupted)?;
    progress.finish_and_clear();
    let file = source.display();
    if report.tables.is_empty() {
        return Err(Error::Refused(format!("{file} holds no table: nothing to try")));
    }
    let rows: u64 = report.tables.iter().map(|table| table.rows).sum();
    if rows == 0 && sql.is_empty() && sql_logs.is_empty() {
        return Err(Error::Refused(format!(
            "{file} holds no row: nothing to measure (crossover audit looks at its schema)"
        )));
    }
    (caller.done)(&in_one_line(source, &report));
    Ok(report)
}

/// For example `app.db: 3 tables, 1,200 rows; PostgreSQL refuses nothing of it`.
fn in_one_line(source: &Path, audit: &AuditReport) -> String {
    let rows: u64 = audit.tables.iter().map(|table| table.rows).sum();
    let blockers = |count| format!("{} for PostgreSQL", counted(count, "blocker"));
    let refused = match (audit.count(Severity::Blocker), audit.advice()) {
        (0, None) => "PostgreSQL refuses nothing of it".to_owned(),
        (0, Some(advice)) => advice,
        (count, None) => blockers(count),
        (count, Some(advice)) => format!("{}; {advice}", blockers(count)),
    };
    let tables = counted(audit.tables.len(), "table");
    format!("{}: {tables}, {}; {refused}", source.display(), counted(rows, "row"))
}
