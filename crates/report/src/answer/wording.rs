//! Words about two engines that every kind of answer shares: names, values, intervals, failures, and one
//! sentence for each sweep.

use notation::{counted, thousands};
use plan::{Levels, Plan};
use stats::crossing::Side;
use stats::{Estimate, Method};

use super::names::EngineNames;
use super::sentence::{EnginePair, Sentence};
use super::verdicts::Verdicts;
use super::{names, place, size};
use crate::analysis::{Compared, Failures, Family, Sweep, Treatment};

/// The words for one run.
pub(super) struct Wording<'a> {
    pub plan: &'a Plan,
    pub names: EngineNames,
    pub treatments: &'a [Treatment],
    pub verdicts: Verdicts<'a>,
}

impl Wording<'_> {
    pub(super) fn side<'s>(&'s self, sweep: &'s Sweep, side: Side) -> &'s str {
        self.names.get(label(sweep, side))
    }

    /// The response of `engine` at one level of each factor.
    pub(super) fn estimate(&self, engine: &str, levels: &Levels) -> Option<f64> {
        Some(self.treatment(engine, levels)?.estimate?.value)
    }

    pub(super) fn treatment(&self, engine: &str, levels: &Levels) -> Option<&Treatment> {
        self.treatments.iter().find(|one| one.engine == engine && one.levels == *levels)
    }

    /// `equal within 5% (PostgreSQL 18 1.02 times as fast)`.
    pub(super) fn equal(&self, sweep: &Sweep, one: &Compared) -> String {
        let within = format!("equal within {}", self.plan.equivalent_within);
        let Some(side) = one.sign.faster() else { return within };
        let times = size::times(self.plan.response(), speed_of(side, one).value);
        format!("{within} ({} {times})", self.side(sweep, side))
    }

    /// The range that an undecided comparison leaves open: `PostgreSQL 18 is 0.93 to 1.08 times as fast
    /// as SQLite (95%)`; none without an interval.
    pub(super) fn doubt(&self, sweep: &Sweep, one: &Compared) -> Option<String> {
        if one.time_outs_could_turn {
            return Some("time-outs could turn it".to_owned());
        }
        let speed = speed_of(Side::A, one);
        let interval = size::interval(&speed).filter(|_| speed.method != Method::RangeOnly)?;
        let [a, b] = [Side::A, Side::B].map(|side| self.side(sweep, side));
        let range = match self.plan.response().lower_is_better() {
            true => format!("{a} is {interval} times as fast as {b} (95%)"),
            false => format!("{a} does {interval} times {} (95%)", self.rate_of(b)),
        };
        let contains_one = speed.low < Some(1.0) && speed.high > Some(1.0);
        Some(match contains_one {
            true => range,
            // An interval stands by itself, the verdict among all of its family.
            false => format!("{range}, not shown among {}", counted(one.verdicts, "comparison")),
        })
    }

    /// `PostgreSQL 18's transactions per second`.
    pub(super) fn rate_of(&self, engine: &str) -> String {
        names::of(engine, &self.plan.response().label().to_lowercase())
    }

    /// `; failures: SQLite in 5 of 31,771 requests, PostgreSQL 18 in none`; empty where none failed.
    pub(super) fn failures(&self, sweep: &Sweep) -> String {
        let [a, b] = &sweep.failures;
        let of = [(Side::A, a), (Side::B, b)];
        self.failures_of(of.map(|(side, failures)| (label(sweep, side), *failures)).to_vec())
    }

    /// The same of all engines over the whole run.
    pub(super) fn all_failures(&self) -> String {
        let engines = self.plan.engines.iter().map(engine::EngineSpec::label);
        let of = engines.map(|label| {
            let mut sum = Failures::default();
            for one in self.treatments.iter().filter(|one| one.engine == label) {
                // A cell in which no factor acts on the engine has the trials of another.
                if one.levels == one.measured_at {
                    sum.add(&one.failures);
                }
            }
            (label, sum)
        });
        let of: Vec<(String, Failures)> = of.collect();
        self.failures_of(of.iter().map(|(label, sum)| (label.as_str(), *sum)).collect())
    }

    fn failures_of(&self, engines: Vec<(&str, Failures)>) -> String {
        if engines.iter().all(|(_, one)| one.failed == 0) {
            return String::new();
        }
        let of = engines.iter().map(|(label, one)| match one.failed {
            0 => format!("{} in none", self.names.get(label)),
            failed => format!(
                "{} in {} of {} requests",
                self.names.get(label),
                thousands(failed),
                thousands(one.requests)
            ),
        });
        format!("; failures: {}", of.collect::<Vec<_>>().join(", "))
    }

    /// Why a level was left out: `SQLite: 5 of 1,000 requests failed`.
    pub(super) fn reason(&self, sweep: &Sweep) -> Option<String> {
        let (engine, why) = sweep.left_out_reasons.first()?;
        Some(format!("{}: {why}", self.names.get(engine)))
    }

    /// The subject of a sentence, where the run has more than one comparison; empty otherwise.
    pub(super) fn subject(&self, sweep: &Sweep) -> String {
        let family = (sweep.family == Family::OtherPairs).then(|| "other pairs".to_owned());
        let pair = (self.plan.engines.len() > 2).then(|| {
            format!("{} against {}", self.side(sweep, Side::A), self.side(sweep, Side::B))
        });
        let others = Some(place::others(self.plan, &sweep.levels));
        let parts = [family, others, pair, sweep.request.clone()];
        let parts: Vec<String> =
            parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    }

    /// One sweep in one sentence: where the lines cross, where each is faster, and the size.
    pub(super) fn sentence(&self, sweep: &Sweep) -> Sentence {
        let said = self.whole(sweep).then(self.failures(sweep));
        match self.subject(sweep) {
            subject if subject.is_empty() => said.capital().then("."),
            subject => said.after(&format!("{subject}: ")).capital().then("."),
        }
    }
}

/// How often as fast as the other a side of a comparison is.
pub(super) fn speed_of(side: Side, one: &Compared) -> Estimate {
    match side {
        Side::A => one.ratio.inverse(),
        Side::B => one.ratio,
    }
}

/// The engines of a sweep, that on `side` first.
pub(super) fn pair(sweep: &Sweep, side: Side) -> EnginePair {
    EnginePair {
        a: label(sweep, side).to_owned(),
        b: label(sweep, other(side)).to_owned(),
        request: sweep.request.clone(),
    }
}

/// The engine on one side of a sweep.
pub(super) fn label(sweep: &Sweep, side: Side) -> &str {
    match side {
        Side::A => &sweep.a,
        Side::B => &sweep.b,
    }
}

pub(super) fn other(side: Side) -> Side {
    match side {
        Side::A => Side::B,
        Side::B => Side::A,
    }
}
