//! What a report says of its own figures: under which conditions they hold, what they do not say,
//! and how to repeat them.

use crate::plan::{Arrivals, ConnectionUse, LoadModel, Plan, Trial, WorkloadKind};
use crate::record::Run;

/// The first line of every report: under which conditions the figures hold.
pub(super) fn conditions(plan: &Plan) -> String {
    let mut parts = Vec::new();
    if !plan.conditions.is_empty() {
        parts.push(plan.conditions.clone());
    }
    if let Some(oltp) = &plan.oltp {
        parts.push(oltp.describe(plan));
    }
    let limited = has_memory_limit(plan);
    parts.push(match (cold(plan), limited) {
        (true, _) => "cold where it says so, else warm".to_owned(),
        (false, true) => "warm as far as the memory limit allows".to_owned(),
        (false, false) => "warm".to_owned(),
    });
    parts.push(load(plan));
    parts.push(match plan.trial {
        Trial::Steady { time } => format!("{time} per trial"),
        Trial::Passes { passes: 1 } => "one pass per client and trial".to_owned(),
        Trial::Passes { passes } => format!("{passes} passes per client and trial"),
    });
    parts.push(match plan.load.connection {
        ConnectionUse::PerClient => "a connection per client".to_owned(),
        ConnectionUse::PerRequest => "a connection per request".to_owned(),
    });
    if let Some(cpus) = &plan.server_cpus {
        let cpus: Vec<_> = cpus.iter().map(usize::to_string).collect();
        parts.push(format!("server side on processor {}", cpus.join(", ")));
    }
    if let Some(memory) = &plan.server_memory {
        parts.push(format!("server side within {memory} of memory, page cache included"));
    }
    parts.join("; ")
}

fn load(plan: &Plan) -> String {
    let varied = |name: &str| plan.factors.contains_key(name);
    match plan.load.model {
        LoadModel::Closed if varied("think_time") => "closed load with think times".to_owned(),
        LoadModel::Closed => match &plan.load.think_time {
            Some(pause) => format!("closed load with {pause} of think time"),
            None => "closed load without think time (response time is service time)".to_owned(),
        },
        LoadModel::Open => {
            let rate = match plan.load.rate.filter(|_| !varied("rate")) {
                Some(rate) => format!("{rate} requests per second"),
                None => "requests".to_owned(),
            };
            let arrivals = match plan.load.arrivals.unwrap_or_default() {
                Arrivals::Poisson => "at random (Poisson)",
                Arrivals::Uniform => "evenly",
            };
            format!("open load, {rate} due {arrivals}; response time counts from when it was due")
        }
    }
}

/// Whether some cells of workload `blob` are measured with empty caches.
fn cold(plan: &Plan) -> bool {
    let cells = crate::schedule::first_cells(plan);
    plan.workload == WorkloadKind::Blob
        && cells.iter().any(|levels| plan.blob_at(levels).is_ok_and(|cell| cell.cold))
}

fn has_memory_limit(plan: &Plan) -> bool {
    plan.server_memory.is_some() || plan.factors.contains_key("server_memory")
}

/// What the figures do not say.
pub(super) fn limitations(plan: &Plan) -> Vec<String> {
    let mut limits = vec![
        "The figures hold for this machine, this data and these requests; METHOD.md says how they \
         were obtained."
            .to_owned(),
    ];
    if !has_memory_limit(plan) && !cold(plan) {
        limits.push(
            "Everything was warm: data in the page cache, connections and statements used before. \
             A cold start is slower."
                .to_owned(),
        );
    }
    let only_reads = plan.requests.iter().all(|request| request.method == "GET");
    if only_reads && plan.workload == WorkloadKind::Http {
        limits.push("The requests only read; nothing is said about writes.".to_owned());
    }
    if plan.load.model == LoadModel::Closed {
        limits.push(
            "Closed load: a stalled server also stalls its clients, so rare long waits are rarer \
             in the sample than under users who arrive on their own."
                .to_owned(),
        );
    }
    if plan.server_cpus.is_none() {
        limits.push(
            "Client and server shared the machine; CPU time stands beside every result for that \
             reason."
                .to_owned(),
        );
    }
    limits
}

/// The command line with the seed that was drawn, if none was given.
pub(super) fn repeat(run: &Run) -> String {
    let words: Vec<&str> = run.command_line.split(' ').collect();
    let has_seed = words.iter().any(|word| *word == "--seed" || word.starts_with("--seed="));
    if has_seed {
        run.command_line.clone()
    } else {
        format!("{} --seed {}", run.command_line, run.seed)
    }
}
