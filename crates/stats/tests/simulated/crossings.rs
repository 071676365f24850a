//! Planted crossings: is the bracket that is named the right one, and is one named where there
//! is one to name?

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use statrs::distribution::{ContinuousCDF, StudentsT};
use stats::crossing::{AxisScale, Crossing, classify, find};

use crate::machine::{Machine, Noise};
use crate::planted::{GRIDS, Shape, Truth};
use crate::repetitions;
use crate::runner::{Outcome, Plan, compare, run};

/// One simulated experiment with its truth.
struct Experiment {
    truth: Truth,
    plan: Plan<'static>,
    noise: Noise,
    outcome: Outcome,
}

impl Experiment {
    /// Noise of 3 to 25%, blocks that differ by 5%, starts by 0 or 2%; 5 to 20 blocks.
    fn draw(shape: Shape, random: &mut Xoshiro256PlusPlus) -> Self {
        let truth = Truth::draw(shape, random);
        let start = if random.random_bool(0.5) { 0.02 } else { 0.0 };
        let trial = random.random_range(0.03..0.25);
        let noise = Noise { trial, block: 0.05, start, slow_mode: None };
        let plan = Plan {
            grid: GRIDS[random.random_range(0..GRIDS.len())],
            blocks: [5, 7, 10, 20][random.random_range(0..4)],
            scale: if random.random_bool(0.75) { AxisScale::Log } else { AxisScale::Linear },
        };
        let mut machine = Machine::new(random.random(), noise);
        let outcome = run(&mut machine, &plan, |level| truth.ratio(level));
        Self { truth, plan, noise, outcome }
    }

    fn is_right(&self, bracket: (f64, f64)) -> bool {
        let expected = (self.truth.faster(bracket.0), self.truth.faster(bracket.1));
        self.outcome.crossings.iter().any(|crossing| match *crossing {
            Crossing::Bracketed { last, first, faster_before, faster_after, .. } => {
                (last, first) == bracket && (faster_before, faster_after) == expected
            }
            _ => false,
        })
    }

    /// The crossings with a level of the grid on either side, before any other crossing, whose
    /// difference such an experiment shows 9 times in 10, corrected for all its verdicts.
    fn resolvable(&self) -> Vec<f64> {
        let freedom = self.plan.blocks as f64 - 1.0;
        let t = |p: f64| StudentsT::new(0.0, 1.0, freedom).unwrap().inverse_cdf(p);
        let reach = t(1.0 - 0.025 / self.plan.verdicts() as f64) + t(0.9);
        let least = reach * self.noise.paired_deviation() / (self.plan.blocks as f64).sqrt();
        let clear = |low: f64, high: f64| {
            let inside = self.plan.grid.iter().filter(|level| **level > low && **level < high);
            inside.copied().any(|level| self.truth.log_ratio(level).abs() >= least)
        };
        let ends = [&[0.0], &self.truth.crossings[..], &[f64::INFINITY]].concat();
        let between = ends.windows(3);
        between.filter(|w| clear(w[0], w[1]) && clear(w[1], w[2])).map(|w| w[1]).collect()
    }
}

fn brackets(crossings: &[Crossing]) -> Vec<(f64, f64)> {
    let ends = |crossing: &Crossing| match *crossing {
        Crossing::Bracketed { last, first, .. } => Some((last, first)),
        _ => None,
    };
    crossings.iter().filter_map(ends).collect()
}

/// What a number of experiments came to.
#[derive(Debug, Default)]
struct Tally {
    named: usize,
    right: usize,
    resolvable: usize,
    resolvable_named: usize,
    not_in_range: usize,
    crossing_missed: usize,
    levels_more: usize,
}

impl Tally {
    fn add(&mut self, experiment: &Experiment) {
        let Outcome { levels, crossings, .. } = &experiment.outcome;
        self.levels_more += levels.len() - experiment.plan.grid.len();
        let named = brackets(crossings);
        let right: Vec<_> = named.iter().filter(|ends| experiment.is_right(**ends)).collect();
        self.named += named.len();
        self.right += right.len();
        for place in experiment.resolvable() {
            self.resolvable += 1;
            let found = right.iter().any(|(last, first)| (*last..=*first).contains(&place));
            self.resolvable_named += usize::from(found);
        }
        if let [Crossing::NotInRange { .. }] = crossings[..] {
            self.not_in_range += 1;
            let (low, high) = (levels.first().unwrap().level, levels.last().unwrap().level);
            let crosses = experiment.truth.crossings.iter().any(|x| (low..=high).contains(x));
            self.crossing_missed += usize::from(crosses);
        }
    }
}

fn tally(shape: Shape, seed: u64) -> Tally {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut tally = Tally::default();
    let count = repetitions(1_000);
    for _ in 0..count {
        tally.add(&Experiment::draw(shape, &mut random));
    }
    println!("{shape:?}: {count} experiments, {tally:?}");
    tally
}

#[test]
fn brackets_are_right_and_named_where_they_can_be() {
    let crossing = Shape::ALL.iter().filter(|s| !matches!(s, Shape::Parallel | Shape::Tangent));
    for (seed, shape) in crossing.enumerate() {
        let Tally { named, right, resolvable, resolvable_named, .. } = tally(*shape, seed as u64);
        assert!(right as f64 >= 0.935 * named as f64, "{shape:?}: {right} of {named} right");
        let enough = resolvable_named as f64 >= 0.8 * resolvable as f64;
        assert!(enough, "{shape:?}: {resolvable_named} of {resolvable} named");
        let planted_to_be_found = *shape == Shape::GridEdge || resolvable > 100;
        assert!(planted_to_be_found, "{shape:?}: only {resolvable} could be found");
    }
}

#[test]
fn lines_that_do_not_cross_get_no_bracket() {
    for (seed, shape) in [Shape::Parallel, Shape::Tangent].into_iter().enumerate() {
        let found = tally(shape, 10 + seed as u64);
        assert!(found.named * 100 <= repetitions(1_000), "{shape:?}: {} named", found.named);
        assert_eq!(found.crossing_missed, 0);
        assert!(found.not_in_range > 0, "{shape:?}: clear differences were planted");
    }
}

/// The verdicts are corrected for all levels that may follow, so looking closer never unsettles
/// what was shown: every bracket of the grid still holds one, as wide or narrower.
#[test]
fn bisection_never_loses_a_bracket() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(20);
    for shape in Shape::ALL {
        for _ in 0..repetitions(100) {
            let outcome = Experiment::draw(shape, &mut random).outcome;
            let at_last = brackets(&outcome.crossings);
            for (last, first) in brackets(&outcome.at_first) {
                assert!(at_last.iter().any(|inner| inner.0 >= last && inner.1 <= first));
            }
        }
    }
}

/// How narrow a bracket gets is a matter of noise and blocks, not of more levels.
#[test]
fn more_blocks_make_narrower_brackets() {
    let width_by_blocks = |trial: f64, blocks: usize| {
        let plan = Plan { grid: GRIDS[0], blocks, scale: AxisScale::Log };
        let noise = Noise { trial, block: 0.05, ..Noise::default() };
        let mut widths: Vec<f64> = (0..repetitions(200))
            .filter_map(|seed| {
                let mut machine = Machine::new(seed as u64, noise);
                let outcome = run(&mut machine, &plan, |level| (level / 120.0).powf(0.5));
                Some(brackets(&outcome.crossings).first()?).map(|(last, first)| first / last)
            })
            .collect();
        widths.sort_by(f64::total_cmp);
        stats::quantile(&widths, 0.5).unwrap()
    };
    for trial in [0.02, 0.05, 0.10] {
        let widths = [5, 7, 10, 20].map(|blocks| width_by_blocks(trial, blocks));
        println!("median width of a bracket, ratio ~ level^0.5, noise {trial}: {widths:.2?}");
        assert!(widths.is_sorted_by(|wide, narrow| wide >= narrow), "{trial}: {widths:?}");
    }
}

/// The advice "about N more blocks" is followed: at least half of the inconclusive sweeps with
/// such an advice are settled by it.
#[test]
fn as_many_more_blocks_as_advised_settle_most_sweeps() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(30);
    let (mut advised, mut settled) = (0, 0);
    for _ in 0..repetitions(1_000) {
        let truth = Truth::draw(Shape::Power, &mut random);
        let noise = Noise { trial: random.random_range(0.03..0.15), ..Noise::default() };
        let mut machine = Machine::new(random.random(), noise);
        let grid = GRIDS[0];
        let mut times = machine.run_blocks(grid, 7, |level| truth.ratio(level));
        let found = |times: &[_]| find(&classify(&[compare(grid, times)], 0.95)[0], AxisScale::Log);
        let [Crossing::Inconclusive { more_blocks: Some(more), .. }] = found(&times)[..] else {
            continue;
        };
        let further = machine.run_blocks(grid, more, |level| truth.ratio(level));
        for ((a, b), (more_a, more_b)) in times.iter_mut().zip(further) {
            a.extend(more_a);
            b.extend(more_b);
        }
        advised += 1;
        let open = found(&times).iter().any(|x| matches!(x, Crossing::Inconclusive { .. }));
        settled += usize::from(!open);
    }
    println!("advice followed {advised} times, settled {settled}");
    assert!(advised >= 50 && settled * 2 >= advised, "{settled} of {advised}");
}
