//! A run that was cut off in its second round goes on where it was: with a precision, a budget and a
//! bisection, each of which may change how many blocks and rounds there are.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use lab::run::{resume, start};
use plan::{Level, Plan};
use report::analysis::{analyse, next_cells};

use super::laboratory::Laboratory;
use testing::loopback::Loopback;

/// Ten blocks of two names for one server at two levels, between which there is but one more.
fn plan(url: &str, wishes: &str, factor: &str) -> Plan {
    let text = format!(
        r#"
        title = "cut off"
        workload = "http"
        engines = ["{url}[label=a]", "{url}[label=b]"]
        replicates = 10
        seed = 7
        trial = {{ mode = "passes", passes = 1 }}
        {wishes}
        [factors]
        part = {{ levels = [1, 3], swept = "linear"{factor} }}
        [[request]]
        path = "/{{part}}"
        "#
    );
    plan::read(&text, "cut_off.toml").unwrap()
}

#[test]
fn a_run_cut_off_in_round_two_keeps_the_blocks_of_round_one() {
    let server = Loopback::constant("as ever");
    let folder = tempfile::tempdir().unwrap();
    let laboratory = Laboratory::in_folder(folder.path());
    let never = AtomicBool::new(false);
    let options = laboratory.options(&never);
    let wishes = "precision = \"99%\"\nbudget = \"24h\"";
    let wished = plan(&server.url(), wishes, ", bisect = true");

    // A first round that its budget ended: a crossing is clear, but the blocks are so unlike each
    // other that the precision is out of reach.
    let mut first = start(plan(&server.url(), "", ""), &options).unwrap();
    assert_eq!(first.trials.len(), 40);
    for trial in first.trials.iter_mut().filter(|trial| trial.engine == "a") {
        let ms = if trial.levels["part"] == Level::Number(1.0) { 1e-9 } else { 1e9 };
        let unlike = if trial.block.is_multiple_of(2) { 1e4 } else { 1e-4 };
        trial.response_time_ms_mean = Some(ms * unlike);
        first.folder.write_trial(trial).unwrap();
    }
    let analysis = analyse(&plan::Design::of(&wished), &first.cells(), &first.trials);
    let middle = next_cells(&wished, &analysis);
    assert_eq!(middle, [BTreeMap::from([("part".to_owned(), Level::Number(2.0))])]);

    // Its second: blocks all alike and many, so that the one trial that is missing, which is timed
    // by the clock, has no say in whether they are precise.
    let mut round = first.run.rounds[0].clone();
    (round.cells, round.blocks) = (middle, 30);
    first.run.rounds.push(round);
    first.run.complete = false;
    first.folder.write_run(&first.run).unwrap();
    let mut second = resume("latest", None, &options).unwrap();
    assert_eq!(second.trials.len(), 100);
    for trial in second.trials.iter_mut().skip(40) {
        trial.response_time_ms_mean = Some(100.0);
        second.folder.write_trial(trial).unwrap();
    }
    std::fs::remove_file(second.folder.path().join("trials/0100.json")).unwrap();
    second.folder.write_plan(&wished.to_toml().unwrap()).unwrap();
    second.run.complete = false;
    second.folder.write_run(&second.run).unwrap();

    let finished = resume("latest", None, &options).unwrap();
    let blocks: Vec<usize> = finished.run.rounds.iter().map(|round| round.blocks).collect();
    assert_eq!((finished.run.complete, blocks), (true, vec![10, 30]));
    let (kept, measured) = finished.trials.split_at(99);
    assert!(kept == &second.trials[..99], "a trial that was there is measured again");
    let [last] = measured else { panic!("{} trials more", measured.len()) };
    let (number, block, part) = (last.number, last.block, &last.levels["part"]);
    assert_eq!((number, block, part), (100, 40, &Level::Number(2.0)));
}

#[test]
fn an_interruption_before_the_first_trial_leaves_no_run() {
    let server = Loopback::constant("as ever");
    let folder = tempfile::tempdir().unwrap();
    let laboratory = Laboratory::in_folder(folder.path());
    let at_once = AtomicBool::new(true);
    let error = start(plan(&server.url(), "", ""), &laboratory.options(&at_once)).err().unwrap();
    let message = error.to_string();
    assert!(message.contains("nothing was recorded"), "{message}");
    assert!(!message.contains("--resume"), "{message}");
    let runs = std::fs::read_dir(folder.path().join("runs")).unwrap();
    assert_eq!(runs.filter(|run| run.as_ref().unwrap().path().is_dir()).count(), 0);
}
