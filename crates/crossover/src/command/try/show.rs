//! What a try tells: as text, section by section while it works; as JSON or CSV at its end.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::{CellAlignment, Table, presets};
use indicatif::HumanBytes;
use lab::report::Document;
use lab::run::Finished;
use migrate::{AuditReport, Severity};
use serde::Serialize;
use stats::Estimate;

use super::budget::LeftOut;
use super::cure::Cure;
use super::moved::Moved;
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

/// One statement on one engine.
#[derive(Clone, Debug, Serialize)]
struct Row {
    statement: String,
    engine: String,
    response_time_ms_mean: Option<Estimate>,
    ratio: Option<Estimate>,
    verdict: Option<lab::analysis::Shown>,
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
    report: Option<&'a Document>,
}

#[derive(Serialize)]
struct TableRows<'a> {
    name: &'a str,
    rows: u64,
}

impl<'a> Teller<'a> {
    /// For this command's output.
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
                "{table}: {refused} of {} that PostgreSQL refuses are left out on both sides{}",
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
                migration.seconds.total()
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
        let document = told.measured.map(lab::report::document);
        let rows = document.as_ref().map(rows).unwrap_or_default();
        let verdict = verdict(&rows);
        let report = match (told.measured, &document) {
            (Some(finished), Some(document)) => Some(write_report(finished, document)?),
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
                report: document.as_ref(),
            })?,
            OutputFormat::Csv => self.shared.print(&csv(&rows))?,
            OutputFormat::Text => {
                let text = text(told, document.as_ref(), &rows, &verdict, report.as_deref());
                self.shared.print(&text)?;
            }
        }
        let open = rows.is_empty()
            || rows.iter().any(|row| row.verdict == Some(lab::analysis::Shown::Undecided));
        let complete = !told.audit.blocks() && told.left_out.is_empty() && !open;
        Ok(if complete { Outcome::Done } else { Outcome::Findings })
    }
}

fn rows(document: &Document) -> Vec<Row> {
    let mut rows = Vec::new();
    for treatment in &document.treatments {
        for statement in &treatment.requests_by_name {
            rows.push(Row {
                statement: statement.name.clone(),
                engine: treatment.engine.clone(),
                response_time_ms_mean: statement.estimate,
                ratio: statement.ratio.as_ref().map(|ratio| ratio.estimate),
                verdict: statement.ratio.as_ref().map(|ratio| ratio.verdict),
            });
        }
    }
    rows
}

fn write_report(finished: &Finished, document: &Document) -> anyhow::Result<PathBuf> {
    let path = finished.folder.path().join("report.html");
    lab::record::write_atomically(&path, lab::report::html(document)?.as_bytes())?;
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
            "Mean response times in ms, {} blocks, intervals of 95%; a ratio below 1: faster than \
             SQLite",
            document.run.blocks
        );
        let _ = writeln!(text, "{}", grid(rows));
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

/// A line per statement, a pair of columns per engine.
fn grid(rows: &[Row]) -> Table {
    let mut engines: Vec<&str> = Vec::new();
    let mut statements: Vec<&str> = Vec::new();
    for row in rows {
        for (list, name) in [(&mut engines, &row.engine), (&mut statements, &row.statement)] {
            if !list.contains(&name.as_str()) {
                list.push(name);
            }
        }
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let mut header = vec!["statement".to_owned()];
    for (place, engine) in engines.iter().enumerate() {
        header.push((*engine).to_owned());
        if place > 0 {
            header.extend(["ratio".to_owned(), "interval".to_owned(), "faster".to_owned()]);
        }
    }
    let last = header.len() - 1;
    table.set_header(header);
    for statement in statements {
        let mut cells = vec![statement.to_owned()];
        for (place, engine) in engines.iter().enumerate() {
            let row = rows.iter().find(|row| row.statement == statement && row.engine == *engine);
            cells.push(
                row.and_then(|row| row.response_time_ms_mean)
                    .map_or("-".to_owned(), { |estimate| number(estimate.value) }),
            );
            if place > 0 {
                let ratio = row.and_then(|row| row.ratio);
                cells.push(ratio.map_or("-".to_owned(), |ratio| number(ratio.value)));
                cells.push(ratio.map_or(String::new(), |ratio| interval(&ratio)));
                cells.push(faster(row, engine));
            }
        }
        table.add_row(cells);
    }
    for place in 1..last {
        if let Some(column) = table.column_mut(place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn faster(row: Option<&Row>, engine: &str) -> String {
    use lab::analysis::Shown;
    match row.and_then(|row| row.verdict) {
        Some(Shown::Faster) => engine.to_owned(),
        Some(Shown::Slower) => "sqlite".to_owned(),
        Some(_) => "undecided".to_owned(),
        None => String::new(),
    }
}

fn interval(estimate: &Estimate) -> String {
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
        _ => String::new(),
    }
}

/// Three significant digits.
fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        small if small >= 1.0 => format!("{value:.2}"),
        tiny if tiny >= 0.1 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// One sentence for each engine that was compared with SQLite.
fn verdict(rows: &[Row]) -> String {
    use lab::analysis::Shown;
    let mut engines: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.verdict.is_some()) {
        if !engines.contains(&row.engine.as_str()) {
            engines.push(&row.engine);
        }
    }
    let sentence = |engine: &&str| {
        let of: Vec<&Row> = rows.iter().filter(|row| row.engine == *engine).collect();
        let ratios = |shown: Shown| -> Vec<f64> {
            let shown = of.iter().filter(|row| row.verdict == Some(shown));
            shown.filter_map(|row| row.ratio).map(|ratio| ratio.value).collect()
        };
        let (faster, slower) = (ratios(Shown::Faster), ratios(Shown::Slower));
        let open = of.len() - faster.len() - slower.len();
        let most_faster = faster.iter().map(|ratio| 1.0 / ratio).fold(1.0, f64::max);
        let most_slower = slower.iter().copied().fold(1.0, f64::max);
        let mut parts = Vec::new();
        for (name, won, most) in [("SQLite", &slower, most_slower), (engine, &faster, most_faster)]
        {
            if !won.is_empty() {
                let is_shown = if parts.is_empty() { " is shown faster" } else { "" };
                let times = number(most);
                parts.push(format!("{name}{is_shown} in {} (up to {times} times)", won.len()));
            }
        }
        match open {
            0 => {}
            1 => parts.push("1 has no verdict".to_owned()),
            open => parts.push(format!("{open} have no verdict")),
        }
        format!("Of {} {}.", several(of.len() as u64, "statement"), parts.join(", "))
    };
    match engines.is_empty() {
        true => "Nothing was measured, so there is no verdict.".to_owned(),
        false => engines.iter().map(sentence).collect::<Vec<_>>().join("\n"),
    }
}

fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "statement,engine,response_time_ms_mean,response_time_ms_low,response_time_ms_high,\
         ratio,ratio_low,ratio_high,verdict\n",
    );
    let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
    for row in rows {
        let parts = |estimate: Option<Estimate>| -> [String; 3] {
            let text =
                |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
            [
                text(estimate.map(|estimate| estimate.value)),
                text(estimate.and_then(|estimate| estimate.low)),
                text(estimate.and_then(|estimate| estimate.high)),
            ]
        };
        let mut cells = vec![quoted(&row.statement), quoted(&row.engine)];
        cells.extend(parts(row.response_time_ms_mean));
        cells.extend(parts(row.ratio));
        cells.push(match row.verdict {
            Some(lab::analysis::Shown::Faster) => "faster".to_owned(),
            Some(lab::analysis::Shown::Slower) => "slower".to_owned(),
            Some(_) => "undecided".to_owned(),
            None => String::new(),
        });
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// `1 table`, `3 tables`, `61,234 rows`.
pub fn several(count: u64, what: &str) -> String {
    let number = indicatif::HumanCount(count);
    let plural = if count == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}
