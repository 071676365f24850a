//! The answer in each outcome of a plan with steps: headline and sentences in a snapshot, to be read against
//! the times that were planted; and what no sentence may say.

use plan::{DELAY_MS, Plan};
use record::{NotMeasured, Status, Trial};

use crate::analysis::analyse;
use crate::answer::{Background, RunAnswer};
use crate::formula::steps::{plan, random, trials, trials_at};

/// Planted times, ms, by engine, step and statement.
type Time = fn(usize, &str, usize) -> f64;

fn answered(plan: &Plan, trials: &[Trial]) -> RunAnswer {
    let analysis = analyse(&plan::Design::of(plan), &plan.first_round().cells, trials);
    let background =
        Background { to_compare: Some("crossover try shop.db"), ..Background::default() };
    crate::answer::of(plan, &background, &analysis)
}

fn said(plan: &Plan, spread: f64, time: Time) -> RunAnswer {
    answered(plan, &trials(plan, spread, &mut random(), time))
}

fn log(mut plan: Plan, executions: &[u64]) -> Plan {
    for (statement, count) in plan.statements.iter_mut().zip(executions) {
        statement.executions = Some(*count);
    }
    plan
}

fn without(mut plan: Plan, statement: usize, steps: &[&str]) -> Plan {
    plan.statements[statement].steps = steps.iter().map(|step| (*step).to_owned()).collect();
    plan
}

fn alone(mut plan: Plan) -> Plan {
    plan.engines.truncate(1);
    plan
}

fn situations() -> Vec<(&'static str, RunAnswer)> {
    [
        decided(),
        of_single_statements(),
        of_logs_and_budgets(),
        of_bounds(),
        of_distances(),
        of_sqlite_alone(),
        of_steps_left_open(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The two engines at these times, ms, PostgreSQL a round trip later.
fn at_distances(plan: &Plan, times: [[f64; 2]; 2]) -> RunAnswer {
    let time = |engine: usize, levels: &plan::Levels, statement: usize| {
        let delay_ms = levels[DELAY_MS].number().unwrap();
        times[engine][statement] + if engine == 1 { delay_ms } else { 0.0 }
    };
    answered(plan, &trials_at(plan, 0.01, &mut random(), time))
}

fn of_distances() -> Vec<(&'static str, RunAnswer)> {
    let two = || plan(2, "factors = { delay_ms = [5, 0, 1] }");
    vec![
        (
            "one statement's lines cross between two distances",
            at_distances(&two(), [[4.0, 0.2], [1.2, 0.1]]),
        ),
        (
            "a log whose lines cross",
            at_distances(&log(two(), &[1_000, 10]), [[4.0, 0.2], [1.2, 0.1]]),
        ),
        (
            "a bound that distance alone misses",
            at_distances(
                &plan(2, "enough = \"mean < 3ms\"\nfactors = { delay_ms = [0, 5] }"),
                [[4.0, 0.2], [1.2, 0.1]],
            ),
        ),
    ]
}

fn decided() -> Vec<(&'static str, RunAnswer)> {
    let three = || plan(3, "");
    vec![
        ("unchanged is enough", said(&three(), 0.01, |engine, _, _| [10.0, 20.0][engine])),
        ("equal engines", said(&three(), 0.005, |_, _, statement| [10.0, 200.0, 0.2][statement])),
        (
            "enough with indexes",
            said(&three(), 0.01, |engine, step, statement| match (engine, step, statement) {
                (0, "unchanged", 1) => 384.0,
                (0, _, 1) => 0.81,
                (1, "unchanged", 1) => 80.0,
                _ => [5.0, 0.9, 12.0][statement],
            }),
        ),
        (
            "settings alone help",
            said(&three(), 0.01, |engine, step, _| match (engine, step) {
                (0, "settings") => 16.0,
                (0, _) => 384.0,
                _ => 40.0,
            }),
        ),
    ]
}

fn of_single_statements() -> Vec<(&'static str, RunAnswer)> {
    let three = || plan(3, "");
    vec![
        (
            "not enough, some statements not slower, one open",
            said(&three(), 0.02, |engine, _, statement| match (engine, statement) {
                (0, 0) => 239.0,
                (0, 1) => 104.0,
                (_, 0) => 70.0,
                _ => 100.0,
            }),
        ),
        (
            "PostgreSQL is slower everywhere",
            said(&three(), 0.01, |engine, _, _| [2.0, 26.0][engine]),
        ),
        ("undecided", said(&three(), 0.3, |engine, _, _| [100.0, 99.0][engine])),
        (
            "an index makes one statement slower",
            said(&three(), 0.01, |engine, step, statement| match (engine, step, statement) {
                (0, "unchanged", 0) => 90.0,
                (0, _, 0) => 1.5,
                (0, "unchanged", 1) => 8.64,
                (0, _, 1) => 12.1,
                _ => [2.0, 20.0, 5.0][statement],
            }),
        ),
        (
            "the last step is not enough although the unchanged file passes",
            said(&plan(1, ""), 0.01, |engine, step, _| match (engine, step) {
                (0, "unchanged") => 10.0,
                (0, _) => 50.0,
                _ => 12.0,
            }),
        ),
        (
            "differences below a millisecond",
            said(&three(), 0.01, |engine, _, _| [0.9, 0.1][engine]),
        ),
        (
            "one statement, not enough",
            said(&plan(1, ""), 0.01, |engine, _, _| [90.0, 10.0][engine]),
        ),
    ]
}

fn of_logs_and_budgets() -> Vec<(&'static str, RunAnswer)> {
    vec![
        (
            "a log whose total decides",
            said(&log(plan(2, ""), &[1_000, 10]), 0.01, |engine, step, statement| {
                match (engine, step, statement) {
                    (0, "unchanged", 0) => 80.0,
                    (0, _, 0) => 1.0,
                    (_, _, 0) => 2.0,
                    (0, _, _) => 30.0,
                    _ => 10.0,
                }
            }),
        ),
        (
            "a log that PostgreSQL answers sooner",
            said(&log(plan(2, ""), &[420, 4]), 0.01, |engine, _, statement| {
                [[10.0, 3.0], [226.0, 70.0]][statement][engine]
            }),
        ),
        (
            "a step that the budget left out",
            said(
                &without(without(plan(2, ""), 0, &["unchanged", "settings"]), 1, &["settings"]),
                0.01,
                |engine, step, _| if engine == 0 && step == "unchanged" { 50.0 } else { 5.0 },
            ),
        ),
    ]
}

fn of_bounds() -> Vec<(&'static str, RunAnswer)> {
    let bound = |bound: &str| plan(2, &format!("enough = \"{bound}\""));
    vec![
        (
            "a bound kept with settings",
            said(&bound("mean < 20ms"), 0.01, |engine, step, _| match (engine, step) {
                (0, "settings") => 10.0,
                (0, _) => 40.0,
                _ => 5.0,
            }),
        ),
        (
            "a bound kept by PostgreSQL alone",
            said(&bound("mean < 20ms"), 0.01, |engine, _, _| [40.0, 5.0][engine]),
        ),
        (
            "a bound missed by both",
            said(&bound("mean < 20ms"), 0.01, |engine, _, _| [140.0, 50.0][engine]),
        ),
        (
            "a bound that is close",
            said(&bound("mean < 20ms"), 0.05, |engine, _, _| [19.9, 5.0][engine]),
        ),
        (
            "a percentile of too few executions",
            said(&bound("p95 < 20ms"), 0.01, |engine, _, _| [2_000.0, 5.0][engine]),
        ),
    ]
}

fn of_sqlite_alone() -> Vec<(&'static str, RunAnswer)> {
    let three = || alone(plan(3, ""));
    vec![
        ("alone, unchanged is enough", said(&three(), 0.01, |_, _, _| 10.0)),
        (
            "alone, enough with indexes",
            said(&three(), 0.01, |_, step, statement| match (step, statement) {
                ("unchanged", 1) => 384.0,
                (_, 1) => 0.81,
                _ => 5.0,
            }),
        ),
        (
            "alone, indexes and settings help",
            said(&three(), 0.01, |_, step, statement| match (step, statement) {
                ("unchanged", 0) => 384.0,
                ("settings", 0) => 8.0,
                ("settings", _) => 20.0,
                _ => 40.0,
            }),
        ),
        (
            "alone, one step and one statement",
            said(
                &without(alone(plan(1, "")), 0, &["unchanged", "settings"]),
                0.01,
                |_, step, _| {
                    if step == "unchanged" { 90.0 } else { 10.0 }
                },
            ),
        ),
        (
            "alone, a log",
            said(&log(alone(plan(2, "")), &[1_000, 10]), 0.01, |_, step, statement| {
                match (step, statement) {
                    ("unchanged", 0) => 80.0,
                    (_, 0) => 1.0,
                    _ => 30.0,
                }
            }),
        ),
        (
            "alone, a bound kept with settings",
            said(&alone(plan(2, "enough = \"mean < 20ms\"")), 0.01, |_, step, _| {
                if step == "settings" { 10.0 } else { 40.0 }
            }),
        ),
        (
            "alone, a bound missed",
            said(&alone(plan(2, "enough = \"mean < 20ms\"")), 0.01, |_, _, _| 40.0),
        ),
    ]
}

fn of_steps_left_open() -> Vec<(&'static str, RunAnswer)> {
    let mut unchanged = alone(plan(2, ""));
    unchanged.steps.truncate(1);
    let step = plan::Factor::new(vec![plan::Level::Text("unchanged".to_owned())]);
    unchanged.factors.insert(plan::STEP.to_owned(), step);
    vec![
        ("alone, undecided", said(&alone(plan(3, "")), 0.3, |_, _, _| 100.0)),
        (
            "alone, faster with indexes, undecided with settings",
            said(&alone(plan(2, "")), 0.2, |_, step, _| match step {
                "unchanged" => 900.0,
                _ => 10.0,
            }),
        ),
        (
            "alone, indexes are worse than nothing and settings mend it",
            said(&alone(plan(1, "")), 0.01, |_, step, _| match step {
                "unchanged" => 10.0,
                "settings" => 12.0,
                _ => 50.0,
            }),
        ),
        (
            "alone, one of three statements at fewer steps",
            said(
                &without(alone(plan(3, "")), 1, &["unchanged", "settings"]),
                0.01,
                |_, step, _| if step == "unchanged" { 50.0 } else { 5.0 },
            ),
        ),
        (
            "alone, the budget holds one step",
            said(&without(alone(plan(1, "")), 0, &["settings"]), 0.01, |_, _, _| 5.0),
        ),
        (
            "alone, no step is there",
            said(&unchanged, 0.01, |_, _, statement| [5.0, 80.0][statement]),
        ),
    ]
}

#[test]
fn the_answer_in_each_outcome() {
    let shown = |(name, answer): &(&str, RunAnswer)| {
        let sentences: String = answer.sentences.iter().map(|one| format!("  {one}\n")).collect();
        let headline = &answer.headline;
        let code = match (answer.bound_missed, answer.undecided) {
            (true, _) => "missed",
            (_, true) => "open",
            _ => "settled",
        };
        format!("# {name} ({code})\n{headline}\n{sentences}")
    };
    let all: Vec<String> = situations().iter().map(shown).collect();
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_sentence_is_one_however_few_or_many_things_it_counts() {
    for (name, RunAnswer { headline, sentences, .. }) in situations() {
        for said in std::iter::once(&headline).chain(&sentences) {
            assert!(said.ends_with('.'), "{name}: {said}");
            // A direct connection is a distance that is told.
            let said = said.replace("At 0 ms", "At none").replace("between 0 and", "between");
            for wrong in ["  ", "()", ": .", " 0 ", "..", " ,"] {
                assert!(!said.contains(wrong), "{name}: {said}");
            }
        }
    }
}

#[test]
fn a_conclusion_says_first_of_how_many_statements_it_is() {
    let mut answer = said(&plan(1, ""), 0.01, |engine, _, _| [10.0, 20.0][engine]);
    let slow = NotMeasured { name: "window".to_owned(), place: None, why: "slow".to_owned() };
    answer.say_what_was_left_out(1, &[slow]);
    let begin = "Of 1 of 2 statements (not measured: \"window\"): Unchanged SQLite is enough";
    assert!(answer.headline.starts_with(begin), "{}", answer.headline);
    assert!(answer.lead.starts_with(begin), "{}", answer.lead);
}

#[test]
fn fewer_than_five_blocks_show_nothing() {
    let mut plan = plan(2, "");
    plan.replicates = 4;
    let answer = said(&plan, 0.01, |engine, _, _| [90.0, 10.0][engine]);
    assert!(answer.undecided);
    assert!(
        answer.headline.starts_with("Undecided: 4 blocks cannot show a difference, 5 are needed."),
        "{}",
        answer.headline
    );
}

#[test]
fn a_failed_statement_is_not_called_measured() {
    let plan = plan(2, "");
    let mut all = trials(&plan, 0.01, &mut random(), |engine, _, _| [10.0, 20.0][engine]);
    for trial in all.iter_mut().filter(|trial| trial.engine == "postgres:18") {
        trial.status = Status::Void("it died".to_owned());
    }
    let answer = answered(&plan, &all);
    assert_eq!(answer.headline, "Undecided: nothing was measured of SQLite against PostgreSQL 18.");
    assert!(answer.undecided);
}

/// A step of the other engine at which a statement was not measured is not named as if it was.
#[test]
fn only_steps_at_which_all_was_measured_are_named() {
    let plan = without(plan(2, ""), 1, &["unchanged", "settings"]);
    let answer = said(&plan, 0.01, |engine, _, _| [10.0, 20.0][engine]);
    assert!(
        answer.headline.starts_with("SQLite is enough with 2 indexes and settings"),
        "{answer:?}"
    );
    assert!(!answer.headline.contains("PostgreSQL 18, also with"), "{}", answer.headline);
}
