//! Rows that the application has put into its tables before the move, and that stay there.

use std::sync::Arc;

use super::options::MigrateOptions;
use crate::audit;
use crate::display::{flag, list, rows};
use crate::finding::{Finding, Lost};
use crate::mapping::MapRules;
use crate::source::{SourceFile, SourceSchema, SourceTable};
use crate::target::{TargetSession, catalog, match_with_unwritten};
use crate::verify::compare;
use crate::{Error, Task};

/// Takes the tables out of `schema` whose rows in the target stay: those about one database, and with
/// `--on-seeded keep` all that hold other rows. Returns a finding on each.
pub async fn leave_standing(
    session: &TargetSession,
    namespace: &str,
    source: &Arc<SourceFile>,
    schema: &mut SourceSchema,
    options: &MigrateOptions,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut findings =
        audit::leave_standing(session, namespace, schema, &options.selection).await?;
    if options.keep_seeded {
        let kept = keep_seeded(session, namespace, source, schema, &options.rules, task);
        findings.extend(kept.await?);
    }
    Ok(findings)
}

/// The tables whose foreign keys refer to `table`, by their names.
fn children_of(schema: &SourceSchema, table: &SourceTable) -> String {
    let refers = |child: &&SourceTable| {
        let mut parents = child.foreign_keys.iter().map(|key| &key.parent);
        child.name != table.name && parents.any(|name| name.eq_ignore_ascii_case(&table.name))
    };
    list(schema.tables.iter().filter(refers).map(|child| &child.name))
}

async fn keep_seeded(
    session: &TargetSession,
    namespace: &str,
    source: &Arc<SourceFile>,
    schema: &mut SourceSchema,
    rules: &MapRules,
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let found = catalog(&session.client, namespace).await?;
    let matching = match_with_unwritten(schema, &found, rules)?;
    let mut findings = Vec::new();
    for of_table in matching.tables.iter().filter(|table| matching.is_written(table)) {
        if of_table.is_empty(&session.client).await? {
            continue;
        }
        let table = &schema.tables[of_table.source];
        let compared = compare(&session.client, source, table, of_table, task.uncounted()).await?;
        if compared.equal {
            continue;
        }
        let children = children_of(schema, table);
        let meaning = match children.is_empty() {
            true => String::new(),
            false => format!(
                "; rows of {children} refer to them by their keys: make sure that the same keys mean the \
                 same on both sides"
            ),
        };
        let message = format!(
            "the target keeps its {}, as --on-seeded keep asks; {} of the file {} not moved{meaning}",
            rows(compared.target_rows),
            rows(compared.source_rows),
            if compared.source_rows == 1 { "is" } else { "are" }
        );
        let fix = format!("{} takes that for granted", flag("--exclude", &compared.table));
        let finding = Finding::warning("seeded_rows", &compared.table, message, fix);
        let finding = finding.counted(compared.source_rows, Vec::new());
        findings.push(match compared.source_rows {
            0 => finding,
            _ => finding.losing(Lost::Rows),
        });
    }
    schema.tables.retain(|table| findings.iter().all(|finding| finding.table != table.name));
    Ok(findings)
}
