//! `audit --target`: what the constraints of existing tables would refuse, judged by the server itself
//! over temporary tables. Nothing of it lasts.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine::PostgresUrl;
use indicatif::ProgressBar;

use super::catalog::{catalog, current_schema};
use super::demand::{self, Demand, What};
use super::judge::Judge;
use super::matching::{Matched, match_tables};
use super::references::{self, Reference};
use super::session::Session;
use crate::audit::{AuditOptions, Example, Finding, Severity, orphans, orphans_finding, resolve};
use crate::inspect::{Schema, Source, Table, thousands};
use crate::verify::selected;
use crate::watch::blocking;
use crate::{Error, Watch};

/// Examples of each objection.
const SHOWN: usize = 5;

/// Rows that fit the types of the target's tables and would still be refused: by CHECK, unique
/// keys, domains, foreign keys. Rows that are refused for their values are the audit's own findings.
///
/// # Errors
/// A server that cannot be asked, tables without a counterpart, [`Error::Interrupted`].
pub async fn objections(
    source: &Path,
    target: &PostgresUrl,
    options: &AuditOptions,
    schema: Option<&str>,
    progress: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Vec<Finding>, Error> {
    let watch = Watch { progress, interrupted };
    let session = Session::connect(target).await?;
    let namespace = match schema {
        Some(schema) => schema.to_owned(),
        None => current_schema(&session.client).await?,
    };
    let (source, schema) = blocking(watch, {
        let (path, selection) = (source.to_owned(), options.selection.clone());
        move |_| {
            let source = Source::open(&path, 1)?;
            let schema = selected(&source, &selection)?;
            Ok((Arc::new(source), schema))
        }
    })
    .await?;
    let found = catalog(&session.client, &namespace).await?;
    let matched = match_tables(&schema, &found, &options.rules)
        .map_err(|problems| Error::Target(problems.join("\n")))?;
    let demands = demand::of_target(&session.client, &schema, &matched).await?;
    let mut findings = Vec::new();
    for of_table in &matched {
        findings.extend(hear(&session, &source, &schema, of_table, &demands, watch).await?);
    }
    let references = references::of_target(&session.client, &matched).await?;
    let without_parent = blocking(watch, move |watch| {
        let mut findings = Vec::new();
        for reference in &references {
            watch.check()?;
            findings.extend(orphans_of(&source, &schema, reference)?);
        }
        Ok(findings)
    });
    findings.extend(without_parent.await?);
    Ok(findings)
}

async fn hear(
    session: &Session,
    source: &Arc<Source>,
    schema: &Schema,
    matched: &Matched,
    demands: &[Demand],
    watch: Watch<'_>,
) -> Result<Vec<Finding>, Error> {
    let own: Vec<&Demand> =
        demands.iter().filter(|demand| demand.table == matched.source).collect();
    let mut findings = Vec::new();
    if own.is_empty() {
        return Ok(findings);
    }
    let table = &schema.tables[matched.source];
    session.begin().await?;
    let judge = Judge::hear(session, source, table, matched, &own, watch).await?;
    for demand in own {
        let (count, addresses) = judge.count(demand, SHOWN).await?;
        if count > 0 {
            findings.push(objection(table, demand, count, &addresses));
        }
    }
    session.roll_back().await;
    Ok(findings)
}

fn objection(table: &Table, demand: &Demand, count: u64, addresses: &[i64]) -> Finding {
    let kind = match demand.what {
        What::Check(_) => "target_check",
        What::Domain { .. } => "target_domain",
        What::Reference { .. } => "target_foreign_key",
        What::Unique { .. } => "target_unique",
    };
    let rows = if count == 1 { "row" } else { "rows" };
    let message =
        format!("the target would refuse {} {rows}: {}", thousands(count), demand.reason());
    let fix = "repair them, or let --on-error reject keep them apart";
    let named = |address: &i64| match table.rowid_expression() {
        Some(_) => format!("rowid {address}"),
        None => format!("row {address} in the order of the key"),
    };
    let examples =
        addresses.iter().map(|address| Example { row: named(address), value: String::new() });
    Finding::on_table(Severity::Blocker, kind, &table.name, message, fix)
        .counted(count, examples.collect())
        .about_rows()
}

/// Rows without a parent by a foreign key that only the target has.
fn orphans_of(
    source: &Source,
    schema: &Schema,
    reference: &Reference,
) -> Result<Option<Finding>, Error> {
    let (table, parent) = (&schema.tables[reference.child], &schema.tables[reference.parent]);
    let is_known = resolve(schema, table).iter().any(|known| {
        known.key.columns == reference.columns
            && known.parent.as_ref().is_some_and(|(place, columns)| {
                *place == reference.parent && *columns == reference.parent_columns
            })
    });
    if is_known {
        return Ok(None);
    }
    let found = source.with(|connection| {
        let columns = &reference.columns;
        orphans(source, connection, table, columns, parent, &reference.parent_columns)
    })?;
    let names = reference.columns.iter().map(|column| table.columns[*column].name.as_str());
    let names = names.collect::<Vec<_>>().join(", ");
    Ok(orphans_finding(table, &names, &parent.name, found))
}
