//! What of a schema PostgreSQL has no equal for: each is named, nothing is half copied.

use super::finding::{Finding, Severity};
use super::profile::Refused;
use super::proposed;
use crate::copy::{
    Field, LONGEST_NAME_BYTES, check_condition, default_expression, index_predicate,
};
use crate::inspect::{Check, OtherKind, Rowid, Schema, Table, shorten, thousands};

/// The largest number of columns in a table of PostgreSQL.
const MOST_COLUMNS: usize = 1600;
/// A B-tree refuses entries beyond a third of a page.
const LARGEST_INDEX_ENTRY_BYTES: usize = 2704;

/// Findings that hold whatever the target is: objects that are not tables.
pub fn objects(schema: &Schema) -> Vec<Finding> {
    // Shadow tables belong to their virtual table, which is named.
    let others = schema.others.iter().filter(|other| other.kind != OtherKind::ShadowTable);
    let objects = others.map(|other| {
        let message = format!("a {} is not carried over", other.kind.name());
        let fix = "write its equal for PostgreSQL by hand";
        Finding::on_table(Severity::Warning, "not_carried_over", &other.name, message, fix)
            .proposing(proposed::object(schema, other))
    });
    objects.collect()
}

/// Findings on the declaration of a table that migration would create.
pub fn declaration(table: &Table, fields: &[Field]) -> Vec<Finding> {
    let mut findings = names(table);
    findings.extend(constraints(table, fields));
    findings.extend(indexes(table, fields));
    findings.extend(kinds(table));
    findings
}

fn names(table: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut long = |name: &str, what: &str, rename: String| {
        if name.len() > LONGEST_NAME_BYTES {
            let message = format!(
                "the name of the {what} has {} bytes, PostgreSQL keeps {LONGEST_NAME_BYTES}",
                name.len()
            );
            let severity = Severity::Blocker;
            findings.push(Finding::on_table(severity, "long_name", &table.name, message, rename));
        }
    };
    long(&table.name, "table", "rename it: ALTER TABLE ... RENAME TO ...".to_owned());
    for column in &table.columns {
        let what = format!("column {}", shorten(&column.name));
        long(&column.name, &what, "rename it: ALTER TABLE ... RENAME COLUMN ...".to_owned());
    }
    if table.columns.len() > MOST_COLUMNS {
        let message =
            format!("{} columns, PostgreSQL has at most {MOST_COLUMNS}", table.columns.len());
        findings.push(Finding::on_table(
            Severity::Blocker,
            "too_many_columns",
            &table.name,
            message,
            "split the table",
        ));
    }
    findings
}

fn constraints(table: &Table, fields: &[Field]) -> Vec<Finding> {
    let warn = |kind, message: String, fix: &str| {
        Finding::on_table(Severity::Warning, kind, &table.name, message, fix)
    };
    let mut findings = Vec::new();
    for check in &table.checks {
        if check_condition(check, table, fields).is_some() {
            continue;
        }
        let message = format!("CHECK ({}) is not carried over", on_one_line(check));
        let fix = "add it by hand: it may not mean the same in PostgreSQL";
        let statement = proposed::check(table, check);
        findings.push(warn("check_not_carried_over", message, fix).proposing(Some(statement)));
    }
    for collation in &table.collations {
        findings.push(warn(
            "collation_not_carried_over",
            format!("COLLATE {collation} is not carried over: PostgreSQL compares exactly"),
            match collation.as_str() {
                "NOCASE" => "compare lower(...) of both sides, or make the column citext",
                "RTRIM" => "compare rtrim(...) of both sides",
                _ => "give it a collation of PostgreSQL with the same order",
            },
        ));
    }
    if table.deferred {
        findings.push(warn(
            "deferred_not_carried_over",
            "INITIALLY DEFERRED foreign keys become immediate".to_owned(),
            "ALTER TABLE ... ALTER CONSTRAINT ... DEFERRABLE INITIALLY DEFERRED",
        ));
    }
    for (column, field) in table.columns.iter().zip(fields) {
        if column.generated {
            let message = "a generated column becomes an ordinary one with its values".to_owned();
            let fix = "add GENERATED ALWAYS AS (...) STORED by hand";
            let statement = proposed::generated(table, column, field);
            let finding = warn("generated_column", message, fix).on_column(&column.name);
            findings.push(finding.proposing(statement));
        } else if let Some(default) = &column.default
            && default_expression(default, field).is_none()
        {
            let message = format!("the default {} is not carried over", shorten(default));
            let statement = proposed::default(table, column, default);
            let finding = warn("default_not_carried_over", message, "add it by hand");
            findings.push(finding.on_column(&column.name).proposing(Some(statement)));
        }
    }
    findings
}

fn on_one_line(check: &Check) -> String {
    check.expression.replace(['\n', '\r'], " ")
}

/// Rows that violate a CHECK: PostgreSQL would refuse them if it gets the CHECK too.
pub fn check_violation(table: &Table, check: &Check, refused: Refused, is_kept: bool) -> Finding {
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
    let finding = Finding::on_table(severity, "check_violation", &table.name, message, fix);
    finding.counted(refused.count, refused.examples).about_rows()
}

fn indexes(table: &Table, fields: &[Field]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for index in &table.indexes {
        if index.name.len() > LONGEST_NAME_BYTES {
            let message = format!(
                "the name of the index {} has {} bytes, PostgreSQL keeps {LONGEST_NAME_BYTES}: it \
                 gets a shorter one",
                shorten(&index.name),
                index.name.len()
            );
            let (severity, kind) = (Severity::Warning, "long_index_name");
            findings.push(Finding::on_table(severity, kind, &table.name, message, ""));
        }
        let what = if index.partial && index_predicate(index, table, fields).is_some() {
            continue;
        } else if index.partial {
            "a partial index"
        } else if index.columns().is_none() {
            "an index on an expression"
        } else {
            continue;
        };
        let unique = if index.unique { ", and with it a uniqueness" } else { "" };
        findings.push(
            Finding::on_table(
                Severity::Warning,
                "index_not_carried_over",
                &table.name,
                format!("{}, {what}, is not carried over{unique}", shorten(&index.name)),
                format!(
                    "create its equal by hand, in SQLite it is {}",
                    index.sql.replace('\n', " ")
                ),
            )
            .proposing(proposed::index(table, index)),
        );
    }
    findings
}

fn kinds(table: &Table) -> Vec<Finding> {
    let note =
        |kind, message: &str| Finding::on_table(Severity::Note, kind, &table.name, message, "");
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

/// Indexed values too long for a B-tree of PostgreSQL.
pub fn index_entries(table: &Table, longest_value_bytes: &[usize]) -> Vec<Finding> {
    let mut keys: Vec<(String, Vec<usize>)> = table
        .indexes
        .iter()
        .filter(|index| !index.partial)
        .filter_map(|index| Some((shorten(&index.name), index.columns()?)))
        .collect();
    keys.push(("the primary key".to_owned(), table.primary_key.clone()));
    let too_long = keys.into_iter().filter_map(|(name, columns)| {
        let bytes: usize = columns.iter().map(|column| longest_value_bytes[*column]).sum();
        (bytes > LARGEST_INDEX_ENTRY_BYTES).then(|| {
            let message = format!(
                "{name} would hold entries of up to {bytes} bytes, PostgreSQL's B-tree refuses \
                 more than {LARGEST_INDEX_ENTRY_BYTES} (after compression)"
            );
            let fix = "drop the index, or index a hash: ((md5(...)))";
            Finding::on_table(Severity::Warning, "long_index_entry", &table.name, message, fix)
        })
    });
    too_long.collect()
}
