//! What a report says of its own figures: under which conditions they hold, what they do not say,
//! and how to repeat them.

use crate::plan::{ConnectionUse, Plan, Trial};
use crate::record::Run;

/// The first line of every report: under which conditions the figures hold.
pub(super) fn conditions(plan: &Plan) -> String {
    let mut parts = Vec::new();
    if !plan.conditions.is_empty() {
        parts.push(plan.conditions.clone());
    }
    parts.push("warm".to_owned());
    parts.push("closed load without think time (response time is service time)".to_owned());
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
    parts.join("; ")
}

/// What the figures do not say.
pub(super) fn limitations(plan: &Plan) -> Vec<String> {
    let mut limits = vec![
        "The figures hold for this machine, this data and these requests; METHOD.md says how they \
         were obtained."
            .to_owned(),
        "Everything was warm: data in the page cache, connections and statements used before. A \
         cold start is slower."
            .to_owned(),
        "The requests only read; nothing is said about writes or durability.".to_owned(),
        "Closed load: a stalled server also stalls its clients, so rare long waits are rarer in \
         the sample than under users who arrive on their own."
            .to_owned(),
    ];
    if plan.server_cpus.is_none() {
        limits.push(
            "Client and server shared the machine; CPU time per request stands beside every \
             response time for that reason."
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
