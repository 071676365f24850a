//! Schema features without an equal in PostgreSQL: each is named, none is half copied.

use notation::thousands;
use rusqlite::types::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::{citext, proposed};
use crate::ddl::{LONGEST_NAME_BYTES, PlannedTable, cut, default_expression};
use crate::display::{flag, shorten};
use crate::finding::{Finding, Lost, RefusedValues, Severity};
use crate::source::{
    Index, IndexOmission, MOST_INDEX_COLUMNS, Rowid, SourceCheck, SourceColumn, SourceSchema,
    SourceTable, quoted,
};
use crate::value::{PostgresType, TargetField};

/// The largest number of columns in a table of PostgreSQL.
pub const MOST_COLUMNS: usize = 1600;

/// Findings on the declaration of a table that migration would create.
pub fn declaration(schema: &SourceSchema, planned: PlannedTable<'_>) -> Vec<Finding> {
    let PlannedTable { table, fields, .. } = planned;
    let mut findings = names(table);
    findings.extend(constraints(planned));
    findings.extend(collations(schema, table, fields));
    findings.extend(indexes(planned));
    findings.extend(excluded_keys(table));
    findings.extend(kinds(table));
    findings
}

fn names(table: &SourceTable) -> Vec<Finding> {
    let blocker =
        |kind, message: String, fix: String| Finding::blocker(kind, &table.name, message, fix);
    let long = |name: &str, what: &str, fix: String| {
        let bytes = name.len();
        let message = match bytes {
            0 => format!("the name of the {what} is empty, which PostgreSQL refuses"),
            _ => format!(
                "the name of the {what} has {bytes} bytes, PostgreSQL keeps {LONGEST_NAME_BYTES}"
            ),
        };
        let kind = if bytes == 0 { "empty_name" } else { "long_name" };
        let fits = (1..=LONGEST_NAME_BYTES).contains(&bytes);
        (!fits).then(|| blocker(kind, message, fix))
    };
    let mut findings = Vec::new();
    let own = quoted(&table.name);
    let rename =
        format!("rename it in the source: ALTER TABLE {own} RENAME TO {}", shorter(&table.name));
    findings.extend(long(&table.target_name, "table", rename));
    for column in &table.columns {
        let what = format!("column {}", shorten(&column.name));
        let (old, new) = (quoted(&column.name), shorter(&column.name));
        let rename =
            format!("rename it in the source: ALTER TABLE {own} RENAME COLUMN {old} TO {new}");
        findings.extend(long(&column.target_name, &what, rename));
        findings.extend(system_column(table, column));
    }
    if table.primary_key.len() > MOST_INDEX_COLUMNS {
        let columns = table.primary_key.len();
        let message = format!(
            "the primary key has {columns} columns, PostgreSQL's have at most {MOST_INDEX_COLUMNS}"
        );
        let fix = format!("leave the table out: {}", flag("--exclude", &table.name));
        findings.push(blocker("too_many_key_columns", message, fix));
    }
    if table.columns.len() > MOST_COLUMNS {
        let message = format!(
            "{} columns, PostgreSQL has at most {most}: those after the first {most} were not read",
            thousands(table.columns.len()),
            most = thousands(MOST_COLUMNS)
        );
        let fix = format!("split the table, or leave it out: {}", flag("--exclude", &table.name));
        findings.push(blocker("too_many_columns", message, fix));
    }
    findings
}

/// A name that fits, quoted: the beginning, and a hash that keeps names with the same beginning
/// apart.
fn shorter(name: &str) -> String {
    let ending = xxh3_64(name.as_bytes()) & 0xffff;
    quoted(&format!("{}_{ending:04x}", cut(name, LONGEST_NAME_BYTES - 5)))
}

/// A column whose name PostgreSQL keeps for itself. Names that are written in another case are
/// others, since all are quoted.
fn system_column(table: &SourceTable, column: &SourceColumn) -> Option<Finding> {
    let name = column.target_name.as_str();
    let (old, new) = (quoted(&column.name), quoted(&format!("{name}_")));
    let rename = format!("ALTER TABLE {} RENAME COLUMN {old} TO {new}", quoted(&table.name));
    let (severity, when, fix) = match name {
        "tableoid" | "xmin" | "cmin" | "xmax" | "cmax" | "ctid" => {
            (Severity::Blocker, "", format!("rename it in the source: {rename}"))
        }
        // SQLite renames no column that is called like the rowid.
        "oid" => {
            let fix = "for such a server create the table again with another name for it";
            (Severity::Note, "before release 12 ", fix.to_owned())
        }
        _ => return None,
    };
    let message =
        format!("{when}every table of PostgreSQL has a column {name} of its own, and no other");
    let finding = Finding::of(severity, "system_column", &table.name, message, fix);
    Some(finding.on_column(&column.name))
}

fn collations(schema: &SourceSchema, table: &SourceTable, fields: &[TargetField]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_exact = |position: usize| fields[position].postgres_type != PostgresType::Citext;
    for collation in &table.collations {
        let of_this = |column: &SourceColumn| column.collation.as_ref() == Some(collation);
        let columns: Vec<usize> =
            (0..table.columns.len()).filter(|place| of_this(&table.columns[*place])).collect();
        // citext compares without regard to case.
        if collation == "NOCASE" && !columns.is_empty() && !columns.iter().any(|at| is_exact(*at)) {
            continue;
        }
        let message =
            format!("COLLATE {collation} is not carried over: PostgreSQL compares exactly");
        let fix = match collation.as_str() {
            "NOCASE" => {
                // A unique key is tested by its values: citext may refuse some of them.
                let is_free = |column: &usize| !keys(table).iter().any(|key| key.contains(column));
                let free: Vec<usize> = columns.into_iter().filter(is_free).collect();
                format!(
                    "compare lower(...) of both sides{}",
                    citext::proposal(schema, table, &free)
                )
            }
            "RTRIM" => "compare rtrim(...) of both sides".to_owned(),
            _ => "give it a collation of PostgreSQL with the same order".to_owned(),
        };
        let finding = Finding::warning("collation_not_carried_over", &table.name, message, fix);
        findings.push(finding.losing(Lost::Collation));
    }
    findings
}

fn constraints(planned: PlannedTable<'_>) -> Vec<Finding> {
    let PlannedTable { table, fields, .. } = planned;
    let lose = |lost, kind, message: String, fix: &str| {
        Finding::warning(kind, &table.name, message, fix).losing(lost)
    };
    let mut findings = Vec::new();
    for check in &table.checks {
        if planned.check(check).is_some() {
            continue;
        }
        let message = format!("CHECK ({}) is not carried over", on_one_line(check));
        let fix = "add it by hand: it may not mean the same in PostgreSQL";
        let statement = proposed::check(table, check);
        let finding = lose(Lost::Check, "check_not_carried_over", message, fix);
        findings.push(finding.proposing(Some(statement)));
    }
    for (position, (column, field)) in table.columns.iter().zip(fields).enumerate() {
        if column.generated {
            if planned.generated(position).is_some() {
                continue;
            }
            let message = "a generated column becomes an ordinary one with its values".to_owned();
            let statement = proposed::generated(table, column, field);
            let fix = match &statement {
                Some(_) => {
                    "the proposed statement makes it one again: look at SQLite's expression in it"
                }
                None => "write its equal for PostgreSQL by hand",
            };
            let finding = lose(Lost::GeneratedColumn, "generated_column", message, fix);
            findings.push(finding.on_column(&column.name).proposing(statement));
        } else if let Some(default) = &column.default
            && default_expression(column, field).is_none()
            && column.default_value != Some(Value::Null)
        {
            let message = format!("the default {} is not carried over", shorten(default));
            let statement = proposed::default(table, column, field);
            let fix = match (&statement, &column.default_value) {
                (Some(_), _) => {
                    "the proposed statement comes close: its time is that of the server's zone, its \
                     random numbers are not secrets"
                }
                (None, Some(_)) => "its value is none of the type: write one by hand",
                (None, None) => "write its equal for PostgreSQL by hand",
            };
            let finding = lose(Lost::Default, "default_not_carried_over", message, fix);
            findings.push(finding.on_column(&column.name).proposing(statement));
        }
    }
    findings
}

/// The columns of the primary key and of all unique ones.
fn keys(table: &SourceTable) -> Vec<Vec<usize>> {
    let unique = table.indexes.iter().filter(|index| index.unique);
    unique.filter_map(Index::columns).chain([table.primary_key.clone()]).collect()
}

fn on_one_line(check: &SourceCheck) -> String {
    check.expression.replace(['\n', '\r'], " ")
}

/// Rows that violate a CHECK: PostgreSQL would refuse them if it gets the CHECK too.
pub fn check_violation(
    table: &SourceTable,
    check: &SourceCheck,
    refused: RefusedValues,
    is_kept: bool,
) -> Finding {
    let message = format!(
        "{} {} CHECK ({})",
        thousands(refused.count),
        if refused.count == 1 { "row violates" } else { "rows violate" },
        on_one_line(check)
    );
    let (severity, fix) = match is_kept {
        true => (Severity::Blocker, "repair them, or drop the check from the source"),
        false => (Severity::Warning, "repair them before the check is added in PostgreSQL"),
    };
    let finding = Finding::of(severity, "check_violation", &table.name, message, fix);
    finding.counted(refused.count, refused.examples).about_rows()
}

/// A CHECK that SQLite cannot compute outside its table or for some row.
pub fn check_not_tested(
    table: &SourceTable,
    check: &SourceCheck,
    reason: &str,
    is_kept: bool,
) -> Finding {
    let message = format!("CHECK ({}) could not be tested: {reason}", on_one_line(check));
    let fix = match is_kept {
        true => "PostgreSQL tests every row as it arrives",
        false => "look at the rows before the check is added in PostgreSQL",
    };
    Finding::warning("check_not_tested", &table.name, message, fix)
}

/// Indexes that are left out for any types.
fn left_out(table: &SourceTable) -> impl Iterator<Item = Finding> {
    table.left_out.iter().map(|(index, reason)| {
        let why = match reason {
            IndexOmission::Asked => "as --skip-index asks".to_owned(),
            IndexOmission::ExcludedColumn => "since --exclude leaves out a column of it".to_owned(),
            IndexOmission::TooManyColumns => format!(
                "since it has {} columns, PostgreSQL's have at most {MOST_INDEX_COLUMNS}",
                index.parts.len()
            ),
        };
        let unique = if index.unique { ", and with it a uniqueness" } else { "" };
        let message =
            format!("the index {} is not carried over{unique}, {why}", shorten(&index.name));
        Finding::warning("index_not_carried_over", &table.name, message, "").losing(Lost::Index)
    })
}

/// Foreign keys of columns that are left out.
fn excluded_keys(table: &SourceTable) -> impl Iterator<Item = Finding> {
    table.excluded_parents.iter().map(|parent| {
        let message = format!(
            "the foreign key to {} is not carried over, since --exclude leaves out a column of it",
            shorten(parent)
        );
        Finding::warning("foreign_key_not_carried_over", &table.name, message, "")
            .losing(Lost::ForeignKey)
    })
}

/// json has no order: no index of PostgreSQL holds it.
fn of_json(index: &Index, table: &SourceTable, fields: &[TargetField]) -> Option<Finding> {
    let columns = index.columns()?;
    let is_json = |column: &&usize| fields[**column].postgres_type == PostgresType::Json;
    let name = &table.columns[*columns.iter().find(is_json)?].name;
    let message = format!("json has no order, which the index {} needs", shorten(&index.name));
    let fix = format!(
        "{}, or leave the index out: {}",
        flag("--map", &format!("{}.{name}=jsonb", table.name)),
        flag("--skip-index", &index.name)
    );
    Some(Finding::blocker("index_of_json", &table.name, message, fix).on_column(name))
}

fn indexes(planned: PlannedTable<'_>) -> Vec<Finding> {
    let PlannedTable { table, fields, .. } = planned;
    let mut findings: Vec<Finding> = left_out(table).collect();
    for index in &table.indexes {
        if index.name.len() > LONGEST_NAME_BYTES {
            let message = format!(
                "the name of the index {} has {} bytes, PostgreSQL keeps {LONGEST_NAME_BYTES}: it \
                 gets a shorter one",
                shorten(&index.name),
                index.name.len()
            );
            findings.push(Finding::warning("long_index_name", &table.name, message, ""));
        }
        if let Some((key, predicate)) = planned.index(index) {
            findings.extend(used_as_written(index, table, &key));
            findings.extend(of_json(index, table, fields));
            findings.extend(collated(index, planned, predicate.as_deref()));
            continue;
        }
        let what = match index.columns() {
            None => "an index on an expression",
            Some(_) => "a partial index",
        };
        let unique = if index.unique { ", and with it a uniqueness" } else { "" };
        findings.push(
            Finding::warning(
                "index_not_carried_over",
                &table.name,
                format!("{}, {what}, is not carried over{unique}", shorten(&index.name)),
                format!(
                    "create its equal by hand, in SQLite it is {}",
                    index.sql.replace('\n', " ")
                ),
            )
            .proposing(proposed::index(table, index))
            .losing(Lost::Index),
        );
    }
    findings
}

/// PostgreSQL uses an index over an expression for the same expression alone.
fn used_as_written(index: &Index, table: &SourceTable, key: &[String]) -> Option<Finding> {
    let written = key.iter().find(|part| part.contains("COLLATE"))?;
    let message = format!(
        "the index {} is over {written}: PostgreSQL uses it where a query has exactly this",
        shorten(&index.name)
    );
    Some(Finding::note("index_as_written", &table.name, message, ""))
}

/// An index that is carried over without a collation of its own. Unique keys for all rows are
/// tested by their values.
fn collated(index: &Index, planned: PlannedTable<'_>, predicate: Option<&str>) -> Option<Finding> {
    let table = planned.table;
    if index.unique && !index.partial {
        return None;
    }
    let key = planned.collated(index)?;
    if planned.without_case(&key).is_some() {
        return None;
    }
    // A column's own collation is named with its table.
    let is_own = |column: usize, collation: &str| {
        table.columns[column].collation.as_deref() == Some(collation) && !index.unique
    };
    let is_lost = |(column, collation): &&(usize, String)| {
        collation != "BINARY" && !is_own(*column, collation)
    };
    let (_, collation) = key.iter().find(is_lost)?;
    let (lost, kind, loses) = match index.unique {
        true => (Lost::UniqueKey, "weaker_uniqueness", " and would take what is equal by it"),
        false => (Lost::Collation, "index_collation", ""),
    };
    let message = format!(
        "the index {} compares by {collation}; PostgreSQL's compares exactly{loses}",
        shorten(&index.name)
    );
    let statement = proposed::collated_index(table, &key, index.unique, predicate);
    let fix = match statement {
        Some(_) => "add the proposed index",
        None => "give it a collation of PostgreSQL that means the same",
    };
    let finding = Finding::warning(kind, &table.name, message, fix);
    Some(finding.proposing(statement).losing(lost))
}

fn kinds(table: &SourceTable) -> Vec<Finding> {
    let note = |kind, message: &str| Finding::note(kind, &table.name, message, "");
    let mut findings = Vec::new();
    if table.rowid == Rowid::None {
        findings.push(note("without_rowid", "WITHOUT ROWID becomes an ordinary primary key"));
    }
    if table.strict {
        findings.push(note("strict", "STRICT: what PostgreSQL always does"));
    }
    if table.autoincrement.is_some() {
        let message = "AUTOINCREMENT becomes an identity column that goes on after the last value";
        findings.push(note("autoincrement", message));
    }
    if table.primary_key.is_empty() {
        findings.push(note("no_primary_key", "no primary key: none is invented"));
    }
    findings
}
