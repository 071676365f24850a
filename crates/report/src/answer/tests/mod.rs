//! Analyses of trials made by formula, so that what they must show is known.

mod assertions;
mod factors;
mod failures;
mod families;
mod interactions;
mod nothing_there;
mod planted;
mod simulated;
mod situations;
mod write_back;

use std::collections::BTreeMap;

use super::{Background, RunAnswer};
use crate::analysis::*;
use crate::formula::{FACTORS, fail, plan, trial, trials, trials_by};
use plan::{Design, Round};
use plan::{Level, Levels, Plan};
use record::{FailureCounts, Status, Trial};

/// The answer, without what is known of a recorded run.
fn said(plan: &Plan, analysis: &Analysis) -> RunAnswer {
    super::of(plan, &Background::default(), analysis)
}

/// PostgreSQL's time grows faster than SQLite's: they cross at 128 days.
fn crossing_at_128(engine: usize, days: f64, clients: f64) -> f64 {
    clients * if engine == 0 { 10.0 + days } else { (10.0 + 128.0) * (days / 128.0).powf(1.4) }
}

#[test]
fn a_planted_crossing_is_bracketed_and_bisected() {
    let plan = plan(7);
    let mut rounds = vec![plan.first_round()];
    let mut analysis;
    loop {
        let cells: Vec<_> = rounds.iter().flat_map(|round| round.cells.clone()).collect();
        analysis = analyse(&Design::of(&plan), &cells, &trials(&plan, &rounds, crossing_at_128));
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
    let answer = said(&plan, &analysis);
    assert!(answer.lead.contains("SQLite and PostgreSQL 18 cross between"), "{}", answer.lead);
    assert!(!answer.undecided);
}

#[test]
fn no_crossing_is_reported_if_one_engine_always_leads() {
    let plan = plan(7);
    let rounds = [plan.first_round()];
    let all = trials(&plan, &rounds, |engine, days, _| days * if engine == 0 { 2.0 } else { 1.0 });
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
    let answer = said(&plan, &analysis);
    assert_eq!(
        answer.headline,
        "1 client, 2 clients and 4 clients: PostgreSQL 18 is shown faster than SQLite at every period \
         measured, a week to a year: 2.01 times as fast at a year, 4 clients (364 ms against 731 ms; \
         95%: 1.97 to 2.05)."
    );
    assert!(answer.verdicts.iter().all(|one| one.verdict == Shown::Faster && one.ratio < 0.6));
    assert_eq!(answer.verdicts.len(), 12);
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
    let rounds = [plan.first_round()];
    let all = trials(&plan, &rounds, |_, days, _| days);
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
    assert!(!said(&plan, &analysis).undecided);
    assert_eq!(
        said(&plan, &analysis).headline,
        "1 client, 2 clients and 4 clients: SQLite and PostgreSQL 18 are equal within 5% at every \
         period measured, a week to a year."
    );
    plan.equivalent_within = "0.1%".parse().unwrap();
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
    assert!(said(&plan, &analysis).undecided);
    assert!(said(&plan, &analysis).headline.contains("undecided"));
}

#[test]
fn a_difference_comes_before_equal_levels() {
    let plan = plan(7);
    let rounds = [plan.first_round()];
    let all = trials(&plan, &rounds, |engine, days, clients| match (engine, clients) {
        (1, 4.0) => days / 2.0,
        _ => days,
    });
    assert_eq!(
        said(&plan, &analyse(&Design::of(&plan), &rounds[0].cells, &all)).headline,
        "4 clients: PostgreSQL 18 is shown faster than SQLite at every period measured, a week to a \
         year. 1 client and 2 clients: SQLite and PostgreSQL 18 are equal within 5% at every period \
         measured, a week to a year. At a year, 4 clients, PostgreSQL 18 is 2.01 times as fast as \
         SQLite (182 ms against 365 ms; 95%: 1.97 to 2.05)."
    );
}

/// Crossings rest on differences alone, however small they are.
#[test]
fn a_difference_within_the_margin_is_an_equality_with_its_size() {
    let plan = plan(20);
    let rounds = [plan.first_round()];
    let all = trials(&plan, &rounds, |engine, days, _| days * if engine == 0 { 1.02 } else { 1.0 });
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
    let together = || analysis.sweeps.iter().filter(|sweep| sweep.request.is_none());
    assert!(together().flat_map(|sweep| &sweep.results).all(|one| one.shown() == Shown::Equal));
    assert!(together().all(|sweep| {
        matches!(sweep.crossings[..], [stats::crossing::Crossing::NotInRange { .. }])
    }));
    let ratio = analysis.treatments.iter().find_map(|one| one.ratio.as_ref()).unwrap();
    assert_eq!((ratio.shown, ratio.difference), (Shown::Equal, Some(Shown::Faster)));
    assert!(!said(&plan, &analysis).undecided);
}

#[test]
fn times_have_positive_bounds_and_large_means_are_shown() {
    let plan = plan(5);
    let rounds = [plan.first_round()];
    let mut all = trials(&plan, &rounds, |_, days, _| days);
    for trial in all.iter_mut().filter(|trial| trial.block == 3) {
        trial.response_time_ms_mean = trial.response_time_ms_mean.map(|mean| mean * 100.0);
    }
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
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
    let rounds = [plan.first_round()];
    let halved = |engine, days, _| if engine == 1 { days / 2.0 } else { days };
    let all = trials(&plan, &rounds, halved);
    let answer = said(&plan, &analyse(&Design::of(&plan), &rounds[0].cells, &all));
    let ranks = answer.rankings[0]
        .ranks
        .iter()
        .map(|one| (one.engine.as_str(), one.rank_low, one.rank_high));
    assert_eq!(
        ranks.collect::<Vec<_>>(),
        [("postgres:18", 1, 1), ("postgres:16", 2, 3), ("sqlite", 2, 3)]
    );
    let led = answer.verdicts.iter().filter(|one| one.verdict == Shown::Faster);
    // Each with the first, and one more pair in a family of its own; the second is faster than both.
    assert_eq!((led.count(), answer.verdicts.len()), (12, 36));
    let others = answer.verdicts.iter().filter(|one| one.family == Family::OtherPairs);
    assert!(others.clone().all(|one| (&*one.a, &*one.b) == ("postgres:16", "postgres:18")));
    assert!(others.clone().all(|one| one.verdict == Shown::Slower) && others.count() == 12);
}

#[test]
fn under_five_blocks_there_is_no_verdict() {
    let plan = plan(3);
    let rounds = [plan.first_round()];
    let all = trials(&plan, &rounds, |engine, days, _| days * if engine == 0 { 9.0 } else { 1.0 });
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
    assert!(said(&plan, &analysis).undecided);
    assert!(said(&plan, &analysis).headline.starts_with("3 blocks show values and no verdict"));
    assert!(analysis.treatments.iter().all(|t| t.best_of_three.is_some()));
}

#[test]
fn failures_prevent_the_verdict_and_void_trials_do_not_count() {
    let plan = plan(7);
    let rounds = [plan.first_round()];
    let mut all =
        trials(&plan, &rounds, |engine, days, _| days * if engine == 0 { 9.0 } else { 1.0 });
    let week =
        |trial: &Trial| trial.levels["days"] == Level::Number(7.0) && trial.engine == "sqlite";
    for trial in all.iter_mut().filter(|trial| week(trial)) {
        fail(trial, FailureCounts { all: 1, wrong: 1, ..FailureCounts::default() });
    }
    all[0].status = Status::Void("the application died".to_owned());
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
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
        let rounds = [plan.first_round()];
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
        let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
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
    let rounds = [plan.first_round()];
    let all = trials_by(&plan, &rounds, |engine, _| if engine == 1 { 1.0 } else { 2.0 });
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
    assert_eq!(analysis.throughput.as_ref().unwrap().steps.len(), 2);
    for said in said(&plan, &analysis).of_steps {
        let all = "is shown faster than PostgreSQL 14 at every number of clients measured, 1 client to 64 \
                   clients: ";
        assert!(said.contains(all), "{said}");
    }
}
