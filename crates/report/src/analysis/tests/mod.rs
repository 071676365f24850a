//! Analyses of trials made by formula, so that what they must show is known.

mod factors;
mod failures;
mod nothing_there;
mod planted;
mod simulated;
mod write_back;

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::*;
use plan::Levels;
use plan::schedule::{self, PlannedTrial, Round};
use plan::{Level, Plan};
use record::{FailureCounts, RequestSummary, Status};

/// Two factors that act on PostgreSQL alone, each varied by itself, beside the swept one.
pub const FACTORS: &str = include_str!("../../../../testing/fixtures/factors.toml");

pub fn plan(replicates: usize) -> Plan {
    let text = include_str!("../../../../../experiments/article.toml");
    let mut plan = plan::read(text, "article.toml").unwrap();
    plan.replicates = replicates;
    plan
}

/// A deterministic wobble of about 2%.
fn noise(number: usize) -> f64 {
    1.0 + 0.02 * ((number * 7919 % 101) as f64 / 50.0 - 1.0)
}

pub fn trials(plan: &Plan, rounds: &[Round], time: impl Fn(usize, f64, f64) -> f64) -> Vec<Trial> {
    let number = |levels: &Levels, name: &str| levels[name].number().unwrap();
    let of = |engine: usize, levels: &Levels| {
        time(engine, number(levels, "days"), number(levels, "clients"))
    };
    trials_by(plan, rounds, of)
}

fn trials_by(plan: &Plan, rounds: &[Round], time: impl Fn(usize, &Levels) -> f64) -> Vec<Trial> {
    let planned = (0..rounds.len()).flat_map(|index| schedule::trials(plan, 1, rounds, index));
    planned
        .map(|planned| {
            let mean = time(planned.engine, &planned.levels) * noise(planned.number);
            trial(plan, &planned, mean)
        })
        .collect()
}

/// A trial that took `mean` ms per request.
fn trial(plan: &Plan, planned: &PlannedTrial, mean: f64) -> Trial {
    let by_request = plan.requests.iter().map(|request| RequestSummary {
        name: request.name.clone(),
        requests: 10,
        response_time_ms_mean: Some(mean),
        failures: Some(FailureCounts::default()),
    });
    Trial {
        number: planned.number,
        block: planned.block,
        engine: plan.engines[planned.engine].label(),
        levels: planned.levels.clone(),
        status: Status::Ok,
        started: Timestamp::UNIX_EPOCH,
        wall_seconds: 1.0,
        requests: 90,
        failures: 0,
        first_failure: None,
        response_time_ms_mean: Some(mean),
        response_time_ms_mean_with_time_outs: None,
        checkpoint_seconds: None,
        sync_seconds: None,
        requests_per_second: 1000.0 / mean,
        cpu_seconds_per_request: Some(mean / 1000.0),
        cores_used: Some(1.0),
        client_cores_used: 0.01,
        steal_fraction: Some(0.0),
        other_cores_used: Some(0.0),
        server_resident_bytes: None,
        by_request: by_request.collect(),
        response_time_ms_percentiles: BTreeMap::new(),
        counters: BTreeMap::new(),
        plans: Vec::new(),
        quiet_wait_seconds: 0.0,
        swapped_bytes: None,
        cpu_pressure_fraction: None,
        memory_pressure_fraction: None,
        warm_up_steady: None,
        warm_up_failures: 0,
        second_half_ratio: None,
        offered_per_second: None,
        saturated: false,
        answers_by_second: Vec::new(),
    }
}

/// Adds failures to the first request of the mix.
fn fail(trial: &mut Trial, failures: FailureCounts) {
    trial.failures += failures.all;
    trial.requests += failures.all;
    if let Some(first) = trial.by_request.first_mut() {
        first.requests += failures.all;
        first.failures = Some(failures);
    }
}

/// PostgreSQL's time grows faster than SQLite's: they cross at 128 days.
fn crossing_at_128(engine: usize, days: f64, clients: f64) -> f64 {
    clients * if engine == 0 { 10.0 + days } else { (10.0 + 128.0) * (days / 128.0).powf(1.4) }
}

#[test]
fn a_planted_crossing_is_bracketed_and_bisected() {
    let plan = plan(7);
    let mut rounds = vec![schedule::first_round(&plan)];
    let mut analysis;
    loop {
        let cells: Vec<_> = rounds.iter().flat_map(|round| round.cells.clone()).collect();
        analysis = analyse(&plan, &cells, &trials(&plan, &rounds, crossing_at_128));
        let next = next_cells(&plan, &analysis);
        if next.is_empty() {
            break;
        }
        assert!(rounds.len() < 12, "bisection does not end");
        rounds.push(Round { cells: next, blocks: plan.replicates });
    }
    for sweep in analysis.sweeps.iter().filter(|sweep| sweep.request.is_none()) {
        let [stats::crossing::Crossing::Bracketed { last, first, .. }] = sweep.crossings[..] else {
            panic!("{:?}", sweep.crossings);
        };
        assert!(last < 128.0 && first > 128.0, "{last} to {first}");
        assert!(first / last <= 1.35, "{last} to {first}");
    }
    assert!(analysis.verdict.headline.starts_with("The lines cross in 3 of 3"));
    assert!(!analysis.verdict.undecided);
}

#[test]
fn no_crossing_is_reported_if_one_engine_always_leads() {
    let plan = plan(7);
    let rounds = [schedule::first_round(&plan)];
    let all = trials(&plan, &rounds, |engine, days, _| days * if engine == 0 { 2.0 } else { 1.0 });
    let analysis = analyse(&plan, &rounds[0].cells, &all);
    assert_eq!(
        analysis.verdict.headline,
        "postgres:18 is faster at every period measured, with 1 client, 2 clients and 4 clients: \
         the lines do not cross in this range."
    );
    assert_eq!(
        analysis.verdict.sentences[0],
        "1 client: postgres:18 is faster than sqlite at every period measured, week (7 days) to \
         year (365 days)."
    );
    let year = analysis
        .treatments
        .iter()
        .find(|t| t.engine == "postgres:18" && t.levels["days"] == Level::Number(365.0))
        .unwrap();
    let ratio = year.ratio.as_ref().unwrap();
    assert_eq!(ratio.shown, Shown::Faster);
    assert!((ratio.estimate.value - 0.5).abs() < 0.02);
}

#[test]
fn equal_engines_are_undecided_within_a_small_margin_only() {
    let mut plan = plan(7);
    let rounds = [schedule::first_round(&plan)];
    let all = trials(&plan, &rounds, |_, days, _| days);
    let analysis = analyse(&plan, &rounds[0].cells, &all);
    assert!(!analysis.verdict.undecided);
    assert_eq!(
        analysis.verdict.headline,
        "sqlite and postgres:18 are equal within 5% at every period measured, with 1 client, 2 \
         clients and 4 clients."
    );
    plan.equivalent_within = "0.1%".parse().unwrap();
    let analysis = analyse(&plan, &rounds[0].cells, &all);
    assert!(analysis.verdict.undecided);
    assert!(analysis.verdict.sentences[0].contains("no verdict"));
}

/// Crossings rest on differences alone, however small they are.
#[test]
fn a_difference_within_the_margin_is_an_equality_with_its_size() {
    let plan = plan(20);
    let rounds = [schedule::first_round(&plan)];
    let all = trials(&plan, &rounds, |engine, days, _| days * if engine == 0 { 1.02 } else { 1.0 });
    let analysis = analyse(&plan, &rounds[0].cells, &all);
    let together = || analysis.sweeps.iter().filter(|sweep| sweep.request.is_none());
    assert!(together().flat_map(|sweep| &sweep.results).all(|one| one.shown() == Shown::Equal));
    assert!(together().all(|sweep| {
        matches!(sweep.crossings[..], [stats::crossing::Crossing::NotInRange { .. }])
    }));
    let ratio = analysis.treatments.iter().find_map(|one| one.ratio.as_ref()).unwrap();
    assert_eq!((ratio.shown, ratio.difference), (Shown::Equal, Some(Shown::Faster)));
    assert!(!analysis.verdict.undecided);
}

#[test]
fn times_have_positive_bounds_and_large_means_are_shown() {
    let plan = plan(5);
    let rounds = [schedule::first_round(&plan)];
    let mut all = trials(&plan, &rounds, |_, days, _| days);
    for trial in all.iter_mut().filter(|trial| trial.block == 3) {
        trial.response_time_ms_mean = trial.response_time_ms_mean.map(|mean| mean * 100.0);
    }
    let analysis = analyse(&plan, &rounds[0].cells, &all);
    for one in &analysis.treatments {
        let (geometric, arithmetic) =
            (one.estimate.unwrap(), one.response_time_arithmetic.unwrap());
        assert!(geometric.low > Some(0.0) && arithmetic.low == Some(0.0));
        let shown = one.larger_arithmetic_mean().unwrap();
        assert!((shown / arithmetic.value - 1.0).abs() < 1e-9, "{shown} instead of {arithmetic:?}");
    }
}

#[test]
fn each_of_three_engines_counts_in_its_own_comparisons() {
    let mut plan = plan(7);
    plan.engines.push("postgres:16".parse().unwrap());
    let rounds = [schedule::first_round(&plan)];
    let halved = |engine, days, _| if engine == 1 { days / 2.0 } else { days };
    let all = trials(&plan, &rounds, halved);
    assert_eq!(
        analyse(&plan, &rounds[0].cells, &all).verdict.headline,
        "postgres:18 is shown faster in 12 of its 12 comparisons, the two are equal in 12."
    );
}

#[test]
fn under_five_blocks_there_is_no_verdict() {
    let plan = plan(3);
    let rounds = [schedule::first_round(&plan)];
    let all = trials(&plan, &rounds, |engine, days, _| days * if engine == 0 { 9.0 } else { 1.0 });
    let analysis = analyse(&plan, &rounds[0].cells, &all);
    assert!(analysis.verdict.undecided);
    assert!(analysis.verdict.headline.starts_with("3 blocks show values and ranges"));
    assert!(analysis.treatments.iter().all(|t| t.best_of_three.is_some()));
}

#[test]
fn failures_prevent_the_verdict_and_void_trials_do_not_count() {
    let plan = plan(7);
    let rounds = [schedule::first_round(&plan)];
    let mut all =
        trials(&plan, &rounds, |engine, days, _| days * if engine == 0 { 9.0 } else { 1.0 });
    let week =
        |trial: &Trial| trial.levels["days"] == Level::Number(7.0) && trial.engine == "sqlite";
    for trial in all.iter_mut().filter(|trial| week(trial)) {
        fail(trial, FailureCounts { all: 1, wrong: 1, ..FailureCounts::default() });
    }
    all[0].status = Status::Void("the application died".to_owned());
    let analysis = analyse(&plan, &rounds[0].cells, &all);
    let compared: BTreeMap<bool, usize> = analysis
        .treatments
        .iter()
        .filter(|t| t.engine == "postgres:18")
        .fold(BTreeMap::new(), |mut counts, t| {
            *counts.entry(t.ratio.is_some()).or_default() += 1;
            counts
        });
    assert_eq!(compared[&false], 3, "the three week treatments");
    assert_eq!(compared[&true], 9);
    assert_eq!(analysis.treatments.iter().map(|t| t.void).sum::<usize>(), 1);
}

#[test]
fn a_percentile_is_bootstrapped_from_20_blocks() {
    let of_blocks = |blocks: usize| {
        let plan = plan(blocks);
        let rounds = [schedule::first_round(&plan)];
        let mut all = trials(&plan, &rounds, |_, days, _| days);
        for trial in &mut all {
            let mean = trial.response_time_ms_mean.unwrap();
            let percentiles = &mut trial.response_time_ms_percentiles;
            percentiles.insert("p50".to_owned(), mean * 0.9);
            if trial.number > 1 {
                percentiles.insert("p99".to_owned(), mean * 3.0);
            }
        }
        let short = (all[0].engine.clone(), all[0].levels.clone());
        let analysis = analyse(&plan, &rounds[0].cells, &all);
        let names = |one: &Treatment| one.percentiles.iter().map(|p| p.name).collect::<Vec<_>>();
        for one in &analysis.treatments {
            let is_short = (one.engine.clone(), one.levels.clone()) == short;
            assert_eq!(names(one), if is_short { vec!["p50"] } else { vec!["p50", "p99"] });
        }
        analysis.treatments[0].percentiles[0].estimate.method
    };
    assert_eq!(of_blocks(7), stats::Method::StudentTLog);
    assert_eq!(of_blocks(20), stats::Method::Bca);
}

#[test]
fn releases_are_compared_over_clients_with_any_sweep() {
    let text = include_str!("../../../../../experiments/oltp.toml");
    let sizes = "table_size = { levels = [1000, 100000], swept = \"log\" }";
    let text = text.replace("mix = [\"read_only\", \"read_write\"]", sizes);
    let text = text.replace("64], swept = \"log\" }", "64] }");
    let plan = plan::read(&text, "sizes.toml").unwrap();
    assert_eq!(plan.swept().unwrap().0, "table_size");
    let rounds = [schedule::first_round(&plan)];
    let all = trials_by(&plan, &rounds, |engine, _| if engine == 1 { 1.0 } else { 2.0 });
    let throughput = analyse(&plan, &rounds[0].cells, &all).throughput.unwrap();
    assert_eq!(throughput.steps.len(), 2);
    for step in &throughput.steps {
        let said = sentence(&plan, step);
        let end = "postgres:18 is faster than postgres:14 at every number of clients measured, \
                   1 client to 64 clients.";
        assert!(said.ends_with(end), "{said}");
    }
}
