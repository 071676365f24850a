//! Sentences about two engines along the swept factor: the size at one level, where the lines
//! cross, what is open, failures.

use plan::{Level, Levels, Plan, counted, with_commas};
use stats::Method;
use stats::crossing::{Crossing, Side};

use super::names::{self, EngineNames, capital};
use super::{place, size};
use crate::analysis::{Compared, Failures, Shown, Sweep, Treatment};

/// The words for one run.
pub(super) struct Wording<'a> {
    pub plan: &'a Plan,
    pub names: EngineNames,
    pub treatments: &'a [Treatment],
}

impl Wording<'_> {
    pub(super) fn side<'s>(&'s self, sweep: &'s Sweep, side: Side) -> &'s str {
        self.names.get(label(sweep, side))
    }

    /// A level of the swept factor among the other levels of a sweep.
    pub(super) fn levels_at(&self, sweep: &Sweep, level: f64) -> Levels {
        let mut levels: Levels = sweep.levels.clone();
        if let Some(factor) = place::axis(self.plan, sweep) {
            levels.insert(factor.to_owned(), Level::Number(level));
        }
        levels
    }

    /// The response of `engine` at one level of each factor.
    pub(super) fn estimate(&self, engine: &str, levels: &Levels) -> Option<f64> {
        let found =
            self.treatments.iter().find(|one| one.engine == engine && one.levels == *levels)?;
        Some(found.estimate?.value)
    }

    /// The response of `engine` at one level of a sweep.
    pub(super) fn value(&self, sweep: &Sweep, engine: &str, level: f64) -> Option<f64> {
        self.estimate(engine, &self.levels_at(sweep, level))
    }

    /// Where the lines cross, or what is shown where: `SQLite is shown faster up to 12 days,
    /// PostgreSQL 18 from 15 days on`.
    pub(super) fn course(&self, sweep: &Sweep) -> String {
        let Some(factor) = place::axis(self.plan, sweep) else { return self.single(sweep) };
        if sweep.results.is_empty() {
            return format!(
                "{} and {} could not be compared",
                self.side(sweep, Side::A),
                self.side(sweep, Side::B)
            );
        }
        let level = |level: f64| place::level(self.plan, factor, level);
        let only_brackets = !sweep.crossings.is_empty()
            && sweep.crossings.iter().all(|one| matches!(one, Crossing::Bracketed { .. }));
        let said = match sweep.crossings.as_slice() {
            [Crossing::NotInRange { faster }] if !self.all_equal(sweep) => format!(
                "{} is shown faster{}",
                self.side(sweep, *faster),
                place::everywhere(self.plan, sweep, factor)
            ),
            crossings if only_brackets => {
                let [lowest, highest] = [sweep.results.first(), sweep.results.last()]
                    .map(|one| one.map(|one| one.level));
                let said = crossings.iter().filter_map(|crossing| match crossing {
                    Crossing::Bracketed { last, first, faster_before, faster_after, .. } => {
                        let below = match lowest == Some(*last) {
                            true => format!("at {}", level(*last)),
                            false => format!("up to {}", level(*last)),
                        };
                        let above = match highest == Some(*first) {
                            true => format!("at {}", level(*first)),
                            false => format!("from {} on", level(*first)),
                        };
                        Some(format!(
                            "{} is shown faster {below}, {} {above}",
                            self.side(sweep, *faster_before),
                            self.side(sweep, *faster_after),
                        ))
                    }
                    _ => None,
                });
                said.collect::<Vec<_>>().join("; ")
            }
            _ => self.stretches(sweep, factor),
        };
        said + &self.left_out(sweep, factor)
    }

    /// The same where the faster engine has just been named.
    pub(super) fn course_after_size(&self, sweep: &Sweep) -> String {
        match (place::axis(self.plan, sweep), sweep.crossings.as_slice()) {
            (Some(factor), [Crossing::NotInRange { .. }]) => {
                format!("it is shown faster{}", place::everywhere(self.plan, sweep, factor))
            }
            _ => self.course(sweep),
        }
    }

    /// One comparison that is not swept.
    fn single(&self, sweep: &Sweep) -> String {
        let [a, b] = [Side::A, Side::B].map(|side| self.side(sweep, side));
        let Some(one) = sweep.results.first() else {
            let why = self.reason(sweep).map(|why| format!(" ({why})"));
            return format!("{a} and {b} could not be compared{}", why.unwrap_or_default());
        };
        match (one.shown(), one.sign.faster()) {
            (Shown::Equal, _) => format!("{a} and {b} are {}", self.equal(sweep, one)),
            (_, Some(side)) => {
                format!(
                    "{} is shown faster than {}",
                    self.side(sweep, side),
                    self.side(sweep, other(side))
                )
            }
            (_, None) => match self.doubt(sweep, one) {
                None => "undecided".to_owned(),
                Some(doubt) => format!("undecided: {doubt}"),
            },
        }
    }

    /// Neighbouring levels that show the same, from the lowest to the highest.
    fn stretches(&self, sweep: &Sweep, factor: &str) -> String {
        let same = |one: &Compared, next: &Compared| {
            one.shown() == next.shown() && one.time_outs_could_turn == next.time_outs_could_turn
        };
        let said = sweep.results.chunk_by(same).filter_map(|stretch| {
            let (first, last) = (stretch.first()?, stretch.last()?);
            let level = |level: f64| place::level(self.plan, factor, level);
            let at = match stretch.len() {
                1 => format!("at {}", level(first.level)),
                _ => format!("from {} to {}", level(first.level), level(last.level)),
            };
            Some(match (first.shown(), first.sign.faster()) {
                (Shown::Equal, _) if stretch.len() == 1 => {
                    format!(
                        "{} and {} are {} {at}",
                        self.side(sweep, Side::B),
                        self.side(sweep, Side::A),
                        self.equal(sweep, first)
                    )
                }
                (Shown::Equal, _) => format!(
                    "{} and {} are equal within {} {at}",
                    self.side(sweep, Side::B),
                    self.side(sweep, Side::A),
                    self.plan.equivalent_within
                ),
                (_, Some(side)) => format!("{} is shown faster {at}", self.side(sweep, side)),
                (_, None) => match self.doubt(sweep, last) {
                    None => format!("{at} it is undecided"),
                    Some(doubt) if stretch.len() == 1 || last.time_outs_could_turn => {
                        format!("{at} it is undecided: {doubt}")
                    }
                    Some(doubt) => {
                        format!("{at} it is undecided: at {} {doubt}", level(last.level))
                    }
                },
            })
        });
        said.collect::<Vec<_>>().join("; ")
    }

    fn all_equal(&self, sweep: &Sweep) -> bool {
        sweep.results.iter().all(|one| one.shown() == Shown::Equal)
    }

    /// `equal within 5% (PostgreSQL 18 2% faster)`.
    pub(super) fn equal(&self, sweep: &Sweep, one: &Compared) -> String {
        let within = format!("equal within {}", self.plan.equivalent_within);
        let Some(side) = one.sign.faster() else { return within };
        let of_a = self.plan.response().ratio(one.ratio);
        let ratio = if side == Side::A { of_a.value } else { 1.0 / of_a.value };
        let difference = size::difference(self.plan.response(), ratio);
        format!("{within} ({} {difference})", self.side(sweep, side))
    }

    /// The range that an undecided comparison leaves open: `PostgreSQL 18 is between 4% slower and
    /// 12% faster than SQLite (95%)`; none without an interval.
    fn doubt(&self, sweep: &Sweep, one: &Compared) -> Option<String> {
        if one.time_outs_could_turn {
            return Some("time-outs could turn it".to_owned());
        }
        let response = self.plan.response();
        let ratio = response.ratio(one.ratio);
        let range = size::range(response, &ratio).filter(|_| ratio.method != Method::RangeOnly)?;
        let [a, b] = [Side::A, Side::B].map(|side| self.side(sweep, side));
        let contains_one = ratio.low < Some(1.0) && ratio.high > Some(1.0);
        let among = format!("not shown among {}", counted(one.verdicts, "comparison"));
        Some(match (contains_one, size::is_far(&ratio)) {
            (true, false) => format!("{a} is {range} than {b} (95%)"),
            (false, false) => format!("the interval points to {a} being {range} than {b}, {among}"),
            (_, true) => {
                let interval = size::interval(&ratio)?;
                let of_b = names::of(b, response.noun());
                let end = if contains_one { String::new() } else { format!(", {among}") };
                format!("{a} has {interval} of {of_b} (95%){end}")
            }
        })
    }

    /// `; failures: SQLite in 5 of 31,771 requests, PostgreSQL 18 in none`; empty where none failed.
    pub(super) fn failures(&self, sweep: &Sweep) -> String {
        let [a, b] = &sweep.failures;
        if a.failed + b.failed == 0 {
            return String::new();
        }
        let of = |side: Side, one: &Failures| match one.failed {
            0 => format!("{} in none", self.side(sweep, side)),
            failed => format!(
                "{} in {} of {} requests",
                self.side(sweep, side),
                with_commas(failed),
                with_commas(one.requests)
            ),
        };
        format!("; failures: {}, {}", of(Side::A, a), of(Side::B, b))
    }

    /// `; nothing to compare at 8 clients`, where failures or void trials left levels out.
    fn left_out(&self, sweep: &Sweep, factor: &str) -> String {
        let levels: Vec<String> =
            sweep.left_out.iter().map(|level| place::level(self.plan, factor, *level)).collect();
        if levels.is_empty() {
            return String::new();
        }
        let why = self.reason(sweep).map(|why| format!(" ({why})"));
        format!("; nothing to compare at {}{}", levels.join(", "), why.unwrap_or_default())
    }

    /// Why a level was left out: `SQLite: 5 of 1,000 requests failed`.
    pub(super) fn reason(&self, sweep: &Sweep) -> Option<String> {
        let (engine, why) = sweep.left_out_reasons.first()?;
        Some(format!("{}: {why}", self.names.get(engine)))
    }

    /// The subject of a sentence, where the run has more than one comparison; empty otherwise.
    pub(super) fn subject(&self, sweep: &Sweep) -> String {
        let pair = (self.plan.engines.len() > 2).then(|| {
            format!("{} against {}", self.side(sweep, Side::A), self.side(sweep, Side::B))
        });
        let parts = [Some(place::others(self.plan, &sweep.levels)), pair, sweep.request.clone()];
        let parts: Vec<String> =
            parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    }

    /// One sweep in one sentence, with its size.
    pub(super) fn sentence(&self, sweep: &Sweep) -> String {
        let size = self.dearest(sweep, None).map(|one| self.size(sweep, &one, ""));
        let said = match size {
            Some(size) if has_course(sweep) => {
                format!("{size}; {}", self.course_after_size(sweep))
            }
            Some(size) => size,
            None => capital(&self.course(sweep)),
        };
        let said = said + &self.failures(sweep);
        match self.subject(sweep) {
            subject if subject.is_empty() => format!("{said}."),
            subject => format!("{}: {said}.", capital(&subject)),
        }
    }
}

/// Whether there is more to say than the size at one level.
pub(super) fn has_course(sweep: &Sweep) -> bool {
    sweep.results.len() + sweep.left_out.len() > 1
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
