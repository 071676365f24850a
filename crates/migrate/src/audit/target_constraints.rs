//! Audit of the source against the constraints of existing tables (`--target`), tested by the
//! server in temporary tables. Nothing of it lasts.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::PostgresUrl;
use indicatif::ProgressBar;
use notation::counted;

use super::AuditOptions;
use super::existing_tables::existing_tables;
use super::framework_rows::leave_standing;
use super::keys::ParentLookup;
use super::outside_children;
use super::target_rows::{self, RowsOnBothSides};
use crate::display::shorten;
use crate::error::postgres_message;
use crate::finding::{Example, Finding, Severity};
use crate::source::{SourceFile, SourceSchema, SourceTable, open_selected, readers};
use crate::target::rights::{self, AS_SUPERUSER};
use crate::target::{
    ConstraintKind, ConstraintProbe, MatchedTable, Reference, RowConstraint, TargetSession,
    catalog, existing_constraints, match_with_unwritten, namespace, references,
};
use crate::task::blocking;
use crate::{Error, Task};

const SHOWN: usize = 5;
/// The kind of a finding on a table whose constraints were not tested to the end.
const NOT_TESTED: &str = "target_not_computed";

/// Findings on rows that fit the types of the target's tables and would still be refused: by CHECK,
/// unique keys, domains, foreign keys; and on sequences from which later rows would get no number.
/// Rows refused for their values are findings of [`crate::audit`].
pub async fn audit_target_constraints(
    source: &Path,
    target: &PostgresUrl,
    options: &AuditOptions,
    schema: Option<&str>,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Vec<Finding>, Error> {
    let task = Task { progress, interrupted };
    let session = task.unless_interrupted(TargetSession::connect(target)).await?;
    let probing = Box::pin(probe_all(&session, source, options, schema, task));
    session.cancelled_by_user(target, task, probing).await
}

async fn probe_all(
    session: &TargetSession,
    source: &Path,
    options: &AuditOptions,
    schema: Option<&str>,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let namespace = namespace(&session.client, schema).await?;
    let (source, mut schema) = blocking(task, {
        let (path, selection) = (source.to_owned(), options.selection.clone());
        move |task| open_selected(&path, readers(), &selection, 1, task)
    })
    .await?;
    if let Some(finding) = missing_rights(session, &namespace, &schema).await? {
        return Ok(vec![finding]);
    }
    let standing = leave_standing(session, &namespace, &mut schema, &options.selection).await?;
    let found = catalog(&session.client, &namespace).await?;
    let matching = match_with_unwritten(&schema, &found, &options.rules)?;
    let is_written = |table: &&MatchedTable| matching.is_written(table);
    let matched: Vec<MatchedTable> = matching.tables.iter().filter(is_written).cloned().collect();
    // A table whose values cannot be written yet is moved later, and has the rows of its children.
    let constraints =
        existing_constraints::read(&session.client, &schema, &matching.tables).await?;
    session.begin().await?;
    let mut findings = existing_tables(session, &source, &schema, &matched, false, task).await?;
    findings.extend(
        outside_children::findings(session, &source, &schema, &matching.tables, task).await?,
    );
    session.roll_back().await;
    findings.extend(standing);
    findings.extend(target_rows::findings(session, &source, &schema, &matched, task).await?);
    for of_table in &matched {
        findings
            .extend(probe_table(session, &source, &schema, of_table, &constraints, task).await?);
    }
    let references = references::of_target(&session.client, &matching.tables).await?;
    let standing = standing_children(session, &source, &schema, &matched, task).await?;
    let declared = references::of_source(&schema, &matched);
    let without_parent = blocking(task, move |task| {
        let mut findings = orphans_of_all(&source, &schema, &references, task)?;
        for finding in findings.iter_mut().filter(|each| standing.contains(&each.table)) {
            *finding = standing_in_target(finding.clone());
        }
        let is_kept = |own: &&Reference| references.iter().any(|each| is_same(each, own));
        for reference in declared.iter().filter(|own| !is_kept(own)) {
            task.check()?;
            findings.extend(orphans_of(&source, &schema, reference)?.map(taken_by_target));
        }
        Ok(findings)
    });
    findings.extend(without_parent.await?);
    Ok(findings)
}

/// A finding on the rights that a move needs and the role lacks, for all tables at once.
async fn missing_rights(
    session: &TargetSession,
    namespace: &str,
    schema: &SourceSchema,
) -> Result<Option<Finding>, Error> {
    let tables: Vec<String> = schema.tables.iter().map(|table| table.target_name.clone()).collect();
    let statements = rights::needed_to_load(&session.client, namespace, &tables).await?;
    let message = "the role lacks rights without which a move is refused; the target's rows and constraints \
                   were not looked at";
    let fix =
        format!("{AS_SUPERUSER}: {}; or name the tables' owner in URL", statements.join("; "));
    let finding = Finding::blocker("missing_rights", &session.user, message, fix);
    Ok((!statements.is_empty()).then_some(finding))
}

/// `true` if two foreign keys are the same in any order of columns.
fn is_same(one: &Reference, other: &Reference) -> bool {
    let pairs = |key: &Reference| -> BTreeSet<(usize, usize)> {
        key.columns.iter().copied().zip(key.parent_columns.iter().copied()).collect()
    };
    one.child == other.child && one.parent == other.parent && pairs(one) == pairs(other)
}

/// A finding on a foreign key that the source declares and the target does not enforce: the target takes these rows.
fn taken_by_target(finding: Finding) -> Finding {
    let message =
        format!("{}; the target enforces no such foreign key and takes them", finding.message);
    Finding { severity: Severity::Warning, message, ..finding }
}

/// The tables of the file whose rows are in the target already, where foreign keys that are NOT VALID do
/// not judge them.
async fn standing_children(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    task: Task<'_>,
) -> Result<BTreeSet<String>, Error> {
    let not_valid = references::not_valid(&session.client, matched).await?;
    let keys = references::of_target(&session.client, matched).await?;
    let mut standing = BTreeSet::new();
    for of_table in matched {
        let is_child = |key: &Reference| key.child == of_table.source;
        let is_judged =
            |key: &Reference| is_child(key) && !not_valid.iter().any(|own| is_same(own, key));
        if !not_valid.iter().any(is_child) || keys.iter().any(is_judged) {
            continue;
        }
        session.begin().await?;
        let table = &schema.tables[of_table.source];
        let counted = RowsOnBothSides::count(session, source, table, of_table, task).await?;
        if counted.are_same() {
            standing.insert(table.name.clone());
        }
        session.roll_back().await;
    }
    Ok(standing)
}

/// A finding on rows that the target holds without a parent, and that migrate leaves there.
fn standing_in_target(finding: Finding) -> Finding {
    let message = format!(
        "{}; they are in the target already and its foreign key is NOT VALID: they stay, but --replace would \
         be refused",
        finding.message
    );
    Finding { severity: Severity::Warning, message, ..finding }
}

async fn probe_table(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &MatchedTable,
    constraints: &[RowConstraint],
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let own: Vec<&RowConstraint> =
        constraints.iter().filter(|constraint| constraint.table == matched.source).collect();
    if own.is_empty() {
        return Ok(Vec::new());
    }
    session.begin().await?;
    let findings = violations(session, source, schema, matched, &own, task).await?;
    session.roll_back().await;
    Ok(findings)
}

/// Findings on rows that the end of a move would refuse, so that it need not begin: those without a row
/// in a table that is not moved and, where no proof follows (`with_computed`), those for which the
/// target computes other values. Needs a transaction, which a column that cannot be computed breaks.
pub async fn rows_before_move(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    with_computed: bool,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut constraints =
        existing_constraints::references_outside(&session.client, schema, matched).await?;
    if with_computed {
        constraints.extend(matched.iter().flat_map(existing_constraints::computed));
    }
    let mut findings = Vec::new();
    for of_table in matched {
        let own: Vec<&RowConstraint> =
            constraints.iter().filter(|each| each.table == of_table.source).collect();
        if !own.is_empty() && findings.iter().all(|each: &Finding| each.kind != NOT_TESTED) {
            findings.extend(violations(session, source, schema, of_table, &own, task).await?);
        }
    }
    Ok(findings)
}

/// The rows that violate constraints of one table, in a transaction.
async fn violations(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &MatchedTable,
    constraints: &[&RowConstraint],
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let table = &schema.tables[matched.source];
    let testing = async {
        let mut findings = Vec::new();
        let probe =
            ConstraintProbe::load(session, source, table, matched, constraints, task).await?;
        for constraint in constraints {
            let (count, addresses) = probe.count_violations(constraint, SHOWN).await?;
            if count > 0 {
                let found = violation_finding(table, matched, constraint, count);
                let named = addresses.iter().map(|address| table.address_name(*address));
                let examples = named.map(|row| Example { row, value: String::new() });
                findings.push(found.counted(count, examples.collect()).about_rows());
            }
        }
        probe.drop_table(task).await?;
        Ok(findings)
    };
    testing.await.or_else(|error| not_tested(table, error))
}

/// A row for which the server cannot compute a rule of the target.
fn not_tested(table: &SourceTable, error: Error) -> Result<Vec<Finding>, Error> {
    let (reason, examples) = match &error {
        Error::Row(bad) => {
            (bad.reason.clone(), vec![Example { row: bad.row.clone(), value: String::new() }])
        }
        Error::Postgres { report, .. } if is_of_data(report) => {
            (format!("PostgreSQL refuses it: {}", postgres_message(report)), Vec::new())
        }
        _ => return Err(error),
    };
    let message = format!(
        "the target computes a column or a rule that fails for some row, and further constraints of \
         the table were not tested: {reason}"
    );
    let fix = "repair the row, or alter the rule in the target";
    let finding = Finding::blocker(NOT_TESTED, &table.name, message, fix);
    Ok(vec![if examples.is_empty() { finding } else { finding.counted(1, examples) }])
}

/// PostgreSQL's class of errors in values (appendix A of its manual), such as a division by zero.
fn is_of_data(report: &tokio_postgres::Error) -> bool {
    report.code().is_some_and(|code| code.code().starts_with("22"))
}

fn violation_finding(
    table: &SourceTable,
    matched: &MatchedTable,
    constraint: &RowConstraint,
    count: u64,
) -> Finding {
    let rows = counted(count, "row");
    let kind = match &constraint.kind {
        ConstraintKind::Generated { column, expression, .. } => {
            let message =
                format!("the target computes another value for {rows}: {}", shorten(expression));
            let computed = matched.columns.iter().find(|each| each.name == *column);
            let statement = computed.and_then(|computed| matched.made_ordinary(computed));
            let fix = format!(
                "let --on-error reject keep them apart, or write the column; in the target: {}",
                statement.unwrap_or_default()
            );
            return Finding::blocker("target_generated", &table.name, message, fix)
                .on_column(column);
        }
        ConstraintKind::Check(_) => "target_check",
        ConstraintKind::Domain { .. } => "target_domain",
        ConstraintKind::Reference { parent, .. } => {
            let message = format!("the target would refuse {rows}: {}", constraint.reason());
            let fix = format!(
                "put its rows into {parent} before, or move that table too if --exclude leaves it \
                 out; otherwise repair these rows, or let --on-error reject keep them apart"
            );
            return Finding::blocker("target_foreign_key", &table.name, message, fix);
        }
        ConstraintKind::New { .. } => "target_row",
        ConstraintKind::Unique { .. } => "target_unique",
    };
    let message = format!("the target would refuse {rows}: {}", constraint.reason());
    let fix = "repair them, or let --on-error reject keep them apart";
    Finding::blocker(kind, &table.name, message, fix)
}

/// Rows that a load, whose foreign keys are suspended, would take although the target refuses them:
/// those without a parent by `references` that no validation follows.
pub async fn orphans_before_move(
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    references: Vec<Reference>,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let (source, schema) = (source.clone(), schema.clone());
    blocking(task, move |task| orphans_of_all(&source, &schema, &references, task)).await
}

fn orphans_of_all(
    source: &SourceFile,
    schema: &SourceSchema,
    references: &[Reference],
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for reference in references {
        task.check()?;
        findings.extend(orphans_of(source, schema, reference)?);
    }
    Ok(findings)
}

/// Rows without a parent by a foreign key.
fn orphans_of(
    source: &SourceFile,
    schema: &SourceSchema,
    reference: &Reference,
) -> Result<Option<Finding>, Error> {
    let lookup = ParentLookup::of(schema, reference);
    source.with(|connection| lookup.finding(source, connection, &lookup.parent.name))
}
