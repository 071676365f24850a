//! One line about a run, for the list of all runs.

use serde::Serialize;

use crate::analysis;
use crate::answer::answer;
use record::Finished;
use record::RunFolder;

/// A run in the list of runs.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct RunSummary {
    pub id: String,
    /// When it began, ISO 8601 in UTC; none where run.json cannot be read.
    pub started: Option<String>,
    pub title: Option<String>,
    /// The load on the engines.
    pub workload: Option<String>,
    /// Labels, in the order of the plan.
    pub engines: Vec<String>,
    /// Blocks with a trial in them.
    pub blocks: usize,
    /// All planned trials are there.
    pub complete: bool,
    /// The headline; what is wrong, where the run cannot be read.
    pub verdict: String,
    /// Whether it can be read.
    pub readable: bool,
}

/// Reads and analyses one run. A run that cannot be read says so in its verdict.
pub fn summarise(folder: RunFolder) -> RunSummary {
    let id = folder.id();
    match Finished::read(folder) {
        Ok(finished) => readable(id, &finished),
        Err(error) => RunSummary {
            id,
            started: None,
            title: None,
            workload: None,
            engines: Vec::new(),
            blocks: 0,
            complete: false,
            verdict: error.to_string(),
            readable: false,
        },
    }
}

fn readable(id: String, finished: &Finished) -> RunSummary {
    let Finished { plan, run, trials, .. } = finished;
    let analysis = analysis::analyse(plan, &finished.cells(), trials);
    let blocks: std::collections::BTreeSet<usize> = trials.iter().map(|t| t.block).collect();
    RunSummary {
        id,
        started: Some(run.started.to_string()),
        title: Some(plan.title.clone()),
        workload: Some(plan.workload.name().to_owned()),
        engines: plan.engines.iter().map(engine::EngineSpec::label).collect(),
        blocks: blocks.len(),
        complete: run.complete,
        verdict: answer(finished, &analysis).headline,
        readable: true,
    }
}
