//! Findings as text: two lines each, one line for an object, a count for notes.

use std::fmt::Write as _;

use notation::{counted, thousands};

use super::{Finding, Severity};
use crate::display::{TextOptions, escaped, indented, list, wrapped};

/// Most blockers, warnings and objects of a kind that are named one by one unless all are asked
/// for.
const BLOCKERS_NAMED: usize = 20;
const WARNINGS_NAMED: usize = 10;
const OBJECTS_NAMED: usize = 10;
/// Where the second line of a finding begins, and where a long line goes on.
const INDENT: &str = "    ";
const STATEMENT_INDENT: &str = "      ";

/// The findings in sections, blockers first under their own title; each section ends with an empty
/// line.
pub fn sections(findings: &[Finding], title: &str, options: &TextOptions) -> String {
    let of = |severity: Severity| -> Vec<&Finding> {
        let of_severity = findings.iter().filter(|each| each.severity == severity);
        of_severity.filter(|each| each.object.is_none()).collect()
    };
    let mut text = blockers(&of(Severity::Blocker), title, options);
    text.push_str(&warnings(&of(Severity::Warning), options));
    text.push_str(&objects(findings, options));
    text.push_str(&notes(&of(Severity::Note), options));
    text
}

fn blockers(blockers: &[&Finding], title: &str, options: &TextOptions) -> String {
    let most = named(blockers.len(), BLOCKERS_NAMED, options);
    let mut text = String::new();
    for blocker in blockers.iter().take(most) {
        text.push_str(&in_two_lines(blocker, options));
    }
    let others = blockers.len().saturating_sub(most) as u64;
    section(title, text + &more(others, "blocker"))
}

/// Many of them are counted by kind, each with its first finding as an example.
fn warnings(warnings: &[&Finding], options: &TextOptions) -> String {
    let mut text = String::new();
    if warnings.len() <= WARNINGS_NAMED || options.columns || options.verbose {
        for warning in warnings {
            text.push_str(&in_two_lines(warning, options));
        }
        if !options.verbose && warnings.iter().any(|each| each.statement.is_some()) {
            text.push_str("  (-v prints the statements that are proposed)\n");
        }
        return section("Warnings", text);
    }
    for (kind, of_kind) in by_kind(warnings) {
        let example = in_two_lines(of_kind[0], options);
        match of_kind.len() {
            1 => text.push_str(&example),
            many => {
                let _ = writeln!(text, "  {kind} ({}), for example", thousands(many));
                example.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
            }
        }
    }
    text.push_str("  (-v names them all)\n");
    section(&format!("Warnings: {}", thousands(warnings.len())), text)
}

/// Objects that are not carried over as a whole: a line each, their statements on request.
fn objects(findings: &[Finding], options: &TextOptions) -> String {
    let objects = findings.iter().filter_map(|each| Some((each, each.object.as_ref()?)));
    let mut kinds: Vec<(&str, Vec<String>)> = Vec::new();
    for (finding, object) in objects {
        let tables = match object.tables.is_empty() {
            true => String::new(),
            false => {
                let joint = if object.kind == "trigger" { "on" } else { "of" };
                format!(" {joint} {}", list(object.tables.iter().map(|table| escaped(table))))
            }
        };
        let (kind, name) = (object.kind, escaped(&finding.table));
        let line = format!("  {kind} {name}{tables}: {}", escaped(&object.reason));
        let mut text = wrapped(&line, options.width, INDENT) + "\n";
        text.push_str(&statement(finding, options));
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, texts)) => texts.push(text),
            None => kinds.push((kind, vec![text])),
        }
    }
    let mut text = String::new();
    for (kind, texts) in kinds {
        let most = named(texts.len(), OBJECTS_NAMED, options);
        text.extend(texts.iter().take(most).map(String::as_str));
        text.push_str(&more(texts.len().saturating_sub(most) as u64, kind));
    }
    let is_hidden = |finding: &Finding| finding.object.is_some() && finding.statement.is_some();
    if !options.verbose && findings.iter().any(is_hidden) {
        text.push_str("  (-v prints a draft in SQL of each)\n");
    }
    section("Not carried over", text)
}

fn notes(notes: &[&Finding], options: &TextOptions) -> String {
    let mut text = String::new();
    if options.verbose {
        for note in notes {
            text.push_str(&in_two_lines(note, options));
        }
        return section("Notes", text);
    }
    let count =
        |(kind, notes): (String, Vec<&Finding>)| format!("{kind} {}", thousands(notes.len()));
    let counts = list(by_kind(notes).into_iter().map(count));
    match counts.is_empty() {
        true => text,
        false => {
            let line = format!("Notes by kind: {counts} (-v names them)");
            wrapped(&line, options.width, INDENT) + "\n\n"
        }
    }
}

fn in_two_lines(finding: &Finding, options: &TextOptions) -> String {
    let mut text = wrapped(&format!("  {}", finding.problem()), options.width, INDENT) + "\n";
    if !finding.fix.is_empty() {
        // Never broken: it is pasted.
        let _ = writeln!(text, "{INDENT}remedy: {}", escaped(&finding.fix));
    }
    text.push_str(&statement(finding, options));
    text
}

/// The proposed statement, on request.
fn statement(finding: &Finding, options: &TextOptions) -> String {
    let statement = finding.statement.as_deref().filter(|_| options.verbose);
    statement.map_or_else(String::new, |statement| indented(statement, STATEMENT_INDENT))
}

/// The number of things that are named: all of them rather than all but one.
fn named(all: usize, most: usize, options: &TextOptions) -> usize {
    if options.verbose || all <= most + 1 { all } else { most }
}

fn more(others: u64, noun: &str) -> String {
    match others {
        0 => String::new(),
        others => format!("  and {} more (-v names all)\n", counted(others, noun)),
    }
}

/// By the names of their kinds, in the order of the first of each.
fn by_kind<'a>(findings: &[&'a Finding]) -> Vec<(String, Vec<&'a Finding>)> {
    let mut kinds: Vec<(String, Vec<&Finding>)> = Vec::new();
    for finding in findings {
        let name = finding.kind.replace('_', " ");
        match kinds.iter_mut().find(|(known, _)| *known == name) {
            Some((_, of_kind)) => of_kind.push(finding),
            None => kinds.push((name, vec![finding])),
        }
    }
    kinds
}

fn section(title: &str, lines: String) -> String {
    if lines.is_empty() { lines } else { format!("{title}\n{lines}\n") }
}
