//! Audit report as text: the answer, then blockers, warnings and losses, types, the next step.

use std::collections::BTreeMap;

use notation::{column_table, counted, drawn, keep_whole, thousands};

use super::{AuditReport, ColumnReport, TableReport};
use crate::display::{TextOptions, escaped, rows, wrapped};
use crate::finding::{Finding, Severity, sections};

/// Columns of the table of columns.
const DECLARED: usize = 1;
const POSTGRES_TYPE: usize = 4;
/// Most pairs of types in the summary.
const TYPES_NAMED: usize = 8;

impl AuditReport {
    /// The report as text, ending with a newline.
    pub fn to_text(&self, options: &TextOptions) -> String {
        let line = |text: &str| wrapped(text, options.width, "  ") + "\n";
        let advice = self.advice().map(|advice| format!("{advice}."));
        let mut text: String =
            advice.into_iter().chain([self.answer()]).map(|said| line(&said)).collect();
        if let Some(losses) = self.not_carried_over.line() {
            text.push_str(&line(&losses));
        }
        text.push('\n');
        text.push_str(&sections(&self.findings, "Blockers", options));
        if options.columns {
            self.tables.iter().for_each(|table| text.push_str(&self.columns_of(table, options)));
        } else {
            text.push_str(&self.types(options));
        }
        text.push_str(&self.next_step());
        text.push('\n');
        text
    }

    /// The way of an application that makes its tables by itself.
    pub fn advice(&self) -> Option<String> {
        Some(self.application.as_ref()?.advice(&self.source, &self.flags))
    }

    /// Whether PostgreSQL takes the file, in one sentence.
    fn answer(&self) -> String {
        let source = escaped(&self.source.display().to_string());
        let all_rows: u64 = self.tables.iter().map(|table| table.rows).sum();
        let all = format!("{}, {}", counted(self.tables.len(), "table"), rows(all_rows));
        let blockers: Vec<&Finding> = self.blockers().collect();
        if blockers.is_empty() {
            return match self.not_carried_over.rows.is_empty() {
                true if self.application.is_some() => {
                    format!("PostgreSQL takes all rows of {source}: {all}.")
                }
                true => match self.standing_tables() {
                    Some(tables) => format!(
                        "PostgreSQL takes all rows of {source}: {all}; the target holds other rows in {tables} \
                         already."
                    ),
                    None => {
                        format!("PostgreSQL takes all rows of {source}: {all}; nothing blocks.")
                    }
                },
                false => format!(
                    "PostgreSQL takes the ordinary tables of {source}: {all}; nothing blocks, but \
                     other rows stay behind."
                ),
            };
        }
        let mut by_table: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        for blocker in &blockers {
            by_table.entry(&blocker.table).or_default().extend(blocker.rows());
        }
        // A row may be refused for several reasons.
        let rows_of = |name: &str| {
            let table = self.tables.iter().find(|table| table.name == name);
            table.map_or(0, |table| table.rows)
        };
        let most: u64 = by_table
            .iter()
            .map(|(table, counts)| counts.iter().sum::<u64>().min(rows_of(table)))
            .sum();
        let least: u64 = by_table.values().filter_map(|counts| counts.iter().max()).sum();
        let affected = match most {
            0 => format!("; it has {}", rows(all_rows)),
            _ => {
                let bound = if least < most { "at most " } else { "" };
                let refused =
                    |name: &str| by_table.get(name).map_or(0, |counts| counts.iter().sum::<u64>());
                let may_follow = |(parent, child): &(String, String)| {
                    refused(parent) > 0 && refused(child) < rows_of(child)
                };
                let children = match self.children.iter().any(may_follow) {
                    true => ", besides any rows that refer to them",
                    false => "",
                };
                format!(" ({bound}{} of {}{children})", thousands(most), rows(all_rows))
            }
        };
        format!(
            "PostgreSQL would refuse {source}: {} in {}{affected}.",
            counted(blockers.len(), "blocker"),
            counted(by_table.len(), "table")
        )
    }

    pub(super) fn blockers(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == Severity::Blocker)
    }

    /// Numbers of columns by declared type and type in PostgreSQL, lengths left out.
    fn types(&self, options: &TextOptions) -> String {
        let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
        for column in self.tables.iter().flat_map(|table| &table.columns) {
            let declared = match column.declared_type.as_str() {
                "" => "(none)".to_owned(),
                declared => without_length(&escaped(declared).to_lowercase()),
            };
            *counts.entry((declared, without_length(&column.postgres_type))).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        if counts.is_empty() {
            return String::new();
        }
        let mut grid = column_table(["columns", "declared", "PostgreSQL"], [0], options.width);
        let named = if options.verbose { counts.len() } else { TYPES_NAMED };
        for ((declared, postgres_type), count) in counts.iter().take(named) {
            grid.add_row([thousands(*count), declared.clone(), postgres_type.clone()]);
        }
        let others: u64 = counts.iter().skip(named).map(|(_, count)| count).sum();
        if others > 0 {
            grid.add_row([thousands(others), "others".to_owned(), String::new()]);
        }
        format!("Types (--columns shows every column)\n{}\n", drawn(&grid))
    }

    fn columns_of(&self, table: &TableReport, options: &TextOptions) -> String {
        let header = ["column", "declared", "stored", "range or length", "PostgreSQL", ""];
        let mut grid = column_table(header, [3], options.width);
        for column in &table.columns {
            let is_here = |finding: &&Finding| {
                finding.table == table.name && finding.column.as_ref() == Some(&column.name)
            };
            let worst = self.findings.iter().filter(is_here).map(|finding| finding.severity).min();
            grid.add_row([
                escaped(&column.name),
                escaped(&column.declared_type),
                stored(column),
                range(column),
                column.postgres_type.clone(),
                worst.map_or_else(String::new, |severity| severity.name().to_owned()),
            ]);
        }
        keep_whole(&mut grid, &[DECLARED, POSTGRES_TYPE]);
        format!(
            "{}: {}; lengths in characters\n{}\n",
            escaped(&table.name),
            rows(table.rows),
            drawn(&grid)
        )
    }
}

fn without_length(name: &str) -> String {
    name.split_once('(').map_or(name, |(before, _)| before.trim_end()).to_owned()
}

fn size(bytes: usize) -> String {
    counted(bytes, "byte")
}

fn number(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", thousands(value.unsigned_abs()))
}

pub(super) fn stored(column: &ColumnReport) -> String {
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
        parts.push(format!("{} to {}", number(least), number(most)));
    }
    if profile.texts > 0 {
        let (characters, bytes) = (profile.longest_text_characters, profile.longest_value_bytes);
        let bytes = if characters == bytes { String::new() } else { format!(" ({})", size(bytes)) };
        parts.push(format!("{}{bytes}", thousands(characters)));
    } else if profile.blobs > 0 {
        parts.push(size(profile.longest_value_bytes));
    }
    parts.join("; ")
}
