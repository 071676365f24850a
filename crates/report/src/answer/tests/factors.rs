//! Planted effects of factors: which one moves, makes or undoes a crossing, and by how much.

use super::*;
use plan::Bound;
use record::{CapturedPlan, OperationPlan};

/// With 4MB the year takes PostgreSQL three times as long as SQLite; 16MB takes that away.
fn time(engine: usize, levels: &Levels) -> f64 {
    let days = levels["days"].number().unwrap();
    let spills = days > 300.0 && levels["memory"] == Level::Text("4MB".to_owned());
    match engine {
        0 => days,
        _ if spills => days * 3.0,
        _ => days / 2.0,
    }
}

fn analysis() -> (Plan, Vec<Trial>, Analysis) {
    let plan = plan::read(FACTORS, "factors.toml").unwrap();
    let rounds = [plan.first_round()];
    let mut trials = trials_by(&plan, &rounds, time);
    for trial in trials.iter_mut().filter(|trial| trial.engine == "pg") {
        let walks_index = trial.levels["days"] == Level::Number(365.0)
            && trial.levels["memory"] == Level::Text("4MB".to_owned());
        trial.plans = vec![OperationPlan {
            operation: plan.operations()[0].name.clone(),
            plan: CapturedPlan::Observed {
                hash: if walks_index { "walk" } else { "hash" }.to_owned(),
                text: String::new(),
            },
        }];
    }
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &trials);
    (plan, trials, analysis)
}

#[test]
fn the_factor_that_undoes_the_crossing_is_named() {
    let (plan, trials, analysis) = analysis();
    // SQLite knows neither factor: three of its treatments, nine of PostgreSQL's.
    assert_eq!(trials.len(), 12 * 7);
    let shared = |engine: &str| {
        let of_engine = analysis.treatments.iter().filter(|one| one.engine == engine);
        of_engine.map(|one| &one.measured_at).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!((shared("sqlite"), shared("pg")), (3, 9));
    let sentences = said(&plan, &analysis).sentences.join("\n");
    insta::assert_snapshot!(sentences, @r"
    SQLite and pg cross between 90 days and 365 days; pg is shown faster up to 90 days, SQLite at 365 days; at 365 days, SQLite is 2.98 times as fast as pg (366 ms against 1,090 ms; 95%: 2.93 to 3.03).
    memory 16MB: pg is shown faster than SQLite at every period measured, 31 days to 365 days: 2.01 times as fast at 365 days (182 ms against 366 ms; 95%: 1.98 to 2.04).
    release 14: SQLite and pg cross between 90 days and 365 days; pg is shown faster up to 90 days, SQLite at 365 days; at 365 days, SQLite is 3.01 times as fast as pg (366 ms against 1,100 ms; 95%: 2.96 to 3.07).
    Choosing pg costs up to 736 ms per request at 365 days, release 14; choosing SQLite costs up to 184 ms per request at 365 days, memory 16MB.
    At 365 days, release 14: SQLite used 1.00 cores, pg 1.00.
    memory 16MB instead of memory 4MB: it undoes the crossing of pg and SQLite between 90 days and 365 days; at 365 days it multiplies the time of pg by 0.167 (0.164 to 0.170).
    The same within 5%: release 14 instead of release 18.
    Verdicts are corrected for 9 comparisons (Holm); each interval is of 95% by itself.
    ");
    let year = |effect: &&Effect| effect.levels["days"] == Level::Number(365.0);
    let of = |factor: &'static str| {
        analysis.effects.iter().filter(move |effect| effect.factor == factor)
    };
    let memory = of("memory").find(year).unwrap();
    assert_eq!((memory.shown, memory.against.as_deref()), (Shown::Faster, None));
    let (low, high) = (memory.estimate.low.unwrap(), memory.estimate.high.unwrap());
    assert!(low < 1.0 / 6.0 && high > 1.0 / 6.0 && high / low < 1.1, "{low} {high}");
    assert!(of("release").all(|effect| effect.shown == Shown::Equal));
    assert!(analysis.effects.iter().all(|effect| effect.engine == "pg"));
}

#[test]
fn an_unaffected_treatment_is_in_every_cell_and_judged_once() {
    let (plan, _, analysis) = analysis();
    assert_eq!(analysis.treatments.len(), 2 * 9);
    assert!(analysis.treatments.iter().all(|t| t.blocks.len() == 7));
    // The base and one sweep per variation of PostgreSQL, once together and once by request.
    assert_eq!(analysis.sweeps.len(), 2 * 3);
    // The base first, as in the plan: texts would be sorted the other way round.
    let of = |sweep: &Sweep| format!("{} {}", sweep.levels["memory"], sweep.levels["release"]);
    let order: Vec<String> = analysis.sweeps.iter().take(3).map(of).collect();
    assert_eq!(order, ["4MB 18", "16MB 18", "4MB 14"]);
    let compared = analysis.treatments.iter().filter(|t| t.ratio.is_some()).count();
    assert_eq!(compared, 9);
    assert_eq!(plan.thresholds.len(), 1);
}

#[test]
fn a_plan_change_in_the_bracket_is_shown_with_the_crossing() {
    let (plan, _, analysis) = analysis();
    let with_4mb = |sweep: &&Sweep| {
        sweep.request.is_none()
            && sweep.levels["memory"] == Level::Text("4MB".to_owned())
            && sweep.levels["release"] == Level::Number(18.0)
    };
    let sweep = analysis.sweeps.iter().find(with_4mb).unwrap();
    let change = plan_change(&plan, sweep, &sweep.crossings[0], &analysis.treatments).unwrap();
    assert_eq!((change.engine.as_str(), change.between), ("pg", (90.0, 365.0)));
    assert_eq!(change.hashes, ("hash".to_owned(), "walk".to_owned()));
    let with_16mb = analysis
        .sweeps
        .iter()
        .find(|s| {
            s.request.is_none()
                && !with_4mb(s)
                && s.levels["memory"] == Level::Text("16MB".to_owned())
        })
        .unwrap();
    let none = plan_change(&plan, with_16mb, &with_16mb.crossings[0], &analysis.treatments);
    assert_eq!(none, None);
}

#[test]
fn of_several_crossings_none_is_told_to_have_moved() {
    let text = FACTORS.replace("[31, 90, 365]", "[7, 31, 90, 365]");
    let plan = plan::read(&text, "several.toml").unwrap();
    let rounds = [plan.first_round()];
    // With 4MB the lines cross three times, with 16MB once.
    let time = |engine: usize, levels: &Levels| {
        let days = levels["days"].number().unwrap();
        let small = levels["memory"] == Level::Text("4MB".to_owned());
        let slow = days == 365.0 || (small && days == 31.0);
        days * if engine == 1 && slow { 2.0 } else { 1.0 / (1.0 + engine as f64) }
    };
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &trials_by(&plan, &rounds, time));
    let brackets: Vec<usize> = analysis
        .sweeps
        .iter()
        .filter(|sweep| sweep.request.is_none())
        .map(|sweep| sweep.crossings.len())
        .collect();
    assert_eq!(brackets, [3, 1, 3], "the base, 16MB, release 14");
    let said = said(&plan, &analysis).sentences.join("\n");
    assert!(said.contains("memory 16MB instead of memory 4MB"), "{said}");
    assert!(!said.contains("moves the crossing"), "{said}");
}

#[test]
fn thresholds_are_judged_for_each_treatment() {
    let (_, _, analysis) = analysis();
    let missed: Vec<_> = analysis.thresholds.iter().filter(|j| j.met == Some(false)).collect();
    assert_eq!(analysis.thresholds.len(), analysis.treatments.len());
    // PostgreSQL's year with 4MB, on both releases.
    assert_eq!(missed.len(), 2, "{missed:?}");
    assert!(missed.iter().all(|j| j.engine == "pg" && j.bound == Bound::Below(500.0)));
}

#[test]
fn one_engine_alone_has_effects_and_no_comparison() {
    let plan = FACTORS.replace("\"sqlite\", ", "");
    let plan = plan::read(&plan, "one.toml").unwrap();
    let rounds = [plan.first_round()];
    let trials = trials_by(&plan, &rounds, |_, levels| time(1, levels));
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &trials);
    assert!(analysis.sweeps.is_empty() && !said(&plan, &analysis).undecided);
    let said = said(&plan, &analysis);
    let said = [vec![said.headline], said.sentences].concat().join("\n");
    insta::assert_snapshot!(said, @r"
    Missed, 2 of 9 thresholds: mean 1,100 ms, wanted < 500 ms (365 days). pg: geometric mean 15.5 ms (31 days, memory 16MB) to 1,100 ms (365 days).
    memory 16MB instead of memory 4MB: at 365 days it multiplies the time of pg by 0.166 (0.164 to 0.168).
    The same within 5%: release 14 instead of release 18.
    ");
}
