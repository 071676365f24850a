//! Text of an assessment: verdict first, table second, then what to do, what was left
//! out, the sizes, and the plan last. Prose is wrapped to 80 columns.

use std::fmt::Write as _;
use std::path::Path;

use comfy_table::{Table, presets};
use indicatif::{HumanBytes, HumanCount};
use migrate::Severity;
use report::Document;
use report::analysis::Shown;

use crate::outcome::{Assessment, AssessmentFacts};
use crate::preparation::MigratedCopy;
use crate::result::{self, COLUMNS, StatementResult, several};
use crate::sql_log::LogFacts;
use crate::tuned::{LABEL, Tuned};
use crate::verdict;

/// Blockers shown in full; `crossover audit` shows all.
const BLOCKERS_SHOWN: usize = 10;

impl Assessment {
    /// Everything, from the verdict to the path of the report's page.
    #[must_use]
    pub fn to_text(&self, report: Option<&Path>) -> String {
        let Self { facts, document, rows, verdict } = self;
        let mut text = String::new();
        for paragraph in verdict.lines() {
            text.push_str(&wrapped(paragraph, ""));
        }
        if let Some(document) = document {
            let _ = write!(text, "\n{}", results(facts, document, rows));
        }
        for log in &facts.logs {
            let _ = write!(text, "\n{}", of_log(log));
        }
        if let Some(tuned) = facts.tuned.as_ref().filter(|_| !rows.is_empty()) {
            let _ = write!(text, "\n{}", to_do(tuned, facts, rows));
        }
        let _ = write!(text, "\n{}", left_out(facts));
        let warnings: Vec<_> = document.iter().flat_map(|document| &document.warnings).collect();
        if !warnings.is_empty() {
            text.push('\n');
        }
        for warning in warnings {
            let warning = format!("Warning: {} {}", warning.message, warning.advice);
            text.push_str(&wrapped(&warning, "  "));
        }
        let _ = write!(text, "\n{}\n{}", sizes(facts), files(facts, report));
        text
    }
}

/// The table, with a line that says how to read it.
fn results(facts: &AssessmentFacts, document: &Document, rows: &[StatementResult]) -> String {
    let mut text = wrapped(
        &format!(
            "Mean response times, {} in {:.0} s. The ratio is to the time of sqlite, the file as it \
             is, with its interval of 95%; below 1 is faster.",
            several(document.run.blocks as u64, "block"),
            document.run.duration_seconds.unwrap_or_default()
        ),
        "",
    );
    let table = result::grid(rows).to_string();
    for line in table.lines() {
        let _ = writeln!(text, "{}", line.strip_prefix(' ').unwrap_or(line).trim_end());
    }
    if facts.derived {
        text.push_str(&wrapped(&format!("Statements are {}.", crate::derive::rule()), ""));
    }
    if facts.tuned.as_ref().is_some_and(|tuned| !tuned.indexes.is_empty()) {
        let note = "PostgreSQL has the indexes of the file, not the proposed ones, which may make \
                    it faster too.";
        text.push_str(&wrapped(note, ""));
    }
    text
}

/// Facts of a log: its queries by their names in the table, repetitions, locks.
fn of_log(log: &LogFacts) -> String {
    let unreadable = match log.unreadable {
        0 => String::new(),
        1 => "; the values of 1 cannot be read".to_owned(),
        many => format!("; the values of {} cannot be read", HumanCount(many as u64)),
    };
    let mut text = wrapped(
        &format!(
            "{} ({}): {}, {} of which read, {} of different text{unreadable}.",
            log.file.display(),
            log.framework.unwrap_or("unknown"),
            several(log.statements as u64, "statement"),
            HumanCount(log.queries as u64),
            HumanCount(log.distinct.len() as u64),
        ),
        "",
    );
    for query in log.distinct.iter().take(log.distinct.len() - log.beyond) {
        let time = query.total_seconds.map(|seconds| format!(", {} s", result::number(seconds)));
        let line = format!(
            "{}, sent {}{}: {}",
            query.name,
            several(query.count as u64, "time"),
            time.unwrap_or_default(),
            shortened(&query.text)
        );
        text.push_str(&wrapped(&format!("  {line}"), "    "));
    }
    if log.beyond > 0 {
        let beyond = several(log.beyond as u64, "further query");
        let _ = writeln!(text, "  {} took less time", beyond.replace("querys", "queries"));
    }
    for query in log.repeated() {
        let line = format!(
            "N+1: {} times in {}: {} ({}). {} fetches these rows with one query.",
            HumanCount(query.most_in_a_request as u64),
            log.unit(),
            shortened(&query.text),
            query.name,
            log.repetition_advice.unwrap_or("A join")
        );
        text.push_str(&wrapped(&line, "  "));
    }
    if let Some(advice) = log.locked_advice {
        let times = several(log.locked as u64, "time");
        let _ = writeln!(text, "\"database is locked\" {times}. The settings against it:");
        for line in advice.lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// A statement of more letters is cut.
const SHOWN_MAX: usize = 200;

fn shortened(text: &str) -> String {
    match text.chars().count() > SHOWN_MAX {
        true => format!("{} ...", text.chars().take(SHOWN_MAX).collect::<String>().trim_end()),
        false => text.to_owned(),
    }
}

/// How the second line came about, to be repeated on the file itself.
fn to_do(tuned: &Tuned, facts: &AssessmentFacts, rows: &[StatementResult]) -> String {
    let gains = rows.iter().any(|row| row.engine == LABEL && row.verdict == Some(Shown::Faster));
    let mut text = match gains {
        true => "To tune the file:\n".to_owned(),
        false => wrapped(
            &format!("{LABEL} is shown faster for no statement. This is what was done:"),
            "",
        ),
    };
    for index in &tuned.indexes {
        let is_measured = |name: &str| rows.iter().any(|row| row.statement == name);
        let with_doubt = |name: &String| match is_measured(name) {
            true => verdict::quoted(name),
            false => format!("{} (not measured)", verdict::quoted(name)),
        };
        let of: Vec<String> = index.used_by.iter().take(2).map(with_doubt).collect();
        let more = index.used_by.len().saturating_sub(2);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let _ = writeln!(text, "  {};", index.sql.replace('\n', " "));
        let _ = writeln!(text, "    -- for {}{more}; {}", of.join(", "), HumanBytes(index.bytes));
    }
    let changed = tuned.plans_changed_by_analyze.len();
    let why = match (changed, tuned.indexes.is_empty()) {
        (0, true) => " -- changed no query plan".to_owned(),
        (0, false) => " -- so that the planner knows the indexes".to_owned(),
        (changed, _) => format!(" -- changed the plan of {}", several(changed as u64, "statement")),
    };
    let _ = writeln!(text, "  ANALYZE;{why}");
    if tuned.journal_becomes_wal {
        let _ = writeln!(text, "  PRAGMA journal_mode = WAL; -- stays with the file");
    }
    let _ =
        writeln!(text, "  PRAGMA cache_size = -{}; -- KiB, for each connection", tuned.cache_kib);
    if !tuned.indexes.is_empty() {
        let (bytes, all) = (tuned.index_bytes(), facts.sqlite_size.file_bytes.max(1));
        let share = bytes as f64 / all as f64 * 100.0;
        let subject = match tuned.indexes.len() {
            1 => "The index makes writes to its table slower, which was not measured; it takes",
            _ => {
                "Each index makes writes to its table slower, which was not measured; together \
                  they take"
            }
        };
        let cost =
            format!("{subject} {} ({}% of the file).", HumanBytes(bytes), result::number(share));
        text.push_str(&wrapped(&cost, ""));
    }
    text
}

/// Blockers, rows and statements that the measurement does not hold for.
fn left_out(facts: &AssessmentFacts) -> String {
    let mut text = String::new();
    for each in &facts.left_out {
        let place = each.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
        text.push_str(&wrapped(&format!("Not measured: {}{place}: {}", each.name, each.why), "  "));
    }
    let audit = &facts.audit;
    let blockers = audit.findings.iter().filter(|each| each.severity == Severity::Blocker);
    let count = audit.count(Severity::Blocker);
    let _ = match count {
        0 => writeln!(text, "PostgreSQL refuses nothing of the file."),
        _ => writeln!(
            text,
            "PostgreSQL would refuse the file, {}:",
            several(count as u64, "blocker")
        ),
    };
    for blocker in blockers.take(BLOCKERS_SHOWN) {
        text.push_str(&wrapped(&format!("  {blocker}"), "    "));
    }
    if count > BLOCKERS_SHOWN {
        let _ = writeln!(text, "  and {} more", count - BLOCKERS_SHOWN);
    }
    text.push_str(&remedies_text(facts));
    let (warnings, notes) = (audit.count(Severity::Warning), audit.count(Severity::Note));
    if count + warnings + notes > 0 {
        let besides = format!(
            "`crossover audit {}` shows everything ({} and {} besides).",
            facts.source.display(),
            several(warnings as u64, "warning"),
            several(notes as u64, "note")
        );
        text.push_str(&wrapped(&besides, ""));
    }
    text
}

/// Changes to the copies because of the blockers.
fn remedies_text(facts: &AssessmentFacts) -> String {
    let mut text = String::new();
    if !facts.remedies.mappings.is_empty() {
        let rules: Vec<String> =
            facts.remedies.mappings.iter().map(|rule| format!("--map '{rule}'")).collect();
        let _ = writeln!(text, "In the copy the types are mended: {}", rules.join(" "));
    }
    for table in &facts.remedies.tables_left_out {
        let _ = writeln!(text, "{table} is left out of the copy.");
    }
    for (table, refused) in &facts.remedies.refused_rows {
        let all = facts.audit.tables.iter().find(|each| each.name == *table).map_or(0, |t| t.rows);
        let line = format!(
            "{table}: {} of {} that PostgreSQL refuses {} left out on both sides{}",
            HumanCount(*refused),
            several(all, "row"),
            if *refused == 1 { "is" } else { "are" },
            if facts.remedies.may_be_measured(table) { "" } else { ": too many to measure it" }
        );
        text.push_str(&wrapped(&line, "  "));
    }
    text
}

/// The move into an engine, if it was filled for this try.
pub fn move_of(moved: &MigratedCopy) -> Option<String> {
    let migration = moved.migration.as_ref()?;
    let rows: u64 = migration.tables.iter().map(|table| table.rows).sum();
    Some(format!(
        "Moved into PostgreSQL {}: {} in {}, every row read back and verified ({:.1} s)",
        moved.version,
        several(rows, "row"),
        several(migration.tables.len() as u64, "table"),
        migration.seconds.elapsed
    ))
}

fn sizes(facts: &AssessmentFacts) -> String {
    let mut text = String::new();
    for line in facts.moved.iter().filter_map(move_of) {
        text.push_str(&wrapped(&line, "  "));
    }
    text.push_str("On disk:\n");
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let sqlite = facts.sqlite_size;
    let free = match (sqlite.vacuumed_bytes, sqlite.free_bytes) {
        (Some(bytes), _) => format!("after VACUUM {}", HumanBytes(bytes)),
        (None, 0) => "no page is free".to_owned(),
        (None, free) => format!("{} of it free pages", HumanBytes(free)),
    };
    table.add_row([
        "  SQLite".to_owned(),
        HumanBytes(sqlite.file_bytes).to_string(),
        format!("without write-ahead log; {free}"),
    ]);
    if let Some(tuned) = &facts.tuned {
        table.add_row([
            format!("  {LABEL}"),
            HumanBytes(tuned.file_bytes).to_string(),
            format!("its new indexes {}", HumanBytes(tuned.index_bytes())),
        ]);
    }
    for each in &facts.moved {
        let (rows, indexes) = (each.size.table_bytes, each.size.index_bytes);
        table.add_row([
            format!("  {}", each.engine),
            HumanBytes(rows + indexes).to_string(),
            format!("tables {} + indexes {}", HumanBytes(rows), HumanBytes(indexes)),
        ]);
    }
    for line in table.to_string().lines() {
        let _ = writeln!(text, "{}", line.strip_prefix(' ').unwrap_or(line).trim_end());
    }
    text
}

fn files(facts: &AssessmentFacts, report: Option<&Path>) -> String {
    let mut text = String::new();
    if let Some(plan) = &facts.plan_file {
        let plan = plan.display();
        let _ = writeln!(text, "Plan: {plan} (`crossover bench {plan}` repeats it)");
    }
    if let Some(tuned) = &facts.tuned_file {
        let _ = writeln!(text, "Tuned copy, for the plan: {}", tuned.display());
    }
    if let Some(report) = report {
        let _ = writeln!(text, "Report: {}", report.display());
    }
    if let Some(kept) = &facts.kept {
        let _ = writeln!(text, "Kept: {}", kept.display());
    }
    text
}

/// `text` in lines of at most [`COLUMNS`], the first with its own blanks before it, the others with
/// `indent`. A longer word keeps its line.
pub fn wrapped(text: &str, indent: &str) -> String {
    let mut lines = String::new();
    let first = text.len() - text.trim_start().len();
    let mut line = text[..first].to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let length = line.chars().count() + usize::from(!is_empty) + word.chars().count();
        if !is_empty && length > COLUMNS {
            lines.push_str(&line);
            lines.push('\n');
            line = indent.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push_str(&line);
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_wrapped_at_blanks_with_its_indent() {
        let long = "x".repeat(90);
        let text = wrapped(&format!("  {} {long} end", "word ".repeat(20).trim_end()), "    ");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("  word") && lines[0].len() <= COLUMNS, "{text}");
        assert_eq!(lines[2].trim_start(), long);
        assert_eq!(lines[3], "    end");
        assert_eq!(wrapped("short", "  "), "short\n");
    }
}
