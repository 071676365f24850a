//! The verdicts, looked up one by one: nothing here is shared with the code that makes sentences.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use stats::crossing::{Crossing, Side};

use super::super::super::sentence::EnginePair;
use super::*;

pub(super) struct Truth<'a> {
    pub plan: &'a Plan,
    pub analysis: &'a Analysis,
    /// Levels that act on an engine, once looked up.
    canonical: RefCell<BTreeMap<(String, Levels), Levels>>,
}

/// One comparison at one cell, seen from the first engine of the question.
struct Finding {
    shown: Shown,
    /// The engine that is shown faster, if only within the margin.
    faster: Option<String>,
    /// How often as fast as the other the faster one is.
    times: f64,
    level: f64,
}

impl<'a> Truth<'a> {
    pub(super) fn new(plan: &'a Plan, analysis: &'a Analysis) -> Self {
        Self { plan, analysis, canonical: RefCell::default() }
    }

    pub(super) fn has_verdict(&self) -> bool {
        self.primary().any(|sweep| sweep.results.iter().any(|one| one.ratio.replicates >= 5))
    }

    pub(super) fn primary(&self) -> impl Iterator<Item = &'a Sweep> {
        let primary = |sweep: &&Sweep| sweep.request.is_none() && sweep.family == Family::Primary;
        self.analysis.sweeps.iter().filter(primary)
    }

    pub(super) fn canonical(&self, label: &str, cell: &Levels) -> Levels {
        let find = || {
            let engine = self.plan.engines.iter().find(|engine| engine.label() == label).unwrap();
            Design::of(self.plan).canonical_levels(engine, cell)
        };
        let mut known = self.canonical.borrow_mut();
        known.entry((label.to_owned(), cell.clone())).or_insert_with(find).clone()
    }

    pub(super) fn cell_of(&self, sweep: &Sweep, level: f64) -> Levels {
        let mut cell = sweep.levels.clone();
        let axis = self.plan.factors.keys().find(|name| !sweep.levels.contains_key(*name));
        cell.extend(axis.map(|name| (name.clone(), Level::Number(level))));
        cell
    }

    /// Whether a sweep's level is this cell, for both of its engines.
    fn is_at(&self, sweep: &Sweep, level: f64, cell: &Levels) -> bool {
        let own = self.cell_of(sweep, level);
        [&sweep.a, &sweep.b]
            .into_iter()
            .all(|label| self.canonical(label, &own) == self.canonical(label, cell))
    }

    pub(super) fn is_of(sweep: &Sweep, pair: &EnginePair) -> bool {
        let both = BTreeSet::from([&sweep.a, &sweep.b]);
        both == BTreeSet::from([&pair.a, &pair.b]) && sweep.request == pair.request
    }

    fn find(&self, sweeps: &[Sweep], pair: &EnginePair, cell: &Levels) -> Option<Finding> {
        sweeps.iter().filter(|sweep| Self::is_of(sweep, pair)).find_map(|sweep| {
            let one = sweep.results.iter().find(|one| self.is_at(sweep, one.level, cell))?;
            let faster = one.sign.faster().map(|side| match side {
                Side::A => sweep.a.clone(),
                Side::B => sweep.b.clone(),
            });
            let (shown, level) = (one.shown(), one.level);
            Some(Finding {
                shown,
                faster,
                times: one.ratio.value.max(1.0 / one.ratio.value),
                level,
            })
        })
    }

    fn is_left_out(&self, sweeps: &[Sweep], pair: &EnginePair, cell: &Levels) -> bool {
        let mut own = sweeps.iter().filter(|sweep| Self::is_of(sweep, pair));
        own.any(|sweep| sweep.left_out.iter().any(|level| self.is_at(sweep, *level, cell)))
    }

    fn is_faster(&self, sweeps: &[Sweep], pair: &EnginePair, cell: &Levels) -> bool {
        self.find(sweeps, pair, cell).is_some_and(|one| {
            matches!(one.shown, Shown::Faster | Shown::Slower)
                && one.faster.as_ref() == Some(&pair.a)
        })
    }

    fn treatment(&self, engine: &str, cell: &Levels) -> Option<&'a Treatment> {
        self.analysis.treatments.iter().find(|one| one.engine == engine && one.levels == *cell)
    }

    pub(super) fn measured(&self, cell: &Levels) -> Vec<String> {
        let here = self.analysis.treatments.iter().filter(|one| one.levels == *cell);
        let counts = here.filter(|one| one.estimate.is_some() && one.standing.is_judged());
        counts.map(|one| one.engine.clone()).collect()
    }

    /// Who beats whom at a cell, directly or over others (Warshall).
    fn beats(&self, cell: &Levels) -> BTreeMap<(String, String), bool> {
        let engines = self.measured(cell);
        let mut beats = BTreeMap::new();
        for a in &engines {
            for b in engines.iter().filter(|b| *b != a) {
                let pair = EnginePair { a: a.clone(), b: b.clone(), request: None };
                let found = self.find(&self.analysis.sweeps, &pair, cell);
                let is_faster = found.is_some_and(|one| one.faster.as_ref() == Some(a));
                beats.insert((a.clone(), b.clone()), is_faster);
            }
        }
        for middle in &engines {
            for a in &engines {
                for b in engines.iter().filter(|b| *b != a) {
                    let is =
                        |x: &String, y: &String| beats.get(&(x.clone(), y.clone())) == Some(&true);
                    if is(a, middle) && is(middle, b) {
                        beats.insert((a.clone(), b.clone()), true);
                    }
                }
            }
        }
        beats
    }

    fn unbeaten(&self, cell: &Levels) -> BTreeSet<String> {
        let beats = self.beats(cell);
        let is_beaten =
            |engine: &String| beats.iter().any(|((_, loser), is)| *is && loser == engine);
        self.measured(cell).into_iter().filter(|engine| !is_beaten(engine)).collect()
    }

    pub(super) fn cells(&self) -> Vec<Levels> {
        let cells: BTreeSet<&Levels> =
            self.analysis.treatments.iter().map(|one| &one.levels).collect();
        cells.into_iter().cloned().collect()
    }

    pub(super) fn is_compared(&self, pair: &EnginePair, cell: &Levels) -> bool {
        let steps = self.analysis.throughput.iter().flat_map(|one| &one.steps);
        let mut steps = steps.filter(|step| Self::is_of(step, pair));
        let mut settings = self.analysis.effects.iter().filter(|one| one.factor == ENGINE_FACTOR);
        let both = BTreeSet::from([pair.a.clone(), pair.b.clone()]);
        self.find(&self.analysis.sweeps, pair, cell).is_some()
            || self.is_left_out(&self.analysis.sweeps, pair, cell)
            || steps.next().is_some()
            || settings.any(|one| {
                BTreeSet::from([one.from.to_string(), one.to.to_string()]) == both
                    && one.levels == *cell
            })
    }

    /// That a at its peak is above b at every number of clients, by its own paired tests: Bonferroni for
    /// the peak that was chosen and for all pairs, which is stricter than Holm.
    fn is_best(&self, a: &str, b: &str, at: &Levels) -> Option<bool> {
        let throughput = self.analysis.throughput.as_ref().unwrap();
        let of = |engine: &str| -> Vec<&Treatment> {
            let all = self.analysis.treatments.iter().filter(|one| one.engine == engine);
            let here = all.filter(|one| at.iter().all(|(name, level)| one.levels[name] == *level));
            here.filter(|one| !one.blocks.is_empty()).collect()
        };
        let mean = |one: &Treatment| {
            one.blocks.iter().map(|(_, value)| value).sum::<f64>() / one.blocks.len() as f64
        };
        let (of_a, of_b) = (of(a), of(b));
        let peak = of_a.iter().max_by(|x, y| mean(x).total_cmp(&mean(y))).unwrap();
        let mut largest: f64 = 0.0;
        for one in of_b {
            let paired = peak.blocks.iter().filter_map(|(block, value)| {
                let found = one.blocks.iter().find(|(other, _)| other == block)?;
                Some((*value, found.1))
            });
            let (x, y): (Vec<f64>, Vec<f64>) = paired.unzip();
            let found = stats::ratio_comparison(&x, &y, 0.95)?;
            largest = largest.max(if found.ratio.value > 1.0 { found.p_value? } else { 1.0 });
        }
        let p = largest * of_a.len() as f64;
        let m = throughput.peaks.len() as f64;
        match peak.standing.is_judged() {
            false => Some(false),
            // Between the two Holm decides by the other pairs.
            true if p * m <= 0.05 => Some(true),
            true if p > 0.05 => Some(false),
            true => None,
        }
    }

    pub(super) fn holds(&self, assertion: &Assertion, sweeps: &[Sweep]) -> bool {
        match assertion {
            Assertion::Faster { pair, at } => {
                !at.is_empty() && at.iter().all(|cell| self.is_faster(sweeps, pair, cell))
            }
            Assertion::Equal { pair, at } => self.all_shown(sweeps, pair, at, Shown::Equal),
            Assertion::Undecided { pair, at } => self.all_shown(sweeps, pair, at, Shown::Undecided),
            Assertion::Leads { a, b, at } => at.iter().all(|cell| {
                let pair = EnginePair { a: a.clone(), b: b.clone(), request: None };
                let found = self.find(sweeps, &pair, cell);
                found.is_some_and(|one| one.faster.as_ref() == Some(a))
            }),
            Assertion::LeftOut { pair, at } => {
                !at.is_empty() && at.iter().all(|cell| self.is_left_out(sweeps, pair, cell))
            }
            Assertion::NotCompared { pair, at } => {
                !at.is_empty() && at.iter().all(|cell| !self.is_compared(pair, cell))
            }
            Assertion::Size { pair, at, times } => {
                let of = |engine: &str| self.treatment(engine, at).is_some_and(|one| one.saturated);
                let found = self.find(sweeps, pair, at).unwrap();
                self.is_faster(sweeps, pair, at)
                    && (found.times - times).abs() < 1e-9 * times
                    && !of(&pair.a)
                    && !of(&pair.b)
            }
            Assertion::Crossing { pair, last, first } => {
                self.is_crossing(sweeps, pair, last, first)
            }
            Assertion::Count { pair, a, b, equal, undecided, left_out } => {
                self.counts(pair) == [*a, *b, *equal, *undecided, *left_out]
            }
            Assertion::Best { a, b, at } => self.is_best(a, b, at) != Some(false),
            Assertion::BestOpen { a, b, at } => self.is_best(a, b, at) != Some(true),
            Assertion::UntilCommit { pair, at } => {
                let early = self.find(&self.analysis.until_commit, pair, at).unwrap();
                let settled = self.find(sweeps, pair, at).unwrap();
                early.faster.as_ref() == Some(&pair.a) && settled.faster != early.faster
            }
            Assertion::Saturated { engine, at } => {
                let all = self.analysis.treatments.iter().filter(|one| one.engine == *engine);
                let saturated: BTreeSet<&Levels> =
                    all.filter(|one| one.saturated).map(|one| &one.levels).collect();
                saturated == at.iter().collect()
            }
            Assertion::Starved { at, .. } => plan::clients(at) > 1,
            Assertion::Fastest { .. }
            | Assertion::FastestCount { .. }
            | Assertion::Ranked { .. } => self.is_ranked(assertion),
            Assertion::Effect { .. } | Assertion::NoEffect { .. } => self.has_effect(assertion),
            Assertion::Interaction { factor, other, at, engine, shown } => {
                let own = self.analysis.interactions.iter().filter(|one| {
                    let [first, second] = &one.effects;
                    (&one.other, &one.levels, &first.engine) == (other, at, engine)
                        && [first, second].iter().all(|effect| effect.factor == *factor)
                });
                own.map(|one| one.shown).eq([*shown])
            }
        }
    }

    fn is_ranked(&self, assertion: &Assertion) -> bool {
        match assertion {
            Assertion::Fastest { among, at } => at
                .iter()
                .all(|cell| self.unbeaten(cell) == among.iter().cloned().collect::<BTreeSet<_>>()),
            Assertion::FastestCount { engine, count, of } => {
                let cells = self.cells().into_iter().filter(|cell| self.measured(cell).len() > 1);
                let leaders: Vec<BTreeSet<String>> =
                    cells.map(|cell| self.unbeaten(&cell)).collect();
                let is_it = |one: &&BTreeSet<String>| match engine {
                    Some(engine) => one.len() == 1 && one.contains(engine),
                    None => one.len() > 1,
                };
                leaders.len() == *of && leaders.iter().filter(is_it).count() == *count
            }
            Assertion::Ranked { ranks, at } => ranks.iter().all(|rank| {
                let (beats, all) = (self.beats(at), self.measured(at).len());
                let count = |of: &dyn Fn(&(String, String)) -> bool| {
                    beats.iter().filter(|(pair, is)| **is && of(pair)).count()
                };
                rank.rank_low == 1 + count(&|(_, loser)| *loser == rank.engine)
                    && rank.rank_high == all - count(&|(winner, _)| *winner == rank.engine)
            }),
            _ => false,
        }
    }

    fn has_effect(&self, assertion: &Assertion) -> bool {
        match assertion {
            Assertion::Effect { factor, from, to, at, engine, against } => {
                self.analysis.effects.iter().any(|one| {
                    (&one.factor, &one.from, &one.to, &one.levels) == (factor, from, to, at)
                        && (&one.engine, &one.against) == (engine, against)
                        && matches!(one.shown, Shown::Faster | Shown::Slower)
                })
            }
            Assertion::NoEffect { factor, from, to, others, equal } => {
                let own = self.analysis.effects.iter().filter(|one| {
                    (&one.factor, &one.from, &one.to) == (factor, from, to)
                        && others.iter().all(|(name, level)| one.levels.get(name) == Some(level))
                });
                let own: Vec<&Effect> = own.collect();
                let is_shown = |one: &&Effect| matches!(one.shown, Shown::Faster | Shown::Slower);
                match equal {
                    true => own.iter().all(|one| one.shown == Shown::Equal),
                    false => {
                        let ratios = own.iter().filter(|one| one.against.is_some());
                        let has_ratio = own.iter().any(|one| one.against.is_some());
                        !ratios.copied().any(|one| is_shown(&one))
                            && (has_ratio || !own.iter().any(is_shown))
                    }
                }
            }
            _ => false,
        }
    }

    fn all_shown(&self, sweeps: &[Sweep], pair: &EnginePair, at: &[Levels], wanted: Shown) -> bool {
        let is = |cell| self.find(sweeps, pair, cell).is_some_and(|one| one.shown == wanted);
        !at.is_empty() && at.iter().all(is)
    }

    fn is_crossing(
        &self,
        sweeps: &[Sweep],
        pair: &EnginePair,
        last: &Levels,
        first: &Levels,
    ) -> bool {
        let ends = [last, first].map(|cell| self.find(sweeps, pair, cell).unwrap());
        let [before, after] = &ends;
        let named = sweeps.iter().filter(|sweep| Self::is_of(sweep, pair)).any(|sweep| {
            sweep.crossings.iter().any(|crossing| match crossing {
                Crossing::Bracketed { last, first, .. } => {
                    *last == before.level && *first == after.level
                }
                _ => false,
            })
        });
        named && before.faster.as_ref() == Some(&pair.a) && after.faster.as_ref() == Some(&pair.b)
    }

    fn counts(&self, pair: &EnginePair) -> [usize; 5] {
        let mut counts = [0; 5];
        for sweep in self.primary().filter(|sweep| Self::is_of(sweep, pair)) {
            for one in &sweep.results {
                let faster = one.sign.faster().map(|side| match side {
                    Side::A => &sweep.a,
                    Side::B => &sweep.b,
                });
                match (one.shown(), faster) {
                    (Shown::Equal, _) => counts[2] += 1,
                    (Shown::Undecided, _) | (_, None) => counts[3] += 1,
                    (_, Some(winner)) if *winner == pair.a => counts[0] += 1,
                    (_, Some(_)) => counts[1] += 1,
                }
            }
            counts[4] += sweep.left_out.len();
        }
        counts
    }
}
