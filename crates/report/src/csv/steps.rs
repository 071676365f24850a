//! Statements by steps of engines, a line for each.

use super::number;
use crate::analysis::Shown;
use crate::steps::{StepRow, StepTimePart, StepsPart};
use notation::csv_table;
use stats::Estimate;

const COLUMNS: [&str; 15] = [
    "statement",
    "executions",
    "engine",
    "step",
    "response_time_ms_mean",
    "low",
    "high",
    "ratio_to_step_before",
    "ratio_to_step_before_low",
    "ratio_to_step_before_high",
    "verdict",
    "ratio_at_best",
    "ratio_at_best_low",
    "ratio_at_best_high",
    "verdict_at_best",
];

/// The total of a log has no statement. What is compared at best is in the lines of the other
/// engine's best step, and is about that engine as the rest of the line: its time by the first one's.
pub(super) fn csv(part: &StepsPart) -> String {
    let lines = part.rows.iter().flat_map(|row| row.times.iter().map(move |time| (row, time)));
    csv_table(&COLUMNS, lines.map(|(row, time)| line(part, row, time)))
}

fn line(part: &StepsPart, row: &StepRow, time: &StepTimePart) -> Vec<String> {
    let engine = part.engines.iter().find(|of| of.engine == time.engine);
    let is_best = engine.is_some_and(|of| of.best == time.step);
    let best = row.best.iter().find(|best| is_best && best.engine == time.engine);
    let mut cells = vec![
        row.statement.clone().unwrap_or_default(),
        row.executions.map(|count| count.to_string()).unwrap_or_default(),
        time.engine.clone(),
        time.step.clone(),
    ];
    let parts = |estimate: Option<Estimate>| {
        [
            number(estimate.map(|estimate| estimate.value)),
            number(estimate.and_then(|estimate| estimate.low)),
            number(estimate.and_then(|estimate| estimate.high)),
        ]
    };
    let name = |verdict: Option<Shown>| verdict.map(Shown::name).unwrap_or_default().to_owned();
    cells.extend(parts(time.response_time_ms_mean));
    cells.extend(parts(time.ratio_to_step_before));
    cells.push(name(time.verdict));
    cells.extend(parts(best.map(|best| best.ratio.inverse())));
    cells.push(name(best.map(|best| best.verdict.of_the_other())));
    cells
}
