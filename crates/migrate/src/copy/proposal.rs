//! `--emit-schema`: the DDL that migration would run, with a comment at every decision.

use std::fmt::Write as _;

use super::encode::Field;
use super::schema::statements;
use crate::audit::Finding;
use crate::inspect::{OtherKind, Schema, quoted};

/// Releases are named only where the statements differ; the proposal is for current ones.
const CURRENT_VERSION: i32 = 180_000;

/// The proposed schema as an SQL script.
pub fn proposal(schema: &Schema, fields: &[Vec<Field>], findings: &[Finding]) -> String {
    let statements = statements(schema, fields, "public", CURRENT_VERSION);
    let mut script = String::from("BEGIN;\n");
    for (table, (sql, fields)) in schema.tables.iter().zip(statements.tables.iter().zip(fields)) {
        script.push('\n');
        for finding in findings.iter().filter(|each| each.table == table.name) {
            let _ = writeln!(script, "-- {}: {}", finding.severity.name(), one_line(finding));
        }
        let mut lines = sql.lines();
        script.push_str(lines.next().unwrap_or_default());
        script.push('\n');
        for (column, field) in table.columns.iter().zip(fields) {
            let line = lines.next().unwrap_or_default();
            let declared = match column.declared_type.as_str() {
                "" => "without a declared type".to_owned(),
                declared => format!("declared {}", declared.replace('\n', " ")),
            };
            let read = field.reading.map_or_else(String::new, |reading| {
                format!(", numbers read as {}", reading.name())
            });
            let _ = writeln!(script, "{line} -- {declared}{read}");
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
        let _ = writeln!(script, "-- not carried over: {kind} {}", name.replace('\n', " "));
    }
    script.push_str("\nCOMMIT;\n");
    script
}

fn one_line(finding: &Finding) -> String {
    finding.to_string().replace(['\n', '\r'], " ")
}
