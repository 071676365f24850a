//! Audit report as CSV: a line for each finding and for each column without one.

use super::{AuditReport, ColumnReport};
use crate::finding::Finding;

impl AuditReport {
    /// Columns and findings as CSV with a header, ending with a newline. A finding has a line with
    /// its column's profile, a column without findings one of its own; findings on a whole table
    /// have no column.
    pub fn to_csv(&self) -> String {
        let mut lines: Vec<Vec<String>> = Vec::new();
        for table in &self.tables {
            for column in &table.columns {
                let of_column = column_fields(&table.name, column);
                let is_here = |finding: &&Finding| {
                    finding.table == table.name && finding.column.as_ref() == Some(&column.name)
                };
                let found: Vec<&Finding> = self.findings.iter().filter(is_here).collect();
                if found.is_empty() {
                    lines.push([of_column.clone(), no_finding()].concat());
                }
                for finding in found {
                    lines.push([of_column.clone(), finding_fields(finding)].concat());
                }
            }
        }
        let known = |finding: &Finding| {
            let table = self.tables.iter().find(|table| table.name == finding.table);
            let mut columns = table.into_iter().flat_map(|table| &table.columns);
            columns.any(|column| finding.column.as_ref() == Some(&column.name))
        };
        for finding in self.findings.iter().filter(|finding| !known(finding)) {
            let column = finding.column.clone().unwrap_or_default();
            let mut fields = vec![finding.table.clone(), column];
            fields.resize(COLUMN_FIELDS, String::new());
            lines.push([fields, finding_fields(finding)].concat());
        }
        notation::csv_table(&HEADER, lines)
    }
}

const HEADER: [&str; 22] = [
    "table",
    "column",
    "declared_type",
    "affinity",
    "integers",
    "reals",
    "texts",
    "blobs",
    "nulls",
    "smallest_integer",
    "largest_integer",
    "longest_text_characters",
    "longest_value_bytes",
    "postgres_type",
    "severity",
    "kind",
    "count",
    "message",
    "example_row",
    "example_value",
    "fix",
    "statement",
];
/// Fields of a line about a column.
const COLUMN_FIELDS: usize = 14;

fn column_fields(table: &str, column: &ColumnReport) -> Vec<String> {
    let profile = &column.profile;
    let number = |value: Option<i64>| value.map_or_else(String::new, |number| number.to_string());
    let fields: [String; COLUMN_FIELDS] = [
        table.to_owned(),
        column.name.clone(),
        column.declared_type.clone(),
        format!("{:?}", column.affinity).to_lowercase(),
        profile.integers.to_string(),
        profile.reals.to_string(),
        profile.texts.to_string(),
        profile.blobs.to_string(),
        profile.nulls.to_string(),
        number(profile.smallest_integer),
        number(profile.largest_integer),
        profile.longest_text_characters.to_string(),
        profile.longest_value_bytes.to_string(),
        column.postgres_type.clone(),
    ];
    fields.into()
}

fn finding_fields(finding: &Finding) -> Vec<String> {
    let example = finding.examples.first();
    vec![
        finding.severity.name().to_owned(),
        finding.kind.to_owned(),
        finding.count.to_string(),
        finding.message.clone(),
        example.map(|example| example.row.clone()).unwrap_or_default(),
        example.map(|example| example.value.clone()).unwrap_or_default(),
        finding.fix.clone(),
        finding.statement.clone().unwrap_or_default(),
    ]
}

fn no_finding() -> Vec<String> {
    vec![String::new(); 8]
}
