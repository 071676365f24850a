//! Carries a plan out: rounds of blocks, every engine once per block and alone, its treatments in
//! random order; each trial is on disk before the next begins, so a run can be taken up again.

mod error;
mod round;
mod trial;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use jiff::Timestamp;
use server::Locations;
use sha2::{Digest as _, Sha256};

use crate::analysis;
use crate::environment::Environment;
use crate::plan::{Data, Plan};
use crate::record::{Run, RunFolder, SCHEMA_VERSION, Trial};
use crate::schedule::{self, Levels, Round};
use crate::workload;

pub use error::RunError;

/// What a run needs besides its plan.
pub struct RunOptions<'a> {
    /// The folder of all runs.
    pub runs: &'a Path,
    /// As it was typed, without secrets.
    pub command_line: String,
    /// Where managed servers live.
    pub locations: &'a Locations,
    /// Drives servers and connections.
    pub runtime: &'a tokio::runtime::Handle,
    /// Trials done, of those planned.
    pub progress: &'a ProgressBar,
    /// The user asked to stop.
    pub interrupted: &'a AtomicBool,
}

/// A run with everything that it recorded.
pub struct Finished {
    /// Where it lies.
    pub folder: RunFolder,
    /// What was carried out.
    pub plan: Plan,
    /// run.json.
    pub run: Run,
    /// All trials.
    pub trials: Vec<Trial>,
}

impl Finished {
    /// Reads a run from its folder.
    ///
    /// # Errors
    /// When it is damaged or newer.
    pub fn read(folder: RunFolder) -> Result<Self, RunError> {
        let run = folder.read_run()?;
        let (_, plan) = folder.read_plan()?;
        let trials = folder.read_trials()?;
        Ok(Self { folder, plan, run, trials })
    }

    /// The cells of all rounds.
    pub fn cells(&self) -> Vec<Levels> {
        cells(&self.run.rounds)
    }

    /// How many trials the rounds so far hold.
    pub fn planned(&self) -> usize {
        planned(&self.plan, &self.run.rounds)
    }
}

/// Begins a run of `plan` and carries it out.
///
/// # Errors
/// [`RunError`]; what was recorded by then stays and can be resumed.
pub fn start(mut plan: Plan, options: &RunOptions<'_>) -> Result<Finished, RunError> {
    let seed = match plan.seed {
        Some(seed) => seed,
        None => random_seed()?,
    };
    plan.seed = Some(seed);
    let text = plan.to_toml()?;
    for engine in &plan.engines {
        workload::of(&plan).check(engine, options)?;
    }
    let started = Timestamp::now();
    let data_digest = data_digest(&plan)?;
    let program_digest = program_digest()?;
    let folder = RunFolder::create(options.runs, plan.workload.name(), started)?;
    folder.write_plan(&text)?;
    let run = Run {
        schema_version: SCHEMA_VERSION,
        id: folder.id(),
        started,
        finished: None,
        complete: false,
        seed,
        command_line: options.command_line.clone(),
        crossover_version: env!("CARGO_PKG_VERSION").to_owned(),
        program_digest,
        data_digest,
        environment: Environment::observe(&options.locations.data),
        engines: std::collections::BTreeMap::new(),
        rounds: vec![schedule::first_round(&plan)],
        resumed: Vec::new(),
        answers: std::collections::BTreeMap::new(),
        plans: std::collections::BTreeMap::new(),
    };
    folder.write_run(&run)?;
    let path = folder.path().to_owned();
    let finished = carry_out(Finished { folder, plan, run, trials: Vec::new() }, options);
    if finished.is_err() && has_no_trial(&path) {
        // Nothing was measured, so there is nothing to resume or to report.
        let _ = std::fs::remove_dir_all(&path);
    }
    finished
}

fn has_no_trial(run: &Path) -> bool {
    std::fs::read_dir(run.join("trials")).is_ok_and(|mut entries| entries.next().is_none())
}

/// Takes an interrupted run up again. `plan` is what the user asks for now, if anything.
///
/// # Errors
/// [`RunError`]; a changed plan, program or data is refused.
pub fn resume(
    name: &str,
    plan: Option<Plan>,
    options: &RunOptions<'_>,
) -> Result<Finished, RunError> {
    let mut finished = Finished::read(RunFolder::find(options.runs, name)?)?;
    let changed = |what: &str| crate::record::RecordError::Changed {
        run: finished.run.id.clone(),
        what: what.to_owned(),
    };
    if let Some(mut plan) = plan {
        plan.seed = plan.seed.or(finished.plan.seed);
        if plan.to_toml()? != finished.plan.to_toml()? {
            return Err(changed("the plan").into());
        }
    }
    if program_digest()? != finished.run.program_digest {
        return Err(changed("the program").into());
    }
    if data_digest(&finished.plan)? != finished.run.data_digest {
        return Err(changed("the data").into());
    }
    if finished.run.complete {
        return Ok(finished);
    }
    finished.run.resumed.push(Timestamp::now());
    finished.folder.write_run(&finished.run)?;
    carry_out(finished, options)
}

fn carry_out(mut finished: Finished, options: &RunOptions<'_>) -> Result<Finished, RunError> {
    let begun = Instant::now();
    let scratch = Scratch::create(&options.locations.data, &finished.run.id)?;
    let setting = round::Setting::new(options, &scratch.path)?;
    let mut index = 0;
    loop {
        let planned = finished.planned();
        options.progress.set_length(planned as u64);
        let round_begun = Instant::now();
        round::carry_out(&mut finished, index, &setting)?;
        if index + 1 == finished.run.rounds.len() {
            let per_trial = round_begun.elapsed() / trials_of_round(&finished, index);
            let Some(round) = next_round(&finished, per_trial, begun) else { break };
            finished.run.rounds.push(round);
            finished.folder.write_run(&finished.run)?;
        }
        index += 1;
    }
    finished.run.complete = true;
    finished.run.finished = Some(Timestamp::now());
    finished.folder.write_run(&finished.run)?;
    Ok(finished)
}

/// The round that bisection asks for, unless it would end after the plan's budget, judged by what
/// a trial of the last round took.
fn next_round(finished: &Finished, per_trial: Duration, begun: Instant) -> Option<Round> {
    let plan = &finished.plan;
    let analysis = analysis::analyse(plan, &finished.cells(), &finished.trials);
    let cells = analysis::next_cells(plan, &analysis);
    if cells.is_empty() {
        return None;
    }
    let trials = cells.len() * plan.engines.len() * plan.replicates;
    let needed = per_trial * u32::try_from(trials).unwrap_or(u32::MAX);
    let fits = plan.budget.is_none_or(|budget| begun.elapsed() + needed <= budget.duration());
    fits.then_some(Round { cells })
}

fn trials_of_round(finished: &Finished, index: usize) -> u32 {
    let cells = finished.run.rounds.get(index).map_or(0, |round| round.cells.len());
    let trials = cells * finished.plan.engines.len() * finished.plan.replicates;
    u32::try_from(trials.max(1)).unwrap_or(u32::MAX)
}

fn cells(rounds: &[Round]) -> Vec<Levels> {
    rounds.iter().flat_map(|round| round.cells.iter().cloned()).collect()
}

fn planned(plan: &Plan, rounds: &[Round]) -> usize {
    cells(rounds).len() * plan.engines.len() * plan.replicates
}

/// 32 bits: enough to tell runs apart, short enough to type.
fn random_seed() -> Result<u64, RunError> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(|error| RunError::Random(error.to_string()))?;
    Ok(u32::from_le_bytes(bytes).into())
}

/// XXH3 of the data file, or of the commands that prepare the data where there is none.
fn data_digest(plan: &Plan) -> Result<String, RunError> {
    let mut hasher = xxhash_rust::xxh3::Xxh3::new();
    let Data::File(path) = &plan.data else {
        // What the commands that prepare would make; never empty, since the empty digest names
        // the data directory of `server start`, which is the user's.
        hasher.update(format!("{:?} {:?}", plan.application.prepare, plan.constants).as_bytes());
        return Ok(format!("plan-{:032x}", hasher.digest128()));
    };
    read_all(path, |bytes| hasher.update(bytes))?;
    Ok(format!("{:032x}", hasher.digest128()))
}

fn program_digest() -> Result<String, RunError> {
    let mut hasher = Sha256::new();
    read_all(&program()?, |bytes| hasher.update(bytes))?;
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The file of this program, for the placeholder {crossover}.
fn program() -> Result<PathBuf, RunError> {
    std::env::current_exe()
        .map_err(|source| RunError::Io { path: PathBuf::from("this program"), source })
}

fn read_all(path: &Path, mut use_bytes: impl FnMut(&[u8])) -> Result<(), RunError> {
    use std::io::Read as _;
    let io = |source| RunError::Io { path: path.to_owned(), source };
    let mut file = std::fs::File::open(path).map_err(io)?;
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(io)? {
            0 => return Ok(()),
            read => use_bytes(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// A folder for copies of the data, removed when the run ends or is given up.
struct Scratch {
    path: PathBuf,
    /// Held while the run lives; a folder whose lock is free belongs to a program that was killed.
    _lock: std::fs::File,
}

impl Scratch {
    fn create(data: &Path, id: &str) -> Result<Self, RunError> {
        let all = data.join("scratch");
        let path = all.join(id);
        let io = |source| RunError::Io { path: path.clone(), source };
        std::fs::create_dir_all(&path).map_err(io)?;
        // Nobody sweeps between the making of this folder and its lock.
        let gate = std::fs::File::create(all.join(".lock")).map_err(io)?;
        gate.lock().map_err(io)?;
        let lock = std::fs::File::create(path.join(Self::LOCK)).map_err(io)?;
        lock.lock().map_err(io)?;
        Self::sweep(&all);
        Ok(Self { path, _lock: lock })
    }

    const LOCK: &'static str = "owner.lock";

    /// Removes the copies of killed programs.
    fn sweep(all: &Path) {
        let folders = std::fs::read_dir(all).into_iter().flatten().flatten();
        for folder in folders.map(|entry| entry.path()) {
            let owner = std::fs::File::open(folder.join(Self::LOCK));
            if owner.is_ok_and(|owner| owner.try_lock().is_ok()) {
                let _ = std::fs::remove_dir_all(&folder);
            }
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover costs disk space only, and the next run has a folder of its own.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
