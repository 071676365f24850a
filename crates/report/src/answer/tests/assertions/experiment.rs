//! Random experiments: engines, factors, what each engine takes, failures, missing trials.

use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;

use super::*;
use plan::PlannedTrial;
use record::{Status, Trial};

const ENGINES: [&str; 10] = [
    "'sqlite'",
    "'postgres:18'",
    "'postgres:17'",
    "'postgres:16'",
    "'postgres:15'",
    "'postgres:14'",
    "'postgres:18[work_mem=16MB]'",
    "'postgres:13[work_mem={memory}]'",
    "'postgres:12'",
    "'postgres:11'",
];

/// One of `all`.
fn one<T: Copy>(random: &mut Xoshiro256PlusPlus, all: &[T]) -> T {
    all[random.random_range(0..all.len())]
}

fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let (u, v): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

fn random_plan(random: &mut Xoshiro256PlusPlus) -> Plan {
    let count = one(random, &[2, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8]);
    let mut engines: Vec<&str> = ENGINES.to_vec();
    // One whose memory is a factor is in half of the experiments.
    let kept = engines.iter().position(|one| one.contains("memory}") && random.random_bool(0.4));
    if let Some(kept) = kept {
        engines.swap(0, kept);
    }
    while engines.len() > count {
        if kept.is_some() {
            engines.remove(random.random_range(1..engines.len()));
            continue;
        }
        engines.remove(random.random_range(0..engines.len()));
    }
    let is_oltp = random.random_bool(0.3);
    let memory = engines.iter().any(|engine| engine.contains("{memory}"));
    let compare = one(random, &["", "", "", "compare = 'first'\n", "compare = 'all'\n"]);
    let blocks = one(random, &[3, 5, 5, 7, 10]);
    let bisect = if random.random_bool(0.5) { ", bisect = true" } else { "" };
    let days = one(random, &["[7]", "[7, 31]", "[7, 31, 90, 365]", "[1, 2, 4, 8, 16, 32]"]);
    let mut factors = match is_oltp {
        true => format!("clients = {{ levels = {days}, swept = 'log' }}\n"),
        false if random.random_bool(0.2) => String::new(),
        false => format!("days = {{ levels = {days}, swept = 'log'{bisect} }}\n"),
    };
    if memory {
        let alone = if random.random_bool(0.7) { ", alone = true" } else { "" };
        factors += &format!("memory = {{ levels = ['4MB', '64MB']{alone} }}\n");
    }
    if random.random_bool(0.4) {
        factors += match is_oltp {
            true => "mix = ['read_only', 'read_write']\n",
            false => one(random, &["clients = [1, 4]\n", "clients = [1, 2, 3, 4, 5, 6]\n"]),
        };
    }
    let mix = if factors.contains("mix") { "" } else { "mix = 'read_only'\n" };
    let path = if factors.contains("days") { "/{days}" } else { "/" };
    let work = match is_oltp {
        true => format!("[oltp]\ntable_size = 1000\n{mix}"),
        false => format!(
            "application = {{ start = ['app', '{{listen}}', '{{database_url}}'] }}\n\
             request = [{{ path = '{path}', name = 'r1' }}, {{ path = '{path}?x', name = 'r2' }}]\n"
        ),
    };
    let workload = if is_oltp { "oltp" } else { "http" };
    let engines = engines.join(", ");
    let text = format!(
        "title = 't'\nworkload = '{workload}'\nengines = [{engines}]\nreplicates = {blocks}\n{compare}\
         {work}[constants]\nstart = '2021-01-01'\n[factors]\n{factors}"
    );
    plan::read(&text, "random.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The plan, the cells of all its rounds, and what was measured.
pub(super) fn random_experiment(
    random: &mut Xoshiro256PlusPlus,
) -> (Plan, Vec<Levels>, Vec<Trial>) {
    let plan = random_plan(random);
    let mut rounds = vec![plan.first_round()];
    if plan.swept().is_some_and(|(_, factor)| factor.bisect && factor.levels.len() > 1)
        && random.random_bool(0.5)
    {
        let mut cell = rounds[0].cells[random.random_range(0..rounds[0].cells.len())].clone();
        cell.insert("days".to_owned(), Level::Number(20.0));
        rounds.push(Round { cells: vec![cell], blocks: plan.replicates });
    }
    let spread = one(random, &[0.0, 0.02, 0.3, 1.0]);
    let slopes: Vec<f64> =
        plan.engines.iter().map(|_| one(random, &[0.0, 0.0, 0.2, 0.6])).collect();
    let bases: Vec<f64> = plan.engines.iter().map(|_| (spread * normal(random)).exp()).collect();
    let by_clients: Vec<f64> =
        plan.engines.iter().map(|_| one(random, &[0.0, 0.0, 0.5, -0.5])).collect();
    // A step of memory changes a time more at long periods, so that it makes crossings and undoes them.
    let by_memory = one(random, &[0.0, 1.0, -1.0]);
    let noise = one(random, &[0.005, 0.02, 0.1]);
    let (failing, dropped) = (one(random, &[0.0, 0.0, 0.1]), one(random, &[0.0, 0.0, 0.05]));
    let saturating = one(random, &[0.0, 0.0, 0.2]);
    let writes = random.random_bool(0.3) && plan.response().lower_is_better();
    let planned = (0..rounds.len()).flat_map(|index| Design::of(&plan).trials(1, &rounds, index));
    let mut trials = Vec::new();
    for planned in planned {
        let level = |name: &str| planned.levels.get(name).and_then(Level::number).unwrap_or(1.0);
        let PlannedTrial { engine, .. } = planned;
        let step = |of: f64| level("days").powf(of * slopes[engine]);
        let is_large = planned.levels.get("memory") == Some(&Level::Text("64MB".to_owned()));
        let memory = if is_large { level("days").powf(by_memory) } else { 1.0 };
        let mean = memory
            * bases[engine]
            * step(1.0)
            * level("clients").powf(by_clients[engine])
            * (noise * normal(random)).exp();
        let mut trial = trial(&plan, &planned, mean);
        // By treatment, not by trial: a treatment that fails does so in every block.
        let key = format!("{engine}{:?}", planned.levels).bytes().map(u64::from).sum::<u64>();
        let share = (key * 7919 % 101) as f64 / 101.0;
        if share < failing {
            fail(&mut trial, FailureCounts { all: 50, ..FailureCounts::default() });
        }
        trial.saturated = 1.0 - share < saturating;
        if writes {
            trial.checkpoint_seconds = Some(if engine % 2 == 0 { 0.0 } else { mean * 0.09 });
        }
        if random.random_bool(0.02) {
            trial.status = Status::Void("it died".to_owned());
        }
        if !random.random_bool(dropped) {
            trials.push(trial);
        }
    }
    let cells = rounds.into_iter().flat_map(|round| round.cells).collect();
    (plan, cells, trials)
}
