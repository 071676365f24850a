//! Conditions of a report's own figures: under which they hold, what they do not say, and how to
//! repeat them.

use std::collections::BTreeSet;

use engine::EngineSpec;
use notation::{digits, thousands};
use plan::{
    Arrivals, Checkpoints, ConnectionBy, ConnectionUse, LoadModel, Oltp, Plan, TrialSettings,
    WorkloadKind,
};
use record::{BOOLEAN_CAST, EngineRecord, POOL_PROGRAM, RelayAddition, Run};

/// The first line of every report: under which conditions the figures hold.
pub(super) fn conditions(plan: &Plan, run: &Run) -> String {
    let mut parts = Vec::new();
    if !plan.conditions.is_empty() {
        parts.push(plan.conditions.clone());
    }
    match plan.workload {
        WorkloadKind::Oltp => parts.extend(plan.oltp.as_ref().map(|oltp| of_oltp(oltp, plan))),
        WorkloadKind::Http | WorkloadKind::Sql | WorkloadKind::Blob => {}
    }
    parts.extend(connections(plan));
    parts.extend(pools(run));
    let limited = has_memory_limit(plan);
    parts.push(match (cold(plan), limited) {
        (true, _) => "cold where it says so, otherwise warm".to_owned(),
        (false, true) => "warm as far as the memory limit allows".to_owned(),
        (false, false) => "warm".to_owned(),
    });
    parts.push(load(plan));
    parts.push(match plan.trial {
        TrialSettings::Steady { .. } if !run.fixed_work.is_empty() => {
            "the same executions in each trial of a set of levels".to_owned()
        }
        TrialSettings::Steady { time } => format!("{time} per trial"),
        TrialSettings::Passes { passes: 1 } => "one pass per client and trial".to_owned(),
        TrialSettings::Passes { passes } => format!("{passes} passes per client and trial"),
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
    let mut settings = run.engines.values().flat_map(|engine| &engine.settings);
    if settings.any(|(name, _)| name == BOOLEAN_CAST) {
        parts.push(
            "PostgreSQL compares booleans with numbers here by a cast of this copy (your \
             application's SQL would say active = true)"
                .to_owned(),
        );
    }
    parts.extend(run.relay.as_ref().map(relay_in_words));
    // Each step has settings of its own.
    let has_clients = matches!(plan.workload, WorkloadKind::Sql | WorkloadKind::Oltp);
    if has_clients && plan.steps.is_empty() {
        // One engine has a record for each way in which it was started.
        let versions: BTreeSet<String> = run.engines.values().map(version).collect();
        parts.extend(versions);
    }
    parts.join("; ")
}

/// The settings of SQLite on which writes depend most; servers have one journal.
const OF_WRITES: [&str; 2] = ["journal_mode", "synchronous"];

/// `sqlite: SQLite 3.54.1 with journal_mode=wal, synchronous=2`.
fn version(engine: &EngineRecord) -> String {
    let named = engine.settings.iter().filter(|(name, _)| OF_WRITES.contains(&name.as_str()));
    let settings: Vec<String> = named.map(|(name, value)| format!("{name}={value}")).collect();
    let with = if settings.is_empty() { "" } else { " with " };
    format!("{}: {}{with}{}", engine.name, engine.version, settings.join(", "))
}

/// Addition of a relay to the delays of a run, in words.
pub fn relay_in_words(relay: &RelayAddition) -> String {
    format!(
        "the relay itself adds {} us to a round trip of {} us (up to {} us; {} round trips each), and \
         {} us to a delay of {} ms (up to {} us)",
        digits(relay.added_us),
        digits(relay.direct_us),
        digits(relay.added_us_high),
        relay.round_trips,
        digits(relay.late_us),
        relay.delay_us / 1e3,
        digits(relay.late_us_high),
    )
}

/// How clients of the laboratory reach servers that Crossover starts, where they all do so alike.
fn connections(plan: &Plan) -> Option<String> {
    let is_started = |engine: &EngineSpec| {
        !engine.source.is_yours() && !engine.source.kind().properties().is_embedded
    };
    if !ConnectionBy::has_clients(plan.workload) || !plan.engines.iter().any(is_started) {
        return None;
    }
    let way = match plan.connections().ok()?.as_slice() {
        [ConnectionBy::Socket] => "by Unix socket",
        [ConnectionBy::Tcp] => "by TCP on this machine",
        _ => return None,
    };
    let relayed = plan.shortest_delay().is_ok_and(|delay| delay.is_some());
    Some(format!("servers of Crossover's {way}{}", if relayed { ", relays by TCP" } else { "" }))
}

/// Programs of the pools between clients and servers.
fn pools(run: &Run) -> Option<String> {
    let settings = run.engines.values().flat_map(|engine| &engine.settings);
    let programs = settings.filter(|(name, _)| name == POOL_PROGRAM);
    let programs: BTreeSet<&str> = programs.map(|(_, program)| program.as_str()).collect();
    let programs = Vec::from_iter(programs).join(" and ");
    (!programs.is_empty())
        .then(|| format!("pools of {programs}, servers behind them by Unix socket"))
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

/// Whether some cells are measured with empty caches.
fn cold(plan: &Plan) -> bool {
    let cells = plan.cells();
    let rules = plan.rules();
    cells.iter().any(|levels| rules.is_cold(levels))
}

fn has_memory_limit(plan: &Plan) -> bool {
    plan.server_memory.is_some() || plan.factors.contains_key("server_memory")
}

/// Limits of the figures.
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
    if plan.workload.properties().has_application && plan.only_reads() {
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
            "Client and server shared the machine; CPU time is beside every result for that \
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

/// Conditions of workload `oltp`.
fn of_oltp(oltp: &Oltp, plan: &Plan) -> String {
    let varied = |name: &str| plan.factors.contains_key(name);
    let writes = plan.mixes().is_ok_and(|mixes| mixes.iter().any(|mix| mix.writes()));
    let mut parts = Vec::new();
    if !varied("mix") {
        parts.push(format!("workload {}", oltp.mix));
    }
    let tables = match (varied("tables"), oltp.tables) {
        (true, _) => "tables".to_owned(),
        (false, 1) => "1 table".to_owned(),
        (false, tables) => format!("{tables} tables"),
    };
    parts.push(match varied("table_size") {
        true => tables,
        false => format!("{tables} of {} rows", thousands(oltp.table_size)),
    });
    if !varied("distribution") {
        parts.push(format!("keys {}", oltp.distribution));
    }
    parts.push("prepared statements".to_owned());
    parts.push(format!("{} of warm-up before each trial", oltp.warm_up));
    // Each treatment says what came of it, by the counters of its engine.
    match oltp.checkpoints.filter(|_| writes) {
        Some(Checkpoints::Between) => {
            parts.push("checkpoints are kept out of writing trials".to_owned());
        }
        Some(Checkpoints::Sustained) => {
            parts.push("two checkpoints or more are to end in a trial that writes".to_owned());
        }
        None => {}
    }
    parts.join("; ")
}
