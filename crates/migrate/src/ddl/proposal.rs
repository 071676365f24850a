//! Proposed DDL script (`--emit-schema`), with a comment at every decision.

use std::fmt::Write as _;

use super::expression::MadeFor;
use super::locks;
use super::schema::statements;
use crate::finding::Finding;
use crate::source::{OtherKind, SourceSchema, quoted};
use crate::value::{TargetField, ValueReading};

/// Warning on too many tables for a server with default settings.
pub fn too_many(
    schema: &SourceSchema,
    fields: &[Vec<TargetField>],
    made_for: MadeFor,
) -> Option<Finding> {
    locks::warning(&statements(schema, fields, "public", made_for))
}

/// The proposed schema as an SQL script, in `namespace` of the target or in `public`.
pub fn proposal(
    schema: &SourceSchema,
    fields: &[Vec<TargetField>],
    findings: &[Finding],
    namespace: Option<&str>,
    made_for: MadeFor,
) -> String {
    let statements = statements(schema, fields, namespace.unwrap_or("public"), made_for);
    let mut script = String::from("BEGIN;\n");
    if let Some(namespace) = namespace {
        let _ = writeln!(script, "CREATE SCHEMA IF NOT EXISTS {};", quoted(namespace));
    }
    for finding in findings.iter().filter(|each| !is_of_an_object(schema, each)) {
        comment(&mut script, finding);
    }
    for (table, (statement, fields)) in
        schema.tables.iter().zip(statements.tables.iter().zip(fields))
    {
        script.push('\n');
        for finding in findings.iter().filter(|each| each.table == table.name) {
            comment(&mut script, finding);
        }
        let _ = writeln!(script, "CREATE TABLE {} (", statement.name);
        let lines = statement.lines();
        let (of_columns, of_checks) = lines.split_at(table.columns.len());
        let end = |place: usize| if place + 1 == lines.len() { "" } else { "," };
        for (place, (column, field)) in table.columns.iter().zip(fields).enumerate() {
            let line = format!("    {}{}", of_columns[place], end(place));
            let declared = match column.declared_type.as_str() {
                "" => "without a declared type".to_owned(),
                declared => format!("declared {}", declared.replace('\n', " ")),
            };
            let read = field.reading.map_or_else(String::new, |reading| {
                let values = if reading == ValueReading::Utf8 { "blobs" } else { "numbers" };
                format!(", {values} read as {}", reading.name())
            });
            let _ = writeln!(script, "{line} -- {declared}{read}");
        }
        for (place, (line, check)) in of_checks.iter().zip(&statement.checks).enumerate() {
            let written = table.checks[check.source].expression.replace(['\n', '\r'], " ");
            let end = end(table.columns.len() + place);
            let _ = writeln!(script, "    {line}{end} -- CHECK ({written})");
        }
        script.push_str(");\n");
    }
    script.push_str("\n-- The rows come here: keys and indexes are built faster afterwards.\n\n");
    for key in &statements.keys {
        let _ = writeln!(script, "{};", key.index);
        if let Some(sql) = &key.attach {
            let _ = writeln!(script, "{sql};");
        }
    }
    for foreign_key in &statements.foreign_keys {
        let _ = writeln!(script, "{};", foreign_key.sql);
    }
    for other in schema.others.iter().filter(|other| other.kind != OtherKind::ShadowTable) {
        let (kind, name) = (other.kind.name(), quoted(&other.name));
        let _ = writeln!(script, "\n-- not carried over: {kind} {}", name.replace('\n', " "));
        for finding in findings.iter().filter(|each| each.table == other.name) {
            commented(&mut script, finding);
        }
    }
    script.push_str("\nCOMMIT;\n");
    script
}

/// `true` if a finding is shown beside its object; those on the file itself are not.
fn is_of_an_object(schema: &SourceSchema, finding: &Finding) -> bool {
    let mut names = schema.tables.iter().map(|table| &table.name);
    let mut others = schema.others.iter().map(|other| &other.name);
    names.any(|name| *name == finding.table) || others.any(|name| *name == finding.table)
}

/// A finding above its table.
fn comment(script: &mut String, finding: &Finding) {
    let _ = writeln!(script, "-- {}: {}", finding.severity.name(), one_line(finding));
    commented(script, finding);
}

/// The proposed statement of a finding, as a comment.
fn commented(script: &mut String, finding: &Finding) {
    for line in finding.statement.iter().flat_map(|statement| statement.lines()) {
        let _ = writeln!(script, "--     {line}");
    }
}

fn one_line(finding: &Finding) -> String {
    finding.to_string().replace(['\n', '\r'], " ")
}
