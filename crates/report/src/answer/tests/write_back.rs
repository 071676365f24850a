//! Write-back after a trial: it counts for the verdict, and the headline says where it matters.

use super::*;

/// PostgreSQL takes half of SQLite's time until the last COMMIT, and then has this much left to do.
fn analysed(checkpoint_seconds: f64) -> (String, Analysis) {
    let plan = plan(7);
    let rounds = [plan.first_round()];
    let halved = |engine: usize, _, _| if engine == 0 { 2.0 } else { 1.0 };
    let mut all = trials(&plan, &rounds, halved);
    for trial in &mut all {
        let is_postgres = trial.engine == "postgres:18";
        trial.checkpoint_seconds = Some(if is_postgres { checkpoint_seconds } else { 0.0 });
    }
    let analysis = analyse(&Design::of(&plan), &rounds[0].cells, &all);
    (said(&plan, &analysis).headline, analysis)
}

#[test]
fn a_checkpoint_reversing_the_verdict_is_in_the_headline() {
    let (headline, analysis) = analysed(0.9);
    let told = "SQLite is shown faster than PostgreSQL 18 at every period measured, a week to a year: \
                20.5 times as fast";
    assert!(headline.contains(told), "{headline}");
    let told = "Until the last COMMIT alone, without checkpoint, PostgreSQL 18 is shown faster than \
                SQLite (1 client); ";
    assert!(headline.contains(told), "{headline}");
    let postgres = analysis.treatments.iter().find(|one| one.engine == "postgres:18").unwrap();
    // 90 requests of one client, each with a ninetieth of the checkpoint.
    let (early, settled) = (postgres.time_blocks[0].1, postgres.blocks[0].1);
    assert!((settled - early - 10.0).abs() < 1e-9, "{early} {settled}");
}

#[test]
fn a_checkpoint_changing_no_winner_is_not_in_the_headline() {
    let headline = analysed(0.001).0;
    assert!(headline.contains("PostgreSQL 18 is shown faster than SQLite at every"), "{headline}");
    assert!(!headline.contains("COMMIT"), "{headline}");
}

#[test]
fn both_means_over_blocks_are_of_the_response_that_is_judged() {
    let plan = plan(5);
    let rounds = [plan.first_round()];
    let mut all = trials(&plan, &rounds, |_, _, _| 2.0);
    for trial in &mut all {
        // Until the last COMMIT one block is slow; with their checkpoints all are alike, and slower.
        let scaled = if trial.block == 2 { 9.0 } else { 1.0 };
        trial.response_time_ms_mean = trial.response_time_ms_mean.map(|mean| mean * scaled);
        trial.checkpoint_seconds = Some(10.0 - 0.18 * scaled);
    }
    for treatment in analyse(&Design::of(&plan), &rounds[0].cells, &all).treatments {
        assert_eq!(treatment.larger_arithmetic_mean(), None, "{:?}", treatment.blocks);
    }
}
