//! Effect of failures and void trials on verdicts: a comparison that cannot be made is named, and
//! nothing is claimed in its place.

use super::*;
use plan::{Bound, ResponseVariable};
use record::NO_RIGHT_ANSWER;

/// PostgreSQL takes half of SQLite's time, everywhere.
fn halved(engine: usize, days: f64, _clients: f64) -> f64 {
    days * if engine == 0 { 2.0 } else { 1.0 }
}

/// So many requests that the server turned down.
fn refused(all: u64) -> FailureCounts {
    FailureCounts { all, ..FailureCounts::default() }
}

fn is_at(trial: &Trial, days: f64, clients: f64) -> bool {
    trial.levels["days"] == Level::Number(days) && trial.levels["clients"] == Level::Number(clients)
}

/// As the laboratory records a trial in which a request of the mix never got its answer.
fn fail_throughout(trial: &mut Trial) {
    trial.status = Status::Void(NO_RIGHT_ANSWER.to_owned());
    fail(trial, refused(10));
    trial.response_time_ms_mean = None;
}

#[test]
fn a_trial_failing_throughout_prevents_the_verdict() {
    let plan = plan(7);
    let rounds = [plan.first_round()];
    let judged = |spoil: fn(&mut Trial)| {
        let mut all = trials(&plan, &rounds, halved);
        let of_sqlite = |trial: &&mut Trial| trial.engine == "sqlite" && is_at(trial, 7.0, 1.0);
        spoil(all.iter_mut().find(of_sqlite).unwrap());
        let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
        let found = analysis.treatments.into_iter().find(|one| {
            let days = &one.levels["days"];
            let clients = &one.levels["clients"];
            one.engine == "postgres:18"
                && (days, clients) == (&Level::Number(7.0), &Level::Number(1.0))
        });
        found.unwrap().ratio.map(|ratio| ratio.estimate.replicates)
    };
    assert_eq!(judged(|_| {}), Some(7));
    assert_eq!(judged(fail_throughout), None);
    let died = |trial: &mut Trial| {
        trial.status = Status::Void("sqlite has ended".to_owned());
        trial.failures = 10;
    };
    assert_eq!(judged(died), Some(6), "the other blocks still pair");
}

#[test]
fn a_level_without_comparison_is_named() {
    let plan = plan(7);
    let rounds = [plan.first_round()];
    let mut all = trials(&plan, &rounds, halved);
    for trial in all.iter_mut().filter(|t| t.engine == "sqlite" && is_at(t, 31.0, 4.0)) {
        fail(trial, refused(1));
    }
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
    let answer = said(&plan, &analysis);
    let told = "4 clients: PostgreSQL 18 is shown faster than SQLite at a week and from a quarter on; \
                nothing to compare at a month (SQLite: 7 of 77 requests articles failed); failures: \
                SQLite in 7 of 7,567 requests, PostgreSQL 18 in none.";
    assert!(answer.lead.contains(told), "{}", answer.lead);
    let said = &answer.sentences[2];
    let told = "failures: PostgreSQL 18 in none, SQLite in 7 of 2,527 requests.";
    assert!(said.starts_with("4 clients: ") && said.ends_with(told), "{said}");
    assert!(answer.undecided);
}

#[test]
fn bisection_ends_though_the_levels_that_it_adds_fail() {
    let plan = plan(7);
    let mut rounds = vec![plan.first_round()];
    let of_plan = rounds[0].cells.clone();
    loop {
        let cells: Vec<_> = rounds.iter().flat_map(|round| round.cells.clone()).collect();
        let mut all = trials(&plan, &rounds, crossing_at_128);
        for trial in all.iter_mut().filter(|trial| !of_plan.contains(&trial.levels)) {
            fail(trial, refused(1));
        }
        let next = next_cells(&plan, &analyse(&Design::of(&plan), &cells, &all));
        if next.is_empty() {
            break;
        }
        assert!(next.iter().all(|cell| !cells.contains(cell)), "measured again: {next:?}");
        rounds.push(Round { cells: next, blocks: plan.replicates });
    }
    assert!(rounds.len() > 1);
}

#[test]
fn a_time_threshold_of_a_failed_treatment_is_undecided() {
    let mut plan = plan(7);
    plan.thresholds = BTreeMap::from([
        (ResponseVariable::ResponseTimeMsMean, Bound::Below(1e6)),
        (ResponseVariable::FailureFraction, Bound::Below(0.5)),
    ]);
    let rounds = [plan.first_round()];
    let mut all = trials(&plan, &rounds, halved);
    for trial in all.iter_mut().filter(|trial| trial.engine == "sqlite") {
        fail(trial, refused(9));
    }
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
    for judged in &analysis.thresholds {
        let on_time = judged.response == ResponseVariable::ResponseTimeMsMean;
        let undecided = on_time && judged.engine == "sqlite";
        assert_eq!(judged.met, (!undecided).then_some(true), "{judged:?}");
    }
}

#[test]
fn an_often_failing_release_has_a_curve_and_no_verdict() {
    let text = include_str!("../../../../../experiments/oltp.toml");
    let plan = plan::read(text, "oltp.toml").unwrap();
    let rounds = [plan.first_round()];
    let mut all = trials_by(&plan, &rounds, |engine, _| if engine == 1 { 1.0 } else { 2.0 });
    let many = |trial: &Trial| trial.levels["clients"] == Level::Number(64.0);
    for trial in all.iter_mut().filter(|trial| trial.engine == "postgres:18" && many(trial)) {
        fail(trial, refused(9));
    }
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
    let answer = said(&plan, &analysis);
    let throughput = analysis.throughput.unwrap();
    for (step, said) in throughput.steps.iter().zip(answer.of_steps) {
        let levels: Vec<f64> = step.results.iter().map(|result| result.level).collect();
        assert_eq!((step.a.as_str(), step.b.as_str()), ("postgres:18", "postgres:14"));
        assert_eq!(levels, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        assert_eq!(step.left_out, [64.0]);
        let end = "PostgreSQL 18 is shown faster than PostgreSQL 14 up to 32 clients: ";
        let open = "nothing to compare at 64 clients";
        assert!(said.contains(end) && said.contains(open), "{said}");
    }
    let mut curves = throughput.scaling.iter().filter(|curve| curve.engine == "postgres:18");
    assert!(curves.all(|curve| curve.over_one.len() == 7));
}

/// The plan's tolerance is of all requests and of each distinct one, over all blocks.
#[test]
fn few_failures_are_tolerated_and_no_wrong_answer_is() {
    let mut plan = plan(7);
    let rounds = [plan.first_round()];
    let judged = |plan: &Plan, failures: FailureCounts| {
        let mut all = trials(plan, &rounds, halved);
        for trial in &mut all {
            trial.requests = 90_000;
            trial.by_request.iter_mut().for_each(|one| one.requests = 10_000);
        }
        let of_sqlite = |trial: &&mut Trial| trial.engine == "sqlite" && is_at(trial, 7.0, 1.0);
        fail(all.iter_mut().find(of_sqlite).unwrap(), failures);
        let analysis = analyse(&Design::of(plan), &rounds[0].cells, &all);
        (analysis.sweeps[0].left_out.is_empty(), said(plan, &analysis))
    };
    let (is_judged, verdict) = judged(&plan, refused(5));
    assert!(is_judged && !verdict.undecided);
    let said = &verdict.headline;
    assert!(
        said.contains("failures: SQLite in 5 of 7,560,005 requests, PostgreSQL 18 in none"),
        "{said}"
    );
    // 70 of 70,000 are tolerated.
    assert!(judged(&plan, refused(70)).0);
    let (is_judged, verdict) = judged(&plan, refused(71));
    assert!(!is_judged && verdict.undecided);
    let wanted = "SQLite: 71 of 70,071 requests articles failed";
    assert!(verdict.headline.contains(wanted), "{}", verdict.headline);
    plan.max_failures = Some("1%".parse().unwrap());
    assert!(judged(&plan, refused(71)).0);
    let (is_judged, verdict) = judged(&plan, FailureCounts { wrong: 1, ..refused(1) });
    assert!(!is_judged, "{}", verdict.headline);
    assert!(verdict.headline.contains("1 of 70,001 answers to articles were wrong"));
}

/// As runs were recorded before failures were told apart.
#[test]
fn failures_of_an_unknown_kind_cost_the_verdict() {
    let plan = plan(7);
    let rounds = [plan.first_round()];
    let mut all = trials(&plan, &rounds, halved);
    for trial in &mut all {
        trial.by_request.iter_mut().for_each(|one| one.failures = None);
    }
    all[0].failures = 1;
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
    assert_eq!(analysis.treatments.iter().filter(|one| !one.standing.is_judged()).count(), 1);
}

/// One request in a thousand that was waited for in vain may well have been the slowest by far.
#[test]
fn a_verdict_that_time_outs_could_turn_is_none() {
    let mut plan = plan(7);
    plan.max_failures = Some("5%".parse().unwrap());
    let rounds = [plan.first_round()];
    let with_time_outs = |at_limit: f64| {
        let mut all = trials(&plan, &rounds, halved);
        for trial in all.iter_mut().filter(|trial| trial.engine == "postgres:18") {
            let mean = trial.response_time_ms_mean.unwrap();
            let counts = FailureCounts { timed_out: 1, ..refused(1) };
            trial.requests = 9_000;
            trial.by_request.iter_mut().for_each(|one| one.requests = 1_000);
            fail(
                trial,
                FailureCounts {
                    response_time_ms_mean_with_time_outs: Some(mean * at_limit),
                    ..counts
                },
            );
            trial.response_time_ms_mean_with_time_outs = Some(mean * at_limit);
        }
        analyse(&Design::of(&plan), &rounds[0].cells, &all)
    };
    let held = with_time_outs(1.2);
    assert!(!said(&plan, &held).undecided);
    let turned = with_time_outs(2.5);
    assert!(said(&plan, &turned).undecided);
    let said = &said(&plan, &turned).headline;
    assert!(said.contains("time-outs could turn it"), "{said}");
}
