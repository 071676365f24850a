//! Trials of a plan with steps: the file unchanged, with indexes on both engines, with settings of SQLite.

use std::collections::BTreeMap;

use plan::{Design, PlannedTrial};
use plan::{Level, Levels, Plan, STEP};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use record::{FailureCounts, RequestSummary, Trial};

pub fn plan(statements: usize, extra: &str) -> Plan {
    let statements: String = (0..statements)
        .map(|index| format!("[[statement]]\nname = \"s{index}\"\ntext = \"SELECT 1\"\n"))
        .collect();
    let text = format!(
        r#"
        title = "t"
        workload = "sql"
        engines = ["sqlite", "postgres:18"]
        data = "Cargo.toml"
        replicates = 5
        {extra}
        [[step]]
        name = "unchanged"
        [[step]]
        name = "2 indexes"
        sqlite = {{ statements = ["CREATE INDEX i ON t(a)"] }}
        postgres = {{ statements = ["CREATE INDEX i ON t(a)"] }}
        [[step]]
        name = "settings"
        sqlite = {{ settings = {{ cache_size = "-65536" }} }}
        {statements}
        "#
    );
    plan::read(&text, "t.toml").unwrap()
}

pub fn random() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(40)
}

/// Normal noise of logarithms, from two uniform numbers (Box and Muller).
fn noise(spread: f64, random: &mut Xoshiro256PlusPlus) -> f64 {
    let (u, v): (f64, f64) = (random.random(), random.random());
    let normal = (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos();
    (spread * normal).exp()
}

/// Trials whose times, ms, are `time(engine, step, statement)` with noise. A statement that its own
/// `steps` leave out has none.
pub fn trials(
    plan: &Plan,
    spread: f64,
    random: &mut Xoshiro256PlusPlus,
    time: impl Fn(usize, &str, usize) -> f64,
) -> Vec<Trial> {
    trials_at(plan, spread, random, |engine, levels, statement| {
        let Level::Text(step) = &levels[STEP] else { panic!("a step is a text") };
        time(engine, step, statement)
    })
}

/// The same with times by all levels.
pub fn trials_at(
    plan: &Plan,
    spread: f64,
    random: &mut Xoshiro256PlusPlus,
    time: impl Fn(usize, &Levels, usize) -> f64,
) -> Vec<Trial> {
    let rounds = [plan.first_round()];
    let planned = Design::of(plan).trials(1, &rounds, 0);
    let mut of_trial = |planned: &PlannedTrial| {
        let mut trial = super::trial(plan, planned, 1.0);
        let Level::Text(step) = &planned.levels[STEP] else { panic!("a step is a text") };
        let summary = |(index, operation): (usize, plan::Operation)| RequestSummary {
            name: operation.name,
            requests: 300,
            response_time_ms_mean: Some(
                time(planned.engine, &planned.levels, index) * noise(spread, random),
            ),
            response_time_ms_percentiles: BTreeMap::new(),
            failures: Some(FailureCounts::default()),
            without_effect_fraction: None,
        };
        let all = plan.operations().into_iter().enumerate();
        let is_there = |index: usize| {
            let steps = &plan.statements[index].steps;
            steps.is_empty() || steps.contains(step)
        };
        trial.by_request = all.filter(|(index, _)| is_there(*index)).map(summary).collect();
        let means = || trial.by_request.iter().filter_map(|one| one.response_time_ms_mean);
        trial.response_time_ms_mean = Some(means().sum::<f64>() / means().count() as f64);
        trial
    };
    planned.iter().map(&mut of_trial).collect()
}
