//! What of a schema PostgreSQL has no equal for: each is named, nothing is half copied.

use super::finding::{Finding, Severity};
use super::profile::Refused;
use super::proposed;
use crate::copy::{
    Field, LONGEST_NAME_BYTES, check_condition, default_expression, index_predicate,
};
use crate::inspect::{
    Check, Index, IndexPart, OtherKind, Rowid, Schema, Table, quoted, shorten, thousands,
};

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
    let blocker = |kind, message: String, fix: String| {
        Finding::on_table(Severity::Blocker, kind, &table.name, message, fix)
    };
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
    let rename = "rename it: ALTER TABLE ... RENAME TO ...";
    findings.extend(long(&table.name, "table", rename.to_owned()));
    for column in &table.columns {
        let what = format!("column {}", shorten(&column.name));
        let rename = "rename it: ALTER TABLE ... RENAME COLUMN ...";
        findings.extend(long(&column.name, &what, rename.to_owned()));
        findings.extend(system_column(table, &column.name));
    }
    if table.columns.len() > MOST_COLUMNS {
        let message =
            format!("{} columns, PostgreSQL has at most {MOST_COLUMNS}", table.columns.len());
        findings.push(blocker("too_many_columns", message, "split the table".to_owned()));
    }
    findings
}

/// A column whose name PostgreSQL keeps for itself. Names that are written in another case are
/// others, since all are quoted.
fn system_column(table: &Table, name: &str) -> Option<Finding> {
    let (old, new) = (quoted(name), quoted(&format!("{name}_")));
    let rename = format!("ALTER TABLE {} RENAME COLUMN {old} TO {new}", quoted(&table.name));
    let (severity, when, fix) = match name {
        "tableoid" | "xmin" | "cmin" | "xmax" | "cmax" | "ctid" => {
            (Severity::Blocker, "", format!("rename it in the source: {rename}"))
        }
        // SQLite renames no column that is called like the rowid.
        "oid" => {
            let fix = "for such a server make the table anew with another name for it";
            (Severity::Note, "before release 12 ", fix.to_owned())
        }
        _ => return None,
    };
    let message =
        format!("{when}every table of PostgreSQL has a column {name} of its own, and no other");
    let finding = Finding::on_table(severity, "system_column", &table.name, message, fix);
    Some(finding.on_column(name))
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

/// A CHECK that SQLite cannot compute, apart from its table or for some row.
pub fn check_not_tested(table: &Table, check: &Check, reason: &str, is_kept: bool) -> Finding {
    let message = format!("CHECK ({}) could not be tested: {reason}", on_one_line(check));
    let fix = match is_kept {
        true => "PostgreSQL tests every row as it arrives",
        false => "look at the rows before the check is added in PostgreSQL",
    };
    Finding::on_table(Severity::Warning, "check_not_tested", &table.name, message, fix)
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
        let is_translated = !index.partial || index_predicate(index, table, fields).is_some();
        let what = if index.columns().is_none() {
            "an index on an expression"
        } else if !is_translated {
            "a partial index"
        } else {
            findings.extend(collated(index, table, fields));
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

/// An index that is carried over without a collation that stands in it alone. Unique keys for all
/// rows are judged by their values.
fn collated(index: &Index, table: &Table, fields: &[Field]) -> Option<Finding> {
    if index.unique && !index.partial {
        return None;
    }
    let collation = |(column, part): (&usize, &IndexPart)| match &fields[*column].postgres_type {
        text if text.is_text() => part.collation.to_ascii_uppercase(),
        _ => "BINARY".to_owned(),
    };
    let columns = index.columns()?;
    let collations = columns.iter().zip(&index.parts).map(collation);
    let key: Vec<(usize, String)> = columns.iter().copied().zip(collations).collect();
    // A column's own collation is named with its table.
    let is_own = |column: usize, collation: &str| {
        table.columns[column].collation.as_deref() == Some(collation) && !index.unique
    };
    let is_lost = |(column, collation): &&(usize, String)| {
        collation != "BINARY" && !is_own(*column, collation)
    };
    let (_, collation) = key.iter().find(is_lost)?;
    let (kind, loses) = match index.unique {
        true => ("weaker_uniqueness", " and would take what is equal by it"),
        false => ("index_collation", ""),
    };
    let message = format!(
        "the index {} compares by {collation}; PostgreSQL's compares exactly{loses}",
        shorten(&index.name)
    );
    let predicate = index_predicate(index, table, fields);
    let statement = proposed::collated_index(table, &key, index.unique, predicate.as_deref());
    let fix = match statement {
        Some(_) => "add the index below",
        None => "give it a collation of PostgreSQL that means the same",
    };
    let finding = Finding::on_table(Severity::Warning, kind, &table.name, message, fix);
    Some(finding.proposing(statement))
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
