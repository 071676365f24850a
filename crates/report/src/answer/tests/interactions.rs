//! Planted interactions of two factors: which are shown, by how much, and with which plans.

use super::*;
use record::{CapturedPlan, OperationPlan};

/// Release and memory in all combinations.
fn crossed() -> Plan {
    plan::read(&FACTORS.replace(", alone = true", ""), "crossed.toml").unwrap()
}

fn is(levels: &Levels, name: &str, level: &str) -> bool {
    levels[name].to_string() == level
}

/// The year takes release 18 with 4MB three times as long, with another plan; other effects multiply.
fn time(engine: usize, levels: &Levels) -> f64 {
    let days = levels["days"].number().unwrap();
    let mut time = days / if engine == 1 { 2.0 } else { 1.0 };
    if engine == 1 {
        time *= if is(levels, "memory", "16MB") { 0.8 } else { 1.0 };
        time *= if walks(levels) { 3.0 } else { 1.0 };
    }
    time
}

fn walks(levels: &Levels) -> bool {
    is(levels, "days", "365") && is(levels, "memory", "4MB") && is(levels, "release", "18")
}

fn analysed(plan: &Plan, time: impl Fn(usize, &Levels) -> f64) -> (Vec<Trial>, Analysis) {
    let rounds = [plan.first_round()];
    let mut trials = trials_by(plan, &rounds, time);
    for trial in trials.iter_mut().filter(|trial| trial.engine == "pg") {
        let hash = if walks(&trial.levels) { "walk" } else { "hash" }.to_owned();
        trial.plans = vec![OperationPlan {
            operation: plan.operations()[0].name.clone(),
            plan: CapturedPlan::Observed { hash, text: String::new() },
        }];
    }
    let analysis = analyse(&Design::of(plan), &rounds[0].cells, &trials);
    (trials, analysis)
}

#[test]
fn an_interaction_is_said_with_both_effects_and_their_plans() {
    let plan = crossed();
    let (_, analysis) = analysed(&plan, time);
    let sentences = said(&plan, &analysis).sentences;
    let of_two = sentences.iter().filter(|one| one.contains("ratio of ratios"));
    insta::assert_snapshot!(of_two.cloned().collect::<Vec<_>>().join("\n"), @r"
    pg, 365 days: release 14 instead of release 18 multiplies the time by 0.335 (0.333 to 0.337) at memory 4MB (1 plan changes) and by 1.01 (1.00 to 1.01) at memory 16MB: the effect of one depends on the other (ratio of ratios 3.00 (2.99 to 3.02)).
    No interaction of two factors beyond 5%: release and memory, pg, 31 days, ratio of ratios 0.991 (0.977 to 1.01); release and memory, pg, 90 days, ratio of ratios 1.01 (0.992 to 1.02).
    ");
}

/// The interval in the arithmetic of a hand calculator: quotients of four times, their geometric mean as
/// a root of their product, t(0.975, 6) from a table.
#[test]
fn the_contrast_is_that_of_four_times_in_each_block() {
    let plan = crossed();
    let (trials, analysis) = analysed(&plan, time);
    let year = Level::Number(365.0);
    let found = analysis.interactions.iter().find(|one| one.levels["days"] == year).unwrap();
    let of = |block: usize, memory: &str, release: &str| {
        let is_it = |one: &&Trial| {
            one.block == block
                && one.engine == "pg"
                && one.levels["days"] == year
                && is(&one.levels, "memory", memory)
                && is(&one.levels, "release", release)
        };
        trials.iter().find(is_it).unwrap().response_time_ms_mean.unwrap()
    };
    let quotients: Vec<f64> = (1..=7)
        .map(|block| {
            let with_16mb = of(block, "16MB", "14") / of(block, "16MB", "18");
            with_16mb / (of(block, "4MB", "14") / of(block, "4MB", "18"))
        })
        .collect();
    let value = quotients.iter().product::<f64>().powf(1.0 / 7.0);
    let squares = quotients.iter().map(|one| (one / value).ln().powi(2)).sum::<f64>();
    let half_width = (2.446_912 * (squares / 6.0 / 7.0).sqrt()).exp();
    let close = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-6;
    assert!(close(found.estimate.value, value), "{found:?} instead of {value}");
    assert!(close(found.estimate.low.unwrap(), value / half_width), "{found:?}");
    assert!(close(found.estimate.high.unwrap(), value * half_width), "{found:?}");
    assert!((2.8..3.2).contains(&value), "three times was planted: {value}");
}

#[test]
fn an_interaction_needs_two_crossed_factors_and_five_blocks() {
    let mut plan = crossed();
    // SQLite, on which neither acts, has none; each period has one.
    let (_, analysis) = analysed(&plan, time);
    let engines: Vec<&str> =
        analysis.interactions.iter().map(|one| one.effects[0].engine.as_str()).collect();
    assert_eq!(engines, ["pg"; 3]);
    plan.replicates = 4;
    let (_, few) = analysed(&plan, time);
    assert_eq!(few.interactions.len(), 3);
    assert!(few.interactions.iter().all(|one| one.shown == Shown::Undecided));
    let sentences = said(&plan, &few).sentences;
    assert!(sentences.iter().all(|one| !one.contains("ratio of ratios")), "{sentences:?}");
    let alone = plan::read(FACTORS, "alone.toml").unwrap();
    assert!(analysed(&alone, time).1.interactions.is_empty());
    let three = FACTORS.replace(", alone = true", "").replace("[18, 14]", "[18, 14, 16]");
    let three = plan::read(&three, "three.toml").unwrap();
    assert!(analysed(&three, time).1.interactions.is_empty());
}

/// The seven blocks of 200 experiments in which factors only multiply: at most 5% of them may show an
/// interaction, and 2.1 standard deviations of their number more.
#[test]
fn effects_that_multiply_show_no_interaction() {
    use rand::{RngExt as _, SeedableRng as _, rngs::Xoshiro256PlusPlus};
    let plan = crossed();
    let random = std::cell::RefCell::new(Xoshiro256PlusPlus::seed_from_u64(20_261_127));
    let noisy = |engine: usize, levels: &Levels| {
        let sum: f64 = (0..12).map(|_| random.borrow_mut().random::<f64>()).sum();
        let without = if walks(levels) { 3.0 } else { 1.0 };
        time(engine, levels) / without * (0.05 * (sum - 6.0)).exp()
    };
    let shows = |_: &usize| {
        let (_, analysis) = analysed(&plan, noisy);
        let is_shown = |one: &Interaction| matches!(one.shown, Shown::Faster | Shown::Slower);
        analysis.interactions.iter().any(is_shown)
    };
    let wrong = (0..200).filter(shows).count();
    assert!(wrong <= 16, "{wrong} of 200");
    assert!(wrong > 0, "a test of 5% that never fails is no test");
}
