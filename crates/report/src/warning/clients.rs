//! Warnings about clients that share work which separate processes would do each for itself.

use std::collections::{BTreeMap, BTreeSet};

use super::Warning;
use super::machine::{SATURATED_SHARE, is_in_this_process};
use plan::{CLIENTS_AS, ClientsAs, Level, Levels, Plan, clients};
use record::{Run, Status, Trial};

/// A fall of processor time per operation below this ratio, as clients are added, means that they
/// share work.
pub(super) const OPERATION_COST_MIN: f64 = 0.75;

pub(super) fn find(plan: &Plan, run: &Run, trials: &[Trial]) -> Vec<Warning> {
    if plan.workload.properties().has_application {
        return Vec::new();
    }
    threads(plan, trials).into_iter().chain(cheaper(plan, run, trials)).collect()
}

/// A database in this process at several clients, which were threads in every trial.
fn threads(plan: &Plan, trials: &[Trial]) -> Option<Warning> {
    let form = |trial: &Trial| plan.clients_as(&trial.levels).unwrap_or(ClientsAs::Threads);
    let engines = plan.engines.iter().filter(|engine| {
        let kind = engine.source.kind().properties();
        let label = engine.label();
        let mut several = trials
            .iter()
            .filter(|trial| trial.engine == label && clients(&trial.levels) > 1)
            .map(form)
            .peekable();
        let is_seen = several.peek().is_some();
        let no_processes = several.all(|form| form == ClientsAs::Threads);
        kind.is_embedded && !kind.has_files && is_seen && no_processes
    });
    let engines: Vec<String> = engines.map(engine::EngineSpec::label).collect();
    (!engines.is_empty()).then_some(Warning::ClientsAreThreads { engines })
}

/// The largest fall from the fewest clients of a treatment to more of them on saturated processors.
fn cheaper(plan: &Plan, run: &Run, trials: &[Trial]) -> Option<Warning> {
    let mut groups: BTreeMap<(&str, Levels), BTreeMap<u16, Vec<&Trial>>> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.status == Status::Ok) {
        let mut others = trial.levels.clone();
        others.remove("clients");
        // One client is the beginning of each form of several.
        let forms = plan.factors.get(CLIENTS_AS).filter(|_| clients(&trial.levels) == 1);
        let forms = forms.map(|factor| factor.levels.as_slice()).unwrap_or_default();
        let of_form = |form: &Level| {
            let mut others = others.clone();
            others.insert(CLIENTS_AS.to_owned(), form.clone());
            others
        };
        let all: BTreeSet<Levels> =
            forms.iter().map(of_form).chain(std::iter::once(others.clone())).collect();
        for others in all {
            let group = groups.entry((&trial.engine, others)).or_default();
            group.entry(clients(&trial.levels)).or_default().push(trial);
        }
    }
    let falls = groups.into_iter().filter_map(|((engine, _), by_clients)| {
        let mut by_clients = by_clients.into_iter();
        let (fewest, first) = by_clients.next()?;
        let cost = cost(&first)?;
        let saturated = by_clients.filter(|(_, trials)| is_saturated(plan, run, trials));
        let ratios = saturated.filter_map(|(clients, trials)| {
            let ratio = self::cost(&trials)? / cost;
            (ratio < OPERATION_COST_MIN).then_some((clients, ratio))
        });
        let (most, ratio) = ratios.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        let engine = engine.to_owned();
        Some((ratio, Warning::CheaperOperations { engine, ratio, clients: [fewest, most] }))
    });
    falls.min_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, warning)| warning)
}

/// Processor seconds per operation, on average over trials.
fn cost(trials: &[&Trial]) -> Option<f64> {
    let costs: Vec<f64> = trials.iter().filter_map(|it| it.cpu_seconds_per_request).collect();
    let mean = costs.iter().sum::<f64>() / costs.len() as f64;
    (mean > 0.0).then_some(mean)
}

fn is_saturated(plan: &Plan, run: &Run, trials: &[&Trial]) -> bool {
    let all = |trial: &&Trial| {
        let client = trial.client_cores_used;
        let of_client = if is_in_this_process(plan, trial) { 0.0 } else { client };
        trial.cores_used.map(|cores| cores + of_client)
    };
    let used: Vec<f64> = trials.iter().filter_map(all).collect();
    let mean = used.iter().sum::<f64>() / used.len() as f64;
    mean >= SATURATED_SHARE * run.environment.cpus as f64
}
