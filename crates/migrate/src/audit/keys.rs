//! Foreign keys that SQLite never checked: it does so only on connections that ask for it.

use rusqlite::Connection;

use crate::Error;
use crate::display::thousands;
use crate::finding::{Example, Finding, Lost, RefusedValues, Severity};
use crate::source::{
    Affinity, ForeignKey, SourceColumn, SourceFile, SourceSchema, SourceTable, quoted, resolve,
};
use crate::value::{PostgresType, TargetField};

/// Foreign keys that cannot be carried over, and rows that refer to nothing.
pub fn findings(
    source: &SourceFile,
    connection: &Connection,
    schema: &SourceSchema,
    table: &SourceTable,
) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for resolved in resolve(schema, table) {
        let key = resolved.key;
        let names = names(table, key);
        let Some((parent, columns)) = resolved.parent else {
            let message = format!(
                "the foreign key ({names}) refers to {}, which is not there or has no matching \
                 unique key: not carried over",
                key.parent
            );
            let fix = "add the parent's key, or drop the foreign key";
            let (severity, kind) = (Severity::Warning, "foreign_key_not_carried_over");
            let finding = Finding::on_table(severity, kind, &table.name, message, fix);
            findings.push(finding.losing(Lost::ForeignKey));
            continue;
        };
        let (own, parent) = (&key.columns, &schema.tables[parent]);
        let exact = vec![false; columns.len()];
        let orphans = orphans(source, connection, table, own, parent, &columns, &exact)?;
        findings.extend(orphans_finding(table, &names, &key.parent, orphans));
    }
    Ok(findings)
}

/// The finding on rows without a parent.
pub fn orphans_finding(
    table: &SourceTable,
    names: &str,
    parent: &str,
    orphans: RefusedValues,
) -> Option<Finding> {
    if orphans.count == 0 {
        return None;
    }
    let message = format!(
        "{} {} by ({names}) to rows of {parent} that do not exist",
        thousands(orphans.count),
        if orphans.count == 1 { "row refers" } else { "rows refer" },
    );
    let fix = "delete or repair them, or add the missing rows";
    let (severity, kind) = (Severity::Blocker, "foreign_key_violation");
    let finding = Finding::on_table(severity, kind, &table.name, message, fix);
    Some(finding.counted(orphans.count, orphans.examples).about_rows())
}

/// The findings on the foreign keys of all tables.
pub fn all_findings(
    source: &SourceFile,
    connection: &Connection,
    schema: &SourceSchema,
) -> Result<Vec<Finding>, Error> {
    let mut all = Vec::new();
    for table in &schema.tables {
        all.extend(findings(source, connection, schema, table)?);
    }
    Ok(all)
}

fn names(table: &SourceTable, key: &ForeignKey) -> String {
    let names = key.columns.iter().map(|column| table.columns[*column].name.as_str());
    names.collect::<Vec<_>>().join(", ")
}

/// A query for the keys by which rows refer to rows that do not exist.
pub fn missing_parents(
    table: &SourceTable,
    columns: &[usize],
    parent: &SourceTable,
    parent_columns: &[usize],
    ignores_case: &[bool],
) -> String {
    let keys: Vec<String> = columns
        .iter()
        .map(|column| format!("c.{}", quoted(&table.columns[*column].name)))
        .collect();
    let missing = missing(table, columns, parent, parent_columns, ignores_case);
    format!("SELECT {} {missing}", keys.join(", "))
}

/// FROM and WHERE of the rows whose key is complete and has no parent.
fn missing(
    table: &SourceTable,
    columns: &[usize],
    parent: &SourceTable,
    parent_columns: &[usize],
    ignores_case: &[bool],
) -> String {
    let child = |column: &usize| format!("c.{}", quoted(&table.columns[*column].name));
    let complete: Vec<String> =
        columns.iter().map(|column| format!("{} IS NOT NULL", child(column))).collect();
    let equal: Vec<String> = columns
        .iter()
        .zip(parent_columns)
        .zip(ignores_case)
        .map(|((column, parent_column), ignores_case)| {
            is_same(&table.columns[*column], &parent.columns[*parent_column], *ignores_case)
        })
        .collect();
    format!(
        "FROM main.{} AS c WHERE {} AND NOT EXISTS (SELECT 1 FROM main.{} AS p WHERE {})",
        quoted(&table.name),
        complete.join(" AND "),
        quoted(&parent.name),
        equal.join(" AND ")
    )
}

/// The condition under which PostgreSQL finds the parent of `c` in column `p`: texts are equal byte
/// by byte under any collation of SQLite, unless the target's column is citext.
fn is_same(child: &SourceColumn, parent: &SourceColumn, ignores_case: bool) -> String {
    let mut refers = format!("c.{}", quoted(&child.name));
    // A number that refers to texts is moved as text.
    if parent.affinity == Affinity::Text && child.affinity != Affinity::Text {
        refers = format!("CAST({refers} AS TEXT)");
    }
    // The parent's column on the left gives the comparison its affinity and collation.
    let equal = format!("p.{} = {refers}", quoted(&parent.name));
    match parent.collation.as_deref() {
        _ if ignores_case => format!("{equal} COLLATE NOCASE"),
        None => equal,
        // Its key has the same collation, and leaves few to be compared.
        Some("NOCASE" | "RTRIM") => format!("{equal} AND {equal} COLLATE BINARY"),
        Some(_) => format!("{equal} COLLATE BINARY"),
    }
}

/// Rows of `table` whose key is complete and has no parent.
pub fn orphans(
    source: &SourceFile,
    connection: &Connection,
    table: &SourceTable,
    columns: &[usize],
    parent: &SourceTable,
    parent_columns: &[usize],
    ignores_case: &[bool],
) -> Result<RefusedValues, Error> {
    let missing = missing(table, columns, parent, parent_columns, ignores_case);
    let explain = |error| source.explain(error);
    let count: i64 = connection
        .query_row(&format!("SELECT count(*) {missing}"), [], |row| row.get(0))
        .map_err(explain)?;
    let mut refused = RefusedValues { count: count.unsigned_abs(), examples: Vec::new() };
    if count > 0 {
        let all: Vec<usize> = (0..table.columns.len()).collect();
        let selected = table.select(&all, None);
        let condition = missing.split_once(" WHERE ").map_or("", |(_, condition)| condition);
        let selected =
            selected.replacen(" NOT INDEXED", &format!(" AS c WHERE {condition} LIMIT 3"), 1);
        let mut statement = connection.prepare(&selected).map_err(explain)?;
        let mut rows = statement.query([]).map_err(explain)?;
        while let Some(row) = rows.next().map_err(explain)? {
            let row = table.row_name(row, &all);
            refused.examples.push(Example { row, value: String::new() });
        }
    }
    Ok(refused)
}

/// Makes the columns of each foreign key agree with those they refer to: the child takes the
/// parent's type if its values allow it. Otherwise it is a blocker.
pub fn unify(
    schema: &SourceSchema,
    fields: &mut [Vec<TargetField>],
    allows: impl Fn(usize, usize, &TargetField) -> bool,
    holds: impl Fn(usize, usize, &PostgresType) -> bool,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    // A chain of references settles in at most as many rounds as there are tables.
    for round in 0..=schema.tables.len() {
        let mut changed = false;
        for (child, table) in schema.tables.iter().enumerate() {
            for resolved in resolve(schema, table) {
                let Some((parent, parent_columns)) = resolved.parent else { continue };
                for (&column, &parent_column) in resolved.key.columns.iter().zip(&parent_columns) {
                    let wanted = fields[parent][parent_column].postgres_type.clone();
                    let own = &mut fields[child][column];
                    if wanted.refers_to(&own.postgres_type) {
                        continue;
                    }
                    let proposed = TargetField { postgres_type: wanted, ..own.clone() };
                    if allows(child, column, &proposed) {
                        *own = proposed;
                        changed = true;
                    } else if round == schema.tables.len() || !changed {
                        let both = SHARED.iter().find(|shared| {
                            holds(child, column, shared) && holds(parent, parent_column, shared)
                        });
                        let other = &schema.tables[parent];
                        let parent =
                            format!("{}.{}", other.name, other.columns[parent_column].name);
                        findings.push(disagreement(table, column, own, &proposed, &parent, both));
                    }
                }
            }
        }
        if !changed {
            break;
        }
        findings.clear();
    }
    findings
}

/// Types that a column and the one that it refers to can share, the narrowest first.
const SHARED: [PostgresType; 5] = [
    PostgresType::BigInt,
    PostgresType::Uuid,
    PostgresType::Numeric(None),
    PostgresType::Text,
    PostgresType::Bytea,
];

/// `both`: the type that holds the values of both columns.
fn disagreement(
    table: &SourceTable,
    column: usize,
    own: &TargetField,
    wanted: &TargetField,
    parent: &str,
    both: Option<&PostgresType>,
) -> Finding {
    let name = &table.columns[column].name;
    let message = format!(
        "its values are {}, but the column that it refers to is {}: PostgreSQL refuses such a \
         foreign key",
        own.postgres_type, wanted.postgres_type
    );
    let fix = match both {
        Some(both) => {
            let own = format!("{}.{name}", table.name);
            let parents =
                if own == parent { String::new() } else { format!(" --map '{parent}={both}'") };
            format!("give both one type: --map '{own}={both}'{parents}")
        }
        None => "repair them, or drop the foreign key from the source".to_owned(),
    };
    Finding::on_table(Severity::Blocker, "foreign_key_types", &table.name, message, fix)
        .on_column(name)
}
