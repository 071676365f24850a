//! The audit for people: one table of columns, then the findings, blockers first.

use std::fmt::Write as _;

use comfy_table::Table as Grid;

use super::column::plural;
use super::{AuditReport, ColumnReport, Severity};
use crate::grid::grid;
use crate::inspect::thousands;

/// Columns of an entirely unremarkable file that are still shown one by one.
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
            }
        }
        if !self.findings.is_empty() {
            text.push('\n');
        }
        let rows: u64 = self.tables.iter().map(|table| table.rows).sum();
        let _ = writeln!(
            text,
            "{}: {} table{}, {} rows: {}",
            self.source.display(),
            self.tables.len(),
            plural(self.tables.len() as u64),
            thousands(rows),
            self.verdict()
        );
        text
    }

    /// For example `2 blockers, 1 warning`.
    pub fn verdict(&self) -> String {
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
            (false, _) => format!("nothing that PostgreSQL would refuse ({})", parts.join(", ")),
        }
    }

    /// The columns as CSV with a header, ending with a newline.
    pub fn to_csv(&self) -> String {
        let mut text = String::from(
            "table,column,declared_type,affinity,integers,reals,texts,blobs,nulls,\
             smallest_integer,largest_integer,longest_text_characters,longest_value_bytes,\
             postgres_type\n",
        );
        for table in &self.tables {
            for column in &table.columns {
                let profile = &column.profile;
                let number = |value: Option<i64>| value.map_or_else(String::new, |n| n.to_string());
                let fields = [
                    table.name.clone(),
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
                text.push_str(&fields.map(|field| csv(&field)).join(","));
                text.push('\n');
            }
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
    let parts: Vec<String> =
        parts.map(|(name, count)| format!("{} {name}", thousands(*count))).collect();
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
