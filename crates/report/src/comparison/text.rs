//! A comparison for a terminal or as Markdown.

use notation::digits;
use stats::Method;

use super::{Comparison, Regression, Row, SideDesign, SideRun, Verdict};
use crate::analysis::number;
use crate::grid::{Form, drawn, escaped};
use crate::warning;

/// The headline, a table with a line for each treatment, and what makes it doubtful.
pub fn text(comparison: &Comparison, width: Option<u16>) -> String {
    parts(comparison, Form::Terminal(width)).join("\n\n") + "\n"
}

/// The same for a ticket or a pull request.
pub fn markdown(comparison: &Comparison) -> String {
    let mut parts = parts(comparison, Form::Markdown);
    parts[0] = format!("**{}**", parts[0]);
    parts.join("\n\n") + "\n"
}

fn parts(comparison: &Comparison, form: Form) -> Vec<String> {
    let mut parts = vec![
        escaped(&comparison.summary.headline, form),
        format!("A: {}\nB: {}", side(&comparison.a), side(&comparison.b)),
        table(comparison, form),
    ];
    parts.extend(warning::lines(&comparison.warnings, form));
    parts.push(note(comparison).to_owned());
    parts
}

fn side(runs: &[SideRun]) -> String {
    runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(", ")
}

fn note(comparison: &Comparison) -> &'static str {
    let is_range = |row: &Row| row.ratio.method == Method::RangeOnly;
    match comparison.design {
        SideDesign::Interleaved if comparison.rows.iter().all(is_range) => {
            "In brackets: the smallest and the largest of the blocks' ratios."
        }
        SideDesign::Interleaved => {
            "In brackets: 95% intervals from pairs of blocks of one sitting. Verdicts are corrected \
             over all treatments."
        }
        SideDesign::SeveralSittings => {
            "In brackets: 95% intervals by Welch's t, with one value for each sitting. Verdicts \
             are corrected over all treatments."
        }
        SideDesign::TooFewSittings => "Times are geometric means over blocks.",
    }
}

fn table(comparison: &Comparison, form: Form) -> String {
    let header = ["Where", "Engine", "A, ms", "B, ms", "B by A", "B is"].map(str::to_owned);
    let row = |row: &Row| {
        let engine = match row.engine_a == row.engine_b {
            true => row.engine_a.clone(),
            false => format!("{} / {}", row.engine_a, row.engine_b),
        };
        vec![
            row.place.clone(),
            engine,
            digits(row.a_response_time_ms),
            digits(row.b_response_time_ms),
            number(&row.ratio),
            verdict(row).to_owned(),
        ]
    };
    drawn(header.to_vec(), comparison.rows.iter().map(row).collect(), 2, form)
}

pub(super) fn verdict(row: &Row) -> &'static str {
    match (row.verdict, row.regression) {
        (_, Some(Regression::Yes)) => "slower: a regression",
        (Some(Verdict::Faster), _) => "faster",
        (Some(Verdict::Slower), _) => "slower",
        (Some(Verdict::Equivalent), _) => "equal",
        (Some(Verdict::Undecided), _) => "undecided",
        (None, _) => "",
    }
}
