//! Statements that write and change no row.

use plan::WorkloadKind;

use super::{RecordedRun, Warning};

#[test]
fn writes_that_change_nothing_are_named() {
    let mut record = RecordedRun::sound();
    record.plan.workload = WorkloadKind::Sql;
    let of = |record: &RecordedRun| {
        let all = record.warnings().into_iter();
        all.filter(|one| matches!(one, Warning::WritesWithoutEffect { .. })).collect::<Vec<_>>()
    };
    let change = |record: &mut RecordedRun, sqlite: f64, postgres: f64| {
        for trial in &mut record.trials {
            let fraction = if trial.engine == "sqlite" { sqlite } else { postgres };
            let request = trial.by_request.last_mut().unwrap();
            request.without_effect_fraction = Some(fraction / trial.block as f64);
        }
    };
    assert_eq!(of(&record), []);
    change(&mut record, 0.1, 0.0);
    assert_eq!(of(&record), []);
    change(&mut record, 0.93, 0.4);
    let [found] = &of(&record)[..] else { panic!("{:?}", of(&record)) };
    let said = found.message();
    assert!(said.contains("up to 93% on sqlite") && said.contains("up to 40% on"), "{said}");
    record.plan.workload = WorkloadKind::Oltp;
    assert_eq!(of(&record), []);
}
