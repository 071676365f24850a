//! Recorded runs against each other: whether they may be compared, and what that shows. What a
//! verdict may rest on depends on how the runs came about (METHOD.md, section 12).

mod alike;
mod junit;
mod matching;
mod summary;
mod text;
mod treatments;
mod verdict;

use serde::Serialize;
use stats::Estimate;

use crate::warning::{self, WarningPart};
use plan::Levels;
use record::Finished;

pub use crate::regression::Regression;
pub use alike::{Difference, differences};
pub use junit::junit;
pub use summary::ComparisonSummary;
pub use text::{markdown, text};

/// The version of the comparison's JSON.
const SCHEMA_VERSION: u32 = 2;

/// Why runs are not compared.
#[derive(Debug, thiserror::Error)]
pub enum Incomparable {
    /// A ratio would say nothing.
    #[error(
        "{a} and {b} are not compared. {} {} `crossover report {a} {b}` shows them side by side",
        difference.message(), difference.advice()
    )]
    Different { a: String, b: String, difference: Difference },
    /// No treatment is in both.
    #[error("{a} and {b} have no treatment in common: their engines or levels differ")]
    NothingInCommon {
        a: String,
        /// The second.
        b: String,
    },
    /// A run on both sides, or twice on one.
    #[error("the run {run} is named twice; every sitting counts once")]
    Twice { run: String },
}

/// Questions of the user beside faster and slower.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComparisonOptions {
    /// Within this share the sides count as the same: 0.03. Unless given, as the plan of side A has
    /// it.
    pub equivalent_within: Option<f64>,
    /// A side B that is slower by more than this share fails: 0.05.
    pub fail_on_regression: Option<f64>,
}

/// The basis of a comparison's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SideDesign {
    /// Both sides measured in one sitting, block by block in random order: pairs of blocks.
    Interleaved,
    /// Several runs per side: the runs are the replicates.
    SeveralSittings,
    /// Too few runs per side. How much a machine changes from one sitting to the next is unknown,
    /// so there are ratios and no verdict.
    TooFewSittings,
}

/// Side B against side A.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Comparison {
    /// The version of this form.
    pub schema_version: u32,
    /// The basis of the verdicts.
    pub design: SideDesign,
    /// The runs of side A, the base.
    pub a: Vec<SideRun>,
    /// The runs of side B.
    pub b: Vec<SideRun>,
    /// Of the intervals, and of all verdicts together.
    pub confidence_level: f64,
    pub equivalent_within: Option<f64>,
    pub fail_on_regression: Option<f64>,
    pub summary: ComparisonSummary,
    pub rows: Vec<Row>,
    /// Doubts about the comparison.
    pub warnings: Vec<WarningPart>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct SideRun {
    pub id: String,
    pub started: String,
    pub title: String,
}

/// One treatment on both sides.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Row {
    /// The engine's label on side A.
    pub engine_a: String,
    /// The engine's label on side B.
    pub engine_b: String,
    /// One level of each factor.
    pub levels: Levels,
    #[serde(rename = "where")]
    pub place: String,
    /// Geometric mean of side A, ms.
    pub a_response_time_ms: f64,
    /// Geometric mean of side B, ms.
    pub b_response_time_ms: f64,
    /// B by A; without bounds where there are too few sittings.
    pub ratio: Estimate,
    /// Of the hypothesis that the ratio is one, not corrected.
    pub p_value: Option<f64>,
    /// The verdict, corrected over all rows; none where there are too few sittings.
    pub verdict: Option<Verdict>,
    /// Whether B is slower by more than the wished share; none where that was not asked.
    pub regression: Option<Regression>,
}

/// The verdict of one row on side B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Faster,
    Slower,
    /// The same within the wished share.
    Equivalent,
    /// None of these is shown.
    Undecided,
}

impl Comparison {
    /// A regression is shown somewhere.
    pub fn has_regression(&self) -> bool {
        self.rows.iter().any(|row| row.regression == Some(Regression::Yes))
    }

    /// Something that was asked has no answer: a regression neither shown nor excluded; without
    /// that question, a row without a verdict; a treatment that was left out.
    pub fn is_undecided(&self) -> bool {
        let is_open = |row: &Row| match row.regression {
            Some(regression) => regression == Regression::Undecided,
            None => matches!(row.verdict, None | Some(Verdict::Undecided)),
        };
        self.rows.iter().any(is_open) || self.warnings.iter().any(|one| one.kind == LEFT_OUT)
    }
}

/// The kind of the warning that names treatments which are compared in no row.
const LEFT_OUT: &str = "left_out";

fn left_out(treatments: &[String]) -> Option<WarningPart> {
    let message = format!(
        "Not compared, since a run has failures or no trial that counts there: {}.",
        treatments.join("; ")
    );
    let advice = "Read the warnings of the runs' reports; repair what fails and repeat.";
    (!treatments.is_empty()).then_some(WarningPart::new(LEFT_OUT, message, advice))
}

/// Compares two sides, each of one run or of several sittings of the same plan.
pub fn compare(
    a: &[Finished],
    b: &[Finished],
    mut wishes: ComparisonOptions,
) -> Result<Comparison, Incomparable> {
    let of_plan = || Some(a.first()?.plan.equivalent_within.0);
    wishes.equivalent_within = wishes.equivalent_within.or_else(of_plan);
    let warnings = matching::check(a, b)?;
    let design = treatments::design(a, b);
    let (pairs, mut doubts) = matching::engines(a, b);
    let (rows, failed) = treatments::rows(a, b, &pairs, design);
    doubts.extend(left_out(&failed));
    if rows.is_empty() && failed.is_empty() {
        let (a, b) = (matching::names(a), matching::names(b));
        return Err(Incomparable::NothingInCommon { a, b });
    }
    let rows = verdict::judge(rows, design, wishes);
    doubts.extend(warnings);
    let side = |runs: &[Finished]| {
        let run = |one: &Finished| SideRun {
            id: one.run.id.clone(),
            started: one.run.started.to_string(),
            title: one.plan.title.clone(),
        };
        runs.iter().map(run).collect()
    };
    Ok(Comparison {
        schema_version: SCHEMA_VERSION,
        design,
        a: side(a),
        b: side(b),
        confidence_level: crate::analysis::CONFIDENCE_LEVEL,
        equivalent_within: wishes.equivalent_within,
        fail_on_regression: wishes.fail_on_regression,
        summary: ComparisonSummary::of(&rows, design, wishes),
        rows,
        warnings: warning::in_order(doubts),
    })
}
