//! The size of a difference at one level: how often as fast, what a wrong choice costs, at how many
//! cores.

use stats::Estimate;
use stats::crossing::Side;

use super::names::capital;
use super::sentence::{Assertion, Sentence};
use super::wording::{Wording, label, other, pair, speed_of};
use super::{place, size};
use crate::analysis::{Compared, Shown, Sweep};

/// A level of a sweep at which one side is shown faster.
pub(super) struct Decided {
    pub level: f64,
    pub faster: Side,
    /// How often as fast as the other the faster side is.
    pub speed: Estimate,
    /// The response of either, the faster side first.
    pub values: (f64, f64),
}

impl Wording<'_> {
    /// The level with the largest cost of a wrong choice among those at which `side` (or any) is
    /// shown faster.
    pub(super) fn dearest(&self, sweep: &Sweep, side: Option<Side>) -> Option<Decided> {
        let decided = sweep.results.iter().filter_map(|one| self.decided(sweep, one));
        let wanted = decided.filter(|one| side.is_none_or(|side| one.faster == side));
        wanted.max_by(|x, y| loss(x).total_cmp(&loss(y)))
    }

    /// The same among several sweeps.
    pub(super) fn dearest_of<'s>(
        &self,
        sweeps: &[&'s Sweep],
        side: Option<Side>,
    ) -> Option<(&'s Sweep, Decided)> {
        let all = sweeps.iter().filter_map(|sweep| Some((*sweep, self.dearest(sweep, side)?)));
        all.max_by(|x, y| loss(&x.1).total_cmp(&loss(&y.1)))
    }

    /// Response times of an engine that could not keep up grow with the length of a trial, so they
    /// have no size.
    fn decided(&self, sweep: &Sweep, one: &Compared) -> Option<Decided> {
        let faster = one.sign.faster().filter(|_| one.shown() != Shown::Equal)?;
        let levels = place::levels_at(self.plan, sweep, one.level);
        let [fast, slow] = [faster, other(faster)].map(|side| {
            let treatment = self.treatment(label(sweep, side), &levels)?;
            Some(treatment.estimate?.value).filter(|_| !treatment.saturated)
        });
        let speed = speed_of(faster, one);
        Some(Decided { level: one.level, faster, speed, values: (fast?, slow?) })
    }

    /// `at a year PostgreSQL 18 is 2.28 times as fast as SQLite (410 ms against 940 ms; 95%: 2.21 to
    /// 2.35)`, with `others` among the levels.
    pub(super) fn size(&self, sweep: &Sweep, one: &Decided, others: &str) -> Sentence {
        let response = self.plan.response();
        let (fast, slow) = (self.side(sweep, one.faster), self.side(sweep, other(one.faster)));
        let at = self.at(sweep, one, others);
        let at = if at.is_empty() { at } else { format!("at {at}, ") };
        let times = size::share(one.speed.value);
        let said = match response.lower_is_better() {
            true => format!("is {times} times as fast as {slow}"),
            false => format!("does {times} times {}", self.rate_of(slow)),
        };
        let words = format!("{at}{fast} {said} ({})", self.values(one));
        Sentence::stating(words, self.assertion(sweep, one))
    }

    /// `2.28 times as fast at a year (410 ms against 940 ms; 95%: 2.21 to 2.35)`, where both engines
    /// have just been named.
    pub(super) fn size_after_name(&self, sweep: &Sweep, one: &Decided, others: &str) -> Sentence {
        let times = size::times(self.plan.response(), one.speed.value);
        let at = self.at(sweep, one, others);
        let at = if at.is_empty() { at } else { format!(" at {at}") };
        let words = format!("{times}{at} ({})", self.values(one));
        Sentence::stating(words, self.assertion(sweep, one))
    }

    fn at(&self, sweep: &Sweep, one: &Decided, others: &str) -> String {
        let axis = place::axis(self.plan, sweep);
        let at = axis.map(|factor| place::level(self.plan, factor, one.level));
        let at = at.into_iter().chain((!others.is_empty()).then(|| others.to_owned()));
        at.collect::<Vec<_>>().join(", ")
    }

    fn values(&self, one: &Decided) -> String {
        let values = size::against(self.plan.response(), one.values);
        let certainty = size::interval(&one.speed).map(|interval| format!("; 95%: {interval}"));
        format!("{values}{}", certainty.unwrap_or_default())
    }

    fn assertion(&self, sweep: &Sweep, one: &Decided) -> Assertion {
        Assertion::Size {
            pair: pair(sweep, one.faster),
            at: place::levels_at(self.plan, sweep, one.level),
            times: one.speed.value,
        }
    }

    /// `Choosing SQLite costs up to 530 ms per request at a year; choosing PostgreSQL 18 costs up to
    /// 2 ms at a week.`: of two engines, the largest over all sets of levels.
    pub(super) fn costs(&self, together: &[&Sweep]) -> Option<Sentence> {
        let response = self.plan.response();
        let each = match response.lower_is_better() {
            false => format!(" {}", response.label().to_lowercase()),
            true => format!(" per {}", self.plan.unit_of_work()),
        };
        let cost = |side: Side| {
            let (sweep, one) = self.dearest_of(together, Some(other(side)))?;
            let size = size::value(response, loss(&one));
            let at = place::axis(self.plan, sweep)
                .map(|factor| place::level(self.plan, factor, one.level));
            let others = Some(place::others(self.plan, &sweep.levels));
            let others = others.filter(|others| together.len() > 1 && !others.is_empty());
            let at: Vec<String> = at.into_iter().chain(others).collect();
            let at = if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) };
            let words = format!("choosing {} costs up to {size}{each}{at}", self.side(sweep, side));
            Some(Sentence::stating(words, self.assertion(sweep, &one)))
        };
        let said: Vec<Sentence> = [Side::A, Side::B].into_iter().filter_map(cost).collect();
        (!said.is_empty()).then(|| Sentence::joined(said, "; ").then(".").capital())
    }

    /// `At a year PostgreSQL 18 used 1.98 cores, SQLite 1.00.`: at the level of the size.
    pub(super) fn cores(&self, together: &[&Sweep]) -> Option<String> {
        let (sweep, one) = self.dearest_of(together, None)?;
        let levels = place::levels_at(self.plan, sweep, one.level);
        let of = |side: Side| self.treatment(label(sweep, side), &levels)?.cores_used;
        let (fast, slow) = (of(one.faster)?, of(other(one.faster))?);
        let at = place::in_words(self.plan, &levels).join(", ");
        let (faster, slower) = (self.side(sweep, one.faster), self.side(sweep, other(one.faster)));
        let said = format!("{faster} used {fast:.2} cores, {slower} {slow:.2}.");
        Some(if at.is_empty() { capital(&said) } else { format!("At {at}: {said}") })
    }
}

fn loss(one: &Decided) -> f64 {
    (one.values.0 - one.values.1).abs()
}
