//! The course of two engines along the swept factor: where the lines cross, which is shown faster where,
//! where both are equal, and what is open.

use plan::Levels;
use stats::crossing::{Crossing, Side};

use super::place;
use super::sentence::{Assertion, EnginePair, Sentence};
use super::wording::{Wording, pair};
use crate::analysis::{Compared, Shown, Sweep};

/// The result of neighbouring levels of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StretchKind {
    Faster(Side),
    Equal,
    Undecided,
    TimeOuts,
    LeftOut,
}

/// Neighbouring levels that show the same.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stretch {
    pub kind: StretchKind,
    pub levels: Vec<f64>,
}

impl StretchKind {
    fn of(one: &Compared) -> Self {
        match (one.shown(), one.sign.faster()) {
            (Shown::Equal, _) => Self::Equal,
            (_, Some(side)) => Self::Faster(side),
            (_, None) if one.time_outs_could_turn => Self::TimeOuts,
            (_, None) => Self::Undecided,
        }
    }
}

/// Every level measured, in order.
pub(super) fn stretches(sweep: &Sweep) -> Vec<Stretch> {
    let shown = sweep.results.iter().map(|one| (one.level, StretchKind::of(one)));
    let left_out = sweep.left_out.iter().map(|level| (*level, StretchKind::LeftOut));
    let mut all: Vec<(f64, StretchKind)> = shown.chain(left_out).collect();
    all.sort_by(|(x, _), (y, _)| x.total_cmp(y));
    let same = all.chunk_by(|(_, one), (_, next)| one == next);
    let stretch = |levels: &[(f64, StretchKind)]| {
        let kind = levels.first()?.1;
        Some(Stretch { kind, levels: levels.iter().map(|(level, _)| *level).collect() })
    };
    same.filter_map(stretch).collect()
}

/// Whether the lines cross somewhere.
pub(super) fn crosses(sweep: &Sweep) -> bool {
    sweep.crossings.iter().any(|one| matches!(one, Crossing::Bracketed { .. }))
}

/// Whether a difference is shown at some level, beyond an equality.
pub(super) fn differs(sweep: &Sweep) -> bool {
    stretches(sweep).iter().any(|one| matches!(one.kind, StretchKind::Faster(_)))
}

impl Wording<'_> {
    /// Everything about one sweep, the crossing first: without a subject and a full stop.
    pub(super) fn whole(&self, sweep: &Sweep) -> Sentence {
        let size = self.dearest(sweep, None);
        let parts = [self.crossing(sweep), self.faster(sweep)];
        let mut parts: Vec<Sentence> = parts.into_iter().flatten().collect();
        let one_sided = !crosses(sweep) && self.faster_sides(sweep).len() == 1;
        match (size, parts.pop()) {
            (Some(one), Some(faster)) if one_sided => {
                parts.push(self.with_size(sweep, &one, faster));
            }
            (size, faster) => {
                parts.extend(faster);
                parts.extend(size.map(|one| self.size(sweep, &one, "")));
            }
        }
        parts.extend(self.rest(sweep));
        Sentence::joined(parts, "; ")
    }

    /// `PostgreSQL 18 is shown faster than SQLite from a quarter on: 1.62 times as fast at a year (...)`;
    /// of one level alone the size says all.
    pub(super) fn with_size(
        &self,
        sweep: &Sweep,
        one: &super::difference::Decided,
        faster: Sentence,
    ) -> Sentence {
        match measured(sweep).len() {
            1 => self.size(sweep, one, ""),
            _ => faster.then(": ").then(self.size_after_name(sweep, one, "")),
        }
    }

    /// The sides that are shown faster somewhere, that of the lowest level first.
    pub(super) fn faster_sides(&self, sweep: &Sweep) -> Vec<Side> {
        let mut sides = Vec::new();
        for stretch in stretches(sweep) {
            if let StretchKind::Faster(side) = stretch.kind
                && !sides.contains(&side)
            {
                sides.push(side);
            }
        }
        sides
    }

    /// `SQLite and PostgreSQL 18 cross between a month and a quarter`; none where no bracket is named.
    pub(super) fn crossing(&self, sweep: &Sweep) -> Option<Sentence> {
        let factor = place::axis(self.plan, sweep)?;
        let level = |at: f64| place::level(self.plan, factor, at);
        let cell = |at: f64| place::levels_at(self.plan, sweep, at);
        let mut brackets = Vec::new();
        for crossing in &sweep.crossings {
            let Crossing::Bracketed { last, first, faster_before, .. } = crossing else { continue };
            let words = format!("between {} and {}", level(*last), level(*first));
            let pair = pair(sweep, *faster_before);
            let assertion = Assertion::Crossing { pair, last: cell(*last), first: cell(*first) };
            brackets.push(Sentence::stating(words, assertion));
        }
        let [b, a] = [Side::B, Side::A].map(|side| self.side(sweep, side));
        (!brackets.is_empty())
            .then(|| Sentence::listed(brackets).after(&format!("{b} and {a} cross ")).united())
    }

    /// `SQLite is shown faster up to a month, PostgreSQL 18 from a quarter on`; none where neither is.
    pub(super) fn faster(&self, sweep: &Sweep) -> Option<Sentence> {
        let sides = self.faster_sides(sweep);
        let of_side = |(index, side): (usize, &Side)| {
            let levels = self.levels_of(sweep, StretchKind::Faster(*side));
            let at = levels.iter().flatten().map(|level| self.cell(sweep, *level)).collect();
            let (name, than) =
                (self.side(sweep, *side), self.side(sweep, super::wording::other(*side)));
            let place = self.places(sweep, &levels);
            let words = match (index, sides.len()) {
                (0, 1) => format!("{name} is shown faster than {than}{place}"),
                (0, _) => format!("{name} is shown faster{place}"),
                _ => format!("{name}{place}"),
            };
            Sentence::stating(words, Assertion::Faster { pair: pair(sweep, *side), at })
        };
        let said: Vec<Sentence> = sides.iter().enumerate().map(of_side).collect();
        (!said.is_empty()).then(|| Sentence::joined(said, ", "))
    }

    /// Where both are equal, what is undecided, and what could not be compared.
    pub(super) fn rest(&self, sweep: &Sweep) -> Vec<Sentence> {
        [self.equals(sweep), self.undecided(sweep, true), self.left_out(sweep)]
            .into_iter()
            .flatten()
            .collect()
    }

    /// The same without the intervals, where it is said of several sets of levels.
    pub(super) fn rest_in_short(&self, sweep: &Sweep) -> Vec<Sentence> {
        [self.equals(sweep), self.undecided(sweep, false), self.left_out(sweep)]
            .into_iter()
            .flatten()
            .collect()
    }

    fn equals(&self, sweep: &Sweep) -> Option<Sentence> {
        let levels = self.levels_of(sweep, StretchKind::Equal);
        let all: Vec<f64> = levels.iter().flatten().copied().collect();
        let [b, a] = [Side::B, Side::A].map(|side| self.side(sweep, side));
        let equal = match all.as_slice() {
            [] => return None,
            [only] => {
                let one = sweep.results.iter().find(|one| one.level == *only)?;
                self.equal(sweep, one)
            }
            _ => format!("equal within {}", self.plan.equivalent_within),
        };
        let words = format!("{b} and {a} are {equal}{}", self.places(sweep, &levels));
        let at = self.cells(sweep, &all);
        Some(Sentence::stating(words, Assertion::Equal { pair: pair(sweep, Side::B), at }))
    }

    fn undecided(&self, sweep: &Sweep, with_interval: bool) -> Option<Sentence> {
        let kinds = [StretchKind::TimeOuts, StretchKind::Undecided];
        let said = kinds.into_iter().filter_map(|kind| {
            let levels = self.levels_of(sweep, kind);
            let all: Vec<f64> = levels.iter().flatten().copied().collect();
            let last = all.last()?;
            let one = sweep.results.iter().find(|one| one.level == *last)?;
            let wanted = with_interval || kind == StretchKind::TimeOuts;
            let doubt = self.doubt(sweep, one).filter(|_| wanted);
            let at_last = match place::axis(self.plan, sweep) {
                Some(factor) if all.len() > 1 && kind == StretchKind::Undecided => {
                    format!("at {} ", place::level(self.plan, factor, *last))
                }
                _ => String::new(),
            };
            let doubt = doubt.map(|doubt| format!(": {at_last}{doubt}")).unwrap_or_default();
            let place = self.places(sweep, &levels);
            let words = match place.trim_start() {
                "" => format!("undecided{doubt}"),
                place if place.contains(',') => format!("{place}, it is undecided{doubt}"),
                place => format!("{place} it is undecided{doubt}"),
            };
            let (pair, at) = (pair(sweep, Side::B), self.cells(sweep, &all));
            Some(Sentence::stating(words, Assertion::Undecided { pair, at }))
        });
        let said: Vec<Sentence> = said.collect();
        (!said.is_empty()).then(|| Sentence::joined(said, "; "))
    }

    /// `nothing to compare at 8 clients (SQLite: 5 of 1,000 requests failed)`.
    pub(super) fn left_out(&self, sweep: &Sweep) -> Option<Sentence> {
        let why = self.reason(sweep).map(|why| format!(" ({why})")).unwrap_or_default();
        let at = self.cells(sweep, &sweep.left_out);
        let words = match place::axis(self.plan, sweep) {
            _ if sweep.left_out.is_empty() => return None,
            Some(factor) if !sweep.results.is_empty() => {
                let level = |at: &f64| place::level(self.plan, factor, *at);
                let levels: Vec<String> = sweep.left_out.iter().map(level).collect();
                format!("nothing to compare at {}{why}", levels.join(", "))
            }
            _ => {
                let [b, a] = [Side::B, Side::A].map(|side| self.side(sweep, side));
                format!("{b} and {a} could not be compared{why}")
            }
        };
        Some(Sentence::stating(words, Assertion::LeftOut { pair: pair(sweep, Side::B), at }))
    }

    fn levels_of(&self, sweep: &Sweep, kind: StretchKind) -> Vec<Vec<f64>> {
        let all = stretches(sweep).into_iter().filter(|one| one.kind == kind);
        all.map(|one| one.levels).collect()
    }

    /// ` up to a month and at a year`; empty where nothing is swept.
    fn places(&self, sweep: &Sweep, stretches: &[Vec<f64>]) -> String {
        let Some(factor) = place::axis(self.plan, sweep) else { return String::new() };
        let all = measured(sweep);
        let place = |levels: &Vec<f64>| place::among(self.plan, factor, levels, &all);
        let places: Vec<String> = stretches.iter().map(place).collect();
        format!(" {}", place::listed(&places))
    }

    fn cell(&self, sweep: &Sweep, level: f64) -> Levels {
        place::levels_at(self.plan, sweep, level)
    }

    fn cells(&self, sweep: &Sweep, levels: &[f64]) -> Vec<Levels> {
        levels.iter().map(|level| self.cell(sweep, *level)).collect()
    }
}

/// The levels of a sweep, those without a comparison among them.
pub(super) fn measured(sweep: &Sweep) -> Vec<f64> {
    let shown = sweep.results.iter().map(|one| one.level);
    let mut all: Vec<f64> = shown.chain(sweep.left_out.iter().copied()).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// How often each result is shown over several sweeps of one pair.
pub(super) fn count(pair: EnginePair, sweeps: &[&Sweep]) -> Assertion {
    let all =
        || sweeps.iter().flat_map(|sweep| stretches(sweep).into_iter().map(|one| (*sweep, one)));
    let of = |wanted: &dyn Fn(&Sweep, StretchKind) -> bool| {
        let found = all().filter(|(sweep, one)| wanted(sweep, one.kind));
        found.map(|(_, one)| one.levels.len()).sum()
    };
    let of_label = |label: &str| {
        of(&|sweep, kind| match kind {
            StretchKind::Faster(side) => super::wording::label(sweep, side) == label,
            _ => false,
        })
    };
    Assertion::Count {
        a: of_label(&pair.a),
        b: of_label(&pair.b),
        equal: of(&|_, kind| kind == StretchKind::Equal),
        undecided: of(&|_, kind| matches!(kind, StretchKind::Undecided | StretchKind::TimeOuts)),
        left_out: of(&|_, kind| kind == StretchKind::LeftOut),
        pair,
    }
}
