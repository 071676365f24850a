//! Columns of existing tables whose types are not written: the values are moved into a column of a type
//! that is, and converted by the server afterwards.

use std::sync::Arc;

use notation::{plural, thousands};

use crate::display::{flag, list, sql_text};
use crate::finding::Finding;
use crate::source::{SourceFile, SourceSchema, quoted};
use crate::target::{TargetCatalog, UnwrittenColumn};
use crate::task::blocking;
use crate::value::Profile;
use crate::{Error, Task};

/// The same findings as in an audit, of columns whose values were not read yet.
pub async fn unwritten_columns(
    source: &Arc<SourceFile>,
    schema: &SourceSchema,
    unwritten: &[UnwrittenColumn],
    task: Task<'_>,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for each in unwritten {
        let (source, table, column) =
            (source.clone(), schema.tables[each.table].clone(), each.source);
        let read = blocking(task, move |task| {
            let mut profile = Profile::default();
            source.with(|connection| {
                source.each_row(connection, &table, &[column], None, task.uncounted(), |row| {
                    profile.add(row.get_ref(1).map_err(|error| source.explain(error))?);
                    Ok(())
                })
            })?;
            Ok(profile)
        });
        findings.push(finding(schema, each, &read.await?));
    }
    Ok(findings)
}

pub fn finding(schema: &SourceSchema, unwritten: &UnwrittenColumn, profile: &Profile) -> Finding {
    let table = &schema.tables[unwritten.table];
    let (shown, is_interval) =
        (&unwritten.column.shown_type, unwritten.column.shown_type.starts_with("interval"));
    let (stored, detour) = match is_interval.then(|| Detour::of_interval(profile)).flatten() {
        Some((stored, detour)) => (format!("; its values are {stored}"), detour),
        None => (String::new(), Detour::through_text(shown)),
    };
    let values = profile.rows() - profile.nulls;
    let message = format!(
        "it is {shown} in the target, a type that Crossover neither writes nor compares ({} \
         value{}{stored}); the table's constraints were not tested",
        thousands(values),
        plural(values)
    );
    let fix = match unwritten.column.generated {
        // Its type is that of its expression.
        Some(_) => format!("leave the table out: {}", flag("--exclude", &table.name)),
        None => detour.statements(unwritten),
    };
    Finding::blocker("type_not_written", &table.name, message, fix)
        .on_column(&table.columns[unwritten.source].name)
}

/// A type in which values are written, and the expressions that convert the column to it and back; `{}`
/// is the column.
struct Detour {
    postgres_type: &'static str,
    there: &'static str,
    back: String,
}

impl Detour {
    fn through_text(shown_type: &str) -> Self {
        Self { postgres_type: "text", there: "{}::text", back: format!("{{}}::{shown_type}") }
    }

    /// By the forms in which Django and SQLAlchemy store durations in SQLite.
    fn of_interval(profile: &Profile) -> Option<(&'static str, Self)> {
        let Profile { integers, reals, texts, blobs, looks, .. } = profile;
        let moments = looks.dates + looks.timestamps;
        match (integers, reals, texts, blobs) {
            (1.., 0, 0, 0) => {
                let stored = "whole numbers: microseconds, if Django's DurationField wrote them";
                let there = "extract(epoch FROM {}) * 1000000";
                let back = "{} * interval '1 microsecond'".to_owned();
                Some((stored, Self { postgres_type: "bigint", there, back }))
            }
            (0, 0, 1.., 0) if moments == *texts => {
                let stored = "moments: durations since 1970-01-01 00:00, if SQLAlchemy's Interval wrote them";
                let there = "timestamp '1970-01-01' + {}";
                let back = "{} - timestamp '1970-01-01'".to_owned();
                Some((stored, Self { postgres_type: "timestamp", there, back }))
            }
            _ => None,
        }
    }

    /// The statements before and after the move. A default and CHECK constraints are taken down for it; a
    /// comment on the column keeps what comes after.
    fn statements(&self, unwritten: &UnwrittenColumn) -> String {
        let (name, relation) = (quoted(&unwritten.column.name), &unwritten.relation);
        let alter = |postgres_type: &str, expression: &str| {
            let using = expression.replace("{}", &name);
            format!("ALTER COLUMN {name} TYPE {postgres_type} USING {using}")
        };
        let mut before = vec![alter(self.postgres_type, self.there)];
        let mut after = vec![alter(&unwritten.column.shown_type, &self.back)];
        if let Some(default) = &unwritten.column.default {
            before.insert(0, format!("ALTER COLUMN {name} DROP DEFAULT"));
            after.push(format!("ALTER COLUMN {name} SET DEFAULT {default}"));
        }
        for (check, _) in &unwritten.column.checks {
            before.insert(0, format!("DROP CONSTRAINT IF EXISTS {check}"));
        }
        for (check, definition) in &unwritten.last_of_checks {
            after.push(format!("ADD CONSTRAINT {check} {definition}"));
        }
        let comment = |text: &str| format!("COMMENT ON COLUMN {relation}.{name} IS {text}");
        let own = unwritten.column.comment.as_deref().map_or_else(|| "NULL".to_owned(), sql_text);
        let (before, after) = (list(before), list(after));
        let after = format!("ALTER TABLE {relation} {after}; {}", comment(&own));
        let kept = comment(&sql_text(&format!("{MARK}{after}")));
        format!(
            "in the target, before the move: ALTER TABLE {relation} {before}; {kept}; after it: {after}"
        )
    }
}

/// The beginning of a comment with the statements that come after the move.
const MARK: &str = "crossover, after the move: ";

/// The columns that such statements have changed, with those that come after the move.
pub fn changed_for_the_move(catalog: &TargetCatalog, schema: &SourceSchema) -> Vec<String> {
    let mut notices = Vec::new();
    for table in &schema.tables {
        for column in
            catalog.relation(&table.target_name).iter().flat_map(|relation| &relation.columns)
        {
            let after = column.comment.as_deref().and_then(|comment| comment.strip_prefix(MARK));
            notices.extend(after.map(|after| {
                format!(
                    "{}.{} is still {}, its type for the move; now, in the target: {after}",
                    table.name, column.name, column.shown_type
                )
            }));
        }
    }
    notices
}
