//! Nothing is left out: every verdict has its sentence, the lead hides no crossing and no difference, the
//! headline speaks of every set of levels.

use stats::crossing::Crossing;

use super::super::super::sentence::EnginePair;
use super::truth::Truth;
use super::*;

impl Truth<'_> {
    pub(super) fn is_whole(&self, said: &Said, told: &str) {
        let lead = all(said.headline.first());
        let headline = all(&said.headline);
        let everything = all(said.headline.iter().chain(&said.sentences));
        self.every_verdict_is_said(&everything, told);
        let crosses = |sweep: &Sweep| {
            sweep.crossings.iter().any(|one| matches!(one, Crossing::Bracketed { .. }))
        };
        let is_crossing = |one: &&&Assertion| matches!(one, Assertion::Crossing { .. });
        if self.primary().any(crosses) {
            assert!(lead.iter().any(|one| is_crossing(&one)), "a crossing is hidden\n{told}");
        }
        let differs = self.primary().any(|sweep| {
            let mut results = sweep.results.iter();
            results.any(|one| matches!(one.shown(), Shown::Faster | Shown::Slower))
        });
        let is_open = |one: &&Assertion| {
            matches!(
                one,
                Assertion::Undecided { .. } | Assertion::Equal { .. } | Assertion::LeftOut { .. }
            )
        };
        let is_told = lead.iter().any(|one| !is_open(one));
        assert!(!differs || is_told, "a difference is hidden\n{told}");
        for cell in self.cells().into_iter().filter(|cell| self.measured(cell).len() > 1) {
            let is_spoken_of = headline.iter().any(|one| self.speaks_of(one, &cell));
            assert!(is_spoken_of, "the headline leaves {cell:?} out\n{told}");
        }
    }

    fn speaks_of(&self, assertion: &Assertion, cell: &Levels) -> bool {
        let of_pair = |pair: &EnginePair, at: &[Levels]| {
            let same = |own: &Levels| {
                let of = |label: &str| self.canonical(label, own) == self.canonical(label, cell);
                of(&pair.a) && of(&pair.b)
            };
            at.iter().any(same)
        };
        match assertion {
            Assertion::Count { .. } | Assertion::FastestCount { .. } => true,
            Assertion::Faster { pair, at }
            | Assertion::Equal { pair, at }
            | Assertion::Undecided { pair, at }
            | Assertion::LeftOut { pair, at } => of_pair(pair, at),
            Assertion::Size { pair, at, .. } => of_pair(pair, std::slice::from_ref(at)),
            Assertion::Fastest { at, .. } => at.contains(cell),
            _ => false,
        }
    }

    fn every_verdict_is_said(&self, everything: &[&Assertion], told: &str) {
        for sweep in self.primary() {
            let pair = EnginePair { a: sweep.a.clone(), b: sweep.b.clone(), request: None };
            for one in &sweep.results {
                let cell = self.cell_of(sweep, one.level);
                let is_said = everything.iter().any(|assertion| match (assertion, one.shown()) {
                    (Assertion::Faster { pair: of, at }, Shown::Faster | Shown::Slower) => {
                        Self::is_of(sweep, of) && at.contains(&cell)
                    }
                    (Assertion::Size { pair: of, at, .. }, Shown::Faster | Shown::Slower) => {
                        Self::is_of(sweep, of) && *at == cell
                    }
                    (Assertion::Equal { pair: of, at }, Shown::Equal)
                    | (Assertion::Undecided { pair: of, at }, Shown::Undecided) => {
                        Self::is_of(sweep, of) && at.contains(&cell)
                    }
                    _ => false,
                });
                assert!(is_said, "no sentence on {pair:?} at {cell:?}: {:?}\n{told}", one.shown());
            }
        }
        let labels: Vec<String> = self.plan.engines.iter().map(engine::EngineSpec::label).collect();
        for (index, a) in labels.iter().enumerate() {
            for b in labels.iter().skip(index + 1) {
                let pair = EnginePair { a: a.clone(), b: b.clone(), request: None };
                let both = |cell: &Levels| {
                    let here = self.measured(cell);
                    here.contains(a) && here.contains(b)
                };
                let cells: Vec<Levels> = self.cells().into_iter().filter(both).collect();
                if cells.is_empty() || cells.iter().any(|cell| self.is_compared(&pair, cell)) {
                    continue;
                }
                let is_said = everything.iter().any(|one| match one {
                    Assertion::NotCompared { pair: of, at } => {
                        *of == pair && at.len() == cells.len()
                    }
                    _ => false,
                });
                assert!(is_said, "{pair:?} is not said to be not compared\n{told}");
            }
        }
    }
}
