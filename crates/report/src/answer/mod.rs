//! The answer to a run's question in words: one value, which terminal, page, Markdown and JSON show.

mod again;
mod alone;
mod course;
mod difference;
mod distance;
mod headline;
mod interactions;
mod moves;
mod names;
mod not_compared;
mod peaks;
mod place;
mod ranking;
mod sentence;
mod several;
pub(crate) mod size;
mod starvation;
mod steps;
mod two;
mod verdicts;
mod wording;

#[cfg(test)]
pub mod tests;

use std::collections::BTreeMap;

use notation::counted;
use plan::{Levels, Plan};
use record::{EngineRecord, Finished, NotMeasured};
use serde::Serialize;
use stats::crossing::Side;

use crate::analysis::{Analysis, Family, Shown, Sweep};
use crate::regression::Regressions;
use names::EngineNames;
pub use names::in_words;
pub use not_compared::NotCompared;
pub use ranking::{Rank, Ranking};
use sentence::Sentence;
pub use steps::{Conclusion, StepConclusion, conclusions, needed_steps};
pub(crate) use steps::{changes, quoted};
use verdicts::Verdicts;
use wording::Wording;

/// The answer to the plan's question.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RunAnswer {
    /// All of it, with its size.
    pub headline: String,
    /// Its first sentence: a crossing, otherwise where each engine is faster.
    pub lead: String,
    /// The reasons: each set of levels, the cost of a wrong choice, the effect of each factor, the
    /// way out of open questions.
    pub sentences: Vec<String>,
    /// Every comparison of all requests together.
    pub verdicts: Vec<PairVerdict>,
    /// The pairs that have no comparison of their own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<NotCompared>,
    /// Of three engines and more, at every set of levels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rankings: Vec<Ranking>,
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
    /// A conclusion of some statements is not taken for one of all.
    fn say_what_was_left_out(&mut self, measured: usize, left_out: &[NotMeasured]) {
        if left_out.is_empty() {
            return;
        }
        let names: Vec<String> = left_out.iter().map(|one| quoted(&one.name)).collect();
        let limit = format!(
            "Of {measured} of {} statements (not measured: {}): ",
            measured + left_out.len(),
            steps::shortened(&names)
        );
        for text in [&mut self.headline, &mut self.lead] {
            text.insert_str(0, &limit);
        }
    }

    fn begin_with(&mut self, sentence: &str) {
        self.headline = format!("{sentence} {}", self.headline);
        sentence.clone_into(&mut self.lead);
    }
}

/// Result of one comparison.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct PairVerdict {
    /// The verdicts with which it is corrected.
    pub family: Family,
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
    /// The command that compares PostgreSQL, where a try measured SQLite alone.
    pub to_compare: Option<&'a str>,
}

/// The answer of a recorded run.
pub fn answer(finished: &Finished, analysis: &Analysis) -> RunAnswer {
    let blocks = finished.run.blocks(&finished.plan).max(1) as f64;
    let run = finished.folder.as_argument();
    let assessment = finished.run.assessment.as_ref();
    let background = Background {
        engines: Some(&finished.run.engines),
        run: Some(&run),
        seconds_per_block: finished.working_seconds().map(|seconds| seconds / blocks),
        to_compare: assessment.and_then(|one| one.to_compare.as_deref()),
    };
    let mut answer = of(&finished.plan, &background, analysis);
    if let Some(left_out) = assessment.map(|one| &one.not_measured) {
        answer.say_what_was_left_out(finished.plan.statements.len(), left_out);
    }
    if let Some(regressions) = Regressions::of(&finished.plan, &analysis.treatments) {
        answer.begin_with(&in_words(&answer.products, &regressions.sentence()));
        answer.undecided = regressions.is_undecided();
    }
    answer
}

/// The answer that `analysis` gives to the question of `plan`.
pub fn of(plan: &Plan, background: &Background<'_>, analysis: &Analysis) -> RunAnswer {
    let wording = Wording::of(plan, background, analysis);
    if !analysis.steps.is_empty() {
        return of_steps(wording, background, analysis);
    }
    let said = Said::of(&wording, background, analysis);
    let texts = |sentences: Vec<Sentence>| -> Vec<String> {
        sentences.into_iter().map(|sentence| sentence.text).collect()
    };
    let headline = texts(said.headline);
    let together = analysis.sweeps.iter().filter(|sweep| sweep.request.is_none());
    let mut primary = analysis.sweeps.iter().filter(|sweep| sweep.is_primary());
    RunAnswer {
        lead: headline.first().cloned().unwrap_or_default(),
        headline: headline.join(" "),
        sentences: wording.names.explained(&texts(said.sentences)),
        verdicts: together.flat_map(|sweep| verdicts(plan, sweep)).collect(),
        not_compared: not_compared::list(&wording),
        rankings: if has_verdict(analysis) { ranking::everywhere(&wording) } else { Vec::new() },
        bound_missed: false,
        undecided: primary.any(|sweep| !sweep.is_settled()),
        of_sweeps: texts(said.of_sweeps),
        of_steps: texts(said.of_steps),
        products: wording.names.into_map(),
    }
}

/// The answer of a plan with steps.
fn of_steps(wording: Wording<'_>, background: &Background<'_>, analysis: &Analysis) -> RunAnswer {
    let answer = steps::answer(&wording, &analysis.steps, background.to_compare);
    let together = analysis.sweeps.iter().filter(|sweep| sweep.request.is_none());
    RunAnswer {
        lead: answer.headline.first().cloned().unwrap_or_default(),
        headline: answer.headline.join(" "),
        sentences: answer.sentences,
        verdicts: together.flat_map(|sweep| verdicts(wording.plan, sweep)).collect(),
        not_compared: Vec::new(),
        rankings: Vec::new(),
        undecided: answer.undecided,
        bound_missed: answer.bound_missed,
        of_sweeps: analysis.sweeps.iter().map(|sweep| wording.sentence(sweep).text).collect(),
        of_steps: Vec::new(),
        products: wording.names.into_map(),
    }
}

impl<'a> Wording<'a> {
    fn of(plan: &'a Plan, background: &Background<'_>, analysis: &'a Analysis) -> Self {
        let none = BTreeMap::new();
        let names = EngineNames::of(plan, background.engines.unwrap_or(&none));
        let verdicts = Verdicts::of(plan, analysis);
        Self { plan, names, treatments: &analysis.treatments, verdicts }
    }
}

fn has_verdict(analysis: &Analysis) -> bool {
    let mut results = analysis.sweeps.iter().flat_map(|sweep| &sweep.results);
    results.any(|one| one.ratio.replicates >= stats::INTERVAL_MIN_REPLICATES)
}

/// Everything that the answer says.
struct Said {
    headline: Vec<Sentence>,
    sentences: Vec<Sentence>,
    /// One for each sweep of the analysis.
    of_sweeps: Vec<Sentence>,
    /// One for each step from an engine to the next.
    of_steps: Vec<Sentence>,
}

impl Said {
    fn of(wording: &Wording<'_>, background: &Background<'_>, analysis: &Analysis) -> Self {
        let plan = wording.plan;
        let headline = headline::headline(wording, analysis);
        let together: Vec<&Sweep> =
            analysis.sweeps.iter().filter(|sweep| sweep.request.is_none()).collect();
        let has_gaps = together.iter().any(|sweep| !sweep.left_out.is_empty());
        let mut sentences = match has_verdict(analysis) || has_gaps || plan.engines.len() < 2 {
            true => sentences(wording, analysis, &together),
            false => Vec::new(),
        };
        sentences
            .retain(|one| !headline.iter().any(|said| said.text.eq_ignore_ascii_case(&one.text)));
        if has_verdict(analysis) {
            let primary: Vec<&Sweep> =
                together.iter().filter(|sweep| sweep.is_primary()).copied().collect();
            let again = again::sentence(background, &primary).map(Sentence::plain);
            sentences.extend(again.into_iter().chain(correction(&together).map(Sentence::plain)));
        }
        sentences.extend(distance::sentences(wording, |_| true).into_iter().map(Sentence::plain));
        let steps = analysis.throughput.iter().flat_map(|throughput| &throughput.steps);
        Self {
            headline,
            sentences,
            of_sweeps: analysis.sweeps.iter().map(|sweep| wording.sentence(sweep)).collect(),
            of_steps: steps.map(|step| wording.sentence(step)).collect(),
        }
    }
}

/// One for each sweep, where the headline has not told it whole; what a wrong choice costs; what each
/// factor does; the pairs that were not compared.
fn sentences(wording: &Wording<'_>, analysis: &Analysis, together: &[&Sweep]) -> Vec<Sentence> {
    let of_two = wording.plan.engines.len() == 2;
    // Other pairs have a table of their own.
    let sweeps = together.iter().filter(|sweep| sweep.is_primary());
    let sweeps = sweeps.filter(|_| !of_two || together.len() > 1);
    let mut said: Vec<Sentence> = sweeps.map(|sweep| wording.sentence(sweep)).collect();
    if of_two {
        said.extend(wording.costs(together));
        said.extend(wording.cores(together).map(Sentence::plain));
    }
    said.extend(moves::sentences(wording, &analysis.sweeps, &analysis.effects));
    said.extend(interactions::sentences(wording, &analysis.interactions));
    said.extend(not_compared::sentence(wording).filter(|_| has_verdict(analysis)));
    said
}

/// Whether intervals and verdicts are corrected for their number, said once.
fn correction(together: &[&Sweep]) -> Option<String> {
    let of = |family: Family| {
        let sweeps = together.iter().filter(|sweep| sweep.family == family);
        sweeps.flat_map(|sweep| &sweep.results).map(|one| one.verdicts).max()
    };
    let verdicts = of(Family::Primary)?;
    let others = of(Family::OtherPairs).map(|others| {
        format!(", those of the other pairs by themselves for {}", counted(others, "comparison"))
    });
    (verdicts > 1 || others.is_some()).then(|| {
        format!(
            "Verdicts are corrected for {} (Holm){}; each interval is of 95% by itself.",
            counted(verdicts, "comparison"),
            others.unwrap_or_default()
        )
    })
}

fn verdicts(plan: &Plan, sweep: &Sweep) -> Vec<PairVerdict> {
    let is_swept = place::axis(plan, sweep).is_some();
    let of = |one: &crate::analysis::Compared| {
        let ratio = plan.response().ratio(one.ratio);
        PairVerdict {
            family: sweep.family,
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
