//! Audit report as text and CSV: one table of columns, then the findings, blockers first.

use std::fmt::Write as _;

use comfy_table::Table as Grid;

use super::{AuditReport, ColumnReport};
use crate::display::{plural, rows, thousands};
use crate::finding::{Finding, Severity};
use crate::grid::grid;

/// Most columns shown one by one if all are unremarkable.
const ROWS_SHOWN: usize = 400;

impl AuditReport {
    /// The report as text, ending with a newline.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let columns: usize = self.tables.iter().map(|table| table.columns.len()).sum();
        if columns <= ROWS_SHOWN {
            let _ = writeln!(text, "{}\n", self.grid());
        }
        for severity in [Severity::Blocker, Severity::Warning, Severity::Note] {
            let of_severity = self.findings.iter().filter(|each| each.severity == severity);
            for finding in of_severity {
                let _ = writeln!(text, "{}: {finding}", severity.name());
                for line in finding.statement.iter().flat_map(|statement| statement.lines()) {
                    let _ = writeln!(text, "    {line}");
                }
            }
        }
        if !self.findings.is_empty() {
            text.push('\n');
        }
        if let Some(losses) = self.not_carried_over.line() {
            let _ = writeln!(text, "{losses}");
        }
        let _ = writeln!(
            text,
            "{}: {} table{}, {}: {}",
            self.source.display(),
            self.tables.len(),
            plural(self.tables.len() as u64),
            rows(self.tables.iter().map(|table| table.rows).sum()),
            self.summary()
        );
        text
    }

    /// For example `2 blockers, 1 warning`.
    pub fn summary(&self) -> String {
        let counted = [
            (Severity::Blocker, self.count(Severity::Blocker)),
            (Severity::Warning, self.count(Severity::Warning)),
            (Severity::Note, self.count(Severity::Note)),
        ];
        let parts: Vec<String> = counted
            .iter()
            .filter(|(_, count)| *count > 0)
            .map(|(severity, count)| {
                format!("{count} {}{}", severity.name(), plural(*count as u64))
            })
            .collect();
        match (self.blocks(), parts.is_empty()) {
            (_, true) => "nothing that PostgreSQL would refuse".to_owned(),
            (true, _) => parts.join(", "),
            (false, _) => {
                let all = self.not_carried_over.is_empty();
                let but = if all { "" } else { ", but not everything is carried over" };
                format!("nothing that PostgreSQL would refuse{but} ({})", parts.join(", "))
            }
        }
    }

    /// Columns and findings as CSV with a header, ending with a newline. A finding has a line with
    /// its column's profile, a column without findings one of its own; findings on a whole table
    /// have no column.
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "table,column,declared_type,affinity,integers,reals,texts,blobs,nulls,\
             smallest_integer,largest_integer,longest_text_characters,longest_value_bytes,\
             postgres_type,severity,kind,count,message,example_row,example_value,fix,statement\n",
        );
        let mut line = |fields: Vec<String>| {
            let fields: Vec<String> = fields.iter().map(|field| csv(field)).collect();
            text.push_str(&fields.join(","));
            text.push('\n');
        };
        for table in &self.tables {
            for column in &table.columns {
                let of_column = column_fields(&table.name, column);
                let is_here = |finding: &&Finding| {
                    finding.table == table.name && finding.column.as_ref() == Some(&column.name)
                };
                let found: Vec<&Finding> = self.findings.iter().filter(is_here).collect();
                if found.is_empty() {
                    line([of_column.clone(), no_finding()].concat());
                }
                for finding in found {
                    line([of_column.clone(), finding_fields(finding)].concat());
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
            line([fields, finding_fields(finding)].concat());
        }
        text
    }

    fn grid(&self) -> Grid {
        let header = ["column", "declared", "stored", "range or longest", "PostgreSQL", ""];
        let mut grid = grid(header, &[]);
        for table in &self.tables {
            for column in &table.columns {
                let worst = self
                    .findings
                    .iter()
                    .filter(|finding| {
                        finding.table == table.name && finding.column.as_ref() == Some(&column.name)
                    })
                    .map(|finding| finding.severity)
                    .min();
                grid.add_row([
                    format!("{}.{}", table.name, column.name),
                    column.declared_type.clone(),
                    stored(column),
                    range(column),
                    column.postgres_type.clone(),
                    worst.map_or_else(String::new, |severity| severity.name().to_owned()),
                ]);
            }
        }
        grid
    }
}

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

fn csv(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

fn stored(column: &ColumnReport) -> String {
    let profile = &column.profile;
    let counts = [
        ("integer", profile.integers),
        ("real", profile.reals),
        ("text", profile.texts),
        ("blob", profile.blobs),
        ("null", profile.nulls),
    ];
    let parts = counts.iter().filter(|(_, count)| *count > 0);
    let form = profile.form().map_or_else(String::new, |form| format!(" ({})", form.name()));
    let parts: Vec<String> = parts
        .map(|(name, count)| {
            let form = if *name == "text" { form.as_str() } else { "" };
            format!("{} {name}{form}", thousands(*count))
        })
        .collect();
    parts.join(", ")
}

fn range(column: &ColumnReport) -> String {
    let profile = &column.profile;
    let mut parts = Vec::new();
    if let (Some(least), Some(most)) = (profile.smallest_integer, profile.largest_integer) {
        parts.push(format!("{least} to {most}"));
    }
    if profile.texts > 0 {
        let (characters, bytes) = (profile.longest_text_characters, profile.longest_value_bytes);
        let bytes = if characters == bytes { String::new() } else { format!(" ({bytes} bytes)") };
        parts.push(format!("{characters} character{}{bytes}", plural(characters as u64)));
    } else if profile.blobs > 0 {
        parts.push(format!("{} bytes", profile.longest_value_bytes));
    }
    parts.join("; ")
}
