//! Records made by hand, in which exactly one thing is wrong.

mod clients;
mod effects;

use std::collections::BTreeMap;

use super::*;
use crate::formula::{plan, trials};
use plan::{Factor, Level, Seconds};
use record::environment::{Environment, SqliteLibraries};
use record::{CapturedPlan, EngineRecord, FailureCounts, OperationPlan, Status};

/// Seven blocks of the article's plan, in which both engines take the same time.
struct RecordedRun {
    plan: Plan,
    run: Run,
    trials: Vec<Trial>,
}

impl RecordedRun {
    fn sound() -> Self {
        let mut plan = plan(7);
        plan.server_cpus = Some(vec![0]);
        plan.client_cpus = Some(vec![1]);
        let rounds = vec![plan.first_round()];
        let trials = trials(&plan, &rounds, |_, days, _| 10.0 * days);
        let environment = Environment {
            cpus: 2,
            memory_bytes: Some(24 << 30),
            build_profile: "release".to_owned(),
            ..Environment::observe(std::path::Path::new("/proc"), SqliteLibraries::default())
        };
        let engine = |name: &str| EngineRecord {
            name: name.to_owned(),
            durability: Durability::SurvivesPowerLoss,
            statistics_present: Some(true),
            data_bytes: Some(1 << 30),
            ..EngineRecord::default()
        };
        let sqlite = engine("sqlite");
        let run = Run {
            schema_version: record::SCHEMA_VERSION,
            id: "run".to_owned(),
            started: jiff::Timestamp::UNIX_EPOCH,
            finished: None,
            complete: true,
            seed: 1,
            command_line: String::new(),
            crossover_version: String::new(),
            program_digest: String::new(),
            data_digest: String::new(),
            environment,
            engines: [sqlite, engine("postgres:18")]
                .map(|record| (record.name.clone(), record))
                .into(),
            rounds,
            fixed_work: Vec::new(),
            resumed: Vec::new(),
            answers: BTreeMap::new(),
            plans: BTreeMap::new(),
            interleaved_with: None,
            relay: None,
            assessment: None,
        };
        Self { plan, run, trials }
    }

    fn warnings(&self) -> Vec<Warning> {
        find(&self.plan, &self.run, &self.trials, self.trials.len())
    }

    /// The only warning after `change`, which must say something and what to do.
    fn after(change: impl FnOnce(&mut Self)) -> Warning {
        let mut record = Self::sound();
        change(&mut record);
        let mut found = record.warnings();
        assert_eq!(found.len(), 1, "{found:?}");
        let warning = found.remove(0);
        assert!(!warning.message().is_empty() && !warning.advice(true).is_empty());
        warning
    }

    fn of(&mut self, engine: &str) -> impl Iterator<Item = &mut Trial> {
        self.trials.iter_mut().filter(move |trial| trial.engine == engine)
    }
}

#[test]
fn a_sound_record_gives_rise_to_no_doubt() {
    assert_eq!(RecordedRun::sound().warnings(), []);
}

#[test]
fn synchronous_off_beside_fsync_on_warns_mildly_for_reads() {
    let weaken = |record: &mut RecordedRun| {
        let sqlite = record.run.engines.get_mut("sqlite").unwrap();
        sqlite.durability = Durability::SurvivesProgramCrash;
    };
    let warning = RecordedRun::after(weaken);
    assert_eq!(warning.kind(), "durability_differs");
    let message = warning.message();
    assert!(message.contains("sqlite") && message.contains("hardly matters"), "{message}");
    let warning = RecordedRun::after(|record| {
        weaken(record);
        record.plan.requests[0].method = "POST".to_owned();
    });
    assert!(warning.message().contains("weaker promise"), "{}", warning.message());
}

#[test]
fn requests_answered_without_the_engine_are_counted() {
    let probed = |record: &mut RecordedRun, at_engine: f64, hidden: f64| {
        let counts = [
            ("probed_requests", 5.0),
            ("probed_requests_at_engine", at_engine),
            ("probed_requests_out_of_sight", hidden),
        ];
        for trial in record.of("sqlite").take(2) {
            trial.counters.extend(counts.map(|(name, count)| (name.to_owned(), count)));
        }
    };
    let warning = RecordedRun::after(|record| probed(record, 1.0, 0.0));
    let engine = "sqlite".to_owned();
    assert_eq!(warning, Warning::AnsweredWithoutEngine { engine, fraction: 0.2 });
    assert!(warning.message().contains("20% of the requests used the database"));
    let warning = RecordedRun::after(|record| probed(record, 4.0, 1.0));
    assert_eq!(warning, Warning::ReachOutOfSight { engines: vec!["sqlite".to_owned()] });
    let warning = RecordedRun::after(|record| record.plan.application.own_database = true);
    assert!(warning.message().contains("sqlite, postgres:18"), "{}", warning.message());
    let mut all = RecordedRun::sound();
    probed(&mut all, 5.0, 0.0);
    assert_eq!(all.warnings(), []);
}

#[test]
fn a_client_that_waited_for_its_processor_is_named() {
    let warning = RecordedRun::after(|record| {
        let wait = ("client_processor_wait_fraction".to_owned(), 0.4);
        record.trials[3].counters.extend([wait]);
    });
    assert_eq!(warning, Warning::ClientStarved { fraction: 0.4, trials: 1 });
}

#[test]
fn one_distant_block_is_an_outlier_and_noise_is_not() {
    let first =
        |record: &RecordedRun| (record.trials[0].engine.clone(), record.trials[0].levels.clone());
    let warning = RecordedRun::after(|record| {
        record.trials[0].response_time_ms_mean =
            record.trials[0].response_time_ms_mean.map(|t| t * 3.0);
    });
    let Warning::Outlier { block, ratio, treatments, .. } = &warning else { panic!("{warning:?}") };
    assert_eq!((*block, *treatments), (1, 1));
    assert!((2.7..3.3).contains(ratio), "{ratio}");
    let mut noisy = RecordedRun::sound();
    let (engine, levels) = first(&noisy);
    let same = noisy.trials.iter_mut().filter(|t| t.engine == engine && t.levels == levels);
    for (trial, factor) in same.zip([1.0, 1.5, 0.8, 1.3, 0.7, 1.1, 0.9]) {
        trial.response_time_ms_mean = trial.response_time_ms_mean.map(|time| time * factor);
    }
    assert_eq!(noisy.warnings(), []);
}

#[test]
fn a_plan_changed_between_blocks_warns_with_its_operations() {
    let plan = |hash: &str| OperationPlan {
        operation: "days".to_owned(),
        plan: CapturedPlan::Observed { hash: hash.to_owned(), text: String::new() },
    };
    let set = |record: &mut RecordedRun, later: &str| {
        let levels = record.trials[0].levels.clone();
        let same = record.trials.iter_mut().filter(|t| t.engine == "sqlite" && t.levels == levels);
        same.zip(["a", later]).for_each(|(trial, hash)| trial.plans = vec![plan(hash)]);
    };
    let warning = RecordedRun::after(|record| set(record, "b"));
    let operations = vec!["days".to_owned()];
    assert_eq!(warning, Warning::PlanChanged { engine: "sqlite".to_owned(), operations });
    let mut same = RecordedRun::sound();
    set(&mut same, "a");
    assert_eq!(same.warnings(), []);
}

#[test]
fn trials_moving_alike_in_every_block_are_unsteady() {
    let warning = RecordedRun::after(|record| {
        record.of("sqlite").for_each(|trial| trial.second_half_ratio = Some(0.8));
    });
    let Warning::NotSteady { engine, ratio: Some(ratio), read_ahead: false, unsettled: 0 } =
        warning
    else {
        panic!("{warning:?}")
    };
    assert!(engine == "sqlite" && (ratio - 0.8).abs() < 1e-9);
    let mut noise = RecordedRun::sound();
    noise.trials[5].second_half_ratio = Some(0.5);
    assert_eq!(noise.warnings(), []);
    let warning = RecordedRun::after(|record| record.trials[5].warm_up_steady = Some(false));
    assert!(matches!(warning, Warning::NotSteady { unsettled: 1, ratio: None, .. }));
}

#[test]
fn client_and_server_on_one_core_warn_in_any_trial() {
    let shared = RecordedRun::after(|record| record.plan.client_cpus = Some(vec![0]));
    assert_eq!(shared, Warning::SharedCores);
    let unbound = RecordedRun::after(|record| record.plan.client_cpus = None);
    assert_eq!(unbound, Warning::SharedCores);
    let mut by_level = RecordedRun::sound();
    let both = Level::Text("0,1".to_owned());
    by_level.trials[3].levels.insert("server_cpus".to_owned(), both);
    assert!(by_level.warnings().contains(&Warning::SharedCores));
}

#[test]
fn the_machine_warns_of_pressure_swap_memory_and_idle_cores() {
    let kind = |change: fn(&mut RecordedRun)| RecordedRun::after(change).kind();
    assert_eq!(kind(|record| record.trials[0].quiet_wait_seconds = 60.2), "not_quiet");
    assert_eq!(kind(|record| record.trials[0].swapped_bytes = Some(4096)), "swapped");
    assert_eq!(
        kind(|record| record.run.environment.memory_bytes = Some(1 << 30)),
        "data_exceeds_memory"
    );
    let pressed = |record: &mut RecordedRun| record.trials[0].memory_pressure_fraction = Some(0.2);
    assert_eq!(kind(pressed), "memory_pressure");
    let mut limited = RecordedRun::sound();
    pressed(&mut limited);
    limited.plan.server_memory = "1GiB".parse().ok();
    assert_eq!(limited.warnings(), []);
    assert_eq!(
        kind(|record| {
            for trial in &mut record.trials {
                trial.response_time_ms_mean = Some(0.2);
                trial.cores_used = Some(0.4);
            }
        }),
        "idle_cores"
    );
    assert_eq!(
        kind(
            |record| record.run.engines.get_mut("sqlite").unwrap().statistics_present = Some(false)
        ),
        "statistics_missing"
    );
    let mut chosen = RecordedRun::sound();
    chosen.plan.engines[0] = "sqlite[analyze=off,label=sqlite]".parse().unwrap();
    chosen.run.engines.get_mut("sqlite").unwrap().statistics_present = Some(false);
    assert_eq!(chosen.warnings(), []);
}

#[test]
fn an_engine_with_more_cores_refers_to_treatments_at_one() {
    let more = |record: &mut RecordedRun| {
        record.of("postgres:18").for_each(|trial| trial.cores_used = Some(2.0));
    };
    let warning = RecordedRun::after(more);
    assert!(warning.advice(true).contains("--server-cpus 0"), "{}", warning.advice(true));
    let told = "With 1 client postgres:18 used up to 2.00 cores";
    assert!(warning.message().starts_with(told), "{}", warning.message());
    let Warning::UnequalCores { equal_at: None, .. } = warning else { panic!("{warning:?}") };
}

#[test]
fn wrong_answers_are_more_than_failures() {
    let mut record = RecordedRun::sound();
    let trial = record.of("sqlite").next().unwrap();
    trial.failures = 1;
    let wrong = FailureCounts { all: 1, wrong: 1, ..FailureCounts::default() };
    trial.by_request[0].failures = Some(wrong);
    let kinds: Vec<&str> = record.warnings().iter().map(Warning::kind).collect();
    assert_eq!(kinds, ["failures", "answers_differ"]);
}

#[test]
fn a_server_that_did_not_keep_up_is_told_with_its_rates() {
    let warning = RecordedRun::after(|record: &mut RecordedRun| {
        record.of("sqlite").take(2).for_each(|trial| {
            trial.saturated = true;
            trial.offered_per_second = Some(500.0);
            trial.requests_per_second = 120.0;
        });
    });
    let told = "sqlite did not keep up in 2 trials: 500.0 requests per second were due, 120.0";
    assert!(warning.message().starts_with(told), "{}", warning.message());
}

#[test]
fn use_of_the_machine_by_others_and_the_client_warns() {
    let kind = |change: fn(&mut RecordedRun)| RecordedRun::after(change).kind();
    assert_eq!(kind(|record| record.trials[0].steal_fraction = Some(0.1)), "steal");
    let others = |record: &mut RecordedRun| {
        record.trials.iter_mut().for_each(|trial| trial.other_cores_used = Some(0.3));
    };
    assert_eq!(kind(others), "busy_machine");
    assert_eq!(kind(|record| record.trials[0].client_cores_used = 0.9), "client_busy");
}

#[test]
fn a_slow_change_over_the_blocks_is_drift() {
    let warning = RecordedRun::after(|record| {
        for trial in record.of("sqlite") {
            let later = 1.0 + 0.07 * (trial.block - 1) as f64;
            trial.response_time_ms_mean = trial.response_time_ms_mean.map(|time| time * later);
        }
    });
    let Warning::Drift { engine, ratio } = warning else { panic!("{warning:?}") };
    assert!(engine == "sqlite" && (1.35..1.5).contains(&ratio), "{engine} {ratio}");
}

#[test]
fn what_the_record_lacks_is_told() {
    let kind = |change: fn(&mut RecordedRun)| RecordedRun::after(change).kind();
    assert_eq!(kind(|record| record.run.environment.build_profile = "debug".into()), "debug_build");
    let void =
        |record: &mut RecordedRun| record.trials[0].status = Status::Void("it died".to_owned());
    let warning = RecordedRun::after(void);
    assert_eq!(warning.message(), "1 trial is void: it died.");
    let resumed = |record: &mut RecordedRun| record.run.resumed.push(jiff::Timestamp::UNIX_EPOCH);
    let warning = RecordedRun::after(resumed);
    assert!(warning.kind() == "resumed" && warning.message().contains(" again once;"));
    let mut record = RecordedRun::sound();
    let (recorded, planned) = (record.trials.len(), record.trials.len() + 1);
    record.run.complete = false;
    let found = find(&record.plan, &record.run, &record.trials, planned);
    assert_eq!(found, [Warning::Incomplete { recorded, planned }]);
    record.run.complete = true;
    let found = find(&record.plan, &record.run, &record.trials, planned);
    assert_eq!(found, [Warning::Incomplete { recorded, planned }], "no budget that could end it");
    record.plan.budget = Some(Seconds(60));
    let found = find(&record.plan, &record.run, &record.trials, planned);
    assert_eq!(found, [Warning::CutByBudget { recorded, planned }]);
}

#[test]
fn blocks_are_counted_as_measured_and_not_as_planned() {
    let few = RecordedRun::after(|record| record.run.rounds[0].blocks = 1);
    assert!(few.message().starts_with("1 block: "), "{}", few.message());
    let mut precise = RecordedRun::sound();
    precise.plan.replicates = 3;
    precise.run.rounds[0].blocks = 10;
    assert_eq!(precise.warnings(), [], "a precision has added blocks");
}

#[test]
fn unequal_cores_refer_to_treatments_at_one_core_if_any() {
    let mut record = RecordedRun::sound();
    let one = Level::Number(1.0);
    record.plan.factors.insert("server_cpus".to_owned(), Factor::new(vec![one.clone()]));
    for trial in &mut record.trials {
        trial.levels.insert("server_cpus".to_owned(), one.clone());
    }
    record.of("postgres:18").for_each(|trial| trial.cores_used = Some(2.0));
    let warnings = record.warnings();
    let unequal = warnings.iter().find(|warning| warning.kind() == "unequal_cores").unwrap();
    assert!(unequal.message().contains("at server_cpus = 1"), "{}", unequal.message());
}

/// The base of a count is the same as the headline's: every request that the engine lived to answer.
#[test]
fn failures_are_counted_among_all_requests_of_the_engine() {
    let warning = RecordedRun::after(|record| {
        record.plan.max_failures = Some("5%".parse().unwrap());
        let failures = FailureCounts { all: 6, ..FailureCounts::default() };
        crate::formula::fail(&mut record.trials[0], failures);
    });
    let engine = |warning: &Warning| match warning {
        Warning::Failures { engine, .. } => engine.clone(),
        other => panic!("{other:?}"),
    };
    let mut record = RecordedRun::sound();
    record.plan.max_failures = Some("5%".parse().unwrap());
    crate::formula::fail(
        &mut record.trials[0],
        FailureCounts { all: 6, ..FailureCounts::default() },
    );
    let of = engine(&warning);
    let all: u64 =
        record.trials.iter().filter(|one| one.engine == of).map(|one| one.requests).sum();
    let count = format!("6 of {} requests", notation::thousands(all));
    assert!(warning.message().contains(&count), "{}", warning.message());
    let cells = record.run.rounds[0].cells.clone();
    let analysis =
        crate::analysis::analyse(&plan::Design::of(&record.plan), &cells, &record.trials);
    let background = crate::answer::Background::default();
    let answer = crate::answer::of(&record.plan, &background, &analysis);
    assert!(answer.headline.contains(&count), "{}", answer.headline);
}

#[test]
fn no_application_is_named_where_there_is_none() {
    let all = [
        Warning::VoidTrials { trials: 1, first: String::new(), unmeasured: Vec::new() },
        Warning::Failures { engine: String::new(), failures: 1, requests: 2, first: String::new() },
        Warning::WarmUpFailures { engine: String::new(), failures: 1, trials: 1 },
        Warning::AnswersDiffer { engine: String::new(), trials: 1, first: String::new() },
    ];
    for warning in all {
        assert!(warning.advice(true).contains("application"), "{warning:?}");
        assert!(!warning.advice(false).contains("application"), "{warning:?}");
    }
}
