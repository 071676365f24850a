//! Steps planted by formula: which step is enough, what each brings, and how often the tests err.

use super::*;
use crate::analysis::Shown;
use crate::analysis::treatment::collect;
use crate::formula::steps::{plan, random, trials};

fn steps(plan: &Plan, trials: &[Trial]) -> StepAnalysis {
    let treatments = collect(&plan::Design::of(plan), &plan.first_round().cells, trials);
    at_each_distance(plan, &treatments, trials).remove(0)
}

#[test]
fn each_gain_belongs_to_the_step_that_brought_it() {
    let plan = plan(2, "");
    let time = |engine: usize, step: &str, statement: usize| match (engine, step, statement) {
        (0, "settings", 0) => 2.0,
        (0, _, 0) => 40.0,
        (0, "unchanged", 1) => 400.0,
        (0, _, 1) => 4.0,
        _ => 30.0,
    };
    let found = steps(&plan, &trials(&plan, 0.01, &mut random(), time));
    let shown = |engine, step, statement| {
        let row = RowKey::Statement(statement);
        let is = |gain: &&StepGain| {
            (gain.place.engine, gain.place.step, gain.place.row) == (engine, step, row)
        };
        found.gains.iter().find(is).unwrap().compared.shown()
    };
    assert_eq!([shown(0, 1, 0), shown(0, 2, 0)], [Shown::Equal, Shown::Faster]);
    assert_eq!([shown(0, 1, 1), shown(0, 2, 1)], [Shown::Faster, Shown::Equal]);
    assert_eq!(found.engines[1].steps.len(), 2, "the settings change SQLite alone");
    let verdicts: Vec<Enough> = found.against[0].steps.iter().map(|one| one.enough).collect();
    assert_eq!(verdicts, [Enough::No, Enough::No, Enough::Yes]);
}

#[test]
fn a_difference_that_nobody_feels_decides_nothing() {
    let plan = plan(1, "");
    let time = |engine: usize, _: &str, _: usize| if engine == 0 { 0.9 } else { 0.1 };
    let found = steps(&plan, &trials(&plan, 0.01, &mut random(), time));
    assert_eq!(found.against[0].steps[0].enough, Enough::Yes);
    let best = &found.against[0].best[0];
    assert_eq!((best.compared.shown(), best.is_felt), (Shown::Slower, false));
    // The same ratio with times that are felt.
    let time = |engine: usize, _: &str, _: usize| if engine == 0 { 90.0 } else { 10.0 };
    let found = steps(&plan, &trials(&plan, 0.01, &mut random(), time));
    assert_eq!(found.against[0].steps[2].enough, Enough::No);
    assert!(found.against[0].best[0].is_felt);
}

#[test]
fn of_a_log_the_total_decides() {
    let mut plan = plan(2, "");
    plan.statements[0].executions = Some(1_000);
    plan.statements[1].executions = Some(10);
    // The rare statement is far slower on SQLite, the whole log is faster.
    let time = |engine: usize, _: &str, statement: usize| match (engine, statement) {
        (0, 0) => 10.0,
        (_, 0) => 20.0,
        (0, _) => 300.0,
        _ => 10.0,
    };
    let found = steps(&plan, &trials(&plan, 0.01, &mut random(), time));
    assert_eq!(found.deciding_rows(), [RowKey::Total]);
    assert_eq!(found.against[0].steps[0].enough, Enough::Yes);
    let total = found.engines[0].steps[0].total.as_ref().unwrap().estimate.value;
    assert!((total / 13_000.0 - 1.0).abs() < 0.03, "{total}");
}

#[test]
fn a_statement_that_a_step_lacks_keeps_its_verdict_open() {
    let mut plan = plan(2, "");
    plan.statements[1].steps = vec!["2 indexes".to_owned(), "settings".to_owned()];
    let time = |engine: usize, _: &str, _: usize| if engine == 0 { 5.0 } else { 50.0 };
    let all = trials(&plan, 0.01, &mut random(), time);
    let found = steps(&plan, &all);
    let verdicts: Vec<Enough> = found.against[0].steps.iter().map(|one| one.enough).collect();
    assert_eq!(verdicts, [Enough::Open, Enough::Yes, Enough::Yes]);
    assert_eq!(found.against[0].steps[0].rows[1].verdict, OneSidedVerdict::NotMeasured);
}

#[test]
fn a_bound_of_the_users_own_is_judged_on_every_engine() {
    let plan = plan(2, "enough = \"mean < 20ms\"");
    let time = |engine: usize, step: &str, _: usize| match (engine, step) {
        (0, "unchanged") => 40.0,
        (0, "2 indexes") => 19.8,
        (0, _) => 10.0,
        _ => 5.0,
    };
    let found = steps(&plan, &trials(&plan, 0.05, &mut random(), time));
    let verdicts: Vec<(usize, Enough)> =
        found.bounds.iter().map(|one| (one.engine, one.enough)).collect();
    let expected = [Enough::No, Enough::Open, Enough::Yes].map(|enough| (0, enough));
    assert_eq!(verdicts[..3], expected);
    assert!(verdicts[3..].iter().all(|(engine, enough)| (*engine, *enough) == (1, Enough::Yes)));
}

/// The share of draws in which the last step is enough, for statements of these ratios and ratios of
/// this noise.
fn share_enough(ratios: [f64; 8], noise: f64, blocks: usize) -> f64 {
    const DRAWS: u32 = 400;
    let mut plan = plan(8, "");
    plan.replicates = blocks;
    // One step of the other engine, as simulated elsewhere.
    plan.steps[1].postgres = plan::StepChanges::default();
    let time = |engine: usize, _: &str, statement: usize| match engine {
        0 => 100.0 * ratios[statement],
        _ => 100.0,
    };
    let mut random = random();
    let is_enough = |_: &u32| {
        let trials = trials(&plan, noise / std::f64::consts::SQRT_2, &mut random, time);
        steps(&plan, &trials).against[0].steps.last().unwrap().enough == Enough::Yes
    };
    f64::from(u32::try_from((0..DRAWS).filter(is_enough).count()).unwrap()) / f64::from(DRAWS)
}

#[test]
fn enough_is_decided_often_and_wrongly_seldom() {
    let decided = share_enough([0.5, 0.5, 0.8, 0.8, 0.95, 0.95, 1.0, 1.0], 0.03, 5);
    let boundary = share_enough([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1.05], 0.03, 5);
    println!("decided {decided}, wrongly enough at the boundary {boundary}");
    assert!(decided > 0.75, "{decided}");
    assert!(boundary < 0.08, "{boundary}");
}
