//! One line about a run, and the list of all runs.

use comfy_table::ColumnConstraint;
use notation::column_table;
use serde::Serialize;

use crate::analysis;
use crate::answer::answer;
use crate::grid::{Form, escaped};
use crate::warning::may_end_by_budget;
use plan::Design;
use record::Finished;
use record::RunFolder;

/// A run in the list of runs.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RunSummary {
    pub id: String,
    /// When it began, ISO 8601 in UTC; none where run.json cannot be read.
    pub started: Option<String>,
    pub title: Option<String>,
    /// The load on the engines.
    pub workload: Option<String>,
    /// Labels, in the order of the plan.
    pub engines: Vec<String>,
    /// Blocks with a trial in them.
    pub blocks: usize,
    /// All planned trials are there, or a budget ended the run.
    pub complete: bool,
    /// The headline; none where the run cannot be read.
    pub verdict: Option<String>,
    /// Its first sentence, or what is wrong.
    #[serde(skip)]
    pub lead: String,
    /// The fault, where the run cannot be read.
    pub error: Option<String>,
}

/// Reads and analyses one run. A run that cannot be read says why.
pub fn summarise(folder: RunFolder) -> RunSummary {
    let id = folder.id();
    match Finished::read(folder) {
        Ok(finished) => readable(id, &finished),
        Err(error) => RunSummary {
            id,
            started: None,
            title: None,
            workload: None,
            engines: Vec::new(),
            blocks: 0,
            complete: false,
            verdict: None,
            lead: error.to_string(),
            error: Some(error.to_string()),
        },
    }
}

fn readable(id: String, finished: &Finished) -> RunSummary {
    let Finished { plan, run, trials, .. } = finished;
    let design = Design::of(plan);
    let analysis = analysis::analyse(&design, &finished.cells(), trials);
    let blocks: std::collections::BTreeSet<usize> = trials.iter().map(|t| t.block).collect();
    let answer = answer(finished, &analysis);
    let has_all = trials.len() >= design.planned(&run.rounds) || may_end_by_budget(plan, run);
    RunSummary {
        id,
        started: Some(run.started.to_string()),
        title: Some(plan.title.clone()),
        workload: Some(plan.workload.name().to_owned()),
        engines: plan.engines.iter().map(engine::EngineSpec::label).collect(),
        blocks: blocks.len(),
        complete: run.complete && has_all,
        verdict: Some(answer.headline),
        lead: answer.lead,
        error: None,
    }
}

/// The column that is broken into lines where a terminal is narrow, and the least width that it has.
const VERDICT: &str = "Verdict";
const VERDICT_MIN: usize = 32;
/// Columns that a narrow terminal does not show, the first one first.
const SPARE: [&str; 4] = ["Title", "Engines", "Blocks", "Begun (UTC)"];

/// The list for a terminal, within its width where that is known.
pub fn list(runs: &[RunSummary], width: Option<u16>) -> String {
    let mut header = vec!["Run", "Begun (UTC)", "Title", "Engines", "Blocks", VERDICT];
    let mut rows: Vec<Vec<String>> = runs.iter().map(row).collect();
    let mut left_out = Vec::new();
    for spare in SPARE {
        let Some(width) = width.filter(|width| usize::from(*width) < least(&header, &rows)) else {
            break;
        };
        let Some(index) = header.iter().position(|title| *title == spare) else { continue };
        header.remove(index);
        rows.iter_mut().for_each(|row| drop(row.remove(index)));
        left_out.push((spare, width));
    }
    let last = header.len() - 1;
    let mut table = column_table(header, [], width);
    table.add_rows(rows);
    if width.is_some() && left_out.len() < SPARE.len() {
        // Ids and dates cannot be read in pieces.
        let whole = table.column_iter_mut().take(last);
        whole.for_each(|column| {
            column.set_constraint(ColumnConstraint::ContentWidth);
        });
    }
    match left_out.is_empty() {
        true => format!("{table}\n"),
        false => {
            let names: Vec<&str> = left_out.iter().map(|(name, _)| *name).collect();
            format!("{table}\n(no room for: {})\n", names.join("; "))
        }
    }
}

fn row(run: &RunSummary) -> Vec<String> {
    let incomplete = if run.complete || run.error.is_some() { "" } else { " (incomplete)" };
    // As `2026-11-21 21:00`: a list needs no seconds and no time zone.
    let minutes =
        |at: &String| at.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect();
    let cells = [
        run.id.clone(),
        run.started.as_ref().map(minutes).unwrap_or_default(),
        run.title.clone().unwrap_or_default(),
        run.engines.join(", "),
        format!("{}{incomplete}", run.blocks),
        run.lead.clone(),
    ];
    cells.iter().map(|cell| escaped(cell, Form::Terminal(None))).collect()
}

/// The width that all columns need, the verdict broken into lines.
fn least(header: &[&str], rows: &[Vec<String>]) -> usize {
    let width = |index: usize, title: &str| {
        let cells = rows.iter().filter_map(|row| row.get(index)).map(|cell| cell.chars().count());
        let content = cells.chain([title.chars().count()]).max().unwrap_or_default();
        // A blank on either side.
        2 + if title == VERDICT { content.min(VERDICT_MIN) } else { content }
    };
    header.iter().enumerate().map(|(index, title)| width(index, title)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(id: &str, lead: &str) -> RunSummary {
        RunSummary {
            id: id.to_owned(),
            started: Some("2026-11-21T21:00:07Z".to_owned()),
            title: Some("SQLite or PostgreSQL for the dashboard?".to_owned()),
            workload: Some("http".to_owned()),
            engines: vec!["sqlite".to_owned(), "postgres:18[work_mem=16MB]".to_owned()],
            blocks: 7,
            complete: true,
            verdict: Some(lead.to_owned()),
            lead: lead.to_owned(),
            error: None,
        }
    }

    #[test]
    fn the_list_fits_the_terminal_and_ids_stay_whole() {
        let long = "PostgreSQL 18 is shown faster than SQLite at every period measured, a week to a \
                    year: 2.28 times as fast at a year (323 ms against 735 ms; 95%: 2.24 to 2.31).";
        let runs = [run("20261121-210000-http-1a2b", long), run("20261122-210000-http-3c4d", "-")];
        for width in [60, 80, 100, 120, 200, 400] {
            let text = list(&runs, Some(width));
            for line in text.lines() {
                assert!(line.chars().count() <= usize::from(width), "{width}: {line}\n{text}");
            }
            assert!(runs.iter().all(|run| text.contains(&run.id)), "{text}");
        }
        assert!(list(&runs, Some(80)).ends_with("(no room for: Title; Engines; Blocks)\n"));
        assert!(list(&runs, None).contains(long) && list(&runs, None).contains("2026-11-21 21:00"));
        let narrow = list(&runs, Some(20));
        assert!(narrow.lines().take(6).all(|line| line.chars().count() <= 20), "{narrow}");
    }
}
