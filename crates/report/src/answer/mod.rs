//! The answer to a run's question in words: one value, which terminal, page, Markdown and JSON show.

mod again;
mod alone;
mod by_request;
mod difference;
mod headline;
mod moves;
mod names;
mod place;
mod ranking;
pub(crate) mod size;
mod starvation;
mod steps;
mod wording;

#[cfg(test)]
pub mod tests;

use std::collections::BTreeMap;

use plan::{Levels, Plan, counted};
use record::{EngineRecord, Finished};
use serde::Serialize;
use stats::crossing::Side;

use crate::analysis::{Analysis, Shown, StepAnalysis, Sweep};
use crate::regression::Regressions;
use names::EngineNames;
pub use names::in_words;
pub use ranking::Rank;
pub(crate) use steps::quoted;
pub use steps::{Conclusion, step_conclusion};
use wording::Wording;

/// The answer to the plan's question.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RunAnswer {
    /// All of it, with its size.
    pub headline: String,
    /// Its first sentence, which has the size.
    pub lead: String,
    /// The reasons: each set of levels, the cost of a wrong choice, the effect of each factor, the
    /// way out of open questions.
    pub sentences: Vec<String>,
    /// One for each set of levels and pair of engines: what each request alone shows. Of one request
    /// all together show that.
    pub by_request: Vec<String>,
    /// Every comparison of all requests together.
    pub verdicts: Vec<PairVerdict>,
    /// Three engines and more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranking: Vec<Rank>,
    /// Something was asked that the run does not answer; exit code 3.
    #[serde(skip)]
    pub undecided: bool,
    /// No step of any engine keeps to the bound that the user calls enough; exit code 99.
    #[serde(skip)]
    pub bound_missed: bool,
    /// Engines as people call them, by label: part of each engine in the document.
    #[serde(skip)]
    pub products: BTreeMap<String, String>,
    /// A sentence for each sweep, in the order of the analysis.
    #[serde(skip)]
    pub of_sweeps: Vec<String>,
    /// The same of each engine against the one before, where throughput over clients is measured.
    #[serde(skip)]
    pub of_steps: Vec<String>,
}

impl RunAnswer {
    /// Puts the answer to a further question of the plan first.
    fn begin_with(&mut self, sentence: &str) {
        self.headline = format!("{sentence} {}", self.headline);
        sentence.clone_into(&mut self.lead);
    }
}

/// Result of one comparison.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PairVerdict {
    pub a: String,
    pub b: String,
    /// The levels of the factors that are not swept.
    pub levels: Levels,
    /// Of the swept factor.
    pub level: Option<f64>,
    /// The response of a by that of b, with its interval.
    pub ratio: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// The result, seen from a.
    pub verdict: Shown,
}

/// Facts of a run besides its trials.
#[derive(Clone, Copy, Default)]
pub struct Background<'a> {
    /// By label.
    pub engines: Option<&'a BTreeMap<String, EngineRecord>>,
    /// The run as an argument of the command that repeats it.
    pub run: Option<&'a str>,
    pub seconds_per_block: Option<f64>,
}

/// The answer of a recorded run.
pub fn answer(finished: &Finished, analysis: &Analysis) -> RunAnswer {
    let blocks = finished.run.blocks(&finished.plan).max(1) as f64;
    let run = finished.folder.as_argument();
    let background = Background {
        engines: Some(&finished.run.engines),
        run: Some(&run),
        seconds_per_block: finished.working_seconds().map(|seconds| seconds / blocks),
    };
    let mut answer = of(&finished.plan, &background, analysis);
    if let Some(regressions) = Regressions::of(&finished.plan, &analysis.treatments) {
        answer.begin_with(&in_words(&answer.products, &regressions.sentence()));
        answer.undecided = regressions.is_undecided();
    }
    answer
}

/// The answer that `analysis` gives to the question of `plan`.
pub fn of(plan: &Plan, background: &Background<'_>, analysis: &Analysis) -> RunAnswer {
    let none = BTreeMap::new();
    let names = EngineNames::of(plan, background.engines.unwrap_or(&none));
    let wording = Wording { plan, names, treatments: &analysis.treatments };
    if let Some(found) = &analysis.steps {
        return of_steps(wording, analysis, found);
    }
    let together: Vec<&Sweep> =
        analysis.sweeps.iter().filter(|sweep| sweep.request.is_none()).collect();
    let has_verdict = together.iter().any(|sweep| {
        sweep.results.iter().any(|one| one.ratio.replicates >= stats::INTERVAL_MIN_REPLICATES)
    });
    let ranking = ranking::of(&wording, &together).filter(|_| has_verdict);
    let headline = headline::headline(&wording, analysis, &together, ranking.as_ref());
    let has_gaps = together.iter().any(|sweep| !sweep.left_out.is_empty());
    let mut sentences = match has_verdict || has_gaps || plan.engines.len() < 2 {
        true => sentences(&wording, analysis, &together, has_verdict && ranking.is_none()),
        false => Vec::new(),
    };
    // Of other clients or sizes the headline has said all there is where they are few.
    sentences.retain(|one| !headline.iter().any(|said| said.eq_ignore_ascii_case(one)));
    if has_verdict {
        sentences.extend(again::sentence(background, &together));
        sentences.extend(correction(&together));
    }
    RunAnswer {
        lead: headline.first().cloned().unwrap_or_default(),
        headline: headline.join(" "),
        sentences: wording.names.explained(&sentences),
        // One operation alone shows what all together show.
        by_request: match plan.operations().len() {
            1 => Vec::new(),
            _ => by_request::sentences(&wording, &analysis.sweeps),
        },
        verdicts: together.iter().flat_map(|sweep| verdicts(plan, sweep)).collect(),
        ranking: ranking.map(|ranking| ranking.ranks).unwrap_or_default(),
        undecided: together.iter().any(|sweep| !sweep.is_settled()),
        bound_missed: false,
        of_sweeps: analysis.sweeps.iter().map(|sweep| wording.sentence(sweep)).collect(),
        of_steps: releases(&wording, analysis),
        products: wording.names.into_map(),
    }
}

/// The answer of a plan with steps.
fn of_steps(wording: Wording<'_>, analysis: &Analysis, found: &StepAnalysis) -> RunAnswer {
    let answer = steps::answer(&wording, found);
    let together = analysis.sweeps.iter().filter(|sweep| sweep.request.is_none());
    RunAnswer {
        lead: answer.headline.first().cloned().unwrap_or_default(),
        headline: answer.headline.join(" "),
        sentences: answer.sentences,
        by_request: Vec::new(),
        verdicts: together.flat_map(|sweep| verdicts(wording.plan, sweep)).collect(),
        ranking: Vec::new(),
        undecided: answer.undecided,
        bound_missed: answer.bound_missed,
        of_sweeps: analysis.sweeps.iter().map(|sweep| wording.sentence(sweep)).collect(),
        of_steps: Vec::new(),
        products: wording.names.into_map(),
    }
}

fn releases(wording: &Wording<'_>, analysis: &Analysis) -> Vec<String> {
    let steps = analysis.throughput.iter().flat_map(|throughput| &throughput.steps);
    steps.map(|step| wording.sentence(step)).collect()
}

/// One for each sweep, the first left out where the headline has `told` it of two engines; what a
/// wrong choice costs there; what each factor does.
fn sentences(
    wording: &Wording<'_>,
    analysis: &Analysis,
    together: &[&Sweep],
    told: bool,
) -> Vec<String> {
    let told = told && wording.plan.engines.len() == 2;
    let sweeps = together.iter().skip(usize::from(told));
    let mut said: Vec<String> = sweeps.map(|sweep| wording.sentence(sweep)).collect();
    let first = together.first().filter(|_| told);
    said.extend(first.and_then(|_| wording.costs(together)));
    said.extend(first.and_then(|first| wording.cores(first)));
    said.extend(moves::sentences(wording, &analysis.sweeps, &analysis.effects));
    said
}

/// Whether intervals and verdicts are corrected for their number, said once.
fn correction(together: &[&Sweep]) -> Option<String> {
    let verdicts =
        together.iter().flat_map(|sweep| &sweep.results).map(|one| one.verdicts).max()?;
    (verdicts > 1).then(|| {
        format!(
            "Verdicts are corrected for {} (Holm); each interval is of 95% by itself.",
            counted(verdicts, "comparison")
        )
    })
}

fn verdicts(plan: &Plan, sweep: &Sweep) -> Vec<PairVerdict> {
    let is_swept = place::axis(plan, sweep).is_some();
    let of = |one: &crate::analysis::Compared| {
        let ratio = plan.response().ratio(one.ratio);
        PairVerdict {
            a: wording::label(sweep, Side::A).to_owned(),
            b: wording::label(sweep, Side::B).to_owned(),
            levels: sweep.levels.clone(),
            level: is_swept.then_some(one.level),
            ratio: ratio.value,
            low: ratio.low,
            high: ratio.high,
            verdict: one.shown(),
        }
    };
    sweep.results.iter().map(of).collect()
}
