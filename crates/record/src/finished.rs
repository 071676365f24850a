//! A recorded run, read whole: plan, rounds, trials.

use std::collections::BTreeMap;
use std::path::PathBuf;

use plan::Levels;
use plan::Plan;

use crate::{RecordError, Run, RunFolder, Trial};

/// A run with everything that it recorded.
pub struct Finished {
    pub folder: RunFolder,
    pub plan: Plan,
    pub run: Run,
    pub trials: Vec<Trial>,
}

impl Finished {
    /// Reads a run from its folder.
    pub fn read(folder: RunFolder) -> Result<Self, RecordError> {
        let mut run = folder.read_run()?;
        let (_, plan) = folder.read_plan()?;
        // Release 0.1 did not write a round's number of blocks.
        for round in run.rounds.iter_mut().filter(|round| round.blocks == 0) {
            round.blocks = plan.replicates;
        }
        let trials = folder.read_trials()?;
        Ok(Self { folder, plan, run, trials })
    }

    /// The folder of the applications' logs, made if it is missing.
    pub fn logs(&self) -> Result<PathBuf, RecordError> {
        let logs = self.folder.path().join("logs");
        let made = std::fs::create_dir_all(&logs);
        made.map_err(|source| RecordError::Io { path: logs.clone(), source })?;
        Ok(logs)
    }

    /// The cells of all rounds.
    pub fn cells(&self) -> Vec<Levels> {
        self.run.rounds.iter().flat_map(|round| round.cells.iter().cloned()).collect()
    }

    /// How long it was at work: of each sitting the time from its start to the end of its last
    /// trial, without the rest until the run was taken up again. None before the first trial.
    pub fn working_seconds(&self) -> Option<f64> {
        let Run { started, resumed, .. } = &self.run;
        let mut sittings = BTreeMap::new();
        for trial in &self.trials {
            let sitting = resumed.iter().rfind(|start| **start <= trial.started);
            let start = *sitting.unwrap_or(started);
            let end = trial.started.duration_since(start).as_secs_f64() + trial.wall_seconds;
            let seconds = sittings.entry(start).or_insert(end);
            *seconds = seconds.max(end);
        }
        (!sittings.is_empty()).then(|| sittings.values().sum())
    }
}
