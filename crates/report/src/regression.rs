//! Regressions: sides that are shown slower than those that they are compared with, by more than is
//! allowed. Within a run these are engines and the first of them, or versions and the first of them; each
//! statement is judged by itself.

use std::collections::BTreeSet;

use notation::{counted, digits};
use plan::{Levels, Plan, RegressionSides};
use serde::Serialize;
use stats::crossing::{Sign, signs};
use stats::{RatioComparison, ratio_comparison};

use crate::analysis::{CONFIDENCE_LEVEL, Treatment, level_label, number};

/// Whether a side is slower by more than `fail_on_regression` allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Regression {
    /// The whole interval is beyond the share, and "slower" is shown.
    Yes,
    /// No part of the interval is beyond it.
    No,
    Undecided,
}

impl Regression {
    /// `sign` is corrected over all comparisons and the interval is not: both must be beyond the bound.
    pub(crate) fn of(compared: &RatioComparison, sign: Sign, share: f64) -> Self {
        let bound = 1.0 + share;
        match (compared.ratio.low, compared.ratio.high) {
            (Some(low), _) if low > bound && sign == Sign::BFaster => Self::Yes,
            (_, Some(high)) if high <= bound && compared.p_value.is_some() => Self::No,
            _ => Self::Undecided,
        }
    }
}

/// All comparisons that `fail_on_regression` asks for, judged together.
pub(crate) struct Regressions<'p> {
    plan: &'p Plan,
    share: f64,
    checks: Vec<RegressionCheck>,
}

/// One side, and what it is compared with.
pub(crate) struct RegressionCheck {
    pub engine: String,
    pub levels: Levels,
    /// One request of the mix; none for all together.
    pub request: Option<String>,
    /// The other side in words.
    against: String,
    /// The side in words, without what both have in common.
    side: String,
    /// None where it could not be made, with the reason.
    compared: Result<RatioComparison, String>,
    regression: Regression,
}

impl RegressionCheck {
    /// The ratio with its interval, or why there is none.
    pub(crate) fn measured(&self) -> String {
        match &self.compared {
            Ok(compared) => format!("{} times as long", number(&compared.ratio)),
            Err(why) => why.clone(),
        }
    }

    /// Whether the bound is kept; none where the blocks do not tell.
    pub(crate) fn is_met(&self) -> Option<bool> {
        match self.regression {
            Regression::Yes => Some(false),
            Regression::No => Some(true),
            Regression::Undecided => None,
        }
    }
}

impl<'p> Regressions<'p> {
    /// None where the plan does not ask.
    pub(crate) fn of(plan: &'p Plan, treatments: &[Treatment]) -> Option<Self> {
        let share = plan.fail_on_regression?.0;
        let sides = plan.regression_sides().ok()?;
        let mut checks = Vec::new();
        let mut seen = BTreeSet::new();
        for treatment in treatments {
            let Some((base, side, against)) = base(plan, sides, treatment, treatments) else {
                continue;
            };
            // Cells that differ in nothing that acts on the two are one comparison.
            if seen.insert((&treatment.engine, &treatment.measured_at, &base.measured_at)) {
                checks.extend(requests(plan).into_iter().map(|request| RegressionCheck {
                    engine: treatment.engine.clone(),
                    levels: treatment.levels.clone(),
                    compared: compare(plan, treatment, base, request.as_deref()),
                    request,
                    against: against.clone(),
                    side: side.clone(),
                    regression: Regression::Undecided,
                }));
            }
        }
        let compared: Vec<RatioComparison> =
            checks.iter().filter_map(|check| check.compared.as_ref().ok().copied()).collect();
        let mut signs = signs(&compared, 0, CONFIDENCE_LEVEL).into_iter();
        for check in &mut checks {
            if let Ok(compared) = &check.compared {
                let sign = signs.next().unwrap_or(Sign::Undecided);
                check.regression = Regression::of(compared, sign, share);
            }
        }
        Some(Self { plan, share, checks })
    }

    /// Something is neither shown nor excluded.
    pub(crate) fn is_undecided(&self) -> bool {
        self.checks.is_empty()
            || self.checks.iter().any(|one| one.regression == Regression::Undecided)
    }

    pub(crate) fn checks(&self) -> &[RegressionCheck] {
        &self.checks
    }

    /// The bound of a check in words.
    pub(crate) fn rule(&self, check: &RegressionCheck) -> String {
        format!("at most {} slower than {}", percent(self.share), check.against)
    }

    /// Engine, levels and request of a check.
    pub(crate) fn place(&self, check: &RegressionCheck) -> String {
        let levels = check.levels.iter();
        let levels = levels.map(|(name, level)| level_label(self.plan, name, level));
        let place = std::iter::once(check.engine.clone()).chain(levels);
        place.chain(check.request.clone()).collect::<Vec<_>>().join(", ")
    }

    /// The answer: `Slower by more than 10% in 1 of 6 comparisons: days on new takes 1.35 times as long as
    /// on old (95%: 1.30 to 1.41).`
    pub(crate) fn sentence(&self) -> String {
        let of = |wanted: Regression| -> Vec<&RegressionCheck> {
            self.checks.iter().filter(|check| check.regression == wanted).collect()
        };
        let percent = percent(self.share);
        let all = counted(self.checks.len(), "comparison");
        let (yes, open) = (of(Regression::Yes), of(Regression::Undecided));
        let ratio = |check: &&&RegressionCheck| {
            check.compared.as_ref().map_or(f64::INFINITY, |compared| compared.ratio.value)
        };
        let worst = |checks: &[&RegressionCheck]| {
            let worst = checks.iter().max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
            worst.map(|check| self.said(check)).unwrap_or_default()
        };
        let among = |some: usize| match self.checks.len() {
            1 => String::new(),
            _ => format!(" in {some} of {all}"),
        };
        match (yes.len(), open.len(), self.checks.len()) {
            (_, _, 0) => {
                format!("Nothing was compared that could be slower by more than {percent}.")
            }
            (0, 0, 1) => {
                format!("Not slower by more than {percent}: {}.", worst(&of(Regression::No)))
            }
            (0, 0, _) => format!(
                "Not slower by more than {percent} in any of {all}: at most {}.",
                worst(&of(Regression::No))
            ),
            (0, some, _) => format!(
                "Whether slower by more than {percent} is undecided{}: {}.",
                among(some),
                worst(&open)
            ),
            (some, _, _) => {
                format!("Slower by more than {percent}{}: {}.", among(some), worst(&yes))
            }
        }
    }

    /// `days on new takes 1.35 times as long as on old (95%: 1.30 to 1.41)`.
    fn said(&self, check: &RegressionCheck) -> String {
        let operations = self.plan.operations();
        let what = match (&check.request, operations.as_slice()) {
            (Some(request), _) => request.clone(),
            (None, [only]) => only.name.clone(),
            (None, _) => "the mix".to_owned(),
        };
        let RegressionCheck { side, against, .. } = check;
        match &check.compared {
            Err(why) => format!("{what} on {side} was not compared: {why}"),
            Ok(compared) => {
                let interval = match (compared.ratio.low, compared.ratio.high, compared.p_value) {
                    (Some(low), Some(high), Some(_)) => {
                        format!(" (95%: {} to {})", digits(low), digits(high))
                    }
                    _ => format!(
                        " ({}, too few for an interval)",
                        counted(compared.ratio.replicates, "block")
                    ),
                };
                let ratio = digits(compared.ratio.value);
                format!("{what} on {side} takes {ratio} times as long as on {against}{interval}")
            }
        }
    }
}

/// The other side of `treatment`, and both in words; none where it is the side that others are compared
/// with.
fn base<'t>(
    plan: &Plan,
    sides: RegressionSides<'_>,
    treatment: &Treatment,
    all: &'t [Treatment],
) -> Option<(&'t Treatment, String, String)> {
    let find = |engine: &str, levels: &Levels| {
        all.iter().find(|one| one.engine == engine && one.levels == *levels)
    };
    match sides {
        RegressionSides::Engines => {
            let first = plan.engines.first()?.label();
            let base = find(&first, &treatment.levels).filter(|_| treatment.engine != first)?;
            Some((base, treatment.engine.clone(), first))
        }
        RegressionSides::Levels(name) => {
            let first = plan.factors.get(name)?.levels.first()?;
            let here = treatment.levels.get(name).filter(|level| *level != first)?;
            let mut levels = treatment.levels.clone();
            levels.insert(name.to_owned(), first.clone());
            let base = find(&treatment.engine, &levels)?;
            let acts = base.measured_at != treatment.measured_at;
            let [side, against] = [here, first].map(|level| level_label(plan, name, level));
            acts.then_some((base, side, against))
        }
    }
}

/// The requests that are judged alone: all together can hide that one of them is slower. A rate is that
/// of whole rounds of the mix.
fn requests(plan: &Plan) -> Vec<Option<String>> {
    match plan.operations().as_slice() {
        [_, _, ..] if plan.response().lower_is_better() => {
            plan.operations().into_iter().map(|operation| Some(operation.name)).collect()
        }
        _ => vec![None],
    }
}

/// The ratio of costs, paired by block; less is faster, also where the response is a rate.
fn compare(
    plan: &Plan,
    side: &Treatment,
    base: &Treatment,
    request: Option<&str>,
) -> Result<RatioComparison, String> {
    for treatment in [side, base] {
        if let Some(why) = treatment.standing.reason() {
            return Err(format!("{}: {why}", treatment.engine));
        }
    }
    let blocks = |treatment: &Treatment| match request {
        None => treatment.blocks.clone(),
        Some(name) => {
            let found = treatment.by_request.iter().find(|one| one.name == name);
            found.map(|one| one.blocks.clone()).unwrap_or_default()
        }
    };
    let (of_side, of_base) = (blocks(side), blocks(base));
    let in_base = |block: usize| of_base.iter().find(|(other, _)| *other == block);
    let pairs = of_side.iter().filter_map(|(block, value)| Some((*value, in_base(*block)?.1)));
    let cost = |value| plan.response().cost(value);
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.map(|(a, b)| (cost(a), cost(b))).unzip();
    ratio_comparison(&a, &b, CONFIDENCE_LEVEL).ok_or_else(|| "no block has both".to_owned())
}

fn percent(share: f64) -> String {
    plan::Percent(share).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::analyse;
    use crate::formula::trial;
    use plan::{Design, Round};
    use record::FailureCounts;

    const PLAN: &str = r#"
        title = "a"
        workload = "http"
        replicates = 7
        fail_on_regression = "10%"
        application = { start = ["app", "{version}", "{database_url}", "{listen}"] }
        [[request]]
        name = "days"
        path = "/days"
        [[request]]
        name = "year"
        path = "/year"
    "#;

    /// Judges a run in which the first engine takes 10 ms for a request and the others `of` times that.
    fn judged(
        engines: &str,
        factors: &str,
        of: impl Fn(&Levels, &str) -> f64,
    ) -> (String, Vec<Option<bool>>) {
        let start = match factors.is_empty() {
            true => PLAN.replace("\"{version}\", ", ""),
            false => PLAN.to_owned(),
        };
        let text = format!("engines = {engines}\n{start}\n[factors]\nclients = [1]\n{factors}");
        let plan = plan::read(&text, "plan.toml").unwrap();
        let rounds = [Round { cells: plan.cells(), blocks: 7 }];
        let planned = Design::of(&plan).trials(1, &rounds, 0);
        let trials = planned.iter().map(|planned| {
            let mut made = trial(&plan, planned, 10.0);
            for (place, summary) in made.by_request.iter_mut().enumerate() {
                let wobble = 1.0 + 0.001 * ((planned.number * 7919 + place * 31) % 13) as f64;
                let factor = match planned.engine {
                    0 if factors.is_empty() => 1.0,
                    _ => of(&planned.levels, &summary.name),
                };
                summary.response_time_ms_mean = Some(10.0 * factor * wobble);
            }
            made
        });
        let mut trials: Vec<_> = trials.collect();
        for trial in trials.iter_mut().filter(|trial| trial.engine == "wrong") {
            let counts = FailureCounts { all: 1, wrong: 1, ..FailureCounts::default() };
            crate::formula::fail(trial, counts);
        }
        let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &trials);
        let regressions = Regressions::of(&plan, &analysis.treatments).unwrap();
        let met = regressions.checks().iter().map(RegressionCheck::is_met).collect();
        (regressions.sentence(), met)
    }

    const TWO: &str = r#"["sqlite[label=old]", "sqlite[label=new]"]"#;

    #[test]
    fn each_request_is_judged_by_itself() {
        let (said, met) = judged(TWO, "", |_, name| if name == "year" { 1.3 } else { 1.0 });
        assert_eq!(met, [Some(true), Some(false)]);
        assert!(said.starts_with("Slower by more than 10% in 1 of 2 comparisons: year on new takes 1.30 times as long as on old (95%: 1.30 to 1.3"), "{said}");
        let (said, met) = judged(TWO, "", |_, _| 1.05);
        assert_eq!(met, [Some(true); 2]);
        assert!(
            said.starts_with("Not slower by more than 10% in any of 2 comparisons: at most "),
            "{said}"
        );
        // The interval holds the bound.
        let (said, met) = judged(TWO, "", |_, name| if name == "year" { 1.1 } else { 0.5 });
        assert_eq!(met, [Some(true), None]);
        assert!(
            said.starts_with(
                "Whether slower by more than 10% is undecided in 1 of 2 comparisons: year on new"
            ),
            "{said}"
        );
    }

    #[test]
    fn an_engine_with_wrong_answers_keeps_to_no_bound() {
        let engines = TWO.replace("=new", "=wrong");
        let (said, met) = judged(&engines, "", |_, _| 1.0);
        assert_eq!(met, [None; 2]);
        assert!(
            said.contains("on wrong was not compared: wrong: 7 of 77 answers to days"),
            "{said}"
        );
    }

    #[test]
    fn levels_of_a_version_are_compared_on_each_engine() {
        let factors = "version = [\"a\", \"b\"]";
        let slower =
            |levels: &Levels, name: &str| match (levels["version"].to_string().as_str(), name) {
                ("b", "days") => 1.5,
                _ => 1.0,
            };
        let (said, met) = judged("[\"sqlite\"]", factors, slower);
        assert_eq!(met, [Some(false), Some(true)]);
        assert!(
            said.contains("days on version b takes 1.50 times as long as on version a"),
            "{said}"
        );
    }
}
