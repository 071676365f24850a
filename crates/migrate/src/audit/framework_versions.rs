//! Versions that a framework keeps in a table of its own. They describe the tables of one database:
//! those of the file in their place would let the framework skip a change, or make it twice.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::display::{first_of, flag};
use crate::finding::Finding;
use crate::source::{Framework, SourceFile, SourceSchema, quoted};
use crate::target::{MatchedTable, TargetSession};
use crate::task::blocking;
use crate::{Error, Task};

/// Most versions of each side that are named.
const VERSIONS_NAMED: usize = 5;

/// A blocker for each table of versions that holds others in the target than in the file. An empty one
/// has none to lose.
pub async fn findings(
    session: &TargetSession,
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    matched: &[MatchedTable],
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for of_table in matched {
        let table = &schema.tables[of_table.source];
        let Some((framework, columns)) = Framework::of_versions(schema, table) else { continue };
        let in_target = of_target(session, of_table, &columns).await?;
        if in_target.is_empty() {
            continue;
        }
        let names = columns.iter().map(|column| quoted(&table.columns[*column].name));
        let sql = select(names, &format!("main.{}", quoted(&table.name)));
        let source = source.clone();
        let in_source = blocking(task, move |_| {
            source.with(|connection| {
                let read = || {
                    let mut statement = connection.prepare(&sql)?;
                    let rows = statement.query_map([], |row| row.get(0))?;
                    rows.collect::<rusqlite::Result<BTreeSet<String>>>()
                };
                read().map_err(|error| source.explain(error))
            })
        });
        let in_source = in_source.await?;
        let of_framework = schema.framework().filter(|each| *each == framework);
        findings.extend(difference(&table.name, of_framework, &in_source, &in_target));
    }
    Ok(findings)
}

async fn of_target(
    session: &TargetSession,
    matched: &MatchedTable,
    columns: &[usize],
) -> Result<BTreeSet<String>, Error> {
    let column = |wanted: &usize| matched.columns.iter().find(|each| each.source == *wanted);
    let names = columns.iter().filter_map(column).map(|column| quoted(&column.name));
    let sql = select(names, &matched.relation);
    let failed = Error::postgres(format!("cannot read {}", matched.relation));
    let rows = session.client.query(&sql, &[]).await.map_err(failed)?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// The versions of a table, the parts of each with a point between them.
fn select(names: impl Iterator<Item = String>, relation: &str) -> String {
    let parts: Vec<String> =
        names.map(|name| format!("coalesce(CAST({name} AS text), '')")).collect();
    format!("SELECT {} FROM {relation}", parts.join(" || '.' || "))
}

/// `framework`: the one that certainly made the file.
fn difference(
    table: &str,
    framework: Option<Framework>,
    in_source: &BTreeSet<String>,
    in_target: &BTreeSet<String>,
) -> Option<Finding> {
    let only_source: Vec<&String> = in_source.difference(in_target).collect();
    let only_target: Vec<&String> = in_target.difference(in_source).collect();
    let (lacking, place) = match (only_source.is_empty(), only_target.is_empty()) {
        (true, true) => return None,
        (false, true) => (format!("the target lacks {}", named(&only_source)), "the target"),
        (true, false) => (format!("the file lacks {}", named(&only_target)), "the file"),
        (false, false) => {
            let lacking = [named(&only_source), named(&only_target)];
            (format!("the target lacks {}, the file lacks {}", lacking[0], lacking[1]), "both")
        }
    };
    let message = format!(
        "the versions of the application's tables differ, and the table of versions would be \
         replaced: {lacking}"
    );
    let migrations = framework.map_or_else(
        || "the application's own migrations".to_owned(),
        |each| format!("{}'s own migrations ({})", each.name(), each.tables_by()),
    );
    let exclude = flag("--exclude", table);
    let fix = format!("run {migrations} on {place}, or keep the target's versions: {exclude}");
    Some(Finding::blocker("framework_versions", table, message, fix))
}

fn named(versions: &[&String]) -> String {
    first_of(versions, VERSIONS_NAMED)
}
