//! Clients that are threads of one process, and work that they share.

use plan::{CLIENTS_AS, Factor, Level, WorkloadKind};

use super::{RecordedRun, Warning};

/// The article's plan at two numbers of clients, asked of the engines themselves.
fn at_two_levels_of_clients() -> RecordedRun {
    let mut record = RecordedRun::sound();
    record.plan.workload = WorkloadKind::Sql;
    for (number, trial) in record.trials.iter_mut().enumerate() {
        trial.levels.insert("clients".to_owned(), Level::Number((1 + number % 2) as f64));
        (trial.cpu_seconds_per_request, trial.cores_used) = (Some(0.001), Some(1.0));
    }
    record
}

#[test]
fn clients_that_are_threads_or_share_work_are_named() {
    let of = |record: &RecordedRun| {
        let all = record.warnings();
        all.into_iter()
            .filter(|one| {
                matches!(one, Warning::ClientsAreThreads { .. } | Warning::CheaperOperations { .. })
            })
            .collect::<Vec<_>>()
    };
    let threads = Warning::ClientsAreThreads { engines: vec!["sqlite".to_owned()] };
    let mut record = at_two_levels_of_clients();
    assert_eq!(of(&record), std::slice::from_ref(&threads));
    let cheaper = |record: &mut RecordedRun, seconds: f64, cores: f64| {
        let all = record.of("sqlite").filter(|trial| plan::clients(&trial.levels) == 2);
        for trial in all {
            (trial.cpu_seconds_per_request, trial.cores_used) = (Some(seconds), Some(cores));
        }
    };
    for (seconds, cores) in [(0.000_76, 2.0), (0.000_5, 1.7)] {
        cheaper(&mut record, seconds, cores);
        assert_eq!(of(&record), std::slice::from_ref(&threads), "{seconds} {cores}");
    }
    cheaper(&mut record, 0.000_5, 1.9);
    let [_, Warning::CheaperOperations { engine, ratio, clients: [1, 2] }] = &of(&record)[..]
    else {
        panic!("{:?}", of(&record))
    };
    assert!(engine == "sqlite" && (ratio - 0.5).abs() < 1e-9, "{engine} {ratio}");
    // One client was measured once, for both forms.
    let forms = ["processes", "threads"].map(|form| Level::Text(form.to_owned()));
    record.plan.factors.insert(CLIENTS_AS.to_owned(), Factor::new(forms.to_vec()));
    for trial in &mut record.trials {
        let form = &forms[usize::from(plan::clients(&trial.levels) == 2)];
        trial.levels.insert(CLIENTS_AS.to_owned(), form.clone());
    }
    assert!(matches!(&of(&record)[..], [_, Warning::CheaperOperations { clients: [1, 2], .. }]));
    for trial in &mut record.trials {
        trial.levels.insert(CLIENTS_AS.to_owned(), forms[0].clone());
    }
    assert!(matches!(&of(&record)[..], [Warning::CheaperOperations { .. }]));
    // An application's own processes are its business.
    record.plan.workload = WorkloadKind::Http;
    assert_eq!(of(&record), []);
}

#[test]
fn a_relay_on_saturated_processors_is_named() {
    let mut record = at_two_levels_of_clients();
    let saturated = |record: &RecordedRun| {
        let all = record.warnings();
        all.into_iter().find(|one| matches!(one, Warning::RelaySaturated { .. }))
    };
    let cores = record.run.environment.cpus;
    for trial in record.of("postgres:18") {
        (trial.cores_used, trial.client_cores_used) = (Some(cores as f64 * 0.8), 0.0);
    }
    assert_eq!(saturated(&record), None);
    for trial in record.of("postgres:18") {
        let seconds = trial.wall_seconds * cores as f64 * 0.15;
        trial.counters.insert("relay_cpu_seconds".to_owned(), seconds);
    }
    let Some(Warning::RelaySaturated { cores: used, of }) = saturated(&record) else {
        panic!("0.95 of the processors are saturated");
    };
    assert!((used - cores as f64 * 0.95).abs() < 1e-9 && of == cores, "{used}");
}
