//! Output of a try: short lines of progress on standard error, and at its end one text, or JSON or
//! CSV.

use std::path::Path;

use migrate::{AuditReport, Severity};
use record::Finished;
use report::Document;
use report::analysis::Shown;
use serde::Serialize;

use super::budget::LeftOut;
use super::cure::Cure;
use super::moved::Moved;
use super::result::{self, Row};
use super::size::SqliteSize;
use super::sql_log::LogFacts;
use super::text;
use super::tuned::Tuned;
use super::verdict::{self, VerdictFacts};
use crate::command::report::write_page;
use crate::shared::{Outcome, OutputFormat, Shared};

/// Prints as the try goes on.
pub struct Teller<'a> {
    shared: &'a Shared,
}

/// Everything that is known at the end.
pub struct Told<'a> {
    pub source: &'a Path,
    pub audit: &'a AuditReport,
    pub cure: &'a Cure,
    pub sqlite_size: SqliteSize,
    pub tuned: Option<&'a Tuned>,
    pub moved: &'a [Moved],
    pub left_out: &'a [LeftOut],
    pub derived: bool,
    pub logs: &'a [LogFacts],
    pub measured: Option<&'a Finished>,
    pub plan_file: Option<&'a Path>,
    /// The tuned copy that the plan measures.
    pub tuned_file: Option<&'a Path>,
    pub kept: Option<&'a Path>,
}

#[derive(Serialize)]
struct Json<'a> {
    source: &'a Path,
    findings: &'a [migrate::Finding],
    tables: Vec<TableRows<'a>>,
    cure: &'a Cure,
    sqlite_size: SqliteSize,
    tuned: Option<&'a Tuned>,
    moved: &'a [Moved],
    statements: &'a [Row],
    left_out: &'a [LeftOut],
    logs: &'a [LogFacts],
    verdict: &'a str,
    plan: Option<&'a Path>,
    tuned_file: Option<&'a Path>,
    kept: Option<&'a Path>,
    report: Option<&'a Document>,
}

#[derive(Serialize)]
struct TableRows<'a> {
    name: &'a str,
    rows: u64,
}

impl<'a> Teller<'a> {
    pub fn new(shared: &'a Shared) -> Self {
        Self { shared }
    }

    fn progress(&self, text: &str) {
        if self.shared.output_format == OutputFormat::Text {
            self.shared.say(text);
        }
    }

    /// The file, and whether PostgreSQL would refuse something of it.
    pub fn audit(&self, source: &Path, audit: &AuditReport) {
        let rows: u64 = audit.tables.iter().map(|table| table.rows).sum();
        let refused = match audit.count(Severity::Blocker) {
            0 => "PostgreSQL refuses nothing of it".to_owned(),
            count => format!("{} for PostgreSQL", several(count as u64, "blocker")),
        };
        let tables = several(audit.tables.len() as u64, "table");
        let rows = several(rows, "row");
        self.progress(&format!("{}: {tables}, {rows}; {refused}", source.display()));
    }

    /// The move and its proof.
    pub fn moved(&self, moved: &[Moved]) {
        for line in moved.iter().filter_map(text::move_of) {
            self.progress(&line);
        }
    }

    /// The measurement, and everything in the forms for programs.
    pub fn measured(&self, told: &Told<'_>) -> anyhow::Result<Outcome> {
        let document = told.measured.map(report::document);
        let rows = match (told.measured, &document) {
            (Some(finished), Some(document)) => result::rows(document, finished),
            _ => Vec::new(),
        };
        let margin = told.measured.map(|finished| finished.plan.equivalent_within.to_string());
        let engines: Vec<&str> = told.moved.iter().map(|moved| moved.engine.as_str()).collect();
        let verdict = verdict::paragraphs(&VerdictFacts {
            rows: &rows,
            engines: &engines,
            tuned: told.tuned,
            not_measured: told.left_out.len(),
            margin: margin.as_deref().unwrap_or_default(),
        });
        let report = match (told.measured, &document) {
            // The figures are there; a page that cannot be drawn or written does not undo them.
            (Some(finished), Some(document)) => write_page(finished, document)
                .inspect_err(|error| self.shared.say(&format!("no report.html: {error:#}")))
                .ok(),
            _ => None,
        };
        match self.shared.output_format {
            OutputFormat::Json => self.json(told, &rows, &verdict, document.as_ref())?,
            OutputFormat::Csv => {
                self.shared.print(&result::csv(&rows))?;
                let made = told.plan_file.into_iter().chain(told.tuned_file).chain(told.kept);
                made.for_each(|path| self.shared.say(&path.display().to_string()));
            }
            OutputFormat::Text => {
                let text = text::text(told, document.as_ref(), &rows, &verdict, report.as_deref());
                self.shared.print(&text)?;
            }
        }
        let undecided = Some(Shown::Undecided);
        let open = rows.is_empty()
            || rows.iter().any(|row| [row.verdict, row.verdict_to_tuned].contains(&undecided));
        let complete = !told.audit.blocks() && told.left_out.is_empty() && !open;
        Ok(if complete { Outcome::Done } else { Outcome::Findings })
    }

    fn json(
        &self,
        told: &Told<'_>,
        rows: &[Row],
        verdict: &str,
        report: Option<&Document>,
    ) -> anyhow::Result<()> {
        let tables = told.audit.tables.iter();
        self.shared.print_json(&Json {
            source: told.source,
            findings: &told.audit.findings,
            tables: tables.map(|table| TableRows { name: &table.name, rows: table.rows }).collect(),
            cure: told.cure,
            sqlite_size: told.sqlite_size,
            tuned: told.tuned,
            moved: told.moved,
            statements: rows,
            left_out: told.left_out,
            logs: told.logs,
            verdict,
            plan: told.plan_file,
            tuned_file: told.tuned_file,
            kept: told.kept,
            report,
        })
    }
}

/// `1 table`, `3 tables`, `61,234 rows`.
pub fn several(count: u64, what: &str) -> String {
    let number = indicatif::HumanCount(count);
    let plural = if count == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
