//! Crossings at known places: the analysis must bracket them there, and nowhere else.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use stats::crossing::Crossing;

use super::simulated::noisy_trials;
use super::*;

const PLAN: &str = r#"
    title = "t"
    workload = "http"
    engines = ["sqlite[label=one]", "sqlite[label=other]"]
    replicates = 7
    application = { start = ["app", "{listen}", "{engine}"] }
    request = [{ path = "/{days}" }]
    [factors]
    days = { levels = [10, 20, 40, 80, 160], swept = "log" }
"#;

const EXPERIMENTS: u32 = 200;

/// The bracket that the analysis names if the other engine's time grows with the square root of the
/// level and is the same at `crossing`.
fn bracket(plan: &Plan, random: &mut Xoshiro256PlusPlus, crossing: f64) -> Option<(f64, f64)> {
    let time = |engine, days: f64| if engine == 0 { 4.0 } else { 4.0 * (days / crossing).sqrt() };
    let trials = noisy_trials(plan, random, time);
    let analysis = analyse(&Design::of(plan), &plan.first_round().cells, &trials);
    let together = analysis.sweeps.iter().find(|sweep| sweep.request.is_none()).unwrap();
    together.crossings.iter().find_map(|found| match found {
        Crossing::Bracketed { last, first, .. } => Some((*last, *first)),
        _ => None,
    })
}

#[test]
fn planted_crossings_are_bracketed_where_they_are() {
    let plan = plan::read(PLAN, "planted.toml").unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(20_261_124);
    let (mut named, mut right) = (0, 0);
    for _ in 0..EXPERIMENTS {
        let crossing = 10.0 * 16f64.powf(random.random_range(0.15..0.85));
        if let Some((low, high)) = bracket(&plan, &mut random, crossing) {
            named += 1;
            right += u32::from(low <= crossing && crossing <= high);
        }
    }
    assert!(named >= EXPERIMENTS * 95 / 100, "{named} of {EXPERIMENTS} named");
    assert!(named - right <= EXPERIMENTS / 100, "{right} of {named} right");
}

#[test]
fn lines_that_never_meet_have_no_bracket() {
    let plan = plan::read(PLAN, "parallel.toml").unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(20_261_125);
    let named = (0..EXPERIMENTS).filter(|_| bracket(&plan, &mut random, 2.0).is_some()).count();
    assert_eq!(named, 0);
}
