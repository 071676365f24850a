//! Output of a try: as text, section by section while it works; as JSON or CSV at its end.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::{Table, presets};
use indicatif::HumanBytes;
use migrate::{AuditReport, Severity};
use plan::counted;
use record::Finished;
use report::Document;
use serde::Serialize;

use super::budget::LeftOut;
use super::cure::Cure;
use super::moved::Moved;
use super::result::{self, Row};
use super::size::SqliteSize;
use crate::shared::{Outcome, OutputFormat, Shared};

/// Blockers shown in full; `crossover audit` shows all.
const BLOCKERS_SHOWN: usize = 10;

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
    pub moved: &'a [Moved],
    pub left_out: &'a [LeftOut],
    pub derived: bool,
    pub measured: Option<&'a Finished>,
    pub plan_file: Option<&'a Path>,
    pub kept: Option<&'a Path>,
}

#[derive(Serialize)]
struct Json<'a> {
    source: &'a Path,
    findings: &'a [migrate::Finding],
    tables: Vec<TableRows<'a>>,
    cure: &'a Cure,
    sqlite_size: SqliteSize,
    moved: &'a [Moved],
    statements: &'a [Row],
    left_out: &'a [LeftOut],
    verdict: &'a str,
    plan: Option<&'a Path>,
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

    fn section(&self, text: &str) -> anyhow::Result<()> {
        match self.shared.output_format {
            OutputFormat::Text => self.shared.print(text),
            OutputFormat::Json | OutputFormat::Csv => Ok(()),
        }
    }

    /// The file, and what PostgreSQL would refuse.
    pub fn audit(&self, source: &Path, audit: &AuditReport, cure: &Cure) -> anyhow::Result<()> {
        let rows: u64 = audit.tables.iter().map(|table| table.rows).sum();
        let mut text = format!(
            "{}: {}, {}\n\n",
            source.display(),
            several(audit.tables.len() as u64, "table"),
            several(rows, "row")
        );
        let blockers = audit.findings.iter().filter(|each| each.severity == Severity::Blocker);
        let count = audit.count(Severity::Blocker);
        let _ = match count {
            0 => writeln!(text, "PostgreSQL refuses nothing of it."),
            _ => {
                writeln!(text, "PostgreSQL would refuse it, {}:", several(count as u64, "blocker"))
            }
        };
        for blocker in blockers.take(BLOCKERS_SHOWN) {
            let _ = writeln!(text, "  {blocker}");
        }
        if count > BLOCKERS_SHOWN {
            let _ = writeln!(text, "  and {} more", count - BLOCKERS_SHOWN);
        }
        let (warnings, notes) = (audit.count(Severity::Warning), audit.count(Severity::Note));
        if count + warnings + notes > 0 {
            let _ = writeln!(
                text,
                "`crossover audit {}` shows everything ({} and {} besides).",
                source.display(),
                several(warnings as u64, "warning"),
                several(notes as u64, "note")
            );
        }
        if !cure.mappings.is_empty() {
            let rules: Vec<String> =
                cure.mappings.iter().map(|rule| format!("--map '{rule}'")).collect();
            let _ = writeln!(text, "In the copy the types are mended: {}", rules.join(" "));
        }
        for table in &cure.tables_left_out {
            let _ = writeln!(text, "{table} is left out of the copy.");
        }
        self.section(&text)
    }

    /// The move, its proof, and the sizes.
    pub fn moved(
        &self,
        audit: &AuditReport,
        cure: &Cure,
        sqlite: SqliteSize,
        moved: &[Moved],
    ) -> anyhow::Result<()> {
        let mut text = String::from("\n");
        for (table, refused) in &cure.refused_rows {
            let all = audit.tables.iter().find(|each| each.name == *table).map_or(0, |t| t.rows);
            let _ = writeln!(
                text,
                "{table}: {} of {} that PostgreSQL refuses are left out on both sides{}",
                indicatif::HumanCount(*refused),
                several(all, "row"),
                if cure.may_be_measured(table) { "" } else { ": too many to measure it" }
            );
        }
        for each in moved {
            let Some(migration) = &each.migration else { continue };
            let rows: u64 = migration.tables.iter().map(|table| table.rows).sum();
            let _ = writeln!(
                text,
                "Moved into PostgreSQL {}: {} in {}, every row read back and verified ({:.1} s)",
                each.version,
                several(rows, "row"),
                several(migration.tables.len() as u64, "table"),
                migration.seconds.elapsed
            );
        }
        let _ = writeln!(text, "On disk:");
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        let free = match (sqlite.vacuumed_bytes, sqlite.free_bytes) {
            (Some(bytes), _) => format!("after VACUUM {}", HumanBytes(bytes)),
            (None, 0) => "no page is free".to_owned(),
            (None, free) => format!("{} of it free pages", HumanBytes(free)),
        };
        table.add_row([
            "  SQLite".to_owned(),
            HumanBytes(sqlite.file_bytes).to_string(),
            format!("the file without its write-ahead log; {free}"),
        ]);
        for each in moved {
            let (rows, indexes) = (each.size.table_bytes, each.size.index_bytes);
            table.add_row([
                format!("  {}", each.engine),
                HumanBytes(rows + indexes).to_string(),
                format!("tables {} + indexes {}", HumanBytes(rows), HumanBytes(indexes)),
            ]);
        }
        let _ = writeln!(text, "{table}");
        self.section(&text)
    }

    /// The measurement, and everything in the forms for programs.
    pub fn measured(&self, told: &Told<'_>) -> anyhow::Result<Outcome> {
        let document = told.measured.map(report::document);
        let rows = document.as_ref().map(result::rows).unwrap_or_default();
        let verdict = result::verdict(&rows);
        let report = match (told.measured, &document) {
            // The figures are there; a page that cannot be drawn or written does not undo them.
            (Some(finished), Some(document)) => write_report(finished, document)
                .inspect_err(|error| self.shared.say(&format!("no report.html: {error:#}")))
                .ok(),
            _ => None,
        };
        match self.shared.output_format {
            OutputFormat::Json => self.shared.print_json(&Json {
                source: told.source,
                findings: &told.audit.findings,
                tables: told
                    .audit
                    .tables
                    .iter()
                    .map(|table| TableRows { name: &table.name, rows: table.rows })
                    .collect(),
                cure: told.cure,
                sqlite_size: told.sqlite_size,
                moved: told.moved,
                statements: &rows,
                left_out: told.left_out,
                verdict: &verdict,
                plan: told.plan_file,
                kept: told.kept,
                report: document.as_ref(),
            })?,
            OutputFormat::Csv => {
                self.shared.print(&result::csv(&rows))?;
                let made = told.plan_file.into_iter().chain(told.kept);
                made.for_each(|path| self.shared.say(&path.display().to_string()));
            }
            OutputFormat::Text => {
                let text = text(told, document.as_ref(), &rows, &verdict, report.as_deref());
                self.shared.print(&text)?;
            }
        }
        let open = rows.is_empty()
            || rows.iter().any(|row| row.verdict == Some(report::analysis::Shown::Undecided));
        let complete = !told.audit.blocks() && told.left_out.is_empty() && !open;
        Ok(if complete { Outcome::Done } else { Outcome::Findings })
    }
}

fn write_report(finished: &Finished, document: &Document) -> anyhow::Result<PathBuf> {
    let path = finished.folder.path().join("report.html");
    record::write_atomically(&path, report::html(document)?.as_bytes())?;
    Ok(path)
}

fn text(
    told: &Told<'_>,
    document: Option<&Document>,
    rows: &[Row],
    verdict: &str,
    report: Option<&Path>,
) -> String {
    let mut text = String::from("\n");
    if told.derived {
        let _ = writeln!(text, "Statements {}.", super::derive::rule());
    }
    if let Some(document) = document {
        let _ = writeln!(
            text,
            "Mean response times in ms, {} in {:.0} s, intervals of 95%; a ratio below 1: faster \
             than SQLite",
            counted(document.run.blocks, "block"),
            document.run.duration_seconds.unwrap_or_default()
        );
        let _ = writeln!(text, "{}", result::grid(rows));
    }
    for each in told.left_out {
        let place = each.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        let _ = writeln!(text, "Not measured: {}{place}: {}", each.name, each.why);
    }
    let _ = writeln!(text, "\n{verdict}");
    for warning in document.iter().flat_map(|document| &document.warnings) {
        let _ = writeln!(text, "\nWarning: {} {}", warning.message, warning.advice);
    }
    let _ = writeln!(text);
    if let Some(plan) = told.plan_file {
        let _ = writeln!(
            text,
            "Plan: {} (`crossover bench {}` repeats it; its comments say what to refine)",
            plan.display(),
            plan.display()
        );
    }
    if let Some(report) = report {
        let _ = writeln!(text, "Report: {}", report.display());
    }
    if let Some(kept) = told.kept {
        let _ = writeln!(text, "Kept: {}", kept.display());
    }
    text
}

/// `1 table`, `3 tables`, `61,234 rows`.
pub fn several(count: u64, what: &str) -> String {
    let number = indicatif::HumanCount(count);
    let plural = if count == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
