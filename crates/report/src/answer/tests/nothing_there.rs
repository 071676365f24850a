//! One engine under two labels: the analysis must find nothing. 200 trials of one set are relabelled
//! at random within their blocks, again and again, and the whole analysis looks at each.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};

use super::simulated::noisy_trials;
use super::*;

const PLAN: &str = r#"
    title = "t"
    workload = "http"
    engines = ["sqlite[label=one]", "sqlite[label=other]"]
    replicates = 10
    application = { start = ["app", "{listen}", "{engine}"] }
    request = [{ path = "/{days}" }]
    [factors]
    days = { levels = [7, 14, 31, 60, 90, 120, 180, 240, 300, 365], swept = "log" }
"#;

/// Swaps the labels of each pair of trials of a block and cell, or leaves them, by a coin.
fn relabel(trials: &mut [Trial], random: &mut Xoshiro256PlusPlus) {
    trials.sort_by(|a, b| (a.block, &a.levels).cmp(&(b.block, &b.levels)));
    for pair in trials.chunks_exact_mut(2) {
        let [one, other] = pair else { continue };
        assert_eq!((one.block, &one.levels), (other.block, &other.levels));
        if random.random_bool(0.5) {
            std::mem::swap(&mut one.engine, &mut other.engine);
        }
    }
}

#[test]
fn an_engine_is_not_found_to_differ_from_itself() {
    let plan = plan::read(PLAN, "same.toml").unwrap();
    let cells = plan.first_round().cells;
    let prove = testing::prove();
    // Relabelling draws signs only, so one set's share depends on the set: several are averaged.
    let (sets, experiments) = if prove { (10, 2_000) } else { (10, 20) };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(20_261_121);
    let mut false_verdicts = 0;
    for _ in 0..sets {
        let mut trials = noisy_trials(&plan, &mut random, |_, days| days);
        assert_eq!(trials.len(), 200);
        for _ in 0..experiments {
            relabel(&mut trials, &mut random);
            let analysis = analyse(&Design::of(&plan), &cells, &trials);
            let mut together = analysis.sweeps.iter().filter(|sweep| sweep.request.is_none());
            let shows = |sweep: &Sweep| sweep.results.iter().any(|r| r.sign.faster().is_some());
            false_verdicts += usize::from(together.any(shows));
        }
    }
    let share = false_verdicts as f64 / f64::from(sets * experiments);
    if prove {
        println!("one engine under two labels: false verdicts in {:.1}%", share * 100.0);
    }
    assert!(share <= 0.07, "{share}");
}
