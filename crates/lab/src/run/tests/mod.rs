//! The order of a run, its ends and its repetitions: without servers and without time.

mod mock;

use std::collections::BTreeSet;

use plan::{Design, Level, Levels, Plan};
use record::{Finished, Status};
use report::analysis::analyse;

use crate::error::RunError;
use mock::{Incident, MockPlace, MockWorld};

/// Starts of the pilot, one of each engine.
const PILOT: usize = 2;
const A_MINUTE: f64 = 60.0;

/// Two engines at two levels of a factor; `more` are further keys of the plan.
fn plan(more: &str, factor: &str) -> Plan {
    let text = format!(
        r#"
        title = "mock"
        workload = "http"
        engines = ["http://127.0.0.1:1[label=a]", "http://127.0.0.1:2[label=b]"]
        seed = 7
        trial = {{ mode = "passes", passes = 1 }}
        {more}
        [factors]
        size = {{ levels = [1, 64], swept = "log"{factor} }}
        [[request]]
        path = "/{{size}}"
        "#
    );
    plan::read(&text, "mock.toml").unwrap()
}

fn size(levels: &Levels) -> f64 {
    levels["size"].number().unwrap()
}

fn label(plan: &Plan, engine: usize) -> String {
    plan.engines[engine].label()
}

/// Engine and levels of every trial of the run's design.
fn designed(finished: &Finished) -> Vec<(String, Levels)> {
    let design = Design::of(&finished.plan);
    let rounds = &finished.run.rounds;
    let trials =
        (0..rounds.len()).flat_map(|index| design.trials(finished.run.seed, rounds, index));
    trials.map(|trial| (label(&finished.plan, trial.engine), trial.levels)).collect()
}

#[test]
fn blocks_run_in_the_order_of_the_design() {
    let world = MockWorld::new(&|_, _, _| A_MINUTE);
    let finished = MockPlace::new().start(&world, plan("replicates = 4", "")).unwrap();
    assert!(finished.run.complete);
    assert_eq!(*world.loads.borrow(), designed(&finished));
    // Each engine is started once in a block, for both of its trials; before, a pilot asks them all.
    let by_turn: Vec<String> =
        designed(&finished).chunks(2).map(|turn| turn[0].0.clone()).collect();
    let starts = world.starts.borrow();
    assert_eq!(starts[..PILOT], ["a", "b"]);
    assert_eq!(starts[PILOT..], by_turn);
    assert_eq!(by_turn.len(), 8);
}

#[test]
fn a_run_taken_up_again_measures_what_is_missing_alone() {
    let world = MockWorld::new(&|_, _, _| A_MINUTE);
    let place = MockPlace::new();
    for stop in 1..=7 {
        world.incident.set(Incident::Interrupt(2 * stop));
        let ended = match stop {
            1 => place.start(&world, plan("replicates = 4", "")),
            _ => place.resume(&world),
        };
        let said = ended.err().unwrap().to_string();
        assert!(said.contains("interrupted"), "stop {stop}: {said}");
    }
    world.incident.set(Incident::None);
    let finished = place.resume(&world).unwrap();
    assert_eq!(*world.loads.borrow(), designed(&finished), "each trial once, in its order");
    let numbers: BTreeSet<usize> = finished.trials.iter().map(|trial| trial.number).collect();
    assert_eq!(numbers, (1..=16).collect());
}

#[test]
fn an_engine_that_ends_is_started_again_and_its_trial_is_void() {
    let world = MockWorld::new(&|_, _, _| A_MINUTE);
    world.incident.set(Incident::EngineEnds(3));
    let finished = MockPlace::new().start(&world, plan("replicates = 4", "")).unwrap();
    let void: Vec<usize> = finished
        .trials
        .iter()
        .filter(|trial| trial.status != Status::Ok)
        .map(|trial| trial.number)
        .collect();
    assert_eq!(void, [3]);
    assert_eq!(world.starts.borrow().len(), PILOT + 8 + 1);
    assert_eq!(finished.trials.len(), 16);
}

#[test]
fn a_run_that_stops_on_an_error_names_the_engine() {
    let world = MockWorld::new(&|_, _, _| A_MINUTE);
    world.incident.set(Incident::EngineEnds(3));
    let place = MockPlace::new();
    let ended = place.start(&world, plan("replicates = 4\non_error = \"stop\"", ""));
    let said = ended.err().unwrap().to_string();
    assert!(said.contains("has ended"), "{said}");
    let finished = place.resume(&world).unwrap();
    assert_eq!(finished.trials.len(), 16);
}

#[test]
fn a_budget_ends_a_run_before_the_block_that_would_pass_it() {
    // Four trials of a minute are a block: seven fit half an hour.
    let world = MockWorld::new(&|_, _, _| A_MINUTE);
    let finished =
        MockPlace::new().start(&world, plan("replicates = 20\nbudget = \"30m\"", "")).unwrap();
    assert_eq!(finished.run.rounds[0].blocks, 7);
    assert_eq!(finished.trials.len(), 28);
    assert!(finished.run.complete);
}

#[test]
fn a_budget_leaves_the_five_blocks_that_intervals_need() {
    let world = MockWorld::new(&|_, _, _| A_MINUTE);
    let finished =
        MockPlace::new().start(&world, plan("replicates = 20\nbudget = \"1m\"", "")).unwrap();
    assert_eq!(finished.run.rounds[0].blocks, 5);
}

#[test]
fn no_trial_begins_after_the_time_limit() {
    let world = MockWorld::new(&|_, _, _| A_MINUTE);
    let plan = plan("replicates = 20", "");
    let finished = MockPlace::new().start_within(&world, (601, 2), plan).unwrap();
    // The eleventh begins one second before the end.
    assert_eq!(finished.trials.len(), 11);
    assert_eq!(finished.run.rounds[0].blocks, 3);
}

#[test]
fn a_first_block_shows_that_the_others_do_not_fit() {
    let world = MockWorld::new(&|_, _, _| A_MINUTE);
    let plan = plan("replicates = 20", "");
    let ended = MockPlace::new().start_within(&world, (601, 5), plan);
    assert!(matches!(ended, Err(RunError::BlocksDoNotFit { blocks: 5, .. })));
    assert_eq!(world.loads.borrow().len(), 4, "one block was measured");
}

#[test]
fn blocks_are_added_until_every_interval_is_narrow_enough() {
    // By an eighth more and less, in turn: intervals shrink as blocks come.
    let noisy = |_: &str, levels: &Levels, before: usize| {
        let is_more = (before / 4).is_multiple_of(2);
        size(levels) * if is_more { 1.125 } else { 0.875 }
    };
    let world = MockWorld::new(&noisy);
    let finished =
        MockPlace::new().start(&world, plan("replicates = 5\nprecision = \"7%\"", "")).unwrap();
    let blocks = finished.run.rounds[0].blocks;
    assert!(blocks > 10, "{blocks}");
    let widest = |blocks: usize| {
        let trials: Vec<_> =
            finished.trials.iter().filter(|trial| trial.block <= blocks).cloned().collect();
        let analysis = analyse(&Design::of(&finished.plan), &finished.cells(), &trials);
        let half_width =
            |one: &stats::Estimate| (one.high.unwrap() - one.low.unwrap()) / 2.0 / one.value;
        let estimates = analysis.treatments.iter().filter_map(|one| one.estimate.as_ref());
        estimates.map(half_width).fold(0.0, f64::max)
    };
    assert!(widest(blocks) <= 0.07, "{}", widest(blocks));
    assert!(widest(blocks - 1) > 0.07, "{}", widest(blocks - 1));
}

#[test]
fn bisection_halves_the_bracket_until_it_is_narrow() {
    // a takes a second at every size, b a tenth of its size: they cross at ten.
    let crossing = |engine: &str, levels: &Levels, before: usize| {
        let noise = 1.0 + (before % 7) as f64 / 1_000.0;
        noise * if engine == "a" { 1.0 } else { size(levels) / 10.0 }
    };
    let world = MockWorld::new(&crossing);
    let finished =
        MockPlace::new().start(&world, plan("replicates = 5", ", bisect = true")).unwrap();
    let mut sizes: Vec<f64> = finished.cells().iter().map(size).collect();
    let added: Vec<f64> = sizes.split_off(2);
    assert_eq!(added[0], 8.0, "the middle of 1 and 64 on a logarithmic axis");
    assert!(added.len() >= 3, "{added:?}");
    for later in &added[1..] {
        assert!((8.0..32.0).contains(later), "{added:?}");
    }
    assert_eq!(*world.loads.borrow(), designed(&finished));
    assert!(finished.cells().iter().all(|cell| matches!(cell["size"], Level::Number(_))));
}
